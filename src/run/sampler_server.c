/* SPDX-License-Identifier: Apache-2.0 */
/* What servers and GPUs answer, as numbers of a sample. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "run/sampler_inside.h"

/* Gauges and counters of an engine's load, NULL where it has none. kv_cache_use is a share, 0 to 1. */
static const struct engine {
	const char *name, *running, *waiting, *kv_cache_use, *preemptions, *prompt_tokens, *generation_tokens;
} engines[] = {
	{"vllm", "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "vllm:num_preemptions_total", "vllm:prompt_tokens_total",
	 "vllm:generation_tokens_total"},
	{"sglang", "sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage", NULL, "sglang:prompt_tokens_total",
	 "sglang:generation_tokens_total"},
	{"llamacpp", "llamacpp:requests_processing", "llamacpp:requests_deferred", "llamacpp:kv_cache_usage_ratio", NULL, "llamacpp:prompt_tokens_total",
	 "llamacpp:tokens_predicted_total"},
};

static const struct engine *find(const char *name)
{
	for (size_t i = 0; i < IB_LEN(engines); i++)
		if (name && strcmp(engines[i].name, name) == 0)
			return &engines[i];
	return NULL;
}

static double sum(const char *page, const char *name)
{
	return name ? ib_prometheus_sum(page, name) : NAN;
}

/* Of several servers: what one does not say, all do not. first: there is nothing yet to add to. */
static void add(double *to, double v, bool first)
{
	*to = first ? v : *to + v;
}

/* Names that the contract gives: a list each. */
static double sum_given(const char *page, const json_t *names)
{
	double all = 0;
	size_t i;
	json_t *one;

	json_array_foreach(names, i, one)
		all += ib_prometheus_sum(page, json_string_value(one));
	return json_array_size(names) ? all : NAN;
}

bool ib_sample_metrics(const char *engine, const json_t *counters, const char *page, bool first, struct ib_sample_server *ret)
{
	const struct engine *e = find(engine);
	double kv;

	if (!e && !counters)
		return false;
	if (!e) {
		add(&ret->running, sum_given(page, json_object_get(counters, "busy")), first);
		add(&ret->generation_tokens, sum_given(page, json_object_get(counters, "output_tokens")), first);
		ret->waiting = ret->kv_cache_use = ret->preemptions = ret->prompt_tokens = NAN;
		return true;
	}
	add(&ret->running, sum(page, e->running), first);
	add(&ret->waiting, sum(page, e->waiting), first);
	add(&ret->preemptions, sum(page, e->preemptions), first);
	add(&ret->prompt_tokens, sum(page, e->prompt_tokens), first);
	add(&ret->generation_tokens, sum(page, e->generation_tokens), first);
	kv = e->kv_cache_use ? ib_prometheus_max(page, e->kv_cache_use) : NAN; /* a share: the fullest counts */
	ret->kv_cache_use = first ? kv : fmax(ret->kv_cache_use, kv);
	return true;
}

/* A number, or "-" for one that the library does not give. */
static bool number(const char **at, int64_t *ret)
{
	char *end;

	*at += strspn(*at, " ");
	if (**at == '-') {
		*ret = IB_NONE;
		(*at)++;
		return true;
	}
	*ret = strtoll(*at, &end, 10);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

bool ib_sample_gpus(const char *text, struct ib_sample *ret)
{
	ret->gpus_n = 0;
	for (const char *p = text; *p && ret->gpus_n < IB_SAMPLE_GPUS; p++) {
		struct ib_sample_gpu *g = &ret->gpus[ret->gpus_n];
		int64_t *const all[] = {&g->index,       &g->utilisation_pct, &g->memory_used_bytes, &g->memory_total_bytes, &g->power_mw,
					&g->sm_clock_hz, &g->memory_clock_hz, &g->temperature_c,     &g->throttle_reasons,   &g->energy_mj};

		for (size_t i = 0; i < IB_LEN(all); i++)
			if (!number(&p, all[i])) {
				ret->gpus_n = -1;
				return false;
			}
		if (*p != '\n') {
			ret->gpus_n = -1;
			return false;
		}
		ret->gpus_n++;
	}
	return true;
}
