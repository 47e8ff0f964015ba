/* SPDX-License-Identifier: Apache-2.0 */
/* SSH signatures as "ssh-keygen -Y sign" writes them (PROTOCOL.sshsig), parsed and verified here: one armour and nothing around it, no second form. */
#ifndef IB_SIGN_SSHSIG_H
#define IB_SIGN_SSHSIG_H

#include "sign/keys.h"

#define IB_SSHSIG_MAX (64u << 10)
#define IB_SSHSIG_NAMESPACE "ib-packet" /* of packets */

struct ib_sshsig {
	struct ib_pubkey key;
	char namespace[65];
	bool sha256;     /* the message's digest, else SHA-512 */
	uint8_t *sig;    /* in the form of ib_pubkey_verify() */
	size_t sig_n;
	uint8_t flags;   /* of a token: 1 touched, 4 PIN or the like given */
	uint32_t counter;
};

/* IB_E_SIG: not in the form; IB_E_UNSUPPORTED: a kind of key or signature that is not judged (RSA, certificates, WebAuthn); IB_E_KEY: a key that is not
 * accepted; IB_E_LIMIT. *ret is to be cleared in any case. */
IB_MUST int ib_sshsig_parse(const char *text, size_t n, struct ib_sshsig *ret, struct ib_err *err);
/* 0 when it is a signature over these n bytes, made for that namespace, of a token that was touched; IB_E_SIG otherwise. */
IB_MUST int ib_sshsig_verify(const struct ib_sshsig *s, const char *namespace, const void *message, size_t n, struct ib_err *err);
void ib_sshsig_clear(struct ib_sshsig *s);
#define ib_auto_sshsig __attribute__((cleanup(ib_sshsig_clear)))

#endif
