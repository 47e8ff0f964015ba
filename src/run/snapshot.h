/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a study at one moment: by size and times, and by digest where they may be changed. */
#ifndef IB_RUN_SNAPSHOT_H
#define IB_RUN_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"

struct ib_snapshot_file {
	char *path; /* below the root */
	uint64_t bytes;
	uint64_t ino;
	struct timespec mtime, ctime;
	char sha256[IB_HEX_LEN]; /* "": not taken */
};

struct ib_snapshot {
	struct ib_snapshot_file *files; /* sorted by bytes of path */
	size_t n;
	struct ib_strv dirs;            /* "" is the root; the parent before its children */
	uint64_t digested;              /* bytes */
	bool partial;                   /* too many, too deep, or not readable: it does not hold all */
};

/* Regular files and directories below root_fd; nothing behind links, no ".git", no caches of interpreters. with_digest says of which files the digest is taken
 * (NULL: of none), up to 1 GiB in all. */
IB_MUST int ib_snapshot_take(int root_fd, bool (*with_digest)(const char *path), struct ib_snapshot *ret, struct ib_err *err);
void ib_snapshot_clear(struct ib_snapshot *s);
#define ib_auto_snapshot __attribute__((cleanup(ib_snapshot_clear)))

/* The file of that path, or NULL. */
const struct ib_snapshot_file *ib_snapshot_find(const struct ib_snapshot *s, const char *path);
/* Same file, same size, same times? */
bool ib_snapshot_same(const struct ib_snapshot_file *a, const struct ib_snapshot_file *b);

#endif
