/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz targets: one source in two builds. With --enable-fuzzing (clang) libFuzzer drives it; without, replay.c runs its corpus in make check. */
#ifndef IB_TESTS_FUZZ_H
#define IB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
extern const char ib_fuzz_corpus[]; /* directory below the source tree, read with all its subdirectories */

/* What the target claims; ends the process when it is not so. */
#define REQUIRE(x)        \
	do {              \
		if (!(x)) \
			abort();  \
	} while (0)

#endif
