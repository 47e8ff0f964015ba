/* SPDX-License-Identifier: Apache-2.0 */
/* llama.cpp's counters: prompt_tokens_total holds only the tokens that were not in the cache, so that the queries are a sum. It counts
 * no requests. */
#include "model/engine.h"

const struct ib_engine ib_engine_llamacpp = {
	.name = "llamacpp",
	.queries = {"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"},
	.hits = {"llamacpp:prompt_tokens_cached_total"},
	.output_tokens = {"llamacpp:tokens_predicted_total"},
	.busy = {"llamacpp:requests_processing", "llamacpp:requests_deferred"},
	.busy_apart = true,
	.prompt_tokens = "llamacpp:prompt_tokens_total",
	.kv_cache_use = "llamacpp:kv_cache_usage_ratio",
};
