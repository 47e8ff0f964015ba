/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys: what is accepted, how it is named, and whether a signature is its. */
#include "sign/keys.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "sign/point.h"

static const uint8_t spki_ed25519[12] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
static const uint8_t spki_p256[27] = {0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
				      0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
static const char pem_begin[] = "-----BEGIN PUBLIC KEY-----\n", pem_end[] = "-----END PUBLIC KEY-----\n";

static void free_pkey(EVP_PKEY **k)
{
	EVP_PKEY_free(*k);
}

static void free_md(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}

const char *ib_key_type_name(enum ib_key_type t)
{
	static const char *const names[] = {"ed25519", "ecdsa-p256", "ed25519-sk", "ecdsa-p256-sk"};

	return names[t];
}

static void name_key(struct ib_pubkey *k)
{
	ib_auto_buf struct ib_buf blob = IB_BUF(512);
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	ib_auto_free char *text = NULL;
	uint8_t raw[IB_SHA256_LEN];

	ib_pubkey_ssh_blob(k, &blob);
	ib_sha256_add(sha, blob.data, blob.len);
	ib_sha256_raw(sha, raw);
	text = ib_b64_encode(raw, sizeof(raw));
	snprintf(k->fingerprint, sizeof(k->fingerprint), "SHA256:%.43s", text);
	ib_sha256_of(k->der, k->der_n, k->sha256);
}

/* On the curve, coordinates below the prime: libcrypto checks both when it decodes. */
static bool p256_ok(const uint8_t *der, size_t n)
{
	const unsigned char *p = der;
	__attribute__((cleanup(free_pkey))) EVP_PKEY *k = d2i_PUBKEY(NULL, &p, (long)n);
	__attribute__((cleanup(free_md))) EVP_MD_CTX *c = EVP_MD_CTX_new();

	return k && c && p == der + n && EVP_DigestVerifyInit(c, NULL, EVP_sha256(), NULL, k) == 1;
}

int ib_pubkey_from_der(const uint8_t *der, size_t n, struct ib_pubkey *ret, struct ib_err *err)
{
	struct ib_pubkey k = {.der_n = n};
	bool good = false;

	if (n == 44 && memcmp(der, spki_ed25519, sizeof(spki_ed25519)) == 0) {
		k.type = IB_KEY_ED25519;
		good = ib_ed25519_point_ok(der + 12);
	} else if (n == 91 && memcmp(der, spki_p256, sizeof(spki_p256)) == 0) {
		k.type = IB_KEY_P256;
		good = p256_ok(der, n);
	} else {
		return ib_fail(err, IB_E_KEY, 0, "the key is neither Ed25519 nor ECDSA P-256 in its usual form");
	}
	if (!good)
		return ib_fail(err, IB_E_KEY, 0, "the key's point is not one that a good key has");
	memcpy(k.der, der, n);
	name_key(&k);
	*ret = k;
	return 0;
}

int ib_pubkey_from_point(enum ib_key_type type, const uint8_t *point, size_t n, const char *application, struct ib_pubkey *ret, struct ib_err *err)
{
	uint8_t der[IB_SPKI_MAX];
	bool ed = ib_key_is_ed25519(type);
	size_t head = ed ? sizeof(spki_ed25519) : 26; /* the point brings the last byte of the other one */
	int r;

	if (n != (ed ? 32u : 65u))
		return ib_fail(err, IB_E_KEY, 0, "the key's point has %zu bytes", n);
	memcpy(der, ed ? spki_ed25519 : spki_p256, head);
	memcpy(der + head, point, n);
	r = ib_pubkey_from_der(der, head + n, ret, err);
	if (r < 0)
		return r;
	ret->type = type;
	snprintf(ret->application, sizeof(ret->application), "%s", application);
	name_key(ret);
	return 0;
}

void ib_pubkey_pem(const struct ib_pubkey *k, struct ib_buf *b)
{
	ib_auto_free char *text = ib_b64_encode(k->der, k->der_n);

	ib_buf_adds(b, pem_begin);
	for (size_t at = 0, n = strlen(text); at < n; at += 64)
		ib_buf_addf(b, "%.64s\n", text + at);
	ib_buf_adds(b, pem_end);
}

int ib_pubkey_from_pem(const char *pem, size_t n, struct ib_pubkey *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf body = IB_BUF(1024), again = IB_BUF(1024);
	ib_auto_free uint8_t *der = NULL;
	size_t begin = strlen(pem_begin), end = strlen(pem_end), der_n;
	struct ib_pubkey k;
	int r;

	if (n > 1000 || n < begin + end || memcmp(pem, pem_begin, begin) != 0)
		return ib_fail(err, IB_E_KEY, 0, "not one public key in PEM form");
	for (size_t i = begin; i < n - end; i++)
		if (pem[i] != '\n')
			ib_buf_addc(&body, pem[i]);
	if (ib_b64_decode(ib_buf_str(&body), body.len, &der, &der_n, NULL) < 0)
		return ib_fail(err, IB_E_KEY, 0, "not one public key in PEM form");
	r = ib_pubkey_from_der(der, der_n, &k, err);
	if (r < 0)
		return r;
	ib_pubkey_pem(&k, &again);
	if (again.len != n || memcmp(again.data, pem, n) != 0)
		return ib_fail(err, IB_E_KEY, 0, "the PEM form is not the usual one of 64 columns");
	*ret = k;
	return 0;
}

bool ib_pubkey_equal(const struct ib_pubkey *a, const struct ib_pubkey *b)
{
	return a->type == b->type && a->der_n == b->der_n && memcmp(a->der, b->der, a->der_n) == 0 && strcmp(a->application, b->application) == 0;
}

/* r and s in range, and their DER the only one. */
static bool ecdsa_form_ok(const uint8_t *sig, size_t n)
{
	static const char order[] = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
	const unsigned char *p = sig;
	ECDSA_SIG *s = n < 100 ? d2i_ECDSA_SIG(NULL, &p, (long)n) : NULL;
	BIGNUM *max = NULL;
	unsigned char *again = NULL;
	const BIGNUM *a, *b;
	bool good = s && BN_hex2bn(&max, order);

	if (good) {
		int m = i2d_ECDSA_SIG(s, &again);

		ECDSA_SIG_get0(s, &a, &b);
		good = m > 0 && (size_t)m == n && memcmp(again, sig, n) == 0 && !BN_is_zero(a) && !BN_is_zero(b) && !BN_is_negative(a) && !BN_is_negative(b) &&
		       BN_cmp(a, max) < 0 && BN_cmp(b, max) < 0;
	}
	OPENSSL_free(again);
	BN_free(max);
	ECDSA_SIG_free(s);
	return good;
}

int ib_pubkey_verify(const struct ib_pubkey *k, const void *data, size_t n, const uint8_t *sig, size_t sig_n, struct ib_err *err)
{
	const unsigned char *p = k->der;
	__attribute__((cleanup(free_pkey))) EVP_PKEY *key = d2i_PUBKEY(NULL, &p, (long)k->der_n);
	__attribute__((cleanup(free_md))) EVP_MD_CTX *c = EVP_MD_CTX_new();
	bool ed = ib_key_is_ed25519(k->type), form;

	form = ed ? sig_n == 64 && ib_ed25519_point_ok(sig) && ib_ed25519_scalar_ok(sig + 32) : ecdsa_form_ok(sig, sig_n);
	if (!form)
		return ib_fail(err, IB_E_SIG, 0, "the signature is not in the one form that is accepted");
	if (!key || !c || EVP_DigestVerifyInit(c, NULL, ed ? NULL : EVP_sha256(), NULL, key) != 1)
		return ib_fail(err, IB_E_INTERNAL, 0, "libcrypto does not take the key");
	if (EVP_DigestVerify(c, sig, sig_n, data, n) != 1)
		return ib_fail(err, IB_E_SIG, 0, "the signature does not verify");
	return 0;
}
