/* SPDX-License-Identifier: Apache-2.0 */
/* What the flags of "vllm bench serve" (Python and Rust), "… latency" and "… throughput" set. */
#include "clients/vllm_flags.h"

#include <math.h>

#include "base/str.h"

const char *const ib_vllm_serve_command[] = {
	"vllm|vllm-rs|vllm.entrypoints.cli.main", "bench", "serve", "", "benchmark_serving.py", NULL,
};

const struct ib_client_flag ib_vllm_serve_flags[] = {
	{"--model", IB_SET_MODEL},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--base-url", IB_SET_ENDPOINT},
	{"--host", IB_SET_NOTHING},
	{"--port", IB_SET_NOTHING},
	{"--dataset-name", IB_SET_DATASET},
	{"--dataset-path", IB_SET_DATASET},
	{"--seed", IB_SET_SEED},
	{"--num-prompts", IB_SET_REQUESTS},
	{"--num-warmups", IB_SET_WARMUPS},
	{"--ready-check-timeout-sec", IB_SET_READY_CHECK},
	{"--max-concurrency", IB_SET_CONCURRENCY},
	{"--request-rate", IB_SET_RATE},
	{"--input-len", IB_SET_INPUT_LEN},
	{"--random-input-len", IB_SET_INPUT_LEN},
	{"--sonnet-input-len", IB_SET_INPUT_LEN},
	{"--output-len", IB_SET_OUTPUT_LEN},
	{"--random-output-len", IB_SET_OUTPUT_LEN},
	{"--sharegpt-output-len", IB_SET_OUTPUT_LEN},
	{"--custom-output-len", IB_SET_OUTPUT_LEN},
	{"--sonnet-output-len", IB_SET_OUTPUT_LEN},
	{"--hf-output-len", IB_SET_OUTPUT_LEN},
	{"--prefix-repetition-output-len", IB_SET_OUTPUT_LEN},
	{"--spec-bench-output-len", IB_SET_OUTPUT_LEN},
	{"--speed-bench-output-len", IB_SET_OUTPUT_LEN},
	{"--random-range-ratio", IB_SET_LENGTH_RANGE},
	{"--ignore-eos", IB_SET_IGNORE_EOS},
	{"--temperature", IB_SET_TEMPERATURE},
	{"--goodput", IB_SET_GOODPUT},
	{"--backend", IB_SET_BACKEND},
	{"--endpoint-type", IB_SET_BACKEND},
	/* these mark its printed configuration */
	{"percentile_metrics", IB_SET_NOTHING},
	{"metric_percentiles", IB_SET_NOTHING},
	{"save_result", IB_SET_NOTHING},
	{"save_detailed", IB_SET_NOTHING},
	{"result_filename", IB_SET_NOTHING},
	{"burstiness", IB_SET_NOTHING},
	{NULL, IB_SET_NOTHING},
};

const char *const ib_vllm_latency_command[] = {
	"vllm|vllm.entrypoints.cli.main", "bench", "latency", "", "benchmark_latency.py", NULL,
};

const struct ib_client_flag ib_vllm_latency_flags[] = {
	{"--model", IB_SET_MODEL},
	{"--revision", IB_SET_MODEL_REVISION},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--seed", IB_SET_SEED},
	{"--num-iters", IB_SET_REQUESTS},
	{"--num-iters-warmup", IB_SET_WARMUPS},
	{"--batch-size", IB_SET_CONCURRENCY},
	{"--input-len", IB_SET_INPUT_LEN},
	{"--output-len", IB_SET_OUTPUT_LEN},
	{NULL, IB_SET_NOTHING},
};

const char *const ib_vllm_throughput_command[] = {
	"vllm|vllm.entrypoints.cli.main", "bench", "throughput", "", "benchmark_throughput.py", NULL,
};

const struct ib_client_flag ib_vllm_throughput_flags[] = {
	{"--model", IB_SET_MODEL},
	{"--revision", IB_SET_MODEL_REVISION},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--dataset-name", IB_SET_DATASET},
	{"--dataset-path", IB_SET_DATASET},
	{"--seed", IB_SET_SEED},
	{"--num-prompts", IB_SET_REQUESTS},
	{"--input-len", IB_SET_INPUT_LEN},
	{"--random-input-len", IB_SET_INPUT_LEN},
	{"--output-len", IB_SET_OUTPUT_LEN},
	{"--random-output-len", IB_SET_OUTPUT_LEN},
	{"--random-range-ratio", IB_SET_LENGTH_RANGE},
	{"--backend", IB_SET_BACKEND},
	{"async_engine", IB_SET_NOTHING},
	{NULL, IB_SET_NOTHING},
};

bool ib_vllm_fixed_output(const struct ib_settings *s)
{
	return ib_streq(s->v[IB_SET_DATASET], "random") && (!s->v[IB_SET_LENGTH_RANGE] || fabs(ib_setting_number(s, IB_SET_LENGTH_RANGE)) <= 0);
}
