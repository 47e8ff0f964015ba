/* SPDX-License-Identifier: Apache-2.0 */
/* The measured command of a run: executed, watched, its result put into the record. */
#include "run/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "run/outside.h"
#include "run/sampler.h"

#define STEP_MIN_NS (IB_NS / 10) /* clocks that differ by less do so all the time */

static void take_result(struct ib_record *r, const struct ib_child_result *res)
{
	r->exit.status = res->exit_status;
	r->exit.signal = res->signal;
	r->exit.exec_errno = res->exec_errno;
	r->exit.timed_out = res->timed_out;
	if (res->exec_errno != IB_NONE)
		return;
	r->time.started_ns = res->started_ns;
	r->time.finished_ns = res->finished_ns;
	r->time.monotonic_ns = res->duration_ns;
	r->rusage.user_ns = res->user_ns;
	r->rusage.system_ns = res->system_ns;
	r->rusage.max_rss_bytes = res->max_rss_bytes;
	r->rusage.voluntary_switches = res->voluntary_switches;
	r->rusage.involuntary_switches = res->involuntary_switches;
	r->left_behind = res->left_behind;
	if (res->left_behind > 0)
		ib_strv_take(&r->notes, ib_asprintf("%lld processes outlived the command and were ended", (long long)res->left_behind));
}

static void judge(const struct ib_run *run, const struct ib_child_result *res)
{
	struct ib_record *r = run->record;

	if (res->exec_errno != IB_NONE) {
		ib_record_fail(r, res->exec_errno == ENOENT ? "not_found" : "cannot_execute");
		ib_strv_take(&r->notes, ib_asprintf("cannot execute '%s' (%s)", run->spec->argv[0], strerror((int)res->exec_errno)));
	} else if (res->interrupted_by) {
		r->state = IB_STATE_INTERRUPTED;
		ib_strv_take(&r->notes, ib_asprintf("interrupted by signal %d (%s)", res->interrupted_by, strsignal(res->interrupted_by)));
	} else if (res->timed_out) {
		r->state = IB_STATE_TIMED_OUT;
	} else if (res->ended_by_tick) {
		ib_record_fail(r, "no_progress");
	} else if (res->exit_status != run->spec->expected_status) {
		ib_record_fail(r, "exit_status");
	}
}

static void check_logs(struct ib_record *r, const struct ib_logger_status *st)
{
	static const char *const names[] = {"stdout.log", "stderr.log"};

	for (int i = 0; i < 2; i++) {
		if (!st->sys[i] && !st->lost[i])
			continue;
		ib_record_fail(r, "truncated_output");
		ib_strv_take(&r->notes, ib_asprintf("'%s' holds %llu bytes of %llu: %s", names[i], (unsigned long long)st->kept[i],
						    (unsigned long long)(st->kept[i] + st->lost[i]), strerror(st->sys[i])));
	}
}

