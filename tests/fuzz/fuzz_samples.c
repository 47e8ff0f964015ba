/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as samples.jsonl of a stranger's run: summed up, or refused with a reason. */
#include "fuzz.h"

#include <math.h>

#include "verify/samples.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/samples";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ib_samples s = {0};

	ib_samples_read("samples.jsonl", (const char *)data, n, &s);
	REQUIRE(s.why ? s.why[0] != '\0' : s.lines > 0);
	REQUIRE(!s.why == (s.lines > 0) || s.why);
	REQUIRE(isnan(s.client_mean) == isnan(s.client_max));
	REQUIRE(isnan(s.client_mean) || s.client_mean <= s.client_max + fabs(s.client_max) * 1e-9 + 1e-9);
	ib_samples_clear(&s);
	return 0;
}
