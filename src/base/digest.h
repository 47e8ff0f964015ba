/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC-SHA-256 (libcrypto). */
#ifndef IB_BASE_DIGEST_H
#define IB_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IB_SHA256_LEN 32
#define IB_SHA512_LEN 64
#define IB_HEX_LEN 65 /* 64 digits and a NUL */

/* Starts libcrypto without openssl.cnf, so that no file and no variable can load code into it. For the tools, before
 * anything else of libcrypto: a library leaves that to its caller. */
void ib_crypto_init(void);

struct ib_sha256; /* running digest */

struct ib_sha256 *ib_sha256_new(void);
void ib_sha256_add(struct ib_sha256 *s, const void *data, size_t n);
/* Hex digest of what was added so far; the state starts anew afterwards. */
void ib_sha256_hex(struct ib_sha256 *s, char ret_hex[IB_HEX_LEN]);
void ib_sha256_raw(struct ib_sha256 *s, uint8_t ret[IB_SHA256_LEN]);
void ib_sha256_free(struct ib_sha256 **s);
#define ib_auto_sha256 __attribute__((cleanup(ib_sha256_free)))

/* Digest of one block. */
void ib_sha256_of(const void *data, size_t n, char ret_hex[IB_HEX_LEN]);
void ib_sha256_raw_of(const void *data, size_t n, uint8_t ret[IB_SHA256_LEN]);
void ib_sha512_of(const void *data, size_t n, uint8_t ret[IB_SHA512_LEN]);
/* Digest and size of the rest of an open file. */
IB_MUST int ib_sha256_fd(int fd, const char *name, char ret_hex[IB_HEX_LEN], uint64_t *ret_bytes, struct ib_err *err);
void ib_hmac_sha256(const void *key, size_t key_n, const void *data, size_t n, uint8_t ret[IB_SHA256_LEN]);

#endif
