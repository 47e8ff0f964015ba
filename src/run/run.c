/* SPDX-License-Identifier: Apache-2.0 */
/* One run, from its start entry to its read-only directory. */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/append.h"
#include "redact/redact.h"
#include "run/inside.h"
#include "run/runid.h"

#define FREE_BYTES_MIN (1u << 20)

/* What ib_run_one() owns. */
struct work {
	struct ib_run run;
	char id[IB_RUN_ID_MAX];
	char *rel, *dir, *output_dir; /* rel: below the study */
	struct ib_strv env;
	int reserved_fd;
};

/* --- beginning --- */

/* Names go into paths and into the ledger, where nothing can be redacted. */
static int check_name(const struct ib_study *study, const char *what, const char *name, struct ib_err *err)
{
	int r;

	if (!name)
		return 0;
	if ((r = ib_run_name_check(what, name, err)) < 0)
		return r;
	return ib_gate(study->redactor, name, strlen(name), what, err);
}

static int check(const struct ib_study *study, const struct ib_run_spec *spec, struct ib_err *err)
{
	struct statvfs vfs;
	int r;

	if ((r = check_name(study, "group", spec->group, err)) < 0 || (r = check_name(study, "cell", spec->cell, err)) < 0)
		return r;
	if (spec->repeat < 1 || spec->attempt < 1 || !spec->argv || !spec->argv[0])
		return ib_fail(err, IB_E_USAGE, 0, "a run needs a command, a repeat and an attempt from 1");
	if (fstatvfs(study->fd, &vfs) == 0 && vfs.f_blocks && (uint64_t)vfs.f_bavail * vfs.f_frsize < FREE_BYTES_MIN)
		return ib_fail(err, IB_E_IO, ENOSPC, "no room for a run in '%s'", study->path);
	return 0;
}

