/* SPDX-License-Identifier: Apache-2.0 */
/* ib-load: command line of the load generator. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "examples/loopback/load.h"
#include "tools/opt.h"

enum { OPT_URL = 1, OPT_API, OPT_MODEL, OPT_SEED, OPT_PROMPTS, OPT_WARMUPS, OPT_CAP, OPT_RATE, OPT_IN, OPT_OUT, OPT_TIMEOUT, OPT_WORKLOAD, OPT_OUTPUT,
       OPT_WARM, OPT_WRITE };

static const struct ib_opt options[] = {
	{OPT_URL, 'u', "url", "URL", "endpoint, http://HOST:PORT"},
	{OPT_API, 0, "api", "NAME", "completions (default) or chat"},
	{OPT_MODEL, 0, "model", "NAME", "model (default: the endpoint's first)"},
	{OPT_SEED, 0, "seed", "N", "of prompts and arrivals (0)"},
	{OPT_PROMPTS, 'n', "num-prompts", "N", "measured requests (40, or the workload)"},
	{OPT_WARMUPS, 0, "num-warmups", "N", "requests before, with other prompts (0)"},
	{OPT_CAP, 'c', "max-concurrency", "N", "requests in flight at most"},
	{OPT_RATE, 0, "request-rate", "HZ", "arrivals a second, seeded Poisson"},
	{OPT_IN, 0, "input-tokens", "N", "of each generated prompt (64)"},
	{OPT_OUT, 0, "output-tokens", "N", "asked of each request (16)"},
	{OPT_TIMEOUT, 0, "timeout", "TIME", "of each request (30s)"},
	{OPT_WORKLOAD, 'w', "workload", "FILE", "prompts as JSON Lines, instead of made-up ones"},
	{OPT_OUTPUT, 'o', "output", "FILE", "write ib-requests(5) there (a new file)"},
	{OPT_WARM, 0, "warm-only", NULL, "send each prompt once for one token"},
	{OPT_WRITE, 0, "write-workload", "FILE", "write the made-up prompts, send nothing"},
	{0},
};

static const char *const synopsis[] = {
	"--url URL [--output FILE] [OPTION]...",
	"--url URL --warm-only [OPTION]...",
	"--write-workload FILE [OPTION]...",
	NULL,
};
static const char *const exits[] = {
	"0 all requests were sent, whatever became of them",
	"1 with --warm-only: a request failed",
	"2 wrong usage",
	"3 cannot start, or cannot write",
	NULL,
};

static const struct ib_tool tool = {
	.name = "ib-load",
	.summary = "load for OpenAI-compatible endpoints, recorded request by request",
	.synopsis = synopsis,
	.opts = options,
	.exits = exits,
};

static int parse_rate(const char *arg, double *ret_hz, struct ib_err *err)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v > 0 && v <= 1e6))
		return ib_fail(err, IB_E_USAGE, 0, "a request rate is a number above 0, not '%s'", arg);
	*ret_hz = v;
	return 0;
}

static int parse_api(const char *arg, bool *ret_chat, struct ib_err *err)
{
	if (!ib_streq(arg, "chat") && !ib_streq(arg, "completions"))
		return ib_fail(err, IB_E_USAGE, 0, "unknown API '%s'; known: completions, chat", arg);
	*ret_chat = ib_streq(arg, "chat");
	return 0;
}

/* Options that are a text; true: taken. */
static bool take_text(struct ld_config *c, int id, const char *arg)
{
	switch (id) {
	case OPT_URL:
		c->url = arg;
		return true;
	case OPT_MODEL:
		c->model = arg;
		return true;
	case OPT_WORKLOAD:
		c->workload = arg;
		return true;
	case OPT_OUTPUT:
		c->output = arg;
		return true;
	case OPT_WRITE:
		c->write_workload = arg;
		return true;
	case OPT_WARM:
		c->warm_only = true;
		return true;
	default:
		return false;
	}
}

