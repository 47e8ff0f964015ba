/* SPDX-License-Identifier: Apache-2.0 */
/* ib-init: begins a study with a commented contract. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/exit.h"
#include "base/str.h"
#include "init/init.h"
#include "tools/opt.h"

enum { OPT_CLIENT = 1, OPT_SERVER, OPT_ENDPOINT, OPT_MODEL, OPT_TOKENIZER, OPT_PROMPTS, OPT_INPUT, OPT_OUTPUT, OPT_PERMISSION };

static const struct ib_opt opts[] = {
	{OPT_CLIENT, 'c', "client", "NAME", "the load generator (default: command)"},
	{OPT_SERVER, 0, "server", "NAME", "vllm, sglang, llamacpp or other (the client's own)"},
	{OPT_ENDPOINT, 0, "endpoint", "URL", "where the server listens"},
	{OPT_MODEL, 'm', "model", "ID", "name of the model, as the server knows it"},
	{OPT_TOKENIZER, 0, "tokenizer", "ID", "name or directory of it (the model's)"},
	{OPT_PROMPTS, 0, "prompts", "N", "requests of a run (100)"},
	{OPT_INPUT, 0, "input-tokens", "N", "of a short prompt, a quarter of a long one (256)"},
	{OPT_OUTPUT, 0, "output-tokens", "N", "asked for (64)"},
	{OPT_PERMISSION, 0, "permission", "TEXT", "who allowed load on a public endpoint"},
	{0},
};

static const struct ib_tool tool = {
	.name = "ib-init",
	.summary = "Begins a study: writes a commented contract.",
	.synopsis = (const char *const[]){"[-c vllm|guidellm|aiperf|sglang|inference-perf|llama-bench] [DIR]", "[OPTIONS] [DIR] -- COMMAND [ARG...]", NULL},
	.opts = opts,
	.exits = (const char *const[]){"0  the contract is written", "2  wrong command line or value, or the file exists",
				       "3  cannot write", NULL},
};

struct args {
	struct ib_init_options o;
	const char *dir;
};

static int apply(struct args *a, int id, const char *value, struct ib_err *err)
{
	switch (id) {
	case OPT_CLIENT:
		a->o.client = value;
		return 0;
	case OPT_SERVER:
		a->o.server = value;
		return 0;
	case OPT_ENDPOINT:
		a->o.endpoint = value;
		return 0;
	case OPT_MODEL:
		a->o.model = value;
		return 0;
	case OPT_TOKENIZER:
		a->o.tokenizer = value;
		return 0;
	case OPT_PERMISSION:
		a->o.permission = value;
		return 0;
	case OPT_PROMPTS:
		return ib_parse_int(value, 1, 1000000, &a->o.prompts, err);
	case OPT_INPUT:
		return ib_parse_int(value, 1, 1000000, &a->o.input_tokens, err);
	case OPT_OUTPUT:
		return ib_parse_int(value, 1, 1000000, &a->o.output_tokens, err);
	default:
		if (a->dir)
			return ib_fail(err, IB_E_USAGE, 0, "one directory at a time: '%s' is the second", value);
		a->dir = value;
		return 0;
	}
}

static int write_contract(const struct args *a)
{
	ib_auto_free char *path = NULL;
	struct ib_err err = {0};
	const char *dir = a->dir ? a->dir : ".";

	if (!*dir)
		(void)!ib_fail(&err, IB_E_USAGE, 0, "the directory has no name");
	else if (ib_init_check(&a->o, &err) == 0 && ib_init_write(&a->o, dir, &path, &err) == 0) {
		printf("%s\n", path);
		return ib_tool_finish(&tool, IB_EXIT_OK);
	}
	return err.code == IB_E_USAGE ? ib_tool_usage(&tool, &err, IB_EXIT_USAGE) : ib_tool_error(&tool, &err);
}

int main(int argc, char **argv)
{
	struct args a = {0};
	struct ib_opt_state state;
	struct ib_err err = {0};
	const char *value;
	int id, r = 0;

	ib_crypto_init();
	ib_opt_init(&state, &tool, argc, argv);
	while (r == 0 && (id = ib_opt_next(&state, &value, &err)) != IB_OPT_END) {
		if (id == IB_OPT_HELP || id == IB_OPT_VERSION)
			return ib_opt_info(&tool, id);
		if (id == IB_OPT_OPERAND && state.operands_only) { /* behind "--": all that follows is the command */
			a.o.command = argv + state.at - 1;
			break;
		}
		r = id < 0 ? id : apply(&a, id, value, &err);
	}
	if (r < 0)
		return ib_tool_usage(&tool, &err, IB_EXIT_USAGE);
	return write_contract(&a);
}
