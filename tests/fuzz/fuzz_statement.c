/* SPDX-License-Identifier: Apache-2.0 */
/* A Statement that is taken is made again from what was read, byte for byte. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "sign/statement.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/statement";

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct ib_statement_facts facts[] = {
		{.tagmanifest = HEX, .manifest = HEX, .contract = HEX, .ledger = HEX, .withheld = HEX, .study = "demo", .seal = "01234567"},
		{.tagmanifest = HEX, .manifest = HEX, .study = "demo", .seal = "01234567"},
	};

	for (size_t i = 0; i < IB_LEN(facts); i++) {
		ib_auto_statement struct ib_statement s = {0};
		ib_auto_buf struct ib_buf again = IB_BUF(1u << 20);

		if (ib_statement_check((const char *)data, n, &facts[i], &s, NULL) < 0)
			continue;
		REQUIRE(ib_statement_make(&facts[i], &s, &again, NULL) == 0);
		REQUIRE(again.len == n && memcmp(again.data, data, n) == 0);
	}
	return 0;
}
