/* SPDX-License-Identifier: Apache-2.0 */
/* The reviewer's trust: public keys and fingerprints that come from outside the packet. */
#ifndef IB_SIGN_TRUST_H
#define IB_SIGN_TRUST_H

#include "base/str.h"
#include "sign/keys.h"

struct ib_trusted {
	struct ib_pubkey key;
	char *principal; /* of an allowed_signers line, or NULL */
};

struct ib_trust {
	struct ib_trusted *v;
	size_t n;
	struct ib_strv fingerprints;
};

/* Adds the keys of a file's content: PEM public keys, or lines of OpenSSH form ("ssh-ed25519 AAAA… comment", also behind a principal). Keys of
 * other types are passed over. IB_E_USAGE: no key, a bad one, or a private one; IB_E_UNSUPPORTED: only keys of other types, options. */
IB_MUST int ib_trust_add(struct ib_trust *t, const char *data, size_t n, const char *name, struct ib_err *err);
/* Adds "SHA256:" and 43 characters; IB_E_USAGE otherwise. */
IB_MUST int ib_trust_add_fingerprint(struct ib_trust *t, const char *text, struct ib_err *err);
/* Is the key trusted? *ret_principal (may be NULL) is its principal or NULL. */
bool ib_trust_has(const struct ib_trust *t, const struct ib_pubkey *k, const char **ret_principal);
bool ib_trust_empty(const struct ib_trust *t);
void ib_trust_clear(struct ib_trust *t);
#define ib_auto_trust __attribute__((cleanup(ib_trust_clear)))

#endif
