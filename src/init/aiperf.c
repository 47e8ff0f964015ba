/* SPDX-License-Identifier: Apache-2.0 */
/* AIPerf 0.13: aiperf profile. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"AIPerf ends with 0 while some requests fail, and leaves out of its records what was under way when a time limit or an interrupt ended it.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "aiperf profile"},
	{.words = "--model @model@ --tokenizer @tokenizer@ --url @endpoint@ --endpoint-type completions --streaming"},
	{.words = "--synthetic-input-tokens-mean @input@ --synthetic-input-tokens-stddev 0 --output-tokens-mean @output@ --output-tokens-stddev 0"},
	{.words = "--request-count @prompts@ --num-dataset-entries @prompts@",
	 .why = "a prompt of its own for every request"},
	{.words = "--random-seed @seed@",
	 .why = "unset, every run has other prompts"},
	{.words = "--concurrency @cap@",
	 .why = "closed load; --request-rate is open load"},
	{.words = "--extra-inputs ignore_eos:true temperature:0",
	 .why = "answers run to the asked length"},
	{.words = "--use-server-token-count",
	 .why = "tokens as the server counts them, not a second tokenizer"},
	{.words = "--ui none"},
	{.words = "--output-artifact-dir @out@",
	 .why = "a new directory for each run: in an old one it replaces the records"},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	NULL,
};

const struct ib_init_client ib_init_aiperf = {
	.name = "aiperf",
	.title = "AIPerf, aiperf profile",
	.server = "vllm",
	.about = about,
	.command = command,
	.grace = "30s",
	.limits = limits,
};
