/* SPDX-License-Identifier: Apache-2.0 */
/* Host reads below a root directory: the live system's "/" or a recorded tree of another machine. Links, absolute or with
 * "..", stay inside. What cannot be read is a status, never a value. */
#ifndef IB_BASE_ROOT_H
#define IB_BASE_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum ib_fact_status { IB_FACT_OK, IB_FACT_ABSENT, IB_FACT_DENIED, IB_FACT_UNSUPPORTED, IB_FACT_TIMEOUT, IB_FACT_ERROR };

/* How a read went; sys is the errno behind it, 0 for none. */
struct ib_fact {
	enum ib_fact_status status;
	int sys;
};

/* "ok", "absent" … and back (unknown: IB_FACT_ERROR). */
const char *ib_fact_name(enum ib_fact_status status);
enum ib_fact_status ib_fact_parse(const char *name);
/* The status that an errno stands for. */
struct ib_fact ib_fact_of(int sys);

struct ib_root;

/* dir "/" is the live system; any other directory is a recorded root. */
IB_MUST int ib_root_open(const char *dir, struct ib_root **ret, struct ib_err *err);
void ib_root_free(struct ib_root **r);
#define ib_auto_root __attribute__((cleanup(ib_root_free)))

bool ib_root_is_live(const struct ib_root *r);
int ib_root_fd(const struct ib_root *r);           /* of the root directory, borrowed */
const char *ib_root_path(const struct ib_root *r); /* as given to ib_root_open */

/* Reads a regular file ("/proc/stat") whole, up to out->max bytes (more: error, EFBIG; nothing is kept then). */
struct ib_fact ib_root_read(struct ib_root *r, const char *path, struct ib_buf *out);
/* Opens a file or directory for reading again and again; *ret_fd is -1 unless ok. r NULL: the live system. */
struct ib_fact ib_root_keep(struct ib_root *r, const char *path, int *ret_fd);
/* Names in a directory, sorted by bytes, without "." and "..". */
struct ib_fact ib_root_list(struct ib_root *r, const char *path, struct ib_strv *ret);
/* ok when something is there, of whatever kind. */
struct ib_fact ib_root_exists(struct ib_root *r, const char *path);

/* From now on only paths that match one of the patterns may be touched ('*' within a component, a last component "**" for
 * all below). Anything else is refused (error, EPERM) and remembered. NULL lifts the restriction. */
void ib_root_restrict(struct ib_root *r, const char *const *patterns);
/* The first path that was refused since the last ib_root_restrict(), or NULL. */
const char *ib_root_refused(const struct ib_root *r);

/* Called for every read, listing and look with its outcome; data is NULL unless it is a file (not read: n is 0). */
typedef void ib_root_watcher(void *arg, const char *path, struct ib_fact fact, const char *data, size_t n);
void ib_root_watch(struct ib_root *r, ib_root_watcher *watcher, void *arg);
/* In a recorded root: reading path gives this status, as it did on the recorded machine. */
void ib_root_set_fact(struct ib_root *r, const char *path, struct ib_fact fact);
/* Resolves links component by component instead of by openat2(2), as on a kernel without it. */
void ib_root_use_walk(struct ib_root *r);

#endif
