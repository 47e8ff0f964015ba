/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive as a second, independent reader. Not for verdicts: it takes much that the packet layer refuses. Linked into ib-pack alone. */
#ifndef IB_STORE_FOREIGN_H
#define IB_STORE_FOREIGN_H

#include <stdint.h>

#include "base/err.h"

/* Calls each(arg, path, bytes) for every entry of the archive in fd, in its order; an error of each ends it. All content is read. */
IB_MUST int ib_foreign_list(int fd, int (*each)(void *arg, const char *path, uint64_t bytes, struct ib_err *err), void *arg, struct ib_err *err);

#endif
