/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of loose files, or one file, as evidence: no ledger, no record, no digest that anybody wrote down before. */
#ifndef IB_VERIFY_FOLDER_H
#define IB_VERIFY_FOLDER_H

#include "verify/verify.h"

#define IB_FOLDER_TEXT_MAX (1u << 20) /* of a file that gives context */
#define IB_FOLDER_HELD_MAX ((size_t)4 << 30) /* bytes of columns that all results of a folder may take */

/* Looks at every regular file below dirfd: results by content, one run for each directory that holds some; text files of at most 1 MiB beside them or in
 * the directories above (within the folder) say how they came to be, the nearest first. Links, devices, sockets and pipes are passed over and listed. A file
 * that cannot be read, or is too large together with the others, is listed as unread. Limits as ib_dir_walk(): IB_E_LIMIT; IB_E_IO when dirfd itself
 * cannot be read. *ret is to be cleared in both cases. */
IB_MUST int ib_folder_read(int dirfd, const char *name, struct ib_audit_view *ret, struct ib_err *err);
/* One result file by itself; file is what findings call it. Errors as ib_folder_read(), none for a torn one: the run lists it. */
IB_MUST int ib_folder_read_file(int fd, const char *file, struct ib_audit_view *ret, struct ib_err *err);

/* Verdicts over these; ret is begun by the caller. Nothing vouches for the bytes, so intact, signed, trusted and time_stamped stay not checkable. A folder in
 * which nothing is recognised is one finding of class E_UNSUPPORTED. */
IB_MUST int ib_folder_verify(int dirfd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err);
IB_MUST int ib_loose_verify(int fd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err);

#endif
