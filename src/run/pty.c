/* SPDX-License-Identifier: Apache-2.0 */
/* A pseudo-terminal for the command. */
#include "run/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/auto.h"

static struct winsize our_size(void)
{
	struct winsize ws = {0};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col && ws.ws_row)
			return ws;
	return (struct winsize){.ws_col = 80, .ws_row = 24};
}

int ib_pty_open(struct ib_pty *ret, int *ret_slave_fd, struct ib_err *err)
{
	ib_auto_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;
	struct winsize ws = our_size();
	char name[64];

	*ret = (struct ib_pty){.master_fd = -1};
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pseudo-terminal");
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open the pseudo-terminal '%s'", name);
	ioctl(master, TIOCSWINSZ, &ws);
	fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
	ret->master_fd = ib_steal_fd(&master);
	*ret_slave_fd = ib_steal_fd(&slave);
	return 0;
}

void ib_pty_clear(struct ib_pty *p)
{
	ib_pty_detach(p);
	if (p->shows_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &p->before);
	p->shows_raw = false;
	if (p->master_fd >= 0)
		close(p->master_fd);
	p->master_fd = -1;
}

bool ib_pty_has_input(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void ib_pty_attach(struct ib_pty *p)
{
	struct termios raw;

	if (!ib_pty_has_input() || tcgetattr(STDIN_FILENO, &raw) < 0)
		return;
	p->typing = true;
	if (p->raw)
		return;
	p->before = raw;
	cfmakeraw(&raw);
	p->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void ib_pty_rest(struct ib_pty *p)
{
	struct termios t = p->before;

	if (!p->raw)
		return;
	t.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
	p->raw = p->typing = false;
	p->shows_raw = true;
}

void ib_pty_detach(struct ib_pty *p)
{
	if (p->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &p->before);
	p->raw = p->typing = false;
}

int ib_pty_wait_fd(const struct ib_pty *p)
{
	return p->typing && !p->pending_n ? STDIN_FILENO : -1;
}

/* Gives the command what it takes; a command that does not read keeps us from reading. */
static void hand_on(struct ib_pty *p)
{
	ssize_t k = p->pending_n ? write(p->master_fd, p->pending, p->pending_n) : 0;

	if (k <= 0)
		return;
	p->pending_n -= (size_t)k;
	memmove(p->pending, p->pending + k, p->pending_n);
}

static void resize(const struct ib_pty *p)
{
	struct winsize ws = our_size();

	ioctl(p->master_fd, TIOCSWINSZ, &ws);
}

/* What the byte does at the command's terminal: a signal, or 0. */
static int signal_of(const struct termios *t, char byte)
{
	cc_t c = (cc_t)byte;

	if (!(t->c_lflag & ISIG) || c == _POSIX_VDISABLE)
		return 0;
	return c == t->c_cc[VINTR] ? SIGINT : c == t->c_cc[VQUIT] ? SIGQUIT : c == t->c_cc[VSUSP] ? SIGTSTP : 0;
}

int ib_pty_serve(struct ib_pty *p, pid_t command, struct ib_signals *signals)
{
	struct pollfd in = {.fd = ib_pty_wait_fd(p), .events = POLLIN};
	struct termios t;
	int last = 0;
	ssize_t n;

	if (signals->resized)
		resize(p);
	signals->resized = false;
	hand_on(p);
	if (p->pending_n || in.fd < 0 || poll(&in, 1, 0) <= 0)
		return 0;
	n = read(STDIN_FILENO, p->pending, sizeof(p->pending));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (tcgetattr(p->master_fd, &t) < 0)
		memset(&t, 0, sizeof(t));
	if (n <= 0) { /* hung up: the command's input ends as well */
		p->typing = false;
		p->pending[0] = (char)t.c_cc[VEOF];
		n = 1;
	}
	for (ssize_t i = 0; i < n; i++) {
		int sig = signal_of(&t, p->pending[i]);

		if (sig == SIGINT || sig == SIGQUIT)
			ib_signals_typed(signals, last = sig);
		/* a command that has jobs of its own stops the one in the foreground; the command itself nobody but us could continue */
		if (sig == SIGTSTP && tcgetpgrp(p->master_fd) == command)
			ib_signals_stop(signals);
	}
	p->pending_n = (size_t)n;
	hand_on(p);
	return last;
}
