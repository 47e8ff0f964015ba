/* SPDX-License-Identifier: Apache-2.0 */
/* ib-loopback: command line of the loopback endpoint. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/loopback.h"
#include "tools/opt.h"

enum { OPT_PORT = 1, OPT_PORT_FILE, OPT_TRUTH, OPT_MODEL, OPT_BLOCK, OPT_BLOCKS, OPT_BASE, OPT_PREFILL, OPT_DECODE, OPT_SLOWDOWN, OPT_RUNNING, OPT_LEN,
       OPT_SEED, OPT_FAULT, OPT_LATE, OPT_SLOW_LISTEN, OPT_SLOW_START, OPT_LIFETIME, OPT_RECORD,
       OPT_RECORD_BODIES, OPT_ANY_MODEL };

static const struct ib_opt options[] = {
	{OPT_PORT, 0, "port", "PORT", "listen on 127.0.0.1:PORT; 0: any free one (default)"},
	{OPT_PORT_FILE, 0, "port-file", "FILE", "write the port there once it listens"},
	{OPT_TRUTH, 0, "truth", "FILE", "log what was really sent (a new file)"},
	{OPT_MODEL, 0, "model", "NAME", "name of the model"},
	{OPT_BLOCK, 0, "block-size", "N", "tokens of a prefix-cache block (16)"},
	{OPT_BLOCKS, 0, "cache-blocks", "N", "blocks that the cache holds (8192)"},
	{OPT_BASE, 0, "prefill-base-us", "N", "time before the first token (1000)"},
	{OPT_PREFILL, 0, "prefill-token-us", "N", "time of an uncached prompt token (100)"},
	{OPT_DECODE, 0, "decode-token-us", "N", "time of an output token (1000)"},
	{OPT_SLOWDOWN, 0, "slowdown-pct", "N", "cost of each other running request (10)"},
	{OPT_RUNNING, 0, "max-running", "N", "requests that run at once (8)"},
	{OPT_LEN, 0, "max-model-len", "N", "prompt and output tokens (8192)"},
	{OPT_SEED, 0, "seed", "N", "of texts and faults (0)"},
	{OPT_FAULT, 0, "fault", "NAME=SHARE", "let a share (0 to 1) of the requests go wrong (may repeat)"},
	{OPT_LATE, 0, "late", "TIME", "delay of the fault late (1s)"},
	{OPT_SLOW_LISTEN, 0, "slow-listen", "TIME", "refuse connections for that long"},
	{OPT_SLOW_START, 0, "slow-start", "TIME", "answer everything with status 503 for that long"},
	{OPT_ANY_MODEL, 0, "any-model", NULL, "answer whatever model is asked for"},
	{OPT_RECORD, 0, "record", "FILE", "keep a digest of each request (a new file)"},
	{OPT_RECORD_BODIES, 0, "record-bodies", NULL, "with --record: keep the requests too"},
	{OPT_LIFETIME, 0, "lifetime", "TIME", "end after that, for example 10m"},
	{0},
};

static const char *const synopsis[] = {"[OPTION]...", NULL};
static const char *const exits[] = {"0 ended by a signal or its lifetime", "2 wrong usage", "3 cannot listen or write", NULL};

static const struct ib_tool tool = {
	.name = "ib-loopback",
	.summary = "an OpenAI-compatible endpoint without a model, for tests and examples",
	.synopsis = synopsis,
	.opts = options,
	.exits = exits,
};

static int parse_us(const char *arg, int64_t *ret_ns, struct ib_err *err)
{
	int r = ib_parse_int(arg, 0, 60000000, ret_ns, err);

	if (r == 0)
		*ret_ns *= 1000;
	return r;
}

/* A model's name goes into headers of metrics: letters that need no escape. */
static int parse_model(const char *arg, struct lb_config *c, struct ib_err *err)
{
	size_t n = strspn(arg, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-");

	if (n == 0 || n > 100 || arg[n])
		return ib_fail(err, IB_E_USAGE, 0, "a model's name is 1 to 100 letters, digits and ./_-, not '%s'", arg);
	c->model = arg;
	return 0;
}

static int take(struct lb_config *c, int id, const char *arg, struct ib_err *err)
{
	switch (id) {
	case OPT_PORT:
		return ib_parse_int(arg, 0, 65535, &c->port, err);
	case OPT_PORT_FILE:
		c->port_file = arg;
		return 0;
	case OPT_TRUTH:
		c->truth_file = arg;
		return 0;
	case OPT_MODEL:
		return parse_model(arg, c, err);
	case OPT_BLOCK:
		return ib_parse_int(arg, 1, 4096, &c->block_tokens, err);
	case OPT_BLOCKS:
		return ib_parse_int(arg, 1, 1 << 22, &c->cache_blocks, err);
	case OPT_SLOWDOWN:
		return ib_parse_int(arg, 0, 1000, &c->slowdown_pct, err);
	case OPT_RUNNING:
		return ib_parse_int(arg, 1, LB_CONNECTIONS, &c->max_running, err);
	case OPT_LEN:
		return ib_parse_int(arg, 2, LB_PROMPT_MAX, &c->max_model_len, err);
	case OPT_SEED:
		return ib_parse_int(arg, 0, INT64_MAX, &c->seed, err);
	case OPT_FAULT:
		return lb_fault_parse(arg, c, err);
	case OPT_LATE:
		return ib_duration_parse(arg, &c->late_ns, err);
	case OPT_SLOW_LISTEN:
		return ib_duration_parse(arg, &c->slow_listen_ns, err);
	case OPT_SLOW_START:
		return ib_duration_parse(arg, &c->slow_start_ns, err);
	case OPT_LIFETIME:
		return ib_duration_parse(arg, &c->lifetime_ns, err);
	case OPT_ANY_MODEL:
		c->any_model = true;
		return 0;
	case OPT_RECORD:
		c->record_file = arg;
		return 0;
	case OPT_RECORD_BODIES:
		c->record_bodies = true;
		return 0;
	case OPT_BASE:
		return parse_us(arg, &c->prefill_base_ns, err);
	case OPT_PREFILL:
		return parse_us(arg, &c->prefill_token_ns, err);
	case OPT_DECODE:
		return parse_us(arg, &c->decode_token_ns, err);
	default:
		return ib_fail(err, IB_E_USAGE, 0, "unexpected argument '%s'", arg);
	}
}

/* Version, and a fingerprint of all settings that change what is measured. */
static void name_yourself(struct lb_config *c)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	char hex[IB_HEX_LEN];

	snprintf(c->version, sizeof(c->version), LB_SYNTHETIC "-%s", PACKAGE_VERSION);
	ib_buf_addf(&b, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, c->block_tokens,
		    c->cache_blocks, c->prefill_base_ns, c->prefill_token_ns, c->decode_token_ns, c->slowdown_pct, c->max_running, c->max_model_len, c->seed);
	for (int i = LB_FAULT_NONE + 1; i < LB_FAULTS_SHARED; i++)
		ib_buf_addf(&b, " %" PRId64, c->fault_ppm[i]);
	ib_sha256_of(ib_buf_str(&b), b.len, hex);
	snprintf(c->fingerprint, sizeof(c->fingerprint), "%s-%.8s", c->version, hex);
}

