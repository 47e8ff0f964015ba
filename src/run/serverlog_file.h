/* SPDX-License-Identifier: Apache-2.0 */
/* A server's log file: where it stood before the command, and what was written to it since, across rotation and truncation. */
#ifndef IB_RUN_SERVERLOG_FILE_H
#define IB_RUN_SERVERLOG_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "run/slice.h"

#define IB_LOG_PARTS 12

struct ib_log_place {
	char *path;
	int dir_fd;    /* what path is below */
	int fd;        /* held open, so that its bytes stay within reach whatever its name becomes; -1: not there */
	int sys;       /* why it could not be opened, or 0 */
	dev_t dev;
	ino_t ino;
	uint64_t size;
	uint64_t mark_n;       /* bytes before size whose digest is mark: has somebody written there since? */
	char mark[IB_HEX_LEN];
};

/* What was written since. */
struct ib_log_part {
	struct ib_segment seg[IB_LOG_PARTS];
	int own[IB_LOG_PARTS]; /* descriptors to be closed */
	size_t n, own_n;
	bool rotated, truncated;
	char *why;             /* what may be missing, or why there is nothing; NULL: all is well */
	int sys;               /* why there is nothing, or 0 */
};

/* Notes where the log stands; a log that is not there yet is no error. path is copied. Cheap: it reads 4 KiB at most. */
void ib_log_place(int dir_fd, const char *path, struct ib_log_place *ret);
void ib_log_place_clear(struct ib_log_place *p);

/* What was written since, in order, in whole lines where they are there. Bounded by what the files hold at this moment. */
void ib_log_since(const struct ib_log_place *p, struct ib_log_part *ret);
void ib_log_part_clear(struct ib_log_part *p);

/* The server's start-up lines as far as they stand before the place: from the last line that a known server begins with, else from the file's
 * first byte, at most 64 KiB in whole lines. *ret_known says which. False: there are none, or the log was rotated since. */
bool ib_log_banner(const struct ib_log_place *p, struct ib_segment *ret, bool *ret_known);

#endif
