/* SPDX-License-Identifier: Apache-2.0 */
/* The DSSE envelope in a Sigstore bundle, byte for byte (man/ib-packet.5, Signature). */
#ifndef IB_SIGN_BUNDLE_H
#define IB_SIGN_BUNDLE_H

#include "sign/keys.h"

#define IB_PAYLOAD_TYPE "application/vnd.in-toto+json"
/* signatures/empty_trusted_root.json */
#define IB_EMPTY_TRUSTED_ROOT \
	"{\"mediaType\":\"application/vnd.dev.sigstore.trustedroot+json;version=0.1\",\"tlogs\":[],\"certificateAuthorities\":[]," \
	"\"ctlogs\":[],\"timestampAuthorities\":[]}\n"

struct ib_bundle {
	char *payload; /* NUL behind payload_n bytes */
	size_t payload_n;
	uint8_t *sig;
	size_t sig_n;
	char keyid[IB_FINGERPRINT_LEN];
};

/* What is signed: "DSSEv1 28 application/vnd.in-toto+json N PAYLOAD". */
void ib_dsse_pae(const void *payload, size_t n, struct ib_buf *b);
/* Signs the payload with k and appends the bundle to b. */
IB_MUST int ib_bundle_make(const struct ib_privkey *k, const void *payload, size_t n, struct ib_buf *b, struct ib_err *err);
/* Takes a bundle apart; IB_E_DSSE unless it is byte for byte what ib_bundle_make() would write. Verifies nothing. *ret is to be cleared. */
IB_MUST int ib_bundle_parse(const char *data, size_t n, struct ib_bundle *ret, struct ib_err *err);
/* IB_E_SIG unless the signature is k's over the payload. */
IB_MUST int ib_bundle_verify(const struct ib_bundle *b, const struct ib_pubkey *k, struct ib_err *err);
void ib_bundle_clear(struct ib_bundle *b);
#define ib_auto_bundle __attribute__((cleanup(ib_bundle_clear)))

#endif
