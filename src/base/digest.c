/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC-SHA-256 (libcrypto). */
#include "base/digest.h"

#include <errno.h>
#define OPENSSL_SUPPRESS_DEPRECATED /* EVP sets up all of libcrypto's algorithms for its first digest: 1.5 ms in each process, which a short run shows */
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

#define BLOCK_LEN 64
#define CHUNK_LEN 32768

struct ib_sha256 {
	SHA256_CTX ctx;
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

	need(SHA256_Init(&s->ctx));
	return s;
}

void ib_sha256_add(struct ib_sha256 *s, const void *data, size_t n)
{
	need(SHA256_Update(&s->ctx, data, n));
}

void ib_sha256_raw(struct ib_sha256 *s, uint8_t ret[IB_SHA256_LEN])
{
	need(SHA256_Final(ret, &s->ctx) && SHA256_Init(&s->ctx));
}

void ib_sha256_hex(struct ib_sha256 *s, char ret_hex[IB_HEX_LEN])
{
	uint8_t raw[IB_SHA256_LEN];

	ib_sha256_raw(s, raw);
	ib_hex(raw, sizeof(raw), ret_hex);
}

void ib_sha256_free(struct ib_sha256 **s)
{
	free(*s);
	*s = NULL;
}

/* The digest of one block behind another. */
static void digest(const void *first, size_t first_n, const void *data, size_t n, uint8_t ret[IB_SHA256_LEN])
{
	SHA256_CTX ctx;

	need(SHA256_Init(&ctx) && SHA256_Update(&ctx, first, first_n) && SHA256_Update(&ctx, data, n) && SHA256_Final(ret, &ctx));
	OPENSSL_cleanse(&ctx, sizeof(ctx));
}

void ib_sha256_raw_of(const void *data, size_t n, uint8_t ret[IB_SHA256_LEN])
{
	digest("", 0, data, n, ret);
}

void ib_sha512_of(const void *data, size_t n, uint8_t ret[IB_SHA512_LEN])
{
	need(SHA512(data, n, ret) != NULL);
}

void ib_sha256_of(const void *data, size_t n, char ret_hex[IB_HEX_LEN])
{
	uint8_t raw[IB_SHA256_LEN];

	digest(NULL, 0, data, n, raw);
	ib_hex(raw, sizeof(raw), ret_hex);
}

int ib_sha256_fd(int fd, const char *name, char ret_hex[IB_HEX_LEN], uint64_t *ret_bytes, struct ib_err *err)
{
	ib_auto_sha256 struct ib_sha256 *s = ib_sha256_new();
	char chunk[CHUNK_LEN];
	uint64_t total = 0;

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

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

/* RFC 2104. */
void ib_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n, uint8_t ret[IB_SHA256_LEN])
{
	uint8_t pad[BLOCK_LEN] = {0}, inner[IB_SHA256_LEN];

	if (key_n > sizeof(pad))
		digest(NULL, 0, key, key_n, pad);
	else if (key_n)
		memcpy(pad, key, key_n);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	digest(pad, sizeof(pad), data, n, inner);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	digest(pad, sizeof(pad), inner, sizeof(inner), ret);
	OPENSSL_cleanse(pad, sizeof(pad));
}
