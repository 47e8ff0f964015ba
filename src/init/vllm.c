/* SPDX-License-Identifier: Apache-2.0 */
/* vllm bench serve, the Python client of vLLM (flags of 0.11 to 0.33). */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"vllm bench serve ends with 0 whatever becomes of its requests, and counts an answer that an error cut short as completed:",
	"attempts, success rate and token counts are expected below, and judged by its records.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "vllm bench serve"},
	{.words = "--backend openai --base-url @endpoint@ --endpoint /v1/completions --model @model@ --tokenizer @tokenizer@"},
	{.words = "--dataset-name random --random-input-len @input@ --random-output-len @output@ --num-prompts @prompts@"},
	{.words = "--seed @seed@",
	 .why = "the same work in every repeat, which the reset makes fair; without a reset write \"{repeat}\": a warm cache doubles speeds"},
	{.words = "--max-concurrency @cap@",
	 .why = "closed load: the cap alone. With --request-rate the cap may never be reached"},
	{.words = "--ignore-eos --temperature 0",
	 .why = "answers run to the asked length"},
	{.words = "--num-warmups 0 --ready-check-timeout-sec 0",
	 .why = "both send prompt 0 first, which is then a cache hit; 'readiness' above waits instead"},
	{.words = "--percentile-metrics ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue",
	 .why = "its wait for a free slot too; versions before 0.30 know only the first four"},
	{.words = "--metric-percentiles 50,90,99"},
	{.words = "--save-result --save-detailed --result-dir @out@ --result-filename result.json",
	 .why = "a record of every request: without it nothing can be derived again", .result_only = true},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	NULL,
};

const struct ib_init_client ib_init_vllm = {
	.name = "vllm",
	.title = "vllm bench serve",
	.server = "vllm",
	.about = about,
	.command = command,
	.limits = limits,
};
