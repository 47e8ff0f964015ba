/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a tree are opened while a command runs, by whomever: inotify, which needs no privilege and sees children too. */
#ifndef IB_RUN_OPENED_H
#define IB_RUN_OPENED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct ib_opened_name {
	char *path;         /* NULL: a free place of the table */
	bool read, written; /* it was closed after reading; after writing */
};

struct ib_opened {
	int fd;              /* of inotify, or -1 */
	struct ib_strv dirs; /* by watch descriptor */
	struct ib_opened_name *names; /* hash table of room places */
	size_t n, room;
	char *why;           /* what the list may lack, or NULL */
};

/* Watches the directories (below root, an absolute path; "" is root itself). What cannot be watched is said in why. */
void ib_opened_begin(const char *root, const struct ib_strv *dirs, struct ib_opened *ret);
/* Takes what has arrived. To be called often: the kernel keeps 16384 events. */
void ib_opened_take(struct ib_opened *o);
/* Takes the rest, and gives the paths that were opened, sorted, each once. */
void ib_opened_end(struct ib_opened *o, struct ib_strv *ret);
/* Was the file opened for writing (and maybe reading, which cannot be told) and never for reading alone? */
bool ib_opened_only_written(const struct ib_opened *o, const char *path);
void ib_opened_clear(struct ib_opened *o);

#endif
