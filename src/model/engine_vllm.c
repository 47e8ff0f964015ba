/* SPDX-License-Identifier: Apache-2.0 */
/* vLLM's counters: queries and hits are in prompt tokens, hits among the queries. */
#include "model/engine.h"

const struct ib_engine ib_engine_vllm = {
	.name = "vllm",
	.queries = {"vllm:prefix_cache_queries_total"},
	.hits = {"vllm:prefix_cache_hits_total"},
	.output_tokens = {"vllm:generation_tokens_total"},
	.busy = {"vllm:num_requests_running", "vllm:num_requests_waiting"},
	.busy_apart = true,
	.prompt_tokens = "vllm:prompt_tokens_total",
	.preemptions = "vllm:num_preemptions_total",
	.kv_cache_use = "vllm:kv_cache_usage_perc",
	.also = {"vllm:prompt_tokens_cached_total", "vllm:external_prefix_cache_queries_total", "vllm:external_prefix_cache_hits_total",
		 "vllm:mm_cache_queries_total", "vllm:mm_cache_hits_total"},
	.by_counter = "vllm:request_success_total",
	.by_label = "finished_reason",
};
