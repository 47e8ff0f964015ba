/* SPDX-License-Identifier: Apache-2.0 */
/* A child process run to its end: own process group, default signals, time limit, end of the whole tree, resource usage. */
#ifndef IB_RUN_CHILD_H
#define IB_RUN_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/ctx.h"
#include "base/err.h"
#include "run/pty.h"
#include "run/signals.h"

/* How a command is ended: a signal (that which reached us, or end_signal), the grace time, TERM unless it was the first, a short grace time,
 * KILL. Every further signal to us goes one step on at once. */
struct ib_child_spec {
	char *const *argv, *const *env; /* NULL-terminated; argv[0] is looked up in env's PATH */
	int stdin_fd;                   /* -1: inherited */
	int stdout_fd, stderr_fd;       /* -1: inherited */
	int64_t timeout_ns;             /* 0: none */
	int64_t grace_ns;               /* after the first signal */
	int end_signal;                 /* what the command gets first when its time is over; 0: TERM */
	bool own_tree;      /* subreaper while it runs: every descendant, double forks too, is ended with it (the measured command);
	                       false: own session, which is ended only at a timeout or signal (hooks that start servers) */
	pid_t spare_pid;    /* a child of ours that is not part of the tree (the logger), or 0 */
	/* Called every tick_ns (0: never) while the child runs, with the clock that stands still in a suspension. True ends the tree as a timeout does. */
	bool (*tick)(void *arg, int64_t now_ns);
	void *tick_arg;
	int64_t tick_ns;
	struct ib_pty *terminal; /* stdout_fd is its command's end, which becomes the controlling terminal of a session; NULL: none */
	bool no_network;         /* see run/isolate.h */
	int cgroup_procs_fd;     /* the control group to be in: its cgroup.procs, or 0 */
	int cgroup_kill_fd;      /* its cgroup.kill, or 0 */
};

struct ib_child_result {
	pid_t pid;                               /* set before the first tick */
	int64_t exit_status, signal, exec_errno; /* or IB_NONE: exactly one is set, none when KILL did not end it */
	bool timed_out;
	bool ended_by_tick;
	int interrupted_by;                      /* signal that reached us while it ran, or 0 */
	int cgroup_errno;                        /* why it is not in its control group, or 0 */
	int64_t started_ns, finished_ns;         /* wall clock */
	int64_t duration_ns;                     /* monotonic */
	int64_t stopped_ns;                      /* of that, how long it stood still with us (Ctrl-Z) */
	int64_t user_ns, system_ns, max_rss_bytes, voluntary_switches, involuntary_switches; /* of the child and what it waited for; IB_NONE: it did not end */
	int64_t left_behind; /* own_tree: processes that outlived it and were ended; IB_NONE: could not look */
};

/* Runs the child to its end. 0 also when it could not be executed (exec_errno). An error means that no child could be made; IB_E_UNSUPPORTED: that
 * it cannot be kept from the network, and was not run. */
IB_MUST int ib_child_run(const struct ib_ctx *ctx, struct ib_signals *signals, const struct ib_child_spec *spec, struct ib_child_result *ret,
			 struct ib_err *err);

#endif
