/* SPDX-License-Identifier: Apache-2.0 */
/* From pages of a server's metrics to the counters of a record, and to its verdict. */
#include "run/cache.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/cache_verdict.h"
#include "model/engine.h"

#define COUNTERS_MAX 60

struct pages {
	const struct ib_engine *engine;
	const char *before, *after;
	struct ib_record *record;
};

static bool kept(const struct ib_record *r, const char *name)
{
	for (size_t i = 0; i < r->cache.counters_n; i++)
		if (strcmp(r->cache.counters[i].name, name) == 0)
			return true;
	return false;
}

/* must: also where neither page has it. */
static void keep_one(const struct pages *p, const char *name, bool must)
{
	double before = name ? ib_prometheus_sum(p->before, name) : NAN, after = name ? ib_prometheus_sum(p->after, name) : NAN;

	if (name && !kept(p->record, name) && (must || !isnan(before) || !isnan(after)))
		ib_record_add_counter(p->record, name, before, after);
}

static void keep(const struct pages *p, const char *const names[IB_ENGINE_NAMES], bool must)
{
	for (size_t i = 0; i < IB_ENGINE_NAMES && names[i]; i++)
		keep_one(p, names[i], must);
}

struct find {
	const char *value;
	double sum;
};

static void add_if_same(void *arg, const char *value, double sample)
{
	struct find *f = arg;

	if (strcmp(value, f->value) == 0)
		f->sum = isnan(f->sum) ? sample : f->sum + sample;
}

static void keep_by(void *arg, const char *value, double sample)
{
	struct pages *p = arg;
	ib_auto_free char *name = ib_asprintf("%s{%s=\"%.60s\"}", p->engine->by_counter, p->engine->by_label, value);
	struct find before = {value, NAN}, after = {value, NAN};

	(void)sample;
	if (p->record->cache.counters_n > COUNTERS_MAX || kept(p->record, name))
		return;
	ib_prometheus_each(p->before, p->engine->by_counter, p->engine->by_label, add_if_same, &before);
	ib_prometheus_each(p->after, p->engine->by_counter, p->engine->by_label, add_if_same, &after);
	ib_record_add_counter(p->record, name, before.sum, after.sum);
}

static void take(const struct ib_engine *engine, const char *before, const char *after, struct ib_record *record)
{
	struct pages p = {engine, before, after, record};

	keep(&p, engine->queries, true);
	keep(&p, engine->hits, true);
	keep(&p, engine->output_tokens, true);
	keep_one(&p, engine->prompt_tokens, false);
	keep(&p, engine->also, false);
	keep_one(&p, engine->preemptions, false);
	if (engine->by_counter)
		ib_prometheus_each(after, engine->by_counter, engine->by_label, keep_by, &p);
	record->server_output_tokens = ib_cache_delta(record, engine->output_tokens, engine->output_tokens[0] ? IB_ENGINE_NAMES : 0, NULL, NULL);
	if (!engine->output_tokens[0])
		record->server_output_tokens = IB_NONE;
}

void ib_cache_judge(const struct ib_contract_evidence *evidence, enum ib_condition condition, const char *before, const char *after, int64_t input_tokens,
		    struct ib_record *record)
{
	struct ib_engine engine;
	bool read = ib_engine_of(evidence, &engine) && before && after;

	free(record->cache.engine);
	record->cache.engine = ib_strdup(evidence->engine);
	record->cache.expected_queries = !evidence->engine ? IB_NONE : evidence->queries != IB_UNSET ? evidence->queries : input_tokens;
	if (!evidence->engine || evidence->queries != IB_UNSET) /* the contract counts all that will be sent */
		record->cache.own_requests = record->cache.own_tokens = record->cache.own_perhaps_tokens = 0;
	if (read)
		take(&engine, before, after, record);
	free(record->cache.why);
	record->cache.why = NULL;
	record->cache.evidence = ib_cache_verdict(evidence, condition, record, &record->cache.why);
	if (evidence->engine && !read && record->cache.evidence == IB_UNCONFIRMED && !record->section[IB_SECTION_SERVER_IDENTITY]) {
		free(record->cache.why);
		record->cache.why = ib_asprintf("the server's metrics could not be read %s the command", before ? "after" : "before");
	}
}

int64_t ib_cache_busy(const struct ib_contract_evidence *evidence, const char *metrics)
{
	struct ib_engine e;
	double sum = 0;

	if (!ib_engine_of(evidence, &e) || !e.busy[0])
		return IB_NONE;
	for (size_t i = 0; i < IB_ENGINE_NAMES && e.busy[i]; i++)
		sum += ib_prometheus_sum(metrics, e.busy[i]);
	return sum >= 0 && sum < 9e15 ? (int64_t)(sum + 0.5) : IB_NONE;
}
