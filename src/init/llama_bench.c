/* SPDX-License-Identifier: Apache-2.0 */
/* llama-bench, of llama.cpp: no server, the model in its own process. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"llama-bench prints its results: 'convert' below makes them an output. No server, no requests, no prefix cache.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "llama-bench"},
	{.words = "-m @model@"},
	{.words = "-p @input@ -n @output@",
	 .why = "prompt processing and generation are two tests"},
	{.words = "-t @cap@",
	 .why = "threads"},
	{.words = "-r 5",
	 .why = "repetitions within a run; the runs repeat it again. The first one after its own warm-up still differs"},
	{.words = "-o jsonl",
	 .why = "with the time of every repetition"},
	{0},
};

static const char *const limits[] = {
	"llama-bench measures a model alone in its process: no queueing, no batching of requests, no HTTP.",
	NULL,
};

const struct ib_init_client ib_init_llama_bench = {
	.name = "llama-bench",
	.title = "llama-bench",
	.server = "other",
	.about = about,
	.command = command,
	.in_process = true,
	.convert = "cp {run_dir}/stdout.log @out@/llama-bench.jsonl",
	.limits = limits,
};
