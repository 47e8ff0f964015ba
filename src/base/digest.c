/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC-SHA-256 (libcrypto). */
#include "base/digest.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

struct ib_sha256 {
	EVP_MD_CTX *ctx;
};

/* A digest that libcrypto cannot give is no state to go on from. */
static void need(int ok)
{
	if (!ok)
		abort();
}

void ib_crypto_init(void)
{
	need(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL));
}

struct ib_sha256 *ib_sha256_new(void)
{
	struct ib_sha256 *s = ib_alloc(sizeof(*s));

	s->ctx = EVP_MD_CTX_new();
	need(s->ctx && EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL));
	return s;
}

void ib_sha256_add(struct ib_sha256 *s, const void *data, size_t n)
{
	need(EVP_DigestUpdate(s->ctx, data, n));
}

void ib_sha256_raw(struct ib_sha256 *s, uint8_t ret[IB_SHA256_LEN])
{
	need(EVP_DigestFinal_ex(s->ctx, ret, NULL) && EVP_DigestInit_ex(s->ctx, NULL, NULL));
}

void ib_sha256_hex(struct ib_sha256 *s, char ret_hex[IB_HEX_LEN])
{
	uint8_t raw[IB_SHA256_LEN];

	ib_sha256_raw(s, raw);
	ib_hex(raw, sizeof(raw), ret_hex);
}

void ib_sha256_free(struct ib_sha256 **s)
{
	if (*s)
		EVP_MD_CTX_free((*s)->ctx);
	free(*s);
	*s = NULL;
}

void ib_sha256_of(const void *data, size_t n, char ret_hex[IB_HEX_LEN])
{
	uint8_t raw[IB_SHA256_LEN];

	need(EVP_Digest(data, n, raw, NULL, EVP_sha256(), NULL));
	ib_hex(raw, sizeof(raw), ret_hex);
}

int ib_sha256_fd(int fd, const char *name, char ret_hex[IB_HEX_LEN], uint64_t *ret_bytes, struct ib_err *err)
{
	ib_auto_sha256 struct ib_sha256 *s = ib_sha256_new();
	ib_auto_free char *chunk = ib_alloc(1 << 18);
	uint64_t total = 0;

	for (;;) {
		ssize_t n = read(fd, chunk, 1 << 18);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot read '%s'", name);
		if (n == 0)
			break;
		ib_sha256_add(s, chunk, (size_t)n);
		total += (uint64_t)n;
	}
	ib_sha256_hex(s, ret_hex);
	*ret_bytes = total;
	return 0;
}

void ib_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n, uint8_t ret[IB_SHA256_LEN])
{
	need(HMAC(EVP_sha256(), key, (int)key_n, data, n, ret, NULL) != NULL);
}
