/* SPDX-License-Identifier: Apache-2.0 */
/* The logger process. Bytes go to the log first and to our own output second; an output that nobody reads any more holds up nothing but itself. */
#include "run/logger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "run/cast.h"

#define CHUNK 65536
#define MARK_ROOM 4096 /* kept on the disk from the start, so that a mark always fits */
#define HURRY_NS (2 * IB_NS)
#define BYTE_ENDING 'e' /* to the logger: no more will be written, whoever still holds the pipes */
#define BYTE_HIDE 'h'   /* show nothing more */
#define BYTE_LINE 'p'   /* a line of progress follows, up to a NUL */
#define LINE_MAX 256

static const char *const names[2] = {"stdout.log", "stderr.log"};

struct stream {
	int pipe, log, show; /* pipe -1: ended; show -1: not shown (any more) */
	bool show_is_file, show_is_terminal;
	uint64_t kept, lost;
	int sys;
	size_t at, n; /* of buf: what is not shown yet */
	char buf[CHUNK];
};

struct logger {
	struct stream s[2];
	int status, control;
	bool ending; /* the command and all its processes are gone: what is in the pipes is all there will be */
	struct ib_cast cast;
	bool in_line;             /* of control: a line is coming */
	char line[LINE_MAX];      /* of progress */
	size_t line_n;
	bool drawn, mid_line;     /* the line is on the terminal; the command's output there ends within a line */
};

/* --- the line of progress --- */

/* A terminal that has stopped (Ctrl-S) must not hold up the logs. */
static void to_terminal(const char *text, size_t n)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) && write(STDERR_FILENO, text, n) < 0)
		return;
}

static void erase(struct logger *l)
{
	if (l->drawn)
		to_terminal("\r\033[K", 4);
	l->drawn = false;
}

static void draw(struct logger *l)
{
	if (l->mid_line || l->s[0].n || l->s[1].n || !l->s[1].show_is_terminal)
		return;
	erase(l);
	to_terminal(l->line, l->line_n);
	l->drawn = l->line_n > 0;
}

/* --- output --- */

static void keep(struct stream *s, const char *p, size_t n)
{
	while (n && !s->sys) {
		ssize_t k = write(s->log, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			s->sys = errno;
			break;
		}
		p += k;
		n -= (size_t)k;
		s->kept += (size_t)k;
	}
	s->lost += n;
}

