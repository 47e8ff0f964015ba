/* SPDX-License-Identifier: Apache-2.0 */
/* A child process run to its end. It stays in our session but gets its own process group, so that a Ctrl-C at the terminal reaches it once, through us;
 * it becomes the terminal's foreground group only when it asks for the terminal. */
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
#include "model/record.h"
#include "run/child_inside.h"
#include "run/tree.h"

#define LINGER_NS IB_NS            /* how long processes may outlive their command before they are ended */
#define TERM_GRACE_NS (5 * IB_NS)  /* between TERM and KILL, where another signal came first */
#define KILL_WAIT_NS (5 * IB_NS)   /* how long we wait for killed processes to go */
#define POLL_NS (IB_NS / 100)
#define STOP_MAX 100000            /* processes that are stopped at Ctrl-Z, whatever goes on starting more */

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
	enum { RUNS, ASKED, TERMED, KILLED } stage; /* how far its end is */
	int64_t next_at;          /* when the next stage begins */
	int hurry_at;             /* so many signals to us begin it at once */
	int64_t stopped_at;       /* since when it stands still, or 0 */
	bool typed;               /* the last signal was typed at its own terminal: it has it already */
};

/* For limits: they stand still while the machine sleeps, as the command does. */
static int64_t now(const struct run *r)
{
	return ib_awake_ns(r->ctx->clock);
}

