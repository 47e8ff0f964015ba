/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over its corpus: every file as it is, cut at several places, and with bytes changed. Prints TAP. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static size_t files;

static void run(const char *path)
{
	FILE *f = fopen(path, "rb");
	static uint8_t data[1 << 20];
	uint8_t *copy;
	size_t n;

	if (!f)
		return;
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	files++;
	LLVMFuzzerTestOneInput(data, n);
	for (size_t i = 1; n && i <= 16; i++) { /* a copy of exact size, so that a read beyond its end is seen */
		size_t part = n * i / 16, at = (n - 1) * i / 16;

		copy = malloc(part + 1);
		if (!copy)
			abort();
		memcpy(copy, data, part);
		copy = realloc(copy, part ? part : 1);
		LLVMFuzzerTestOneInput(copy, part);
		free(copy);
		data[at] ^= (uint8_t)(1u << (i % 8));
		LLVMFuzzerTestOneInput(data, n);
	}
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F)
		run(path);
	return 0;
}

int main(void)
{
	const char *dir = getenv("IB_SRCDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", ib_fuzz_corpus);
	if (nftw(path, visit, 16, FTW_PHYS) != 0 || files == 0) {
		printf("Bail out! no corpus in %s\n", path);
		return 99;
	}
	printf("1..1\nok 1 - %zu files of %s\n", files, ib_fuzz_corpus);
	return 0;
}
