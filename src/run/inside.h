/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of one run, shared by the files of this module only. */
#ifndef IB_RUN_INSIDE_H
#define IB_RUN_INSIDE_H

#include "json/json.h"
#include "run/run.h"

#define IB_GRACE_NS (10 * IB_NS)

/* expand.c: every argument; appended to ret. */
IB_MUST int ib_run_expand_all(const struct ib_run *run, char *const *argv, bool strict, struct ib_strv *ret, struct ib_err *err);
/* All placeholders and their values. New reference. */
json_t *ib_run_placeholders(const struct ib_run *run);

/* expand.c: the variables of a slot; *ret is freed by the caller, its texts are those of variables. Returns their number. */
size_t ib_run_variables(const json_t *variables, struct ib_var **ret);

/* command.c: writes command.json, redacted, and puts its digest into the record. What the last gate refuses is withheld, with a note. */
IB_MUST int ib_run_write_command(struct ib_run *run, struct ib_err *err);

/* execute.c: the command, from its start to its last byte of output; the record holds the result. An error: it was not started. */
IB_MUST int ib_run_execute(struct ib_run *run, struct ib_child_result *res, struct ib_err *err);

/* run.c: ctx->env without what an outer run set, and the variables of this one; appended to ret. */
void ib_run_env(const struct ib_ctx *ctx, const char *id, const char *dir, const char *output_dir, struct ib_strv *ret);

/* hook.c: a command around the measured one whose output is kept, but which is no hook of the record. */
struct ib_run_ask {
	const char *dir, *name; /* DIR/NAME.{out,err} below the run directory; dir "": there itself */
	char *const *argv;
	int stdin_fd;           /* -1: nothing */
	int64_t timeout_ns;     /* 0: none */
	bool verbatim;          /* argv holds no placeholders any more */
};
IB_MUST int ib_run_ask(struct ib_run *run, const struct ib_run_ask *ask, struct ib_child_result *ret, struct ib_err *err);

/* result.c: room for the record, taken before the command runs. */
IB_MUST int ib_run_reserve(struct ib_run *run, int *ret_fd, struct ib_err *err);
/* Files, record.json (through the reserved file), finish entry, read-only. */
IB_MUST int ib_run_finish(struct ib_run *run, int reserved_fd, struct ib_err *err);

/* capture.c: ib-capture beside this program, else to be found on PATH. Allocated. */
char *ib_run_capture_tool(void);
/* The node's capture, once per study handle; a failure becomes study->capture_note. */
void ib_run_capture_node(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals);
/* Writes name (before.json, after.json) below the run directory. Returns its status for the record: "ok", "error". */
const char *ib_run_capture_volatile(struct ib_run *run, const char *name);

#endif
