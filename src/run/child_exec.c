/* SPDX-License-Identifier: Apache-2.0 */
/* From fork to exec: the new process gets its group or session, default signals, its descriptors, its limits. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/exit.h"
#include "base/str.h"
#include "run/child_inside.h"
#include "run/isolate.h"

static void default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++) {
		struct sigaction sa;

		if (i == SIGKILL || i == SIGSTOP)
			continue;
		if (i != SIGHUP || (sigaction(i, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)) /* nohup holds for the command too */
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

static void say(int report, int what, int sys)
{
	struct ib_child_report r;

	memset(&r, 0, sizeof(r));
	r.what = what;
	r.sys = sys;
	while (write(report, &r, sizeof(r)) < 0 && errno == EINTR)
		;
}

/* What must be in place before the first instruction of the command. */
static void confine(const struct ib_child_spec *spec, int report)
{
	int sys;

	if (spec->cgroup_procs_fd > 0 && write(spec->cgroup_procs_fd, "0", 1) < 0)
		say(report, IB_CHILD_CGROUP, errno);
	if (!spec->no_network)
		return;
	sys = ib_isolate_network();
	if (sys == 0)
		return;
	say(report, IB_CHILD_NETWORK, sys);
	_exit(IB_EXIT_RUN_ERROR);
}

void ib_child_exec(const struct ib_child_spec *spec, int report)
{
	if (spec->own_tree && !spec->terminal)
		setpgid(0, 0);
	else
		setsid();
	if (spec->terminal)
		ioctl(spec->stdout_fd, TIOCSCTTY, 0);
	confine(spec, report);
	default_signals();
	move_fd(spec->stdin_fd, 0);
	move_fd(spec->stdout_fd, 1);
	move_fd(spec->stderr_fd, 2);
	execvp(spec->argv[0], spec->argv);
	say(report, IB_CHILD_EXEC, errno == EACCES && !is_somewhere(spec->argv[0]) ? ENOENT : errno);
	_exit(IB_EXIT_NOT_FOUND);
}