static void take(struct logger *l, struct stream *s)
{
	struct winsize size;
	ssize_t n = read(s->pipe, s->buf, sizeof(s->buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(s->pipe);
		s->pipe = -1;
		return;
	}
	keep(s, s->buf, (size_t)n);
	if (l->cast.fd >= 0 && ioctl(s->pipe, TIOCGWINSZ, &size) == 0)
		ib_cast_resize(&l->cast, size);
	ib_cast_output(&l->cast, s->buf, (size_t)n);
	s->at = 0;
	s->n = s->show >= 0 ? (size_t)n : 0;
}

/* A pipe that polls as writable takes 4 KiB without blocking. */
static void show(struct logger *l, struct stream *s)
{
	size_t left = s->n - s->at, max = s->show_is_file ? left : 4096;
	ssize_t k;

	if (s->show_is_terminal)
		erase(l);
	k = write(s->show, s->buf + s->at, left < max ? left : max);
	if (k < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (k > 0 && s->show_is_terminal)
		l->mid_line = s->buf[s->at + (size_t)k - 1] != '\n';
	if (k < 0)
		s->show = -1;
	else
		s->at += (size_t)k;
	if (s->show < 0 || s->at == s->n)
		s->at = s->n = 0;
}

static void obey_byte(struct logger *l, char byte)
{
	if (l->in_line) {
		l->in_line = byte != '\0';
		if (!l->in_line)
			draw(l);
		else if (l->line_n < sizeof(l->line))
			l->line[l->line_n++] = byte;
		return;
	}
	l->ending |= byte == BYTE_ENDING;
	l->in_line = byte == BYTE_LINE;
	l->line_n = 0;
	if (byte != BYTE_LINE)
		erase(l);
	for (int i = 0; byte == BYTE_HIDE && i < 2; i++) {
		l->s[i].show = -1;
		l->s[i].at = l->s[i].n = 0;
	}
}

static void obey(struct logger *l)
{
	char bytes[LINE_MAX];
	ssize_t n = read(l->control, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < n; i++)
		obey_byte(l, bytes[i]);
	if (n == 0 || (n < 0 && errno != EINTR)) { /* ib-run is gone; we go on */
		erase(l);
		l->control = -1;
	}
}

static bool busy(const struct logger *l)
{
	return l->s[0].pipe >= 0 || l->s[1].pipe >= 0 || l->s[0].n || l->s[1].n;
}

/* What a stream waits for: room in its output when it holds something, else more from the command. */
static struct pollfd wanted(const struct stream *s)
{
	return s->n ? (struct pollfd){.fd = s->show, .events = POLLOUT} : (struct pollfd){.fd = s->pipe, .events = POLLIN};
}

/* Somebody outside the command's tree may hold the pipe open for ever. */
static void end_if_empty(struct stream *s)
{
	struct pollfd p = {.fd = s->pipe, .events = POLLIN};

	if (s->pipe < 0 || s->n || poll(&p, 1, 0) != 0)
		return;
	close(s->pipe);
	s->pipe = -1;
}

static void copy(struct logger *l)
{
	while (busy(l)) {
		struct pollfd p[] = {wanted(&l->s[0]), wanted(&l->s[1]), {.fd = l->control, .events = POLLIN}};

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			if (!p[i].revents)
				continue;
			if (l->s[i].n)
				show(l, &l->s[i]);
			else
				take(l, &l->s[i]);
		}
		if (p[2].revents)
			obey(l);
		for (int i = 0; l->ending && i < 2; i++)
			end_if_empty(&l->s[i]);
	}
}

/* The log of a full disk ends with a line that says so, written over its last bytes: those have their place already. */
static void mark(struct stream *s)
{
	char text[256];
	uint64_t kept, total = s->kept + s->lost;
	int n = 0;

	kept = s->kept;
	for (int i = 0; i < 2; i++) { /* twice: the number is part of the text */
		n = snprintf(text, sizeof(text), "\n[ib-run: log cut: %s; the first %llu of %llu bytes are above]\n", strerror(s->sys), (unsigned long long)kept,
			     (unsigned long long)total);
		kept = s->kept > (uint64_t)n ? s->kept - (uint64_t)n : 0;
	}
	n = snprintf(text, sizeof(text), "\n[ib-run: log cut: %s; the first %llu of %llu bytes are above]\n", strerror(s->sys), (unsigned long long)kept,
		     (unsigned long long)total);
	if (pwrite(s->log, text, (size_t)n, (off_t)kept) != n)
		return;
	s->lost = total - kept;
	s->kept = kept;
}

static void report(struct logger *l)
{
	struct ib_logger_status st = {0};

	ib_cast_end(&l->cast);
	st.cast_sys = l->cast.sys;
	for (int i = 0; i < 2; i++) {
		if (l->s[i].log < 0)
			continue;
		if (l->s[i].sys)
			mark(&l->s[i]);
		fdatasync(l->s[i].log);
		st.kept[i] = l->s[i].kept;
		st.lost[i] = l->s[i].lost;
		st.sys[i] = l->s[i].sys;
	}
	while (write(l->status, &st, sizeof(st)) < 0 && errno == EINTR)
		;
}

/* --- starting it --- */

/* Closes every descriptor but the standard three and ours: locks and pipes of ib-run are none of the logger's business. */
static void close_others(const struct logger *l)
{
	int keep_fds[] = {l->s[0].pipe, l->s[1].pipe, l->s[0].log, l->s[1].log, l->status, l->control, l->cast.fd};

	for (unsigned from = 3;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < IB_LEN(keep_fds); i++)
			if ((unsigned)keep_fds[i] >= from && (unsigned)keep_fds[i] < next)
				next = (unsigned)keep_fds[i];
		if (next > from)
			close_range(from, next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

static void quiet_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM};

	for (size_t i = 0; i < IB_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
}

static void serve(struct logger *l)
{
	int null = open("/dev/null", O_RDONLY);

	quiet_signals();
	prctl(PR_SET_NAME, "ib-run-logger");
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	close_others(l);
	if (chdir("/") < 0)
		l->control = -1; /* nothing depends on it */
	copy(l);
	erase(l); /* the pipes may end before ib-run says that nothing more will come */
	report(l);
	_exit(0);
}

/* Forked twice: the logger is nobody's child, so that it is in nobody's way when trees are ended. */
static int fork_logger(struct logger *l, struct ib_err *err)
{
	int status = 0;
	pid_t p = fork();

	if (p == 0) {
		setsid();
		p = fork();
		if (p == 0)
			serve(l);
		_exit(p < 0);
	}
	if (p < 0 || waitpid(p, &status, 0) != p || status != 0)
		return ib_fail(err, IB_E_IO, p < 0 ? errno : EAGAIN, "cannot start the logger");
	return 0;
}

static int open_log(int dir_fd, const char *name, int *ret, struct ib_err *err)
{
	*ret = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (*ret < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '%s'", name);
	if (fallocate(*ret, FALLOC_FL_KEEP_SIZE, 0, MARK_ROOM) < 0 && (errno == ENOSPC || errno == EDQUOT))
		return ib_fail(err, IB_E_IO, errno, "no room for '%s'", name);
	return 0;
}

static int make_pipe(int fds[2], struct ib_err *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	return 0;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Both streams are one: the terminal's other end. */
static int use_terminal(int dir_fd, const struct ib_pty *terminal, int slave_fd, struct logger *l, struct ib_logger *ret, struct ib_err *err)
{
	struct winsize size = {.ws_col = 80, .ws_row = 24};
	int fd, r;

	ret->out_fd = slave_fd;
	if ((r = open_log(dir_fd, names[0], &l->s[0].log, err)) < 0)
		return r;
	l->s[0].pipe = fcntl(terminal->master_fd, F_DUPFD_CLOEXEC, 3);
	fd = openat(dir_fd, "terminal.cast", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (l->s[0].pipe < 0 || fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create 'terminal.cast'");
	ioctl(terminal->master_fd, TIOCGWINSZ, &size);
	ib_cast_begin(&l->cast, fd, size, ib_wall_ns(&ib_clock_system) / IB_NS);
	return 0;
}

static int use_pipes(int dir_fd, struct logger *l, struct ib_logger *ret, struct ib_err *err)
{
	int *const ours[2] = {&ret->out_fd, &ret->err_fd};
	int fds[2], r;

	for (int i = 0; i < 2; i++) {
		if ((r = open_log(dir_fd, names[i], &l->s[i].log, err)) < 0 || (r = make_pipe(fds, err)) < 0)
			return r;
		l->s[i].pipe = fds[0];
		*ours[i] = fds[1];
		fcntl(fds[1], F_SETPIPE_SZ, 1 << 20); /* a writer should rarely wait for us */
	}
	return 0;
}

/* Opens what both sides talk through; what is open at a failure is closed by the caller. */
static int prepare(bool shown, struct logger *l, struct ib_logger *ret, struct ib_err *err)
{
	int fds[2], r;

	for (int i = 0; i < 2; i++) {
		l->s[i].show = shown ? STDOUT_FILENO + i : -1;
		l->s[i].show_is_file = shown && is_file(STDOUT_FILENO + i);
		l->s[i].show_is_terminal = shown && isatty(STDOUT_FILENO + i);
	}
	if ((r = make_pipe(fds, err)) < 0)
		return r;
	ret->status_fd = fds[0];
	l->status = fds[1];
	if ((r = make_pipe(fds, err)) < 0)
		return r;
	l->control = fds[0];
	ret->control_fd = fds[1];
	return 0;
}

int ib_logger_start(int dir_fd, bool shown, const struct ib_pty *terminal, int slave_fd, struct ib_logger *ret, struct ib_err *err)
{
	ib_auto_free struct logger *l = ib_alloc(sizeof(*l));
	int r;

	*ret = (struct ib_logger){.out_fd = -1, .err_fd = -1, .status_fd = -1, .control_fd = -1};
	l->status = l->control = l->cast.fd = -1;
	for (int i = 0; i < 2; i++)
		l->s[i].pipe = l->s[i].log = l->s[i].show = -1;
	r = terminal ? use_terminal(dir_fd, terminal, slave_fd, l, ret, err) : use_pipes(dir_fd, l, ret, err);
	if (r == 0)
		r = prepare(shown, l, ret, err);
	if (r == 0)
		r = fork_logger(l, err);
	for (int i = 0; i < 2; i++) {
		ib_auto_fd_fn(&l->s[i].pipe);
		ib_auto_fd_fn(&l->s[i].log);
	}
	ib_auto_fd_fn(&l->status);
	ib_auto_fd_fn(&l->control);
	ib_auto_fd_fn(&l->cast.fd);
	if (r < 0)
		ib_logger_clear(ret);
	return r;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void ib_logger_release(struct ib_logger *l)
{
	close_fd(&l->out_fd);
	close_fd(&l->err_fd);
}

void ib_logger_clear(struct ib_logger *l)
{
	ib_logger_release(l);
	close_fd(&l->status_fd);
	close_fd(&l->control_fd);
}

void ib_logger_progress(struct ib_logger *l, const char *line)
{
	char text[LINE_MAX];
	size_t n = strnlen(line, sizeof(text) - 2);

	text[0] = BYTE_LINE;
	memcpy(text + 1, line, n);
	text[n + 1] = '\0';
	if (write(l->control_fd, text, n + 2) < 0)
		return; /* it ended early, which its end will tell */
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Waits for the report; from that moment on, or from a signal on, nothing more is shown. */
static void wait_for_report(struct ib_logger *l, struct ib_signals *signals, int64_t hide_at)
{
	while (!readable(l->status_fd)) {
		int64_t left = hide_at == INT64_MAX ? -1 : hide_at - ib_monotonic_ns(&ib_clock_system);

		if (hide_at != INT64_MAX && left <= 0) {
			if (write(l->control_fd, (const char[]){BYTE_HIDE}, 1) < 0)
				return;
			left = IB_NS / 10;
		}
		if (ib_signals_wait(signals, left, l->status_fd) != 0)
			hide_at = 0;
	}
}

int ib_logger_finish(struct ib_logger *l, struct ib_signals *signals, bool hurry, struct ib_logger_status *ret, struct ib_err *err)
{
	int64_t hide_at = hurry ? ib_monotonic_ns(&ib_clock_system) + HURRY_NS : INT64_MAX;
	size_t n;
	int r;

	ib_logger_release(l);
	if (write(l->control_fd, (const char[]){BYTE_ENDING}, 1) < 0)
		hide_at = 0; /* it is gone already */
	wait_for_report(l, signals, hide_at);
	r = ib_read_upto(l->status_fd, ret, sizeof(*ret), "the logger's report", &n, err);
	if (r == 0 && n != sizeof(*ret))
		r = ib_fail(err, IB_E_STATE, 0, "the logger ended early: the logs are not complete");
	return r;
}
