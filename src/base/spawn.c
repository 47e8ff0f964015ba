/* SPDX-License-Identifier: Apache-2.0 */
/* Children with a time limit. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"

#define KILL_WAIT_NS (2 * IB_NS) /* how long a killed child in an uninterruptible call is waited for */

static int64_t now_ns(void)
{
	return ib_monotonic_ns(&ib_clock_system);
}

/* In the child: nothing of the parent's signal set-up, no core file, death with the parent. */
static void settle(pid_t parent)
{
	const struct rlimit none = {0, 0};
	sigset_t all;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(IB_EXIT_RUN_ERROR);
	setrlimit(RLIMIT_CORE, &none);
	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			signal(s, SIG_DFL);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Takes what the child has written. False at the end of its output or when there was too much. */
static bool take(int fd, struct ib_buf *out, struct ib_child_end *end)
{
	char chunk[8192];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
		ib_buf_add(out, chunk, (size_t)n);
		if (out->overflow) {
			end->overflow = true;
			return false;
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool reap(pid_t pid, struct ib_child_end *end)
{
	struct rusage use;
	int status;
	pid_t got = wait4(pid, &status, WNOHANG, &use);

	if (got < 0 && errno == ECHILD) /* reaped by somebody else: how it ended is lost */
		return true;
	if (got != pid)
		return false;
	if (WIFEXITED(status))
		end->status = WEXITSTATUS(status);
	else
		end->signal = WTERMSIG(status);
	end->cpu_ns = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * IB_NS + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
	return true;
}

/* Waits for the child until the deadline, or until stop (or NULL) says so, taking its output meanwhile. True when it was reaped. */
static bool watch(pid_t pid, int pidfd, int fd, int64_t deadline, const struct ib_spawn_stop *stop, struct ib_buf *out, struct ib_child_end *end)
{
	bool open = fd >= 0;

	for (;;) {
		int64_t left = deadline - now_ns();
		struct pollfd p[3] = {{open ? fd : -1, POLLIN, 0}, {pidfd, POLLIN, 0}, {stop ? stop->fd : -1, POLLIN, 0}};
		/* without a pidfd the child is looked for every 5 ms */
		int wait_ms = pidfd < 0 ? 5 : (int)(left / 1000000) + 1;

		if (left <= 0)
			return false;
		poll(p, 3, wait_ms);
		if (open)
			open = take(fd, out, end);
		if (end->overflow)
			return false;
		if (reap(pid, end)) {
			if (open)
				take(fd, out, end);
			return true;
		}
		end->stopped = stop && (p[2].revents & POLLIN) && stop->ask(stop->arg);
		if (end->stopped)
			return false;
	}
}

static void finish(pid_t pid, int fd, int64_t timeout_ns, const struct ib_spawn_stop *stop, struct ib_buf *out, struct ib_child_end *end)
{
	ib_auto_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int64_t start = now_ns();

	*end = (struct ib_child_end){.status = -1};
	if (!watch(pid, pidfd, fd, start + timeout_ns, stop, out, end)) {
		end->timed_out = !end->overflow && !end->stopped;
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		if (!watch(pid, pidfd, -1, now_ns() + KILL_WAIT_NS, NULL, out, end))
			end->signal = SIGKILL; /* stuck in the kernel: it is left behind */
	} else {
		kill(-pid, SIGKILL); /* what it may have left running */
	}
	end->wall_ns = now_ns() - start;
}

static int call(int (*fn)(void *arg, int fd), void *arg, int64_t timeout_ns, const struct ib_spawn_stop *stop, struct ib_buf *out, struct ib_child_end *ret,
		struct ib_err *err)
{
	pid_t parent = getpid(), pid;
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	ib_auto_fd int from = pipes[0];

	fcntl(from, F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0) {
		settle(parent);
		_exit(fn(arg, pipes[1]) & 0xff);
	}
	close(pipes[1]);
	if (pid < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a child process");
	setpgid(pid, pid); /* in both, whoever comes first */
	finish(pid, from, timeout_ns, stop, out, ret);
	return 0;
}

int ib_child_call(int (*fn)(void *arg, int fd), void *arg, int64_t timeout_ns, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err)
{
	return call(fn, arg, timeout_ns, NULL, out, ret, err);
}

static int exec_it(void *arg, int fd)
{
	const struct ib_spawn *what = arg;
	int null = open("/dev/null", O_RDWR);
	char *const none[] = {NULL};
	struct rlimit limit = {what->memory_bytes, what->memory_bytes};

	if (null < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(what->with_stderr ? fd : null, 2) < 0)
		return IB_EXIT_CANNOT_EXECUTE;
	if (what->memory_bytes && setrlimit(RLIMIT_AS, &limit) < 0)
		return IB_EXIT_CANNOT_EXECUTE;
	if (what->cwd && chdir(what->cwd) < 0)
		return IB_EXIT_CANNOT_EXECUTE;
	execvpe(what->argv[0], (char *const *)(uintptr_t)what->argv, what->env ? what->env : none);
	return errno == ENOENT ? IB_EXIT_NOT_FOUND : IB_EXIT_CANNOT_EXECUTE;
}

int ib_spawn(const struct ib_spawn *what, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err)
{
	struct ib_spawn copy = *what;

	return call(exec_it, &copy, what->timeout_ns, what->stop, out, ret, err);
}
