/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the typed form of a contract, as it comes in a stranger's packet. */
#include "base/auto.h"
#include "fuzz.h"
#include "model/contract.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/contract";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_contract struct ib_contract c = {0};
	ib_auto_json json_t *j = NULL;
	struct ib_err err = {0};

	if (ib_json_load((const char *)data, n, "fuzz.json", &j, &err) == 0)
		(void)!ib_contract_from_json(j, "fuzz.json", &c, &err);
	return 0;
}
