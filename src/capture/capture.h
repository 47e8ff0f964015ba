/* SPDX-License-Identifier: Apache-2.0 */
/* Captures: runs a table of collectors and makes one document of what they found (schemas/capture-v1.schema.json). */
#ifndef IB_CAPTURE_CAPTURE_H
#define IB_CAPTURE_CAPTURE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/digest.h"
#include "base/err.h"
#include "collectors/collector.h"

#define IB_CAPTURE_SCHEMA "urn:ibtools:capture:v1"

struct ib_capture {
	json_t *doc;
	char *xml;                   /* hwloc's topology, or NULL */
	char xml_sha256[IB_HEX_LEN]; /* "" without xml */
};
void ib_capture_clear(struct ib_capture *c);
#define ib_auto_capture __attribute__((cleanup(ib_capture_clear)))

/* Runs those collectors of a table that want() takes (NULL: all). ctx needs clock, env, redact; root NULL stands for the live
 * system's. A collector that fails is an entry with errors, not a failure. Document keys: schema, kind, at, node, boot, source, stable_sha256,
 * wall_ns, cpu_ns, skipped, collectors. Does not look for secrets: ib_capture_text() does. */
IB_MUST int ib_capture_run(struct ib_ctx *ctx, const struct ib_collector *const *table, bool (*want)(void *arg, const char *name), void *arg,
			   struct ib_capture *ret, struct ib_err *err);

/* Volatile facts (load, pressure, clocks, memory in use), taken in-process in a few milliseconds: before.json and after.json of a
 * run. Links neither hwloc nor libgit2 nor dlopen. *ret is a new reference, already through the gate. */
IB_MUST int ib_capture_volatile(struct ib_ctx *ctx, json_t **ret, struct ib_err *err);

/* The document as it is written, after the last gate (IB_E_STATE: it would hold a secret). */
IB_MUST int ib_capture_text(const struct ib_ctx *ctx, const json_t *doc, struct ib_buf *out, struct ib_err *err);

/* Writes captures/<sha256>.json, named by its digest, and captures/<sha256>.xml below a study's directory; both are made
 * read-only, a file that is there already stays. */
IB_MUST int ib_capture_store(const struct ib_ctx *ctx, int study_fd, const struct ib_capture *c, char ret_sha256[IB_HEX_LEN], struct ib_err *err);

/* --- record.c: recorded roots --- */

struct ib_recorder;
/* Copies every file that is read through ctx->root below dir (made, must not hold anything), redacted; ib_recorder_finish() adds
 * ib-replay.json with what has no path. */
IB_MUST int ib_recorder_start(struct ib_ctx *ctx, const char *dir, struct ib_recorder **ret, struct ib_err *err);
IB_MUST int ib_recorder_finish(struct ib_recorder *r, const struct ib_capture *c, struct ib_err *err);
void ib_recorder_free(struct ib_recorder **r);
json_t *ib_recorder_answers(struct ib_recorder *r); /* borrowed: where ctx->live puts answers */

/* Loads DIR/ib-replay.json of a recorded root, or what the agentless recorder wrote in its place; *ret is NULL when there is neither. Statuses of
 * files are set in ctx->root. */
IB_MUST int ib_replay_load(struct ib_ctx *ctx, json_t **ret, struct ib_err *err);

#endif