static int take(struct ld_config *c, int id, const char *arg, struct ib_err *err)
{
	if (take_text(c, id, arg))
		return 0;
	switch (id) {
	case OPT_API:
		return parse_api(arg, &c->chat, err);
	case OPT_SEED:
		return ib_parse_int(arg, 0, INT64_MAX, &c->seed, err);
	case OPT_PROMPTS:
		return ib_parse_int(arg, 1, LD_REQUESTS_MAX, &c->num_prompts, err);
	case OPT_WARMUPS:
		return ib_parse_int(arg, 0, LD_REQUESTS_MAX, &c->num_warmups, err);
	case OPT_CAP:
		return ib_parse_int(arg, 1, LD_WORKERS_MAX, &c->max_concurrency, err);
	case OPT_RATE:
		return parse_rate(arg, &c->request_rate_hz, err);
	case OPT_IN:
		return ib_parse_int(arg, 1, 1 << 20, &c->input_tokens, err);
	case OPT_OUT:
		return ib_parse_int(arg, 1, 1 << 20, &c->output_tokens, err);
	case OPT_TIMEOUT:
		return ib_duration_parse(arg, &c->timeout_ns, err);
	default:
		return ib_fail(err, IB_E_USAGE, 0, "unexpected argument '%s'", arg);
	}
}

static int check(const struct ld_config *c, struct ib_err *err)
{
	if (c->write_workload && c->workload)
		return ib_fail(err, IB_E_USAGE, 0, "--write-workload makes prompts up; it does not go with --workload");
	if (!c->write_workload && !c->url)
		return ib_fail(err, IB_E_USAGE, 0, "--url is missing: the endpoint to send to");
	if (c->warm_only && (c->output || c->num_warmups))
		return ib_fail(err, IB_E_USAGE, 0, "--warm-only measures nothing: it does not go with --output or --num-warmups");
	if (c->timeout_ns <= 0)
		return ib_fail(err, IB_E_USAGE, 0, "--timeout must be above 0");
	if (c->output && access(c->output, F_OK) == 0)
		return ib_fail(err, IB_E_EXISTS, 0, "'%s' exists; results go into a new file", c->output);
	return 0;
}

static int save(const struct ld_config *c, const struct ld_plan *p, struct ib_err *err)
{
	char hex[65];
	int r = ld_plan_save(p, c->write_workload, hex, err);

	if (r == 0)
		printf("%s  %s\n", hex, c->write_workload);
	return r;
}

static int warm_status(const struct ld_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].outcome != LD_OK)
			return IB_EXIT_FAILS;
	return IB_EXIT_OK;
}

/* Sends everything; what was seen is written also when a signal ended it. */
static int measure(const struct ld_config *c, struct ld_plan *p, int *ret_signal, int *ret_status, struct ib_err *err)
{
	struct ld_run run;
	int r = ld_run_open(&run, c, p, err);

	if (r == 0)
		r = ld_run_go(&run, err);
	if (r == 0 && c->output)
		r = ld_write(&run, c->output, err);
	if (r == 0) {
		ld_summary(&run);
		*ret_status = c->warm_only ? warm_status(p) : IB_EXIT_OK;
		*ret_signal = run.signal;
	}
	ld_run_close(&run);
	return r;
}

static int act(const struct ld_config *c, int *ret_signal)
{
	struct ld_plan plan;
	struct ib_err err = {0};
	int status = IB_EXIT_OK;
	int r = ld_plan_make(&plan, c, &err);

	if (r == 0 && c->write_workload)
		r = save(c, &plan, &err);
	else if (r == 0)
		r = measure(c, &plan, ret_signal, &status, &err);
	ld_plan_clear(&plan);
	return r < 0 ? ib_tool_error(&tool, &err) : ib_tool_finish(&tool, status);
}

int main(int argc, char **argv)
{
	struct ld_config config = {
		.num_prompts = LD_NONE, .max_concurrency = LD_NONE, .input_tokens = 64, .output_tokens = 16, .timeout_ns = 30 * IB_NS,
	};
	struct ib_opt_state state;
	struct ib_err err = {0};
	const char *arg;
	int id, status, sig = 0;
	sigset_t set;

	ib_opt_init(&state, &tool, argc, argv);
	while ((id = ib_opt_next(&state, &arg, &err)) != IB_OPT_END) {
		if (id == IB_OPT_HELP || id == IB_OPT_VERSION)
			return ib_opt_info(&tool, id);
		if (id < 0 || take(&config, id, arg, &err) < 0)
			return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	}
	if (check(&config, &err) < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	status = act(&config, &sig);
	if (sig) { /* end as the signal would have ended it */
		sigfillset(&set);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(sig);
	}
	return status;
}
