/* SPDX-License-Identifier: Apache-2.0 */
/* A collector: one file, one const struct, one line in a table. docs/adding-a-collector.md shows how. */
#ifndef IB_COLLECTORS_COLLECTOR_H
#define IB_COLLECTORS_COLLECTOR_H

#include <stdbool.h>

#include "base/ctx.h"
#include "base/err.h"
#include "base/root.h"
#include "json/json.h"

enum {
	IB_COLLECTOR_VOLATILE = 1, /* all its leaves change from moment to moment: none counts in the stable digest */
};

struct ib_collector {
	const char *name;  /* key in the capture, for ever */
	const char *title; /* one line for --list */
	unsigned flags;
	const char *const *reads;    /* what it may touch, NULL-terminated: paths as ib_root_restrict() takes them; other sources by name ("uname(2)") */
	const char *const *unstable; /* leaves that change from moment to moment ("pressure*"), as patterns of ib_leaf() paths; NULL: none */
	/* Fills out with ib_leaf…(). A failure is noted beside what was filled in before; it ends this collector, not the capture. */
	int (*collect)(struct ib_ctx *ctx, json_t *out, struct ib_err *err);
};

/* Tables end with NULL. The volatile one needs neither hwloc nor libgit2 nor dlopen: all that ib-run links. */
extern const struct ib_collector *const ib_collectors_all[];
extern const struct ib_collector *const ib_collectors_volatile[];

/* What has no path. Under a recorded root the answers of the recorded machine; ctx->live NULL: nothing is known. */
struct ib_live {
	bool running;         /* the running system may be asked */
	const json_t *replay; /* ib-replay.json of a recorded root, or NULL */
	json_t *record;       /* answers are kept here, or NULL */
};
/* The answer to a question without a path: ask() on the live system, the recorded one under a recorded root, NULL when unknown.
 * New reference. */
json_t *ib_live_ask(struct ib_ctx *ctx, const char *name, json_t *(*ask)(struct ib_ctx *ctx, void *arg), void *arg);

/* --- answer.c: collectors that call libraries which may hang or crash --- */
struct ib_answer_job {
	const char *name; /* of the question, as in ib_live_ask() */
	int (*run)(struct ib_ctx *ctx, void *arg, int fd); /* in the child: calls ib_answer_emit(), returns an exit status */
	void *arg;
	int64_t timeout_ns;
};
/* In the child: sends what was filled in so far; later calls add to it. */
void ib_answer_emit(int fd, const json_t *out);
/* Merges the answer of a child (live system) or of the recorded machine into out; *ret_known is false when there is neither.
 * When the child fails, what it had sent is merged all the same. IB_E_TIMEOUT: it was killed at the limit. */
IB_MUST int ib_answer_ask(struct ib_ctx *ctx, const struct ib_answer_job *job, json_t *out, bool *ret_known, struct ib_err *err);
/* The same, always with a child. */
IB_MUST int ib_answer_run(struct ib_ctx *ctx, const struct ib_answer_job *job, json_t *out, struct ib_err *err);

/* --- leaf.c: filling in. path is a slash-separated key path ("cpufreq/governor"; a number indexes an array that is there).
 * A leaf that cannot be known is null in data, with its status in missing; everything else is "ok". --- */
json_t *ib_leaf_out(void); /* {"data": {}, "missing": {}} */
/* True for a file name that may become a key: letters, digits and "_.:-" only. */
bool ib_leaf_name(const char *name);
void ib_leaf(json_t *out, const char *path, json_t *value); /* steals; NULL value: missing, error */
void ib_leaf_str(json_t *out, const char *path, const char *s);
void ib_leaf_int(json_t *out, const char *path, int64_t v); /* beyond 2^53: as a string of digits */
void ib_leaf_missing(json_t *out, const char *path, struct ib_fact fact);
/* Adds data and missing of a filled-in object (a recorded or a child's answer), and "xml" where it has that. */
void ib_leaf_merge(json_t *out, const json_t *from);

/* One file is one leaf: its text without the line end; an integer times factor; anything else than an integer is an error (EINVAL). */
void ib_leaf_file(struct ib_ctx *ctx, json_t *out, const char *path, const char *file);
void ib_leaf_file_int(struct ib_ctx *ctx, json_t *out, const char *path, const char *file, int64_t factor);
/* Text of a small file (64 KiB), without its last line end. Empty unless OK. */
struct ib_fact ib_read_text(struct ib_ctx *ctx, const char *file, struct ib_buf *b);
/* "always [madvise] never" -> "madvise": the chosen word in brackets, or the text itself. Allocated. */
char *ib_chosen(const char *text);

/* environment.c: {"values": {NAME: value}, "present": [NAME], "others": {"count", "names"}} of an environment, redacted. ctx->redact must be
 * set. Also what ib-run records of a command's environment. */
json_t *ib_environment_json(const struct ib_ctx *ctx, char *const *env);
/* kernel.c: a kernel command line as it may be recorded: secrets and identities replaced. Allocated. */
char *ib_cmdline_redact(const struct ib_ctx *ctx, const char *cmdline);

#endif