/* For durations. */
static int64_t passed(const struct run *r)
{
	return ib_monotonic_ns(r->ctx->clock);
}

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
static void give_terminal(struct run *r)
{
	if (!r->spec->own_tree || r->spec->terminal || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return;
	if (tcsetpgrp(STDIN_FILENO, r->pid) == 0) {
		r->terminal = true;
		kill(-r->pid, SIGCONT);
	}
}

static void take_terminal(struct run *r)
{
	if (r->terminal)
		tcsetpgrp(STDIN_FILENO, getpgrp());
}

/* The command has stopped: it wants the terminal, or Ctrl-Z went to it alone, and whoever waits for us should know. */
static void note_stop(struct run *r, int sig)
{
	if (sig == SIGTTIN || sig == SIGTTOU)
		give_terminal(r);
	else if (sig == SIGTSTP && r->terminal)
		ib_signals_stop(r->signals);
}

static void stop_clock(struct run *r)
{
	r->res->finished_ns = ib_wall_ns(r->ctx->clock);
	r->res->duration_ns += passed(r);
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
			if (p == r->pid)
				note_stop(r, WSTOPSIG(status));
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

/* Ctrl-Z: all of the command stands still while we do, also what it starts meanwhile. In another session TSTP does nothing, since nobody but us
 * could let the process go on. */
static void stop_all(const struct run *r)
{
	ib_auto_pids struct ib_pids done = {0};
	size_t before, dead;
	pid_t ours = getsid(0);

	do {
		ib_auto_pids struct ib_pids list = {0};

		before = done.n;
		if (!members(r, &list, &dead))
			kill(-r->pid, r->spec->terminal || !r->spec->own_tree ? SIGSTOP : SIGTSTP);
		for (size_t i = 0; i < list.n; i++) {
			if (ib_pids_has(&done, list.v[i]))
				continue;
			kill(list.v[i], getsid(list.v[i]) == ours ? SIGTSTP : SIGSTOP);
			ib_pids_add(&done, list.v[i]);
		}
	} while (done.n > before && done.n < STOP_MAX);
}

static void on_stop(void *arg, bool stopping)
{
	struct run *r = arg;

	if (stopping) {
		r->stopped_at = passed(r);
		stop_all(r);
		if (r->spec->terminal)
			ib_pty_detach(r->spec->terminal);
		take_terminal(r);
		return;
	}
	if (r->stopped_at)
		r->res->stopped_ns += passed(r) - r->stopped_at;
	r->stopped_at = 0;
	if (r->terminal && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetpgrp(STDIN_FILENO, r->pid);
	if (r->spec->terminal)
		ib_pty_attach(r->spec->terminal);
	send_all(r, SIGCONT);
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
	int64_t left = at == INT64_MAX ? INT64_MAX : at - now(r);
	struct ib_pty *t = r->spec->terminal;
	int sig = 0;

	if (t && t->pending_n && left > 5 * POLL_NS)
		left = 5 * POLL_NS; /* the command does not read what is typed: asked again */
	if (left > 0)
		sig = ib_signals_wait(r->signals, left == INT64_MAX ? -1 : left, t ? ib_pty_wait_fd(t) : -1);
	if (t) {
		int typed = ib_pty_serve(t, r->pid, r->signals);

		r->typed = typed && !sig;
		sig = sig ? sig : typed;
	}
	reap(r);
	return sig;
}

/* The first step of an end. */
static void ask_to_end(struct run *r, int sig)
{
	r->stage = sig == SIGTERM ? TERMED : ASKED;
	r->next_at = now(r) + r->spec->grace_ns;
	r->hurry_at = r->signals->count + 1;
	if (!r->typed)
		send_all(r, sig);
	send_all(r, SIGCONT); /* what stands still could not obey */
}

static void end_harder(struct run *r)
{
	r->hurry_at = r->signals->count + 1;
	if (r->stage == ASKED) {
		r->stage = TERMED;
		r->next_at = now(r) + (r->spec->grace_ns < TERM_GRACE_NS ? r->spec->grace_ns : TERM_GRACE_NS);
		send_all(r, SIGTERM);
	} else {
		r->stage = KILLED;
		r->next_at = now(r) + KILL_WAIT_NS;
	}
}

static void kill_all(const struct run *r)
{
	if (r->spec->cgroup_kill_fd > 0 && write(r->spec->cgroup_kill_fd, "1", 1) == 1)
		return;
	send_all(r, SIGKILL);
}

/* Is something of the command left, alive or to be reaped? Asked of the whole tree only once the child itself is gone. */
static bool is_left(const struct run *r)
{
	ib_auto_pids struct ib_pids list = {0};
	size_t dead;

	return !r->gone || (members(r, &list, &dead) && list.n + dead > 0);
}

/* From the first step of an end to the last, until nothing is left or the kernel does not let go. */
static void end_all(struct run *r)
{
	for (;;) {
		reap(r);
		if (!is_left(r) || (r->stage == KILLED && now(r) >= r->next_at))
			return;
		if (r->gone && r->stage == ASKED) {
			/* a wrapper may be gone before what it started has saved its results: that has the rest of the grace time. Background jobs
			 * of a shell ignore INT, none of them should ignore TERM */
			r->stage = TERMED;
			send_all(r, SIGTERM);
		} else if (now(r) >= r->next_at || r->signals->count >= r->hurry_at) {
			end_harder(r);
		}
		if (r->stage == KILLED)
			kill_all(r);
		if (!r->gone && r->stage != KILLED) {
			wait_until(r, r->next_at);
			if (!r->gone)
				tick(r);
		} else {
			ib_signals_wait(r->signals, POLL_NS, -1);
		}
	}
}

/* Waits for the child; at a signal, when its time is over or the caller says so, the whole tree is ended. */
static void supervise(struct run *r)
{
	int64_t deadline = r->spec->timeout_ns ? now(r) + r->spec->timeout_ns : INT64_MAX;

	r->tick_at = r->spec->tick && r->spec->tick_ns ? now(r) + r->spec->tick_ns : INT64_MAX;
	while (r->stage == RUNS) {
		int sig = wait_until(r, deadline);

		if (r->gone)
			return;
		r->res->timed_out = !sig && now(r) >= deadline;
		r->res->ended_by_tick = !sig && !r->res->timed_out && tick(r);
		r->res->interrupted_by = sig;
		if (sig)
			ask_to_end(r, sig);
		else if (r->res->timed_out || r->res->ended_by_tick)
			ask_to_end(r, r->spec->end_signal ? r->spec->end_signal : SIGTERM);
	}
	end_all(r);
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
	if (known && !rest.n)
		return;
	ask_to_end(r, SIGTERM);
	end_all(r);
}

/* What the new process has to say before it is the command. */
static int hear(struct run *r, int fd, struct ib_err *err)
{
	struct ib_child_report said;
	ssize_t n;

	while ((n = read(fd, &said, sizeof(said))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(said))
			break;
		switch (said.what) {
		case IB_CHILD_CGROUP:
			r->res->cgroup_errno = said.sys;
			break;
		case IB_CHILD_NETWORK:
			waitpid(r->pid, NULL, 0);
			return ib_fail(err, IB_E_UNSUPPORTED, said.sys,
				       "the command was not run: it cannot be kept from the network, which needs user namespaces (sysctl "
				       "user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; containers need them allowed)");
		default:
			r->res->exec_errno = said.sys;
		}
	}
	return 0;
}

/* With vfork() nothing of us is copied that exec would throw away at once: a third of a millisecond. Who still has to fork on the way gets a copy. */
static pid_t fork_child(const struct ib_child_spec *spec, int report)
{
	char **own = environ;
	pid_t pid;

	environ = (char **)(uintptr_t)spec->env; /* its PATH is the one that counts */
	pid = spec->no_network ? fork() : vfork();
	if (pid == 0)
		ib_child_exec(spec, report);
	environ = own;
	return pid;
}

static int start(struct run *r, struct ib_err *err)
{
	ib_auto_fd int from = -1, to = -1;
	int report[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	from = report[0];
	to = report[1];
	r->res->started_ns = ib_wall_ns(r->ctx->clock);
	r->res->duration_ns = -passed(r);
	r->pid = fork_child(r->spec, to);
	r->res->pid = r->pid;
	if (r->pid < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot start a process");
	close(ib_steal_fd(&to));
	if (r->spec->own_tree && !r->spec->terminal)
		setpgid(r->pid, r->pid); /* in both, so that neither is early */
	return hear(r, from, err);
}

/* The child from its start to the end of its tree. */
static int run(struct run *r, struct ib_err *err)
{
	struct ib_child_result *ret = r->res;
	int e;

	if (r->spec->terminal)
		ib_pty_attach(r->spec->terminal);
	e = start(r, err);
	if (e < 0)
		return e;
	r->signals->on_stop = on_stop;
	r->signals->on_stop_arg = r;
	supervise(r);
	if (!r->gone) { /* stuck in the kernel, or another user's: what it used is not known */
		stop_clock(r);
		ret->user_ns = ret->system_ns = ret->max_rss_bytes = ret->voluntary_switches = ret->involuntary_switches = IB_NONE;
	}
	if (r->spec->own_tree && ret->exec_errno == IB_NONE && !ret->timed_out && !ret->ended_by_tick && !ret->interrupted_by)
		end_rest(r);
	if (r->spec->terminal)
		ib_pty_rest(r->spec->terminal);
	take_terminal(r);
	r->signals->on_stop = NULL;
	if (ret->exec_errno != IB_NONE)
		ret->exit_status = IB_NONE;
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
	e = run(&r, err);
	if (spec->own_tree)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	ib_pids_clear(&r.excluded);
	return e;
}
