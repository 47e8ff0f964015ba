/* SPDX-License-Identifier: Apache-2.0 */
/* What servers and GPUs answer, as numbers of a sample. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/engine.h"
#include "run/sampler_inside.h"

static double sum(const char *page, const char *name)
{
	return name ? ib_prometheus_sum(page, name) : NAN;
}

/* Of several servers: what one does not say, all do not. first: there is nothing yet to add to. */
static void add(double *to, double v, bool first)
{
	*to = first ? v : *to + v;
}

static double sum_all(const char *page, const char *const names[IB_ENGINE_NAMES])
{
	double all = names[0] ? 0 : NAN;

	for (size_t i = 0; i < IB_ENGINE_NAMES && names[i]; i++)
		all += ib_prometheus_sum(page, names[i]);
	return all;
}

bool ib_sample_metrics(const char *engine, const json_t *counters, const char *page, bool first, struct ib_sample_server *ret)
{
	const struct ib_contract_evidence evidence = {.engine = engine, .counters = counters};
	struct ib_engine e;
	double kv;

	if (!ib_engine_of(&evidence, &e))
		return false;
	add(&ret->running, e.busy_apart ? sum(page, e.busy[0]) : sum_all(page, e.busy), first);
	add(&ret->waiting, e.busy_apart ? sum(page, e.busy[1]) : NAN, first);
	add(&ret->preemptions, sum(page, e.preemptions), first);
	add(&ret->prompt_tokens, sum(page, e.prompt_tokens), first);
	add(&ret->generation_tokens, sum_all(page, e.output_tokens), first);
	kv = e.kv_cache_use ? ib_prometheus_max(page, e.kv_cache_use) : NAN; /* a share: the fullest counts */
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
