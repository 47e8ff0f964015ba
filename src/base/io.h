/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes; files that appear complete or not at all. */
#ifndef IB_BASE_IO_H
#define IB_BASE_IO_H

#include <stdbool.h>
#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* As openat(), for a path below dirfd that passes no link and no ".." on its way: by openat2() or, where there is none, part by part. */
int ib_open_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Writes all n bytes (EINTR and short writes handled). name is for the message. */
IB_MUST int ib_write_all(int fd, const void *data, size_t n, const char *name, struct ib_err *err);

/* Reads up to n bytes until end of file; *ret_n < n means the end was reached. */
IB_MUST int ib_read_upto(int fd, void *data, size_t n, const char *name, size_t *ret_n, struct ib_err *err);

/* Reads everything from fd into b (within b->max, else IB_E_LIMIT). */
IB_MUST int ib_read_all(int fd, const char *name, struct ib_buf *b, struct ib_err *err);

/* Opens path below dirfd (O_RDONLY|O_CLOEXEC|O_NOFOLLOW|O_NONBLOCK, must be a regular file) and reads it into b. */
IB_MUST int ib_read_file(int dirfd, const char *path, struct ib_buf *b, struct ib_err *err);

/* Writes data to a temporary name beside path, syncs, and renames it into place. With replace false an existing path is
 * IB_E_EXISTS. mode is exact (umask does not count). On failure nothing is left, but for a directory
 * that cannot be synced: the file is then in place. */
IB_MUST int ib_write_file(int dirfd, const char *path, const void *data, size_t n, mode_t mode, bool replace, struct ib_err *err);

/* Opens a directory (O_DIRECTORY|O_CLOEXEC). */
IB_MUST int ib_open_dir(int dirfd, const char *path, int *ret_fd, struct ib_err *err);
/* Opens a directory (no link) to list it: closed with closedir(). NULL with errno. */
DIR *ib_list_dir(int dirfd, const char *path);
IB_MUST int ib_sync_dir(int dirfd, const char *name, struct ib_err *err);
/* mkdir -p below dirfd. Existing directories are fine; anything else in the way is IB_E_EXISTS. */
IB_MUST int ib_make_dirs(int dirfd, const char *path, mode_t mode, struct ib_err *err);

#endif
