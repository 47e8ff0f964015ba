/* SPDX-License-Identifier: Apache-2.0 */
/* Sealing a study and writing its packet (man/ib-pack.1, man/ib-packet.5). Never prints: what is worth saying goes to ctx->log. */
#ifndef IB_PACK_PACK_H
#define IB_PACK_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/digest.h"
#include "base/err.h"

/* Tells the name and size of every file of an archive, in its order; a second reader that shares no code with the packet layer. */
typedef int ib_pack_lister(int fd, int (*each)(void *arg, const char *path, uint64_t bytes, struct ib_err *err), void *arg, struct ib_err *err);

struct ib_pack_opts {
	const char *study; /* directory, or NULL: "." when it holds a ledger, else "./ib-study" */
	const char *key;   /* file with the private key, or NULL with is_unsigned */
	const char *out;   /* ends with .tar or .tar.zst; must not exist */
	bool is_unsigned;
	const char *const *allow_secret; /* paths below the study in which the scanner may find something */
	size_t allow_secret_n;
	ib_pack_lister *list; /* NULL: no second reading */
};

struct ib_pack_result {
	char top[64];
	char fingerprint[64]; /* "" for an unsigned packet */
	char head[IB_HEX_LEN];
	char tagmanifest_sha256[IB_HEX_LEN];
	uint64_t ledger_length;
	uint64_t files, bytes;   /* of the study */
	uint64_t withheld;       /* files */
	uint64_t packet_bytes;
	bool sealed_now;         /* a seal was appended */
};

/* Verifies the study, seals it unless it is sealed as it stands, writes the packet beside its final name, reads it back with the verifier and with
 * opts->list, and moves it into place. On failure no packet is left; a seal that was appended stays. IB_E_EXISTS, IB_E_USAGE, IB_E_STATE (not a
 * study, a run still going on, secrets found), IB_E_PATH, IB_E_TYPE, IB_E_DUP, IB_E_LIMIT (naming the file and a way out), IB_E_IO, and the class of
 * what does not verify. */
IB_MUST int ib_pack(const struct ib_ctx *ctx, const struct ib_pack_opts *opts, struct ib_pack_result *ret, struct ib_err *err);

/* Makes NAME.pem (PKCS#8, 0600) and NAME.pub.pem; IB_E_EXISTS when one is there. p256: ECDSA P-256 instead of Ed25519. */
IB_MUST int ib_pack_new_key(const char *name, bool p256, char ret_fingerprint[64], struct ib_err *err);

#endif