/* File times come from a coarse clock, on network file systems from another machine's: a new file tells it. */
static void set_marker(struct ib_run *run)
{
	static const char name[] = "start.part";
	ib_auto_fd int fd = openat(run->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		run->marker = st.st_mtim;
	if (fd >= 0)
		unlinkat(run->dir_fd, name, 0);
}

static bool ask_watchers(void *arg, int64_t now_ns)
{
	struct ib_run *run = arg;
	bool end = false;

	for (size_t i = 0; i < run->watchers_n; i++) {
		struct ib_run_watcher *w = &run->watchers[i];

		if (now_ns < w->next_ns)
			continue;
		w->next_ns = now_ns + w->every_ns - IB_NS / 500; /* a call may be a little early, measured against the last */
		end |= w->tick(w->arg, now_ns);
	}
	return end;
}

static void watch(struct ib_run *run, struct ib_child_spec *spec)
{
	for (size_t i = 0; i < run->watchers_n; i++) {
		run->watchers[i].next_ns = 0;
		if (!spec->tick_ns || run->watchers[i].every_ns < spec->tick_ns)
			spec->tick_ns = run->watchers[i].every_ns;
	}
	if (!run->watchers_n)
		return;
	spec->tick = ask_watchers;
	spec->tick_arg = run;
}

void ib_run_watch(struct ib_run *run, bool (*tick)(void *arg, int64_t now_ns), void *arg, int64_t every_ns)
{
	if (run->watchers_n < IB_LEN(run->watchers))
		run->watchers[run->watchers_n++] = (struct ib_run_watcher){.tick = tick, .arg = arg, .every_ns = every_ns};
}

/* A wall clock that was set, a machine that slept: durations do not show it, times of day do. */
static void note_clocks(struct ib_record *r, const struct ib_execution_clocks *from, const struct ib_execution_clocks *to)
{
	int64_t took = to->monotonic_ns - from->monotonic_ns, step = to->wall_ns - from->wall_ns - took, asleep = took - (to->awake_ns - from->awake_ns);
	int64_t slew = took / 1000; /* what a clock may be adjusted by at most, twice */

	r->time.suspended_ns = r->time.monotonic_ns == IB_NONE ? IB_NONE : asleep > 0 ? asleep : 0;
	if (step > STEP_MIN_NS + slew || step < -STEP_MIN_NS - slew)
		ib_strv_take(&r->notes, ib_asprintf("the wall clock stepped by %.1f s while the command ran: durations are not affected, times of day are",
						    (double)step / IB_NS));
	if (asleep > STEP_MIN_NS)
		ib_strv_take(&r->notes, ib_asprintf("the machine was suspended for %.1f s while the command ran", (double)asleep / IB_NS));
}

static struct ib_execution_clocks clocks(const struct ib_run *run)
{
	const struct ib_clock *c = run->ctx->clock;

	return (struct ib_execution_clocks){ib_wall_ns(c), ib_monotonic_ns(c), ib_awake_ns(c)};
}

static void note_command(const struct ib_run *run, char *const *argv)
{
	ib_auto_free char *outside = ib_outside_note(argv);
	const char *pipe = ib_pipe_note(argv), *restarts = ib_env(run->ctx, "SLURM_RESTART_COUNT");
	struct ib_strv *notes = &run->record->notes;

	if (outside)
		ib_strv_add(notes, outside);
	if (pipe)
		ib_strv_add(notes, pipe);
	if (restarts && *restarts && strcmp(restarts, "0") != 0 && strspn(restarts, "0123456789") == strlen(restarts) && strlen(restarts) < 10)
		ib_strv_take(notes, ib_asprintf("the job was requeued: SLURM_RESTART_COUNT is %s", restarts));
}

static bool show_progress(void *arg, int64_t now_ns)
{
	struct ib_execution *x = arg;
	struct winsize size = {.ws_col = 80};
	char line[IB_PROGRESS_MAX];

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	ib_progress_text(x->run->spec->progress, x->run->group, x->run->cell, x->run->spec->repeat, now_ns - x->from.awake_ns, size.ws_col - 1, line);
	ib_logger_progress(&x->logger, line);
	return false;
}

/* Adds our own watchers to those of the steps, and asks all of them. */
static void watch_command(struct ib_execution *x)
{
	struct ib_run *run = x->run;

	if (run->spec->no_progress_ns) {
		x->watch = (struct ib_watch){.dir_fd = run->dir_fd, .limit_ns = run->spec->no_progress_ns};
		ib_run_watch(run, ib_watch_tick, &x->watch, IB_NS);
	}
	if (run->spec->progress && run->ctx->log && isatty(STDERR_FILENO))
		ib_run_watch(run, show_progress, x, IB_NS);
	watch(run, &x->spec);
}

static int prepare(struct ib_execution *x, struct ib_err *err)
{
	const struct ib_run_spec *s = x->run->spec;
	int slave = -1, r;

	x->spec = (struct ib_child_spec){.env = x->run->env, .argv = x->argv.v, .stdin_fd = -1, .own_tree = true, .timeout_ns = s->timeout_ns};
	x->spec.grace_ns = ib_client_grace_ns(s->client, &x->spec.end_signal);
	if (s->grace_ns)
		x->spec.grace_ns = s->grace_ns;
	x->spec.no_network = s->no_network;
	if (s->pty && (r = ib_pty_open(&x->pty, &slave, err)) < 0)
		return r;
	if ((r = ib_logger_start(x->run->dir_fd, true, s->pty ? &x->pty : NULL, slave, &x->logger, err)) < 0)
		return r;
	x->spec.stdout_fd = x->logger.out_fd;
	x->spec.stderr_fd = s->pty ? x->logger.out_fd : x->logger.err_fd;
	if (s->pty) {
		x->spec.terminal = &x->pty;
		x->spec.stdin_fd = ib_pty_has_input() ? x->logger.out_fd : -1;
	}
	ib_execution_limit(x);
	watch_command(x);
	return 0;
}

static void collect(struct ib_execution *x, const struct ib_child_result *res)
{
	struct ib_record *r = x->run->record;
	struct ib_logger_status logs = {0};
	struct ib_err early = {0};

	if (ib_logger_finish(&x->logger, x->run->signals, res->timed_out || res->ended_by_tick || res->interrupted_by, &logs, &early) < 0) {
		ib_record_fail(r, "truncated_output");
		ib_strv_add(&r->notes, early.text);
	}
	check_logs(r, &logs);
	if (logs.cast_sys)
		ib_strv_take(&r->notes, ib_asprintf("'terminal.cast' is not complete: %s", strerror(logs.cast_sys)));
	if (res->ended_by_tick && x->watch.fired)
		ib_strv_take(&r->notes, ib_asprintf("nothing that the command writes has grown for %.0f s: it was ended", (double)x->watch.limit_ns / IB_NS));
	if (res->stopped_ns)
		ib_strv_take(&r->notes, ib_asprintf("the command was stopped for %.1f s", (double)res->stopped_ns / IB_NS));
}

/* Who ends a whole job signals all of its processes one after the other: the command may be gone before the signal is here. A command that a signal
 * ended is not judged before that signal has had its time to reach us, too. */
static void await_signal(const struct ib_run *run, struct ib_child_result *res)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
	int64_t until = ib_awake_ns(run->ctx->clock) + IB_NS / 2, left;
	bool ended = false;

	for (size_t i = 0; i < IB_LEN(ends); i++)
		ended = ended || res->signal == ends[i] || res->exit_status == IB_EXIT_SIGNAL + ends[i];
	if (!ended || res->timed_out || res->ended_by_tick || res->interrupted_by)
		return;
	while (!run->signals->caught && (left = until - ib_awake_ns(run->ctx->clock)) > 0)
		ib_signals_wait(run->signals, left, -1);
	res->interrupted_by = run->signals->caught;
}

