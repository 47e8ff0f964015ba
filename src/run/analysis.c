/* SPDX-License-Identifier: Apache-2.0 */
/* An analysis, from the first look at the study to the entry of the ledger. */
#include "run/analysis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/io.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/analysis_inside.h"
#include "run/child.h"
#include "run/files.h"
#include "run/inside.h"
#include "run/logger.h"

#define TAKE_NS (IB_NS / 50) /* between two looks at what was opened */

bool ib_analysis_may_write(const char *path)
{
	return ib_starts(path, "analysis/") || ib_starts(path, "report/");
}

/* --- scripts --- */

/* The file that an argument names (also --option=FILE), or NULL. */
static const char *file_of(const char *arg, int *ret_fd)
{
	const char *value = arg[0] == '-' ? strchr(arg, '=') : NULL, *name = value ? value + 1 : arg;
	ib_auto_fd int fd = *name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	*ret_fd = ib_steal_fd(&fd);
	return name;
}

/* What the command line names, as it is before the command runs. The program itself counts where it is named by a path. */
static void note_scripts(struct ib_analysis_work *w)
{
	size_t root = strlen(w->study.path);

	for (size_t i = 0; w->argv.v[i]; i++) {
		ib_auto_fd int fd = -1;
		struct ib_analysis_script s = {.argument = i};
		const char *name = i || strchr(w->argv.v[0], '/') ? file_of(w->argv.v[i], &fd) : NULL;
		ib_auto_free char *path = name ? realpath(name, NULL) : NULL;

		if (!path || ib_sha256_fd(fd, name, s.sha256, &s.bytes, NULL) < 0)
			continue;
		s.in_study = strncmp(path, w->study.path, root) == 0 && path[root] == '/';
		s.path = s.in_study ? ib_strdup(path + root + 1) : ib_redact_text(w->study.redactor, path);
		w->scripts = ib_realloc(w->scripts, w->n_scripts + 1, sizeof(*w->scripts));
		w->scripts[w->n_scripts++] = s;
	}
}

/* --- the command --- */

static void set_env(struct ib_analysis_work *w)
{
	for (char *const *e = w->ctx->env; e && *e; e++)
		if (!ib_starts(*e, "IB_STUDY_DIR=") && !ib_starts(*e, "IB_ANALYSIS_DIR="))
			ib_strv_add(&w->env, *e);
	ib_strv_take(&w->env, ib_asprintf("IB_STUDY_DIR=%s", w->study.path));
	ib_strv_take(&w->env, ib_asprintf("IB_ANALYSIS_DIR=%s/%s", w->study.path, w->dir));
}

/* Known names are replaced, all else stays. */
static char *expand(const struct ib_analysis_work *w, const char *arg)
{
	ib_auto_buf struct ib_buf b = IB_BUF(SIZE_MAX / 4);
	ib_auto_free char *dir = ib_asprintf("%s/%s", w->study.path, w->dir);
	const struct {
		const char *name, *value;
	} known[] = {{"{study_dir}", w->study.path}, {"{analysis_dir}", dir}};

	while (*arg) {
		size_t i = 0;

		while (i < IB_LEN(known) && !ib_starts(arg, known[i].name))
			i++;
		if (i < IB_LEN(known))
			ib_buf_adds(&b, known[i].value);
		else
			ib_buf_addc(&b, *arg);
		arg += i < IB_LEN(known) ? strlen(known[i].name) : 1;
	}
	return ib_buf_steal(&b);
}

static bool take(void *arg, int64_t now_ns)
{
	(void)now_ns;
	ib_opened_take(arg);
	return false;
}

static int execute(struct ib_analysis_work *w, const struct ib_analysis_options *o, struct ib_signals *signals, struct ib_err *err)
{
	struct ib_child_spec spec = {.argv = w->argv.v,
				     .env = w->env.v,
				     .stdin_fd = -1,
				     .own_tree = true,
				     .timeout_ns = o->timeout_ns,
				     .grace_ns = o->grace_ns ? o->grace_ns : IB_GRACE_NS,
				     .tick = take,
				     .tick_arg = &w->opened,
				     .tick_ns = TAKE_NS};
	struct ib_logger_status logs = {0};
	struct ib_logger logger;
	struct ib_err early;
	int r = ib_logger_start(w->dir_fd, true, NULL, -1, &logger, err);

	if (r < 0)
		return r;
	spec.stdout_fd = logger.out_fd;
	spec.stderr_fd = logger.err_fd;
	r = ib_child_run(w->ctx, signals, &spec, &w->res, err);
	if (ib_logger_finish(&logger, signals, w->res.timed_out || w->res.interrupted_by, &logs, &early) < 0)
		ib_strv_add(&w->notes, early.text);
	for (int i = 0; i < 2; i++)
		if (logs.lost[i])
			ib_strv_take(&w->notes, ib_asprintf("'%s' lacks %llu bytes: %s", i ? "stderr.log" : "stdout.log", (unsigned long long)logs.lost[i],
							    strerror(logs.sys[i])));
	ib_logger_clear(&logger);
	return r;
}

/* --- before and after --- */

