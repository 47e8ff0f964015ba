/* SPDX-License-Identifier: Apache-2.0 */
/* GuideLLM 0.8: guidellm run. */
#include "init/table.h"

#include <stddef.h>

static const char *const about[] = {
	"GuideLLM ends with 0 also when every request failed, and writes nothing before its end. One level a run: a crash costs one run.",
	"0.6 and older are called 'guidellm benchmark run', with other options.",
	NULL,
};

static const struct ib_init_row command[] = {
	{.words = "guidellm run"},
	{.words = "--backend kind=openai_http,target=@endpoint@,model=@model@,request_format=/v1/completions",
	 .why = "completions: no chat template, so that input tokens are what was asked"},
	{.words = "--profile kind=concurrent,streams=@cap@",
	 .why = "closed load; kind=constant or poisson with rate= is open load, and has no cap"},
	{.words = "--constraint kind=max_requests,count=@prompts@"},
	{.words = "--tokenizer kind=huggingface_auto,model=@tokenizer@"},
	{.words = "--data kind=synthetic_text,prompt_tokens=@input@,output_tokens=@output@",
	 .why = "answers run to the asked length"},
	{.words = "--seed kind=static,value=@seed@",
	 .why = "the same seed still makes other prompts at another level of concurrency"},
	{.words = "--label run_id={run_id}",
	 .why = "the run ID stands in the result; sample_size stays unset: with it records are dropped"},
	{.words = "--disable-console-interactive"},
	{.words = "--output kind=json,path=@out@/benchmarks.json",
	 .why = "json keeps every request; csv keeps none"},
	{0},
};

static const char *const limits[] = {
	"One client process makes the load; where it is short of CPU its own queueing counts as the server's latency.",
	"GuideLLM's TPOT includes the first token; its ITL is what others call TPOT.",
	NULL,
};

const struct ib_init_client ib_init_guidellm = {
	.name = "guidellm",
	.title = "GuideLLM 0.8, guidellm run",
	.server = "vllm",
	.about = about,
	.command = command,
	.grace = "60s", /* it was seen to take 38 s to end after an interrupt */
	.limits = limits,
};