static int execute(struct ib_execution *x, struct ib_child_result *res, struct ib_err *err)
{
	struct ib_run *run = x->run;
	struct ib_execution_clocks to;
	struct ib_sampler sampler;
	int r;

	if ((r = ib_run_expand_all(run, run->spec->argv, run->spec->strict_placeholders, &x->argv, err)) < 0 || (r = prepare(x, err)) < 0)
		return r;
	ib_execution_isolation(x);
	ib_sampler_start(run, &sampler);
	set_marker(run);
	run->command = res;
	x->from = clocks(run);
	r = ib_child_run(run->ctx, run->signals, &x->spec, res, err);
	to = clocks(run);
	run->command = NULL;
	if (r == 0) {
		ib_execution_resources(x, res);
		await_signal(run, res);
	}
	ib_sampler_finish(run, &sampler);
	collect(x, res);
	if (r < 0)
		return r;
	take_result(run->record, res);
	judge(run, res);
	note_command(run, x->argv.v);
	note_clocks(run->record, &x->from, &to);
	return 0;
}

int ib_run_execute(struct ib_run *run, struct ib_child_result *res, struct ib_err *err)
{
	struct ib_execution x = {.run = run, .pty = {.master_fd = -1}, .cgroup = {.parent_fd = -1, .dir_fd = -1}};
	size_t watchers = run->watchers_n;
	int r;

	x.logger = (struct ib_logger){.out_fd = -1, .err_fd = -1, .status_fd = -1, .control_fd = -1};
	r = execute(&x, res, err);
	run->watchers_n = watchers; /* ours end with x */
	ib_logger_clear(&x.logger);
	ib_pty_clear(&x.pty);
	ib_cgroup_clear(&x.cgroup);
	ib_strv_clear(&x.argv);
	return r;
}
