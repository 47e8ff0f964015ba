/* SPDX-License-Identifier: Apache-2.0 */
/* ib-probe: asks one URL and prints the answer's body. A helper of ib-run, so that ib-run itself loads no HTTP library. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/http.h"
#include "base/str.h"
#include "tools/opt.h"

enum { OPT_POST = 1, OPT_TIMEOUT, OPT_LIMIT };

static const struct ib_opt opts[] = {
	{.id = OPT_POST, .name = "post", .help = "POST with an empty body instead of GET"},
	{.id = OPT_TIMEOUT, .name = "timeout", .metavar = "TIME", .help = "for everything together (unset: 10s)"},
	{.id = OPT_LIMIT, .name = "limit", .metavar = "BYTES", .help = "of the body (unset: 16777216)"},
	{0},
};

static const char *const synopsis[] = {"[--post] [--timeout TIME] [--limit BYTES] URL|-", NULL};

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
	int64_t limit;
};

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
		if (id == OPT_POST)
			ret->http.post = true;
		else if (id == OPT_TIMEOUT)
			r = ib_duration_parse(arg, &ret->http.timeout_ns, err);
		else if (id == OPT_LIMIT)
			r = ib_parse_int(arg, 1, 1 << 30, &ret->limit, err);
		else if (ret->http.url)
			r = ib_fail(err, IB_E_USAGE, 0, "more than one URL");
		else
			ret->http.url = strcmp(arg, "-") == 0 ? getenv("IB_PROBE_URL") : arg;
	}
	if (r == 0 && !ret->http.url)
		return ib_fail(err, IB_E_USAGE, 0, "no URL given");
	return r;
}

static int probe(const struct args *a)
{
	ib_auto_buf struct ib_buf body = IB_BUF((size_t)a->limit);
	struct ib_err err;
	int status = 0, r = ib_http_fetch(&a->http, &body, &status, &err);

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

int main(int argc, char **argv)
{
	struct args a = {.http = {.timeout_ns = 10 * IB_NS}, .limit = 16 << 20};
	struct ib_err err;
	int info = 0;

	if (parse(argc, argv, &a, &info, &err) < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	if (info)
		return ib_opt_info(&tool, info);
	return probe(&a);
}
