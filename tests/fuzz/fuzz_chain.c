/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger says the same whatever the pieces that it comes in. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "ledger/chain.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/chain";

static int feed(struct ib_chain *c, const uint8_t *data, size_t n, size_t step)
{
	ib_chain_init(c, NULL, NULL);
	for (size_t at = 0; at < n; at += step) {
		int r = ib_chain_feed(c, data + at, n - at < step ? n - at : step, NULL);

		if (r < 0)
			return r;
	}
	ib_chain_end(c);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_chain struct ib_chain a, b;
	int r = feed(&a, data, n, n + 1);

	REQUIRE(r == feed(&b, data, n, 7));
	REQUIRE(r < 0 || (strcmp(a.why, b.why) == 0 && strcmp(a.head, b.head) == 0 && a.length == b.length));
	REQUIRE(r < 0 || a.why[0] || a.length > 0);
	return 0;
}