static int serve(const struct lb_config *config)
{
	struct lb_server server;
	struct ib_err err = {0};
	int64_t port;
	int r = lb_server_open(&server, config, &port, &err);
	int status;

	if (r == 0) {
		printf("listening on http://127.0.0.1:%d\n", (int)port);
		status = ib_tool_finish(&tool, IB_EXIT_OK);
		r = status == IB_EXIT_OK ? lb_server_run(&server, &err) : 0;
	}
	status = r < 0 ? ib_tool_error(&tool, &err) : IB_EXIT_OK;
	lb_server_close(&server);
	return status;
}

int main(int argc, char **argv)
{
	struct lb_config config = {
		.block_tokens = 16, .cache_blocks = 8192, .prefill_base_ns = 1000000, .prefill_token_ns = 100000, .decode_token_ns = 1000000,
		.slowdown_pct = 10, .max_running = 8, .max_model_len = 8192, .late_ns = IB_NS, .model = LB_SYNTHETIC,
	};
	struct ib_opt_state state;
	struct ib_err err = {0};
	const char *arg;
	int id;

	ib_opt_init(&state, &tool, argc, argv);
	while ((id = ib_opt_next(&state, &arg, &err)) != IB_OPT_END) {
		if (id == IB_OPT_HELP || id == IB_OPT_VERSION)
			return ib_opt_info(&tool, id);
		if (id < 0 || take(&config, id, arg, &err) < 0)
			return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	}
	name_yourself(&config);
	return serve(&config);
}
