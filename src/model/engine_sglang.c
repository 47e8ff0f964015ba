/* SPDX-License-Identifier: Apache-2.0 */
/* SGLang's counters (--enable-metrics): prompt tokens of finished requests, those from the cache among them; later versions split the latter by where they lay.
 * Its gauges follow with the log interval, when idle up to half a minute late. */
#include "model/engine.h"

const struct ib_engine ib_engine_sglang = {
	.name = "sglang",
	.queries = {"sglang:prompt_tokens_total"},
	.hits = {"sglang:cached_tokens_total"},
	.output_tokens = {"sglang:generation_tokens_total"},
	.busy = {"sglang:num_running_reqs", "sglang:num_queue_reqs"},
	.busy_apart = true,
	.prompt_tokens = "sglang:prompt_tokens_total",
	.kv_cache_use = "sglang:token_usage",
	.also = {"sglang:num_requests_total", "sglang:num_aborted_requests_total", "sglang:cache_hit_rate"},
	.by_counter = "sglang:cached_tokens_total",
	.by_label = "cache_source",
	.hits_with = "sglang:num_requests_total",
};
