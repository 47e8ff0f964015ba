/* SPDX-License-Identifier: Apache-2.0 */
/* SGLang's client: python3 -m sglang.benchmark.serving. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"The client neither prints nor counts failed requests: only its per-request arrays tell. It keeps neither model, seed nor version: stdout.log does.",
	"Older versions are called sglang.bench_serving.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "python3 -m sglang.benchmark.serving"},
	{.words = "--backend @backend@ --base-url @endpoint@ --model @model@ --tokenizer @tokenizer@",
	 .why = "the native route tells output tokens; sglang-oai takes them from what was asked"},
	{.words = "--dataset-name random-ids --random-input-len @input@ --random-output-len @output@ --random-range-ratio 1.0",
	 .why = "1.0: every prompt and answer of the asked length"},
	{.words = "--num-prompts @prompts@ --seed @seed@"},
	{.words = "--max-concurrency @cap@",
	 .why = "closed load: the cap alone, no --request-rate"},
	{.words = "--warmup-requests 0 --ready-check-timeout-sec 0",
	 .why = "its warm-up sends prompt 0, which is then a cache hit, and a failed one ends the client"},
	{.words = "--disable-tqdm"},
	{.words = "--output-details --output-file @out@/result.jsonl",
	 .why = "records of all requests; into a new file: it appends to an old one"},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	"End-to-end times and TPOT of this client are approximate: it keeps no end times.",
	NULL,
};

const struct ib_init_client ib_init_sglang = {
	.name = "sglang",
	.title = "SGLang, sglang.benchmark.serving",
	.server = "sglang",
	.about = about,
	.command = command,
	.limits = limits,
};
