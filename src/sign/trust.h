/* SPDX-License-Identifier: Apache-2.0 */
/* The reviewer's trust: public keys and fingerprints that come from outside the packet. */
#ifndef IB_SIGN_TRUST_H
#define IB_SIGN_TRUST_H

#include <stdint.h>

#include "base/str.h"
#include "sign/keys.h"

struct ib_trusted {
	struct ib_pubkey key;
	char *principal;       /* of an allowed_signers line: names and patterns with commas between, or NULL */
	char *namespaces;      /* the same of namespaces="", or NULL: any */
	int64_t after, before; /* seconds since 1970: valid from and to; INT64_MIN, INT64_MAX where the line says nothing */
	char *where;           /* FILE:LINE */
};

struct ib_trust {
	struct ib_trusted *v;
	size_t n;
	struct ib_strv fingerprints;
	int64_t at;            /* seconds since 1970: when a key with dates must be valid */
	const char *principal; /* whose key it must be, or NULL: anybody's of the file */
};

/* Adds the keys of a file's content: PEM public keys, or lines of OpenSSH form ("ssh-ed25519 AAAA… comment", also behind principals and the options of
 * ssh-keygen's allowed_signers: namespaces="", valid-after="", valid-before=""). Keys of other types are passed over. IB_E_USAGE: no key, a bad
 * one, a bad date, or a private one; IB_E_UNSUPPORTED: only keys of other types; cert-authority and options of other files. */
IB_MUST int ib_trust_add(struct ib_trust *t, const char *data, size_t n, const char *name, struct ib_err *err);
/* Adds "SHA256:" and 43 characters; IB_E_USAGE otherwise. */
IB_MUST int ib_trust_add_fingerprint(struct ib_trust *t, const char *text, struct ib_err *err);
/* Is the key trusted, for packets, at t->at, as t->principal's? *ret_principal (may be NULL) is its principal or NULL. */
bool ib_trust_has(const struct ib_trust *t, const struct ib_pubkey *k, const char **ret_principal);
/* Does a line of that key have dates? */
bool ib_trust_dated(const struct ib_trust *t, const struct ib_pubkey *k);
/* Why a key that is not trusted is not, though it is there: "FILE:LINE: valid only until 2025-01-01T00:00:00Z"; NULL when it is not there. Allocated. */
char *ib_trust_why(const struct ib_trust *t, const struct ib_pubkey *k);
bool ib_trust_empty(const struct ib_trust *t);
void ib_trust_clear(struct ib_trust *t);
#define ib_auto_trust __attribute__((cleanup(ib_trust_clear)))

#endif
