/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to ib-run as a descriptor. */
#include "run/signals.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Also taken: a stop and its end, the size of the window. */
static const int others[] = {SIGTSTP, SIGCONT, SIGWINCH};

static bool is_ignored(int sig)
{
	struct sigaction sa;

	return sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN;
}

int ib_signals_init(struct ib_signals *s, struct ib_err *err)
{
	sigset_t set;

	*s = (struct ib_signals){.fd = -1};
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < IB_LEN(forwarded); i++)
		if (forwarded[i] != SIGHUP || !is_ignored(SIGHUP)) /* nohup */
			sigaddset(&set, forwarded[i]);
	for (size_t i = 0; i < IB_LEN(others); i++)
		if (!is_ignored(others[i]))
			sigaddset(&set, others[i]);
	signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would reap our children unseen */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of one write, not the end of the record */
	signal(SIGTTOU, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, &s->before) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot block signals");
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? ib_fail(err, IB_E_IO, errno, "cannot wait for signals") : 0;
}

void ib_signals_clear(struct ib_signals *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

void ib_signals_typed(struct ib_signals *s, int sig)
{
	s->count++;
	if (!s->caught)
		s->caught = sig;
}

/* The kernel's own rules hold for the stop: a process group that nobody could continue does not stop. */
void ib_signals_stop(struct ib_signals *s)
{
	sigset_t stop;

	if (s->on_stop)
		s->on_stop(s->on_stop_arg, true);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here we stand still */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	if (s->on_stop)
		s->on_stop(s->on_stop_arg, false);
}

static int take(struct ib_signals *s)
{
	struct signalfd_siginfo info;
	int last = 0;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			break;
		case SIGWINCH:
			s->resized = true;
			break;
		case SIGTSTP:
			ib_signals_stop(s);
			break;
		case SIGCONT: /* of a stop that we could not see coming */
			if (s->on_stop)
				s->on_stop(s->on_stop_arg, false);
			break;
		default:
			last = (int)info.ssi_signo;
			ib_signals_typed(s, last);
		}
	}
	return last;
}

int ib_signals_wait(struct ib_signals *s, int64_t timeout_ns, int extra_fd)
{
	struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN}, {.fd = extra_fd, .events = POLLIN}};
	struct timespec ts = {.tv_sec = timeout_ns / IB_NS, .tv_nsec = timeout_ns % IB_NS};

	ppoll(fds, 2, timeout_ns < 0 ? NULL : &ts, NULL);
	return take(s);
}
