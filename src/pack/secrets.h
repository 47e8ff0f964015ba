/* SPDX-License-Identifier: Apache-2.0 */
/* The last look for secrets before a packet leaves the machine. */
#ifndef IB_PACK_SECRETS_H
#define IB_PACK_SECRETS_H

#include "base/ctx.h"
#include "pack/tree.h"

/* Scans every file that is packed, those that ibtools wrote too: notes and reasons in the ledger, and what was laid beside a document under a name
 * that looks like one, passed no gate. Each hit in a file that is not in allow goes to ctx->log; any is IB_E_STATE, naming the first file and line.
 * A name in allow that is no file of the study is IB_E_USAGE. */
IB_MUST int ib_pack_secrets(const struct ib_ctx *ctx, int dirfd, const struct ib_tree *t, const char *const *allow, size_t allow_n, struct ib_err *err);

#endif