/* Under the ledger's lock: nobody can take the analysis for abandoned before its directory is locked. */
static int lock_dir(void *arg, struct ib_err *err)
{
	struct ib_analysis_work *w = arg;
	ib_auto_fd int parent = -1;
	int r;

	if (mkdirat(w->study.fd, w->dir, 0755) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make directory '%s'", w->dir);
	if ((r = ib_open_dir(w->study.fd, w->dir, &w->dir_fd, err)) < 0 || (r = ib_open_dir(w->study.fd, "analysis", &parent, err)) < 0)
		return r;
	if (flock(w->dir_fd, LOCK_EX) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot lock directory '%s'", w->dir);
	return ib_sync_dir(parent, "analysis", err);
}

static int make_dir(struct ib_analysis_work *w, struct ib_err *err)
{
	char at[IB_TIME_LEN];
	uint32_t random;
	int r;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	ib_time_compact(ib_wall_ns(w->ctx->clock), at);
	w->id = ib_asprintf("%s-%08x", at, random);
	w->dir = ib_asprintf("analysis/%s", w->id);
	r = ib_make_dirs(w->study.fd, "analysis", 0755, err);
	return r < 0 ? r : ib_ledger_hold(w->study.ledger, lock_dir, w, err);
}

/* Writes what is known of the analysis at this moment. */
static int write_document(struct ib_analysis_work *w, const char *name, struct ib_buf *ret, struct ib_err *err)
{
	int r = ib_analysis_document(w, ret, err);

	return r < 0 ? r : ib_write_file(w->dir_fd, name, ret->data, ret->len, 0644, false, err);
}

static int prepare(struct ib_analysis_work *w, const struct ib_analysis_options *o, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	int r = make_dir(w, err);

	w->asked = o->argv;
	for (size_t i = 0; r == 0 && o->argv[i]; i++)
		ib_strv_take(&w->argv, expand(w, o->argv[i]));
	if (r < 0)
		return r;
	set_env(w);
	note_scripts(w);
	if ((r = write_document(w, IB_ANALYSIS_BEGUN, &b, err)) < 0 || (r = ib_snapshot_take(w->study.fd, ib_analysis_may_write, &w->before, err)) < 0)
		return r;
	for (size_t i = 0; i < w->before.dirs.n; i++)
		if (strcmp(w->before.dirs.v[i], w->dir) != 0)
			ib_strv_add(&w->watched, w->before.dirs.v[i]);
	ib_opened_begin(w->study.path, &w->watched, &w->opened);
	return 0;
}

static int conclude(struct ib_analysis_work *w, struct ib_err *err)
{
	ib_auto_entry struct ib_entry e = {.kind = IB_ENTRY_ANALYSIS, .file = ib_asprintf("%s/" IB_ANALYSIS_ENDED, w->dir)};
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	int r;

	ib_opened_end(&w->opened, &w->read);
	w->ended = true;
	if ((r = ib_snapshot_take(w->study.fd, ib_analysis_may_write, &w->after, err)) < 0 || (r = write_document(w, IB_ANALYSIS_ENDED, &b, err)) < 0)
		return r;
	e.bytes = (int64_t)b.len;
	ib_sha256_of(b.data, b.len, e.sha256);
	if ((r = ib_ledger_append(w->study.ledger, &e, NULL, NULL, err)) < 0)
		return r;
	if (unlinkat(w->dir_fd, IB_ANALYSIS_BEGUN, 0) < 0 && errno != ENOENT)
		return ib_fail(err, IB_E_IO, errno, "cannot remove '%s/" IB_ANALYSIS_BEGUN "'", w->dir);
	ib_run_files_freeze(w->dir_fd);
	return 0;
}

static int exit_status(const struct ib_child_result *res)
{
	if (res->exec_errno != IB_NONE)
		return res->exec_errno == ENOENT ? IB_EXIT_NOT_FOUND : IB_EXIT_CANNOT_EXECUTE;
	if (res->interrupted_by)
		return IB_EXIT_SIGNAL + res->interrupted_by;
	if (res->timed_out)
		return IB_EXIT_TIMED_OUT;
	if (res->signal != IB_NONE)
		return IB_EXIT_SIGNAL + (int)res->signal;
	return res->exit_status != IB_NONE ? (int)res->exit_status : IB_EXIT_RUN_ERROR;
}

static void clear(struct ib_analysis_work *w)
{
	if (w->dir_fd >= 0)
		close(w->dir_fd);
	for (size_t i = 0; i < w->n_scripts; i++)
		free(w->scripts[i].path);
	free(w->scripts);
	free(w->id);
	free(w->dir);
	ib_strv_clear(&w->argv);
	ib_strv_clear(&w->env);
	ib_strv_clear(&w->watched);
	ib_strv_clear(&w->read);
	ib_strv_clear(&w->notes);
	ib_opened_clear(&w->opened);
	ib_snapshot_clear(&w->before);
	ib_snapshot_clear(&w->after);
	ib_study_clear(&w->study);
}

static int carry_out(struct ib_analysis_work *w, const struct ib_analysis_options *o, struct ib_err *err)
{
	struct ib_signals signals;
	int r = ib_signals_init(&signals, err);

	if (r < 0)
		return r;
	r = execute(w, o, &signals, err);
	if (r == 0)
		r = conclude(w, err);
	ib_signals_clear(&signals);
	return r;
}

int ib_analysis(const struct ib_ctx *ctx, const struct ib_analysis_options *o, int *ret_status, struct ib_err *err)
{
	const char *path = o->study ? o->study : access("ledger.jsonl", F_OK) == 0 ? "." : "ib-study";
	ib_auto_free char *ledger = ib_asprintf("%s/ledger.jsonl", path);
	struct ib_analysis_work w = {.ctx = ctx, .study.fd = -1, .dir_fd = -1, .opened.fd = -1};
	int r;

	if (access(ledger, F_OK) < 0)
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is no study: an analysis needs one to read", path);
	r = ib_study_open(ctx, path, NULL, NULL, NULL, &w.study, err);
	if (r == 0)
		r = prepare(&w, o, err);
	if (r == 0)
		r = carry_out(&w, o, err);
	if (r == 0)
		*ret_status = exit_status(&w.res);
	if (r == 0)
		ib_log(ctx, IB_LOG_INFO, "analysis: %s/%s", w.study.path, w.dir);
	clear(&w);
	return r;
}
