/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests: each test_<module>.c defines ib_suite; unit.c runs it under CUnit, prints TAP and fails when a test fails. */
#ifndef IB_TESTS_UNIT_H
#define IB_TESTS_UNIT_H

#include <CUnit/CUnit.h>

struct ib_test {
	const char *name; /* test_<module>_<behaviour> */
	void (*run)(void);
};

struct ib_test_suite {
	const char *name;
	const struct ib_test *tests; /* ends with name NULL */
};

extern const struct ib_test_suite ib_suite;

#define IB_TEST(f) {#f, f}

/* Path of a file in the source tree: IB_SRCDIR/path (static buffer, one use at a time). */
const char *ib_src(const char *path);
/* Directory of third-party vectors (IBTOOLS_VECTORS), or NULL when it is absent. */
const char *ib_vectors(void);
/* Marks the running test as skipped, aloud; return right after it. */
void ib_skip(const char *why);

#endif
