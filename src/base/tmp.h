/* SPDX-License-Identifier: Apache-2.0 */
/* A private directory that is gone when its user is, however that ends. */
#ifndef IB_BASE_TMP_H
#define IB_BASE_TMP_H

#include <sys/types.h>

#include "base/ctx.h"
#include "base/err.h"

struct ib_tmp {
	char *path;
	int fd;        /* of the directory */
	int life;      /* a helper process removes the directory as soon as nobody holds this */
	pid_t remover;
};

/* A new directory, mode 0700, below $TMPDIR, else /dev/shm (nothing reaches a disk), else /tmp. Removed with all that is in it by
 * ib_tmp_remove(), or when this process and its children are gone, killed ones too. */
IB_MUST int ib_tmp_make(const struct ib_ctx *ctx, struct ib_tmp *ret, struct ib_err *err);
void ib_tmp_remove(struct ib_tmp *t);
#define IB_TMP_NONE ((struct ib_tmp){.fd = -1, .life = -1})
#define ib_auto_tmp __attribute__((cleanup(ib_tmp_remove)))

#endif
