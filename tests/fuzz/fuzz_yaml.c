/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a contract: refused with a place, or typed, written and read back to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "fuzz.h"
#include "model/contract.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/yaml";

static void read_back(const struct ib_contract *c)
{
	ib_auto_buf struct ib_buf first = IB_BUF(IB_JSON_MAX), second = IB_BUF(IB_JSON_MAX);
	ib_auto_contract struct ib_contract again = {0};
	ib_auto_json json_t *j = NULL;
	char sha256[IB_HEX_LEN];

	if (ib_contract_write(c, &first, sha256, NULL) < 0)
		return;
	if (ib_json_load(first.data, first.len, "fuzz.json", &j, NULL) < 0 || ib_contract_from_json(j, "fuzz.json", &again, NULL) < 0 ||
	    ib_contract_write(&again, &second, sha256, NULL) < 0 || first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_contract struct ib_contract c = {0};
	struct ib_err err = {0};

	if (ib_contract_parse((const char *)data, n, "fuzz.yaml", NULL, &c, &err) < 0) {
		if (err.code != IB_E_USAGE || strncmp(err.text, "fuzz.yaml:", 10) != 0)
			abort();
		return 0;
	}
	read_back(&c);
	return 0;
}