/* Under the ledger's lock: nobody can take the run for abandoned before its directory is locked. */
static int make_dir(void *arg, struct ib_err *err)
{
	ib_auto_fd int runs = -1;
	struct work *w = arg;
	int fd = w->run.study->fd, r;

	if (mkdirat(fd, w->rel, 0755) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make directory '%s'", w->rel);
	w->run.dir_fd = openat(fd, w->rel, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (w->run.dir_fd < 0 || flock(w->run.dir_fd, LOCK_EX) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot lock directory '%s'", w->rel);
	if (mkdirat(w->run.dir_fd, "output", 0755) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make directory '%s/output'", w->rel);
	r = ib_open_dir(fd, "runs", &runs, err);
	return r < 0 ? r : ib_sync_dir(runs, "runs", err);
}

static int append_start(struct work *w, struct ib_err *err)
{
	const struct ib_run_spec *spec = w->run.spec;
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_START, .repeat = spec->repeat, .attempt = spec->attempt};

	e.run = ib_strdup(w->id);
	e.group = ib_strdup(spec->group);
	e.cell = ib_strdup(spec->cell);
	memcpy(e.capture, w->run.study->capture_node, IB_HEX_LEN);
	return ib_ledger_append(w->run.study->ledger, &e, make_dir, w, err);
}

void ib_run_env(const struct ib_ctx *ctx, const char *id, const char *dir, const char *output_dir, struct ib_strv *ret)
{
	static const char *const ours[] = {"IB_RUN_ID=", "IB_RUN_DIR=", "IB_OUTPUT_DIR=", "IB_HOOK="};

	for (char *const *e = ctx->env; e && *e; e++) {
		bool skip = false;

		for (size_t i = 0; i < IB_LEN(ours); i++)
			skip |= ib_starts(*e, ours[i]);
		if (!skip)
			ib_strv_add(ret, *e);
	}
	ib_strv_take(ret, ib_asprintf("IB_RUN_ID=%s", id));
	ib_strv_take(ret, ib_asprintf("IB_RUN_DIR=%s", dir));
	ib_strv_take(ret, ib_asprintf("IB_OUTPUT_DIR=%s", output_dir));
}

static int begin(struct work *w, struct ib_err *err)
{
	struct ib_run *run = &w->run;
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	ib_run_id(ib_wall_ns(run->ctx->clock), run->spec->group, run->spec->cell, run->spec->repeat, random, w->id);
	w->rel = ib_asprintf("runs/%s", w->id);
	w->dir = ib_asprintf("%s/%s", run->study->path, w->rel);
	w->output_dir = ib_asprintf("%s/output", w->dir);
	run->id = w->id;
	run->dir = w->dir;
	run->output_dir = w->output_dir;
	ib_run_env(run->ctx, w->id, w->dir, w->output_dir, &w->env);
	run->env = w->env.v;
	return append_start(w, err);
}

static void describe(struct ib_run *run)
{
	struct ib_record *r = run->record;

	r->run_id = ib_strdup(run->id);
	r->study = ib_strdup(run->study->name);
	r->group = ib_strdup(run->spec->group);
	r->cell = ib_strdup(run->spec->cell);
	r->repeat = run->spec->repeat;
	r->attempt = run->spec->attempt;
	r->survivors = run->study->survivors;
	for (size_t i = 0; i < run->spec->variables_n; i++)
		ib_record_add_variable(r, run->spec->variables[i].name, run->spec->variables[i].value);
	if (run->spec->contract_sha256)
		memcpy(r->contract_sha256, run->spec->contract_sha256, IB_HEX_LEN);
	if (run->spec->cache_condition)
		r->cache.condition = ib_strdup(run->spec->cache_condition);
	memcpy(r->capture_node, run->study->capture_node, IB_HEX_LEN);
	if (run->study->capture_note)
		ib_strv_add(&r->notes, run->study->capture_note);
}

/* --- before the command --- */

static void refuse(struct ib_run *run, const char *reason, const struct ib_err *why)
{
	run->record->state = run->signals->caught ? IB_STATE_INTERRUPTED : IB_STATE_REFUSED;
	ib_strv_add(&run->record->reasons, reason);
	if (why)
		ib_strv_add(&run->record->notes, why->text);
}

/* False: the run is refused. */
static bool step(struct ib_run *run, ib_run_step *fn, const char *name)
{
	struct ib_err err = {0};

	ib_signals_wait(run->signals, 0, -1);
	if (run->signals->caught)
		(void)!ib_fail(&err, IB_E_STATE, 0, "interrupted by a signal");
	else if (!fn || fn(run->spec->steps.arg, run, &err) >= 0)
		return true;
	refuse(run, name, &err);
	return false;
}

static bool check_workload(struct ib_run *run, const struct ib_run_workload *w)
{
	struct ib_record_workload *rw = ib_record_add_workload(run->record, w->name, w->path);
	ib_auto_fd int fd = openat(run->study->fd, w->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ib_err err = {0};
	uint64_t bytes;
	int r = 0;

	if (w->sha256)
		memcpy(rw->expected_sha256, w->sha256, IB_HEX_LEN);
	if (fd < 0)
		r = ib_fail(&err, IB_E_MISSING, errno, "workload '%s' cannot be opened", w->path);
	else if (ib_sha256_fd(fd, w->path, rw->sha256, &bytes, &err) < 0)
		r = ib_wrap(&err, "workload '%s'", w->name);
	else if (w->sha256 && strcmp(w->sha256, rw->sha256) != 0)
		r = ib_fail(&err, IB_E_HASH, 0, "workload '%s' has SHA-256 %s, the contract says %s", w->path, rw->sha256, w->sha256);
	rw->status = rw->sha256[0] ? r < 0 ? IB_WORKLOAD_MISMATCH : IB_WORKLOAD_OK : IB_WORKLOAD_MISSING;
	if (r < 0)
		refuse(run, "workload", &err);
	return r == 0;
}

static bool prepare(struct ib_run *run)
{
	const struct ib_run_steps *s = &run->spec->steps;

	for (size_t i = 0; i < run->spec->workloads_n; i++)
		if (!check_workload(run, &run->spec->workloads[i]))
			return false;
	if (!step(run, s->permit, "permission"))
		return false;
	if (!step(run, s->ready, "readiness") || !step(run, s->check, "output_check"))
		return false;
	if (!step(run, s->quiesce, "quiescence") || !step(run, s->reset, "reset") || !step(run, s->warmup, "warm_up"))
		return false;
	if (!run->spec->no_capture)
		run->record->capture_before = ib_strdup(ib_run_capture_volatile(run, "before.json"));
	return step(run, s->before, "before") && step(run, NULL, "command");
}

/* --- after it --- */

/* A signal is no failure of the run: its slot is to be filled again. */
static void late_step(struct ib_run *run, ib_run_step *fn, const char *name)
{
	enum ib_state was = run->record->state;
	struct ib_err err = {0};

	if (!fn || fn(run->spec->steps.arg, run, &err) >= 0)
		return;
	ib_record_fail(run->record, name);
	ib_signals_wait(run->signals, 0, -1);
	if (was == IB_STATE_COMPLETED && run->signals->caught)
		run->record->state = IB_STATE_INTERRUPTED;
	ib_strv_add(&run->record->notes, err.text);
}

/* A command that was told where to write and wrote nothing there has produced nothing. */
static void check_output(struct ib_run *run)
{
	bool told = false;

	for (char *const *a = run->spec->argv; *a; a++)
		told |= strstr(*a, "{output_dir}") != NULL;
	/* rmdir only succeeds on an empty directory */
	if (!told || run->record->exit.exec_errno != IB_NONE || unlinkat(run->dir_fd, "output", AT_REMOVEDIR) < 0)
		return;
	if (mkdirat(run->dir_fd, "output", 0755) == 0)
		ib_record_fail(run->record, "no_output");
}

static void conclude(struct ib_run *run, const struct ib_child_result *res)
{
	const struct ib_run_steps *s = &run->spec->steps;

	if (res->exec_errno != IB_NONE)
		return;
	run->signals_seen = run->signals->count;
	late_step(run, s->after, "after");
	if (!run->spec->no_capture)
		run->record->capture_after = ib_strdup(ib_run_capture_volatile(run, "after.json"));
	check_output(run);
	if (res->interrupted_by)
		return;
	late_step(run, s->convert, "convert");
	if (run->record->state != IB_STATE_INTERRUPTED)
		late_step(run, s->outcome, "outcome");
}

static int carry_out(struct work *w, struct ib_err *err)
{
	struct ib_run *run = &w->run;
	struct ib_child_result res = {0};
	struct ib_err why = {0};
	int r;

	if ((r = ib_run_reserve(run, &w->reserved_fd, err)) < 0 || (r = ib_run_write_command(run, err)) < 0)
		return r;
	if (prepare(run)) {
		if (ib_run_execute(run, &res, &why) < 0)
			refuse(run, why.code == IB_E_UNSUPPORTED ? "network" : "command", &why);
		else
			conclude(run, &res);
	}
	return ib_run_finish(run, w->reserved_fd, err);
}

static void clear(struct work *w)
{
	if (w->run.dir_fd >= 0)
		close(w->run.dir_fd);
	if (w->reserved_fd >= 0)
		close(w->reserved_fd);
	ib_strv_clear(&w->env);
	ib_strv_clear(&w->run.captures);
	free(w->rel);
	free(w->dir);
	free(w->output_dir);
}

int ib_run_one(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals, const struct ib_run_spec *spec, struct ib_record *ret_record,
	       struct ib_err *err)
{
	ib_auto_record struct ib_record record;
	struct work w = {.run = {.ctx = ctx, .study = study, .spec = spec, .group = spec->group, .cell = spec->cell, .dir_fd = -1, .signals = signals},
			 .reserved_fd = -1};
	int r;

	ib_record_init(&record);
	w.run.record = &record;
	if ((r = check(study, spec, err)) < 0)
		return r;
	if (!spec->no_capture)
		ib_run_capture_node(ctx, study, signals);
	r = begin(&w, err);
	if (r == 0) {
		describe(&w.run);
		r = carry_out(&w, err);
		if (r < 0)
			r = ib_wrap(err, "run '%s' is not complete", w.id);
	}
	clear(&w);
	if (r < 0)
		return r;
	*ret_record = record;
	ib_record_init(&record);
	return 0;
}

static bool has_reason(const struct ib_record *record, const char *reason)
{
	for (size_t i = 0; i < record->reasons.n; i++)
		if (strcmp(record->reasons.v[i], reason) == 0)
			return true;
	return false;
}

int ib_run_exit_status(const struct ib_record *record, const struct ib_signals *signals)
{
	if (record->exit.exec_errno != IB_NONE)
		return record->exit.exec_errno == ENOENT ? IB_EXIT_NOT_FOUND : IB_EXIT_CANNOT_EXECUTE;
	if (record->state == IB_STATE_INTERRUPTED && signals->caught)
		return IB_EXIT_SIGNAL + signals->caught;
	if (record->exit.timed_out || has_reason(record, "no_progress"))
		return IB_EXIT_TIMED_OUT;
	if (record->exit.signal != IB_NONE)
		return IB_EXIT_SIGNAL + (int)record->exit.signal;
	if (record->exit.status != IB_NONE)
		return (int)record->exit.status;
	return IB_EXIT_RUN_ERROR;
}
