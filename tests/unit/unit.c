/* SPDX-License-Identifier: Apache-2.0 */
/* Main of the unit test programs. CUnit's own runner returns 0 whatever happens; this one does not. */
#include "unit.h"

#include <CUnit/TestRun.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failed, number;
static unsigned asserted; /* checks made before the running test */
static const char *skipped;

const char *ib_src(const char *path)
{
	static char full[4096];
	const char *dir = getenv("IB_SRCDIR");

	snprintf(full, sizeof(full), "%s/%s", dir ? dir : ".", path);
	return full;
}

const char *ib_vectors(void)
{
	const char *dir = getenv("IBTOOLS_VECTORS");

	return dir && access(dir, R_OK | X_OK) == 0 ? dir : NULL;
}

void ib_skip(const char *why)
{
	skipped = why;
}

static void print_failures(const CU_pFailureRecord first)
{
	for (CU_pFailureRecord f = first; f; f = f->pNext)
		printf("# %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
}

static void complete(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure)
{
	bool idle = CU_get_number_of_asserts() == asserted;

	(void)suite;
	number++;
	asserted = CU_get_number_of_asserts();
	print_failures(failure);
	if (failure) {
		failed++;
		printf("not ok %d - %s\n", number, test->pName);
	} else if (idle && !skipped) {
		failed++;
		printf("not ok %d - %s: it checks nothing\n", number, test->pName);
	} else if (skipped) {
		printf("ok %d - %s # SKIP %s\n", number, test->pName, skipped);
	} else {
		printf("ok %d - %s\n", number, test->pName);
	}
	skipped = NULL;
	fflush(stdout);
}

int main(void)
{
	CU_pSuite suite;
	int n = 0;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	suite = CU_add_suite(ib_suite.name, NULL, NULL);
	for (const struct ib_test *t = ib_suite.tests; suite && t->name; t++, n++)
		if (!CU_add_test(suite, t->name, t->run))
			return 99;
	if (!suite || n == 0)
		return 99;
	printf("1..%d\n", n);
	CU_set_test_complete_handler(complete);
	CU_run_all_tests();
	CU_cleanup_registry();
	if (number != n) {
		printf("Bail out! %d of %d tests ran\n", number, n);
		return 1;
	}
	return failed ? 1 : 0;
}
