/* SPDX-License-Identifier: Apache-2.0 */
/* A packet as the subject: the packet layer first, then the study inside it. */
#ifndef IB_VERIFY_VERIFY_PACKET_H
#define IB_VERIFY_VERIFY_PACKET_H

#include "verify/anchors.h"
#include "verify/verify.h"

/* fd: the open file, at its start. ret is begun by the caller; its kind becomes IB_KIND_PACKET once it is one. A file that is no packet is a
 * finding (E_CONTAINER, refused), unless it is a client's result: then that is judged (verify/folder.h). */
IB_MUST int ib_file_verify(int fd, const char *path, const struct ib_verify_opts *opts, const struct ib_anchors *anchors, struct ib_verdict *ret,
			   struct ib_err *err);

#endif
