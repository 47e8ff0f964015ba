/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the sampler keeps running and asks for an answer each time: a line feed on their standard input; "CODE LENGTH", a line feed and LENGTH bytes
 * on their standard output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "run/sampler_inside.h"

#define ANSWER_MAX (4u << 20)
#define OVERDUE_NS (10 * IB_NS) /* an answer that is not there by then does not come */
#define HEAD_MAX 64

static void exec_helper(const char *const *argv, char *const *env, int in, int out)
{
	const struct rlimit none = {0, 0};
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execve(argv[0], (char *const *)(uintptr_t)argv, env);
	_exit(errno == ENOENT ? IB_EXIT_NOT_FOUND : IB_EXIT_CANNOT_EXECUTE);
}

void ib_helper_start(struct ib_sampler_helper *h, const char *name, const char *const *argv, char *const *env)
{
	int to[2], from[2];

	*h = (struct ib_sampler_helper){.name = name, .in = -1, .out = -1, .status = "error", .state = IB_HELPER_GONE, .answer = IB_BUF(ANSWER_MAX), .code = -1};
	if (pipe2(to, O_CLOEXEC) < 0)
		return;
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return;
	}
	h->pid = fork();
	if (h->pid == 0)
		exec_helper(argv, env, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	h->in = to[1];
	h->out = from[0];
	fcntl(h->out, F_SETFL, O_NONBLOCK);
	fcntl(h->in, F_SETFL, O_NONBLOCK);
	fcntl(h->out, F_SETPIPE_SZ, 1 << 20); /* a whole page, without a stop */
	if (h->pid < 0) {
		h->pid = 0;
		ib_helper_end(h);
		return;
	}
	h->state = IB_HELPER_IDLE;
	h->status = "unanswered";
}

static void drop(struct ib_sampler_helper *h, const char *status)
{
	ib_helper_end(h);
	h->status = status;
}

void ib_helper_ask(struct ib_sampler_helper *h, int64_t now_ns)
{
	if (h->state == IB_HELPER_ASKED && now_ns - h->asked_ns > OVERDUE_NS)
		drop(h, "timeout");
	if (h->state != IB_HELPER_IDLE)
		return;
	ib_buf_reset(&h->answer);
	h->code = -1;
	if (write(h->in, "\n", 1) != 1) {
		drop(h, "error");
		return;
	}
	h->asked_ns = now_ns;
	h->state = IB_HELPER_ASKED;
}

/* "200 51234\n" at the beginning; false: not there yet, or no head. */
static bool read_head(struct ib_sampler_helper *h)
{
	const char *text = ib_buf_str(&h->answer), *end = memchr(text, '\n', h->answer.len < HEAD_MAX ? h->answer.len : HEAD_MAX);
	size_t length;
	int code;

	if (!end || sscanf(text, "%d %zu", &code, &length) != 2 || code < 0 || length > ANSWER_MAX - HEAD_MAX) {
		if (h->answer.len >= HEAD_MAX || end)
			drop(h, "error");
		return false;
	}
	h->code = code;
	h->length = length;
	h->body = (size_t)(end - text) + 1;
	return true;
}

bool ib_helper_take(struct ib_sampler_helper *h)
{
	while (h->state == IB_HELPER_ASKED) {
		char *room = ib_buf_room(&h->answer, 65536);
		ssize_t n = room ? read(h->out, room, 65536) : 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0) {
			drop(h, "error");
			return false;
		}
		h->answer.len += (size_t)n;
		h->answer.data[h->answer.len] = '\0';
		if (h->code < 0 && !read_head(h))
			continue;
		if (h->answer.len - h->body > h->length) {
			drop(h, "error");
			return false;
		}
		if (h->answer.len - h->body == h->length) {
			h->state = IB_HELPER_IDLE;
			return true;
		}
	}
	return false;
}

void ib_helper_end(struct ib_sampler_helper *h)
{
	ib_auto_fd_fn(&h->in);
	ib_auto_fd_fn(&h->out);
	h->in = h->out = -1;
	if (h->pid > 0) {
		kill(h->pid, SIGKILL);
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	h->pid = 0;
	if (h->state != IB_HELPER_UNSTARTED)
		h->state = IB_HELPER_GONE;
	ib_buf_clear(&h->answer);
	h->answer = IB_BUF(ANSWER_MAX);
}
