/* SPDX-License-Identifier: Apache-2.0 */
/* inference-perf 0.7: all of its configuration on the command line. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"inference-perf ends with 0 also when every request failed or it was interrupted. Each of its configuration keys is an option;",
	"a file for --config_file is not needed. It writes an API key in clear into its reports: give it none here.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "inference-perf"},
	{.words = "--server.type vllm --server.base_url @endpoint@ --server.model_name @model@ --server.ignore_eos true",
	 .why = "EDIT where the server is another one: sglang or tgi"},
	{.words = "--tokenizer.pretrained_model_name_or_path @tokenizer@"},
	{.words = "--api.type completion --api.streaming true"},
	{.words = "--data.type random"},
	{.words = "--data.input_distribution.type fixed --data.input_distribution.min @input@ --data.input_distribution.max @input@ "
		  "--data.input_distribution.mean @input@ --data.input_distribution.std_dev 0"},
	{.words = "--data.output_distribution.type fixed --data.output_distribution.min @output@ --data.output_distribution.max @output@ "
		  "--data.output_distribution.mean @output@ --data.output_distribution.std_dev 0"},
	{.words = "--load.type concurrent --load.stages [{{\"num_requests\":@prompts@,\"concurrency_level\":@cap@}]",
	 .why = "closed load in one stage; constant and poisson with rate are open load"},
	{.words = "--load.base_seed @seed@",
	 .why = "unset, it is the time of day: other prompts in every run"},
	{.words = "--report.request_lifecycle.per_request true",
	 .why = "a record of every request, which is off by default"},
	{.words = "--storage.local_storage.path @out@"},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	"inference-perf's times are of a clock of its own: its requests cannot be placed on the wall clock.",
	NULL,
};

const struct ib_init_client ib_init_inference_perf = {
	.name = "inference-perf",
	.title = "inference-perf",
	.server = "vllm",
	.about = about,
	.command = command,
	.grace = "30s",
	.limits = limits,
};
