/* SPDX-License-Identifier: Apache-2.0 */
/* ib-probe: asks one URL and prints the answer's body. A helper of ib-run, so that ib-run itself loads no HTTP library. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/http.h"
#include "base/io.h"
#include "base/str.h"
#include "tools/opt.h"

#define BODY_MAX (16u << 20)

enum { OPT_POST = 1, OPT_BODY, OPT_BODY_FILE, OPT_TYPE, OPT_TIMEOUT, OPT_LIMIT, OPT_POLL };

static const struct ib_opt opts[] = {
	{.id = OPT_POST, .name = "post", .help = "POST with an empty body instead of GET"},
	{.id = OPT_BODY, .name = "body", .help = "POST what is read from standard input"},
	{.id = OPT_BODY_FILE, .name = "body-file", .metavar = "FILE", .help = "POST the bytes of a file"},
	{.id = OPT_TYPE, .name = "content-type", .metavar = "TYPE", .help = "of what is posted (unset: application/json)"},
	{.id = OPT_TIMEOUT, .name = "timeout", .metavar = "TIME", .help = "for everything together (unset: 10s)"},
	{.id = OPT_LIMIT, .name = "limit", .metavar = "BYTES", .help = "of the body (unset: 16777216)"},
	{.id = OPT_POLL, .name = "poll", .help = "ask for every line on standard input; before each body a line: status (0: none) and bytes"},
	{0},
};

static const char *const synopsis[] = {"[--post | --body | --body-file FILE] [--content-type TYPE] [--timeout TIME] [--limit BYTES] [--poll] URL|-", NULL};

static const char *const exits[] = {"0    answered with status 200 to 299", "1    answered with another status", "2    wrong command line", "3    no answer",
				    "4    the body is too large", "124  not in time", NULL};

static const struct ib_tool tool = {
	.name = "ib-probe",
	.summary = "Asks one URL and prints the body of the answer (-: the URL in IB_PROBE_URL).",
	.synopsis = synopsis,
	.opts = opts,
	.exits = exits,
};

struct args {
	struct ib_http http;
	const char *body_file; /* "-": standard input */
	int64_t limit;
	bool poll;
};

static int take(int id, const char *arg, struct args *ret, struct ib_err *err)
{
	switch (id) {
	case OPT_BODY:
	case OPT_BODY_FILE:
		ret->body_file = arg ? arg : "-";
		ret->http.post = true;
		return 0;
	case OPT_POST:
		ret->http.post = true;
		return 0;
	case OPT_TYPE:
		ret->http.type = arg;
		return arg[strcspn(arg, "\r\n")] ? ib_fail(err, IB_E_USAGE, 0, "a content type is one line") : 0;
	case OPT_TIMEOUT:
		return ib_duration_parse(arg, &ret->http.timeout_ns, err);
	case OPT_POLL:
		ret->poll = true;
		return 0;
	case OPT_LIMIT:
		return ib_parse_int(arg, 1, 1 << 30, &ret->limit, err);
	default:
		if (ret->http.url)
			return ib_fail(err, IB_E_USAGE, 0, "more than one URL");
		ret->http.url = strcmp(arg, "-") == 0 ? getenv("IB_PROBE_URL") : arg;
		return 0;
	}
}

static int parse(int argc, char **argv, struct args *ret, int *ret_info, struct ib_err *err)
{
	struct ib_opt_state s;
	const char *arg;
	int id, r = 0;

	ib_opt_init(&s, &tool, argc, argv);
	while (r >= 0 && (id = ib_opt_next(&s, &arg, err)) != IB_OPT_END) {
		if (id < 0)
			return id;
		if (id == IB_OPT_HELP || id == IB_OPT_VERSION) {
			*ret_info = id;
			return 0;
		}
		r = take(id, arg, ret, err);
	}
	if (r == 0 && !ret->http.url)
		return ib_fail(err, IB_E_USAGE, 0, "no URL given");
	return r;
}

static int read_body(struct args *a, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_fd int fd = -1;
	int r;

	if (!a->body_file)
		return 0;
	if (strcmp(a->body_file, "-") != 0) {
		fd = open(a->body_file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return ib_fail(err, IB_E_USAGE, errno, "cannot open '%s'", a->body_file);
	}
	r = ib_read_all(fd < 0 ? STDIN_FILENO : fd, a->body_file, b, err);
	if (r < 0)
		return ib_fail(err, IB_E_USAGE, 0, "what is to be posted is larger than %zu bytes, or cannot be read", b->max);
	a->http.body = ib_buf_str(b);
	a->http.body_n = b->len;
	return 0;
}

static int probe(struct args *a)
{
	ib_auto_buf struct ib_buf body = IB_BUF((size_t)a->limit), sent = IB_BUF(BODY_MAX);
	struct ib_err err;
	int status = 0, r = read_body(a, &sent, &err);

	if (r == 0)
		r = ib_http_fetch(&a->http, &body, &status, &err);

	if (r < 0)
		fprintf(stderr, "ib-probe: %s\n", err.text);
	else if (status < 200 || status > 299)
		fprintf(stderr, "ib-probe: answered with status %d\n", status);
	if (r == 0)
		fwrite(ib_buf_str(&body), 1, body.len, stdout);
	if (r == 0)
		return ib_tool_finish(&tool, status >= 200 && status <= 299 ? IB_EXIT_OK : IB_EXIT_FAILS);
	return r == IB_E_TIMEOUT ? IB_EXIT_TIMED_OUT : r == IB_E_LIMIT ? IB_EXIT_REFUSED : r == IB_E_USAGE ? IB_EXIT_USAGE : IB_EXIT_UNDECIDED;
}

/* Asks again whenever a line comes in, over one connection where the server keeps it open; until the end of standard input. */
static int poll_url(struct args *a)
{
	ib_auto_buf struct ib_buf body = IB_BUF((size_t)a->limit);
	void *session = NULL;
	int c;

	a->http.session = &session;
	while ((c = getchar()) != EOF) {
		int status = 0;

		if (c != '\n')
			continue;
		ib_buf_reset(&body);
		body.overflow = false;
		if (ib_http_fetch(&a->http, &body, &status, NULL) < 0) {
			status = 0;
			ib_buf_reset(&body);
		}
		if (printf("%d %zu\n", status, body.len) < 0 || fwrite(ib_buf_str(&body), 1, body.len, stdout) != body.len || fflush(stdout) != 0)
			break;
	}
	ib_http_end(&session);
	return ib_tool_finish(&tool, IB_EXIT_OK);
}

int main(int argc, char **argv)
{
	struct args a = {.http = {.timeout_ns = 10 * IB_NS}, .limit = 16 << 20};
	struct ib_err err;
	int info = 0;

	if (parse(argc, argv, &a, &info, &err) < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	if (info)
		return ib_opt_info(&tool, info);
	return a.poll ? poll_url(&a) : probe(&a);
}
