/* SPDX-License-Identifier: Apache-2.0 */
/* GET /metrics: Prometheus text under the names that vLLM uses. */
#include <inttypes.h>

#include "base/clock.h"
#include "examples/loopback/endpoint.h"

static const char *const finish_names[LB_FINISHES] = {
	[LB_STOP] = "stop", [LB_LENGTH] = "length", [LB_ABORT] = "abort", [LB_ERROR] = "error", [LB_REPETITION] = "repetition",
};

const char *lb_finish_name(enum lb_finish how)
{
	return finish_names[how];
}

static void family(struct ib_buf *b, const char *name, const char *type, const char *help)
{
	ib_buf_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void counter(struct ib_buf *b, const struct lb_server *s, const char *name, const char *help, uint64_t v)
{
	family(b, name, "counter", help);
	ib_buf_addf(b, "%s{engine=\"0\",model_name=\"%s\"} %" PRIu64 ".0\n", name, s->config.model, v);
}

static void gauge(struct ib_buf *b, const struct lb_server *s, const char *name, const char *help, uint64_t v)
{
	family(b, name, "gauge", help);
	ib_buf_addf(b, "%s{engine=\"0\",model_name=\"%s\"} %" PRIu64 ".0\n", name, s->config.model, v);
}

void lb_metrics_text(struct lb_server *s, struct ib_buf *b)
{
	struct lb_metrics m;

	pthread_mutex_lock(&s->lock);
	m = s->metrics;
	pthread_mutex_unlock(&s->lock);

	family(b, "process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.");
	ib_buf_addf(b, "process_start_time_seconds %" PRId64 ".%03d\n", (int64_t)(s->started_wall_ns / IB_NS), (int)(s->started_wall_ns % IB_NS / 1000000));
	gauge(b, s, "vllm:num_requests_running", "Number of requests that run now.", m.running);
	gauge(b, s, "vllm:num_requests_waiting", "Number of requests that wait for a slot.", m.waiting);
	counter(b, s, "vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", m.cache_queries);
	counter(b, s, "vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", m.cache_hits);
	counter(b, s, "vllm:prompt_tokens_total", "Prompt tokens of requests that were started.", m.prompt_tokens);
	counter(b, s, "vllm:prompt_tokens_cached_total", "Prompt tokens that were not computed again.", m.cache_hits);
	counter(b, s, "vllm:generation_tokens_total", "Output tokens.", m.generation_tokens);
	counter(b, s, "vllm:num_preemptions_total", "Preemptions; this endpoint has none.", 0);
	family(b, "vllm:request_success_total", "counter", "Requests that ended, by reason.");
	for (int i = 0; i < LB_FINISHES; i++)
		ib_buf_addf(b, "vllm:request_success_total{engine=\"0\",finished_reason=\"%s\",model_name=\"%s\"} %" PRIu64 ".0\n", finish_names[i],
			    s->config.model, m.finished[i]);
	family(b, "vllm:cache_config_info", "gauge", "Settings of the prefix cache.");
	ib_buf_addf(b,
		    "vllm:cache_config_info{block_size=\"%" PRId64 "\",enable_prefix_caching=\"True\",engine=\"0\",num_gpu_blocks=\"%" PRId64
		    "\",kv_cache_size_tokens=\"%" PRId64 "\",prefix_caching_hash_algo=\"splitmix64\"} 1.0\n",
		    s->config.block_tokens, s->config.cache_blocks, s->config.block_tokens * s->config.cache_blocks);
}
