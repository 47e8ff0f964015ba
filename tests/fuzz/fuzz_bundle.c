/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle that is taken is made again from its parts, byte for byte. */
#include "fuzz.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "sign/bundle.h"

const char ib_fuzz_corpus[] = "tests/fuzz/corpus/bundle";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	ib_auto_bundle struct ib_bundle b;
	ib_auto_free char *payload = NULL, *sig = NULL, *again = NULL;

	if (ib_bundle_parse((const char *)data, n, &b, NULL) < 0)
		return 0;
	payload = ib_b64_encode(b.payload, b.payload_n);
	sig = ib_b64_encode(b.sig, b.sig_n);
	again = ib_asprintf("{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"publicKey\":{\"hint\":\"%s\"},"
			    "\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"%s\",\"payloadType\":\"" IB_PAYLOAD_TYPE "\",\"signatures\":[{\"keyid\":\"%s\","
			    "\"sig\":\"%s\"}]}}\n",
			    b.keyid, payload, b.keyid, sig);
	REQUIRE(strlen(again) == n && memcmp(again, data, n) == 0);
	return 0;
}
