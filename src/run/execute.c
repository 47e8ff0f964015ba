/* SPDX-License-Identifier: Apache-2.0 */
/* The measured command of a run: executed, watched, its result put into the record. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "run/inside.h"
#include "run/logger.h"

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

int ib_run_execute(struct ib_run *run, struct ib_child_result *res, struct ib_err *err)
{
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_logger logger;
	struct ib_logger_status logs = {0};
	struct ib_child_spec spec = {.env = run->env, .stdin_fd = -1, .own_tree = true, .timeout_ns = run->spec->timeout_ns};
	struct ib_err early = {0};
	int r;

	if ((r = ib_run_expand_all(run, run->spec->argv, run->spec->strict_placeholders, &argv, err)) < 0)
		return r;
	spec.grace_ns = run->spec->grace_ns ? run->spec->grace_ns : IB_GRACE_NS;
	spec.argv = argv.v;
	if ((r = ib_logger_start(run->dir_fd, true, &logger, err)) < 0)
		return r;
	spec.stdout_fd = logger.out_fd;
	spec.stderr_fd = logger.err_fd;
	watch(run, &spec);
	set_marker(run);
	run->command = res;
	r = ib_child_run(run->ctx, run->signals, &spec, res, err);
	run->command = NULL;
	if (ib_logger_finish(&logger, run->signals, res->timed_out || res->interrupted_by, &logs, &early) < 0) {
		ib_record_fail(run->record, "truncated_output");
		ib_strv_add(&run->record->notes, early.text);
	}
	ib_logger_clear(&logger);
	if (r < 0)
		return r;
	take_result(run->record, res);
	judge(run, res);
	check_logs(run->record, &logs);
	return 0;
}
