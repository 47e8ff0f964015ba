/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: Ed25519 and ECDSA P-256, with a policy stricter than libcrypto's (man/ib-packet.5, Signature); signing and verifying; trust. */
#ifndef IB_SIGN_KEYS_H
#define IB_SIGN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

/* "sk": in a hardware token, which signs what it adds to the message, too (src/sign/sshsig.h). */
enum ib_key_type { IB_KEY_ED25519, IB_KEY_P256, IB_KEY_SK_ED25519, IB_KEY_SK_P256 };

#define IB_SPKI_MAX 91
#define IB_FINGERPRINT_LEN 51 /* "SHA256:", 43 characters and a NUL */
#define IB_KEY_FILE_MAX (1u << 20)
#define IB_APPLICATION_MAX 64

struct ib_pubkey {
	enum ib_key_type type;
	uint8_t der[IB_SPKI_MAX]; /* SubjectPublicKeyInfo */
	size_t der_n;
	char fingerprint[IB_FINGERPRINT_LEN]; /* as ssh-keygen -l prints it */
	char sha256[IB_HEX_LEN];              /* of the DER: its name in signatures/keys/ */
	char application[IB_APPLICATION_MAX + 1]; /* of a token's key, such as "ssh:"; "" otherwise */
};

const char *ib_key_type_name(enum ib_key_type t); /* "ed25519", "ecdsa-p256", "ed25519-sk", "ecdsa-p256-sk" */
bool ib_key_is_ed25519(enum ib_key_type t);

/* Takes a DER SubjectPublicKeyInfo. IB_E_KEY: another algorithm or form, a point that is not canonical, not on the curve or of low order. */
IB_MUST int ib_pubkey_from_der(const uint8_t *der, size_t n, struct ib_pubkey *ret, struct ib_err *err);
/* The same from the bare point: 32 bytes, or 65 that begin with 4. application is copied. */
IB_MUST int ib_pubkey_from_point(enum ib_key_type type, const uint8_t *point, size_t n, const char *application, struct ib_pubkey *ret, struct ib_err *err);
/* The same from the public key blob of OpenSSH's files; IB_E_KEY also for types that are not ours. */
IB_MUST int ib_pubkey_from_ssh(const uint8_t *blob, size_t n, struct ib_pubkey *ret, struct ib_err *err);
/* That blob, and the name of its type ("ssh-ed25519"). */
void ib_pubkey_ssh_blob(const struct ib_pubkey *k, struct ib_buf *b);
const char *ib_pubkey_ssh_type(const struct ib_pubkey *k);
/* PEM with lines of 64 columns. */
void ib_pubkey_pem(const struct ib_pubkey *k, struct ib_buf *b);
/* Exactly the bytes that ib_pubkey_pem() writes; IB_E_KEY otherwise. */
IB_MUST int ib_pubkey_from_pem(const char *pem, size_t n, struct ib_pubkey *ret, struct ib_err *err);
/* The same key? */
bool ib_pubkey_equal(const struct ib_pubkey *a, const struct ib_pubkey *b);

struct ib_privkey;

/* A new key of that type. */
IB_MUST int ib_privkey_new(enum ib_key_type type, struct ib_privkey **ret, struct ib_err *err);
/* From PEM (PKCS#8, unencrypted). IB_E_UNSUPPORTED: encrypted; IB_E_KEY: none of ours. name is for messages. */
IB_MUST int ib_privkey_from_pem(const char *pem, size_t n, const char *name, struct ib_privkey **ret, struct ib_err *err);
/* PKCS#8 PEM, unencrypted. Wipe b afterwards with ib_wipe(). */
IB_MUST int ib_privkey_pem(const struct ib_privkey *k, struct ib_buf *b, struct ib_err *err);
const struct ib_pubkey *ib_privkey_public(const struct ib_privkey *k);
/* Signature over n bytes: 64 bytes for Ed25519, DER for P-256. *ret_sig is allocated. */
IB_MUST int ib_privkey_sign(const struct ib_privkey *k, const void *data, size_t n, uint8_t **ret_sig, size_t *ret_n, struct ib_err *err);
void ib_privkey_free(struct ib_privkey **k);
#define ib_auto_privkey __attribute__((cleanup(ib_privkey_free)))
/* Overwrites and frees the content of a buffer that held a secret. */
void ib_wipe(struct ib_buf *b);

/* 0 when sig is a signature by k over the n bytes, in its one accepted form; IB_E_SIG otherwise. */
IB_MUST int ib_pubkey_verify(const struct ib_pubkey *k, const void *data, size_t n, const uint8_t *sig, size_t sig_n, struct ib_err *err);

#endif
