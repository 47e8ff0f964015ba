/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a client's result file: refused or read, then every formula over what was read. */
#include "clients/client.h"
#include "fuzz.h"

const char ib_fuzz_corpus[] = "tests/data/clients";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	if (ib_client_read((const char *)data, n, "fuzz", &all, &err) < 0)
		return 0;
	for (size_t i = 0; i < all.n; i++) {
		json_t *j = ib_result_json(&all.v[i], NULL);

		json_decref(j);
		for (size_t k = 0; ib_formulas[k]; k++) {
			if (ib_formulas[k]->series)
				(void)ib_result_percentile(&all.v[i], ib_formulas[k], 95);
			if (ib_formulas[k]->scalar)
				(void)ib_result_scalar(&all.v[i], ib_formulas[k]);
		}
	}
	return 0;
}
