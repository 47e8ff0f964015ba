/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers against strtod(): the input as text, where it is a number, and one made of its bytes. */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/number.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/number";

static void compare(const char *text)
{
	double ours = ib_number_real(text, strlen(text)), theirs = strtod(text, NULL);

	REQUIRE(memcmp(&ours, &theirs, sizeof(ours)) == 0);
}

/* A number of up to 20 digits, with a point somewhere and a power of ten. */
static void made(const uint8_t *data)
{
	char digits[32], text[64];
	uint64_t w;
	int n, point;

	memcpy(&w, data, 8);
	n = snprintf(digits, sizeof(digits), "%" PRIu64, w >> data[8] % 64);
	point = data[9] % (n + 1);
	snprintf(text, sizeof(text), "%s%.*s.%se%d", data[8] & 64 ? "-" : "", point, digits, point < n ? digits + point : "0", (int8_t)data[10] * (data[8] & 128 ? 3 : 1));
	if (point > 0 && (point == 1 || digits[0] != '0'))
		compare(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ib_number s;
	char *text;

	if (n > 4000)
		return 0;
	if (n >= 11)
		made(data);
	text = ib_alloc(n + IB_NUMBER_PAD + 1);
	if (n)
		memcpy(text, data, n);
	if (*text == '-' || (*text >= '0' && *text <= '9')) {
		ib_number_scan(text, &s);
		REQUIRE(s.end >= text && s.end <= text + n);
		if (!s.bad) {
			*(char *)(text + (s.end - text)) = 0;
			compare(text);
		}
	}
	free(text);
	return 0;
}
