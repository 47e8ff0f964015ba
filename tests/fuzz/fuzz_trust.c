/* SPDX-License-Identifier: Apache-2.0 */
/* Trust files and key files: a key that is taken is found again, and its PEM is taken again. */
#include "fuzz.h"

#include "sign/trust.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/trust";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_trust struct ib_trust t = {0};
	struct ib_pubkey k;

	if (n > 1 << 16)
		return 0;
	(void)!ib_trust_add(&t, (const char *)data, n, "trust", NULL);
	for (size_t i = 0; i < t.n; i++) {
		ib_auto_buf struct ib_buf pem = IB_BUF(4096);

		REQUIRE(ib_trust_has(&t, &t.v[i].key, NULL));
		ib_pubkey_pem(&t.v[i].key, &pem);
		REQUIRE(ib_pubkey_from_pem(pem.data, pem.len, &k, NULL) == 0 && ib_pubkey_equal(&k, &t.v[i].key));
	}
	(void)!ib_pubkey_from_pem((const char *)data, n, &k, NULL);
	return 0;
}
