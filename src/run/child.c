/* SPDX-License-Identifier: Apache-2.0 */
/* A child process run to its end. It stays in our session but gets its own process group, so that a Ctrl-C at the terminal reaches it once, through us;
 * it becomes the terminal's foreground group only when it asks for the terminal. */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "model/record.h"
#include "run/tree.h"

#define LINGER_NS IB_NS            /* how long processes may outlive their command before they are ended */
#define KILL_WAIT_NS (5 * IB_NS)   /* how long we wait for killed processes to go */
#define POLL_NS (IB_NS / 100)

struct run {
	const struct ib_ctx *ctx;
	struct ib_signals *signals;
	const struct ib_child_spec *spec;
	struct ib_child_result *res;
	pid_t pid;
	bool gone;                /* the child itself was reaped */
	struct ib_pids excluded;  /* children we had before */
	bool terminal;            /* we gave the terminal away */
	int64_t tick_at;          /* when the caller is asked next; INT64_MAX: never */
};

static int64_t now(const struct run *r)
{
	return ib_monotonic_ns(r->ctx->clock);
}

/* --- in the child --- */

static void default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		struct sigaction sa;

		if (i == SIGKILL || i == SIGSTOP || sigaction(i, NULL, &sa) < 0)
			continue;
		if (i != SIGHUP || sa.sa_handler != SIG_IGN) /* nohup holds for the command too */
			signal(i, SIG_DFL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void move_fd(int from, int to)
{
	if (from >= 0 && from != to)
		dup2(from, to);
}

/* execvp() says EACCES for a name that is nowhere when a directory of PATH may not be searched: what nobody can see is not there. */
static bool is_somewhere(const char *name)
{
	const char *path = getenv("PATH");

	while (path && !strchr(name, '/')) {
		size_t n = strcspn(path, ":");
		ib_auto_free char *full = ib_asprintf("%.*s/%s", (int)n, path, name);

		if (access(full, F_OK) == 0)
			return true;
		if (!path[n])
			return false;
		path += n + 1;
	}
	return true;
}

static void exec_child(const struct ib_child_spec *spec, int report)
{
	int sys;

	if (spec->own_tree)
		setpgid(0, 0);
	else
		setsid();
	default_signals();
	move_fd(spec->stdin_fd, 0);
	move_fd(spec->stdout_fd, 1);
	move_fd(spec->stderr_fd, 2);
	environ = (char **)(uintptr_t)spec->env;
	execvp(spec->argv[0], spec->argv);
	sys = errno == EACCES && !is_somewhere(spec->argv[0]) ? ENOENT : errno;
	while (write(report, &sys, sizeof(sys)) < 0 && errno == EINTR)
		;
	_exit(IB_EXIT_NOT_FOUND);
}

/* --- in ib-run --- */

static int64_t of_timeval(struct timeval tv)
{
	return (int64_t)tv.tv_sec * IB_NS + (int64_t)tv.tv_usec * 1000;
}

static void add_usage(struct ib_child_result *res, const struct rusage *ru)
{
	int64_t rss = (int64_t)ru->ru_maxrss * 1024;

	res->user_ns += of_timeval(ru->ru_utime);
	res->system_ns += of_timeval(ru->ru_stime);
	res->voluntary_switches += ru->ru_nvcsw;
	res->involuntary_switches += ru->ru_nivcsw;
	if (rss > res->max_rss_bytes)
		res->max_rss_bytes = rss;
}

/* A background group that reads the terminal is stopped by the kernel: if the terminal is ours, it gets it. */
static void give_terminal(struct run *r, int sig)
{
	if ((sig != SIGTTIN && sig != SIGTTOU) || !r->spec->own_tree || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	if (tcsetpgrp(STDIN_FILENO, r->pid) == 0) {
		r->terminal = true;
		kill(-r->pid, SIGCONT);
	}
}

static void stop_clock(struct run *r)
{
	r->res->finished_ns = ib_wall_ns(r->ctx->clock);
	r->res->duration_ns += now(r);
}

static void note_end(struct run *r, int status)
{
	struct ib_child_result *res = r->res;

	r->gone = true;
	stop_clock(r);
	if (WIFSIGNALED(status))
		res->signal = WTERMSIG(status);
	else
		res->exit_status = WEXITSTATUS(status);
	if (r->terminal && !res->interrupted_by && (res->signal == SIGINT || res->signal == SIGQUIT)) /* Ctrl-C went to the child alone */
		r->signals->caught = res->interrupted_by = (int)res->signal;
}

/* Takes every child that has ended. */
static void reap(struct run *r)
{
	struct rusage ru;
	int status;
	pid_t p;

	while ((p = wait4(r->spec->own_tree ? -1 : r->pid, &status, WNOHANG | WUNTRACED, &ru)) > 0) {
		if (WIFSTOPPED(status)) {
			give_terminal(r, WSTOPSIG(status));
			continue;
		}
		if (ib_pids_has(&r->excluded, p))
			continue;
		add_usage(r->res, &ru);
		if (p == r->pid)
			note_end(r, status);
	}
}

/* Everything that belongs to the command and lives, and how many of it wait to be reaped by us; false: cannot tell. */
static bool members(const struct run *r, struct ib_pids *ret, size_t *ret_dead)
{
	*ret_dead = 0;
	return r->spec->own_tree ? ib_tree_descendants(&r->excluded, ret, ret_dead) : ib_tree_session(r->pid, ret);
}

static void send_all(const struct run *r, int sig)
{
	ib_auto_pids struct ib_pids list = {0};
	size_t dead;

	if (members(r, &list, &dead)) {
		for (size_t i = 0; i < list.n; i++)
			kill(list.v[i], sig);
	} else {
		kill(-r->pid, sig);
	}
}

/* Ends what lives: TERM unless it was sent, KILL from kill_at on, until nothing is left or the kernel does not let go. */
static void end_all(struct run *r, bool term_first, int64_t kill_at)
{
	int64_t give_up = (kill_at > now(r) ? kill_at : now(r)) + KILL_WAIT_NS;

	if (term_first)
		send_all(r, SIGTERM);
	for (;;) {
		ib_auto_pids struct ib_pids list = {0};
		size_t dead;
		bool known;

		reap(r);
		known = members(r, &list, &dead);
		if (r->gone && (!known || list.n + dead == 0))
			return;
		if (now(r) >= give_up)
			return;
		if (now(r) >= kill_at || r->signals->count > 1)
			send_all(r, SIGKILL);
		ib_signals_wait(r->signals, POLL_NS, -1);
	}
}

/* Asks the caller when it is time to. Does it want the command ended? */
static bool tick(struct run *r)
{
	int64_t at = r->tick_at == INT64_MAX ? 0 : now(r);

	if (r->tick_at == INT64_MAX || at < r->tick_at)
		return false;
	r->tick_at += r->spec->tick_ns;
	if (r->tick_at <= at) /* we were late: no ticks in a row */
		r->tick_at = at + r->spec->tick_ns;
	return r->spec->tick(r->spec->tick_arg, at);
}

/* Waits for a signal, a change of a child, the next tick, at most until then (INT64_MAX: without end). */
static int wait_until(struct run *r, int64_t until)
{
	int64_t at = until < r->tick_at ? until : r->tick_at;
	int64_t left = at == INT64_MAX ? -1 : at - now(r);
	int sig = left == -1 || left > 0 ? ib_signals_wait(r->signals, left, -1) : 0;

	reap(r);
	return sig;
}

/* Waits for the child; at a signal, when its time is over or the caller says so, the whole tree is ended. */
static void supervise(struct run *r)
{
	int64_t deadline = r->spec->timeout_ns ? now(r) + r->spec->timeout_ns : INT64_MAX, kill_at;
	int sig;

	r->tick_at = r->spec->tick && r->spec->tick_ns ? now(r) + r->spec->tick_ns : INT64_MAX;
	for (;;) {
		sig = wait_until(r, deadline);
		if (r->gone)
			return;
		if (sig) {
			r->res->interrupted_by = sig;
			send_all(r, sig);
		} else if (now(r) >= deadline) {
			r->res->timed_out = true;
			send_all(r, SIGTERM);
		} else if (tick(r)) {
			r->res->ended_by_tick = true;
			send_all(r, SIGTERM);
		} else {
			continue;
		}
		break;
	}
	kill_at = now(r) + r->spec->grace_ns;
	while (!r->gone && now(r) < kill_at && r->signals->count < 2) {
		wait_until(r, kill_at);
		if (!r->gone)
			tick(r);
	}
	/* the others have the rest of the grace time: a wrapper may be gone before what it started has saved its results. Background jobs of a
	 * shell ignore INT, none of them should ignore TERM */
	end_all(r, r->gone && sig && sig != SIGTERM, kill_at);
}

/* The usual case, told without a look at all processes: we have no children but those of before. */
static bool childless(const struct run *r)
{
	ib_auto_pids struct ib_pids list = {0};

	if (!ib_tree_children(&list))
		return false;
	for (size_t i = 0; i < list.n; i++)
		if (!ib_pids_has(&r->excluded, list.v[i]))
			return false;
	return true;
}

/* What the command left running: it may finish by itself for a moment, then it is ended. */
static void end_rest(struct run *r)
{
	ib_auto_pids struct ib_pids rest = {0};
	int64_t until = now(r) + LINGER_NS;
	size_t dead = 0;
	bool known = true;

	r->res->left_behind = 0;
	reap(r);
	if (childless(r))
		return;
	while (now(r) < until && !r->signals->caught) {
		ib_pids_clear(&rest);
		reap(r);
		known = members(r, &rest, &dead);
		if (!known || rest.n + dead == 0)
			break;
		ib_signals_wait(r->signals, POLL_NS, -1);
	}
	r->res->left_behind = known ? (int64_t)rest.n : IB_NONE;
	if (!known || rest.n)
		end_all(r, true, now(r) + r->spec->grace_ns);
}

static int start(struct run *r, struct ib_err *err)
{
	int report[2], sys = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	r->res->started_ns = ib_wall_ns(r->ctx->clock);
	r->res->duration_ns = -now(r);
	r->pid = fork();
	if (r->pid == 0)
		exec_child(r->spec, report[1]);
	r->res->pid = r->pid;
	close(report[1]);
	if (r->pid < 0) {
		close(report[0]);
		return ib_fail(err, IB_E_IO, errno, "cannot start a process");
	}
	if (r->spec->own_tree)
		setpgid(r->pid, r->pid); /* in both, so that neither is early */
	do
		n = read(report[0], &sys, sizeof(sys));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == sizeof(sys))
		r->res->exec_errno = sys;
	return 0;
}

int ib_child_run(const struct ib_ctx *ctx, struct ib_signals *signals, const struct ib_child_spec *spec, struct ib_child_result *ret, struct ib_err *err)
{
	struct run r = {.ctx = ctx, .signals = signals, .spec = spec, .res = ret};
	int e;

	*ret = (struct ib_child_result){.exit_status = IB_NONE, .signal = IB_NONE, .exec_errno = IB_NONE, .left_behind = IB_NONE};
	if (spec->own_tree) {
		ib_tree_children(&r.excluded);
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	e = start(&r, err);
	if (e == 0) {
		supervise(&r);
		if (!r.gone) { /* stuck in the kernel, or another user's: what it used is not known */
			stop_clock(&r);
			ret->user_ns = ret->system_ns = ret->max_rss_bytes = ret->voluntary_switches = ret->involuntary_switches = IB_NONE;
		}
		if (spec->own_tree && ret->exec_errno == IB_NONE && !ret->timed_out && !ret->ended_by_tick && !ret->interrupted_by)
			end_rest(&r);
		if (r.terminal)
			tcsetpgrp(STDIN_FILENO, getpgrp());
		if (ret->exec_errno != IB_NONE)
			ret->exit_status = IB_NONE;
	}
	if (spec->own_tree)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	ib_pids_clear(&r.excluded);
	return e;
}
