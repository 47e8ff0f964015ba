/* SPDX-License-Identifier: Apache-2.0 */
/* Private keys: making, reading, writing, signing. */
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "sign/keys.h"

struct ib_privkey {
	EVP_PKEY *key;
	struct ib_pubkey public;
};

static void free_bio(BIO **b)
{
	BIO_free(*b);
}

static void free_md(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}

void ib_wipe(struct ib_buf *b)
{
	if (b->data)
		OPENSSL_cleanse(b->data, b->cap);
	ib_buf_clear(b);
}

/* Takes key over; it must be one of ours. */
static int adopt(EVP_PKEY *key, struct ib_privkey **ret, struct ib_err *err)
{
	struct ib_privkey *k = ib_alloc(sizeof(*k));
	unsigned char *der = NULL;
	int n, r;

	k->key = key;
	n = i2d_PUBKEY(key, &der);
	r = n > 0 ? ib_pubkey_from_der(der, (size_t)n, &k->public, err) : ib_fail(err, IB_E_KEY, 0, "the key has no public half");
	OPENSSL_free(der);
	if (r < 0)
		ib_privkey_free(&k);
	else
		*ret = k;
	return r;
}

int ib_privkey_new(enum ib_key_type type, struct ib_privkey **ret, struct ib_err *err)
{
	EVP_PKEY *key = type == IB_KEY_ED25519 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519") : EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");

	if (!key)
		return ib_fail(err, IB_E_INTERNAL, 0, "libcrypto cannot make a key");
	return adopt(key, ret, err);
}

/* libcrypto would ask on the terminal. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
	(void)buf;
	(void)size;
	(void)writing;
	*(bool *)arg = true;
	return 0; /* libcrypto takes an empty passphrase, and the key does not open */
}

int ib_privkey_from_pem(const char *pem, size_t n, const char *name, struct ib_privkey **ret, struct ib_err *err)
{
	__attribute__((cleanup(free_bio))) BIO *in = BIO_new_mem_buf(pem, n <= IB_KEY_FILE_MAX ? (int)n : 0);
	bool asked = false;
	EVP_PKEY *key;
	int r;

	if (!in)
		abort();
	if (memmem(pem, n, "BEGIN OPENSSH PRIVATE KEY", 25))
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s' is an OpenSSH key, which this version cannot use; make one with 'ib-pack --new-key NAME'", name);
	key = PEM_read_bio_PrivateKey(in, NULL, no_passphrase, &asked);
	if (!key && asked)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s' is protected by a passphrase, which this version cannot ask for", name);
	if (!key)
		return ib_fail_at(err, IB_E_KEY, name, "'%s' is not a private key in PEM form; make one with 'ib-pack --new-key NAME'", name);
	r = adopt(key, ret, err);
	if (r < 0)
		ib_wrap(err, "'%s'", name);
	return r;
}

int ib_privkey_pem(const struct ib_privkey *k, struct ib_buf *b, struct ib_err *err)
{
	__attribute__((cleanup(free_bio))) BIO *out = BIO_new(BIO_s_secmem());
	char *data;
	long n;

	if (!out || PEM_write_bio_PKCS8PrivateKey(out, k->key, NULL, NULL, 0, NULL, NULL) != 1)
		return ib_fail(err, IB_E_INTERNAL, 0, "libcrypto cannot write the key");
	n = BIO_get_mem_data(out, &data);
	ib_buf_add(b, data, (size_t)n);
	return ib_buf_check(b, "private key", err);
}

const struct ib_pubkey *ib_privkey_public(const struct ib_privkey *k)
{
	return &k->public;
}

int ib_privkey_sign(const struct ib_privkey *k, const void *data, size_t n, uint8_t **ret_sig, size_t *ret_n, struct ib_err *err)
{
	__attribute__((cleanup(free_md))) EVP_MD_CTX *c = EVP_MD_CTX_new();
	const EVP_MD *md = k->public.type == IB_KEY_ED25519 ? NULL : EVP_sha256();
	ib_auto_free uint8_t *sig = ib_alloc(256);
	size_t sig_n = 256;
	int r;

	if (!c || EVP_DigestSignInit(c, NULL, md, NULL, k->key) != 1 || EVP_DigestSign(c, sig, &sig_n, data, n) != 1)
		return ib_fail(err, IB_E_INTERNAL, 0, "libcrypto cannot sign");
	r = ib_pubkey_verify(&k->public, data, n, sig, sig_n, err);
	if (r < 0) {
		ib_wrap(err, "own signature");
		return r;
	}
	*ret_n = sig_n;
	*ret_sig = ib_steal(&sig);
	return 0;
}

void ib_privkey_free(struct ib_privkey **k)
{
	if (*k) {
		EVP_PKEY_free((*k)->key);
		OPENSSL_cleanse(*k, sizeof(**k));
		free(*k);
	}
	*k = NULL;
}
