/* SPDX-License-Identifier: Apache-2.0 */
/* From server counters to confirmed, contradicted or unconfirmed. */
#include "run/cache.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/engine.h"
#include "metrics/prometheus.h"

#define COUNT_LIMIT 9e15 /* whole numbers are exact in a double up to here */

static const struct ib_engine *const engines[] = {&ib_engine_vllm, &ib_engine_llamacpp};

const struct ib_engine *ib_engine_find(const char *name)
{
	for (size_t i = 0; i < IB_LEN(engines); i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

struct judge {
	const struct ib_engine *engine;
	const char *before, *after;
	struct ib_record *record;
	char *trouble; /* why the counters say nothing; NULL: they do */
};

static int64_t count(double v)
{
	return v >= 0 && v < COUNT_LIMIT ? (int64_t)(v + 0.5) : IB_NONE;
}

static bool kept(const struct ib_record *r, const char *name)
{
	for (size_t i = 0; i < r->cache.counters_n; i++)
		if (strcmp(r->cache.counters[i].name, name) == 0)
			return true;
	return false;
}

/* Sum of the deltas of some counters, each kept in the record; IB_NONE, with the trouble noted when it matters. */
static int64_t delta(struct judge *j, const char *const names[IB_ENGINE_NAMES], bool matters)
{
	double sum = 0;
	char *trouble = NULL;

	for (size_t i = 0; i < IB_ENGINE_NAMES && names[i]; i++) {
		double before = ib_prometheus_sum(j->before, names[i]), after = ib_prometheus_sum(j->after, names[i]);

		if (!kept(j->record, names[i]))
			ib_record_add_counter(j->record, names[i], before, after);
		if (!trouble && (isnan(before) || isnan(after)))
			trouble = ib_asprintf("the server's metrics do not hold '%s'", names[i]);
		else if (!trouble && after < before)
			trouble = ib_asprintf("'%s' went down: the server was restarted during the run", names[i]);
		sum += after - before;
	}
	if (trouble && matters && !j->trouble)
		j->trouble = ib_steal(&trouble);
	free(trouble);
	return count(sum);
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
	struct judge *j = arg;
	ib_auto_free char *name = ib_asprintf("%s{%s=\"%.60s\"}", j->engine->by_counter, j->engine->by_label, value);
	struct find before = {value, NAN}, after = {value, NAN};

	(void)sample;
	if (j->record->cache.counters_n > 60 || kept(j->record, name))
		return;
	ib_prometheus_each(j->before, j->engine->by_counter, j->engine->by_label, add_if_same, &before);
	ib_prometheus_each(j->after, j->engine->by_counter, j->engine->by_label, add_if_same, &after);
	ib_record_add_counter(j->record, name, before.sum, after.sum);
}

static void say(struct ib_record *r, enum ib_evidence_of evidence, char *why)
{
	free(r->cache.why);
	r->cache.evidence = evidence;
	r->cache.why = why;
}

/* What is known of the hits of the client's own tokens when the server counted more than it sent: others may account for as many hits as
 * there are tokens of others. */
struct own {
	int64_t hits_min, hits_max, queries;
};

static struct own own_share(int64_t hits, int64_t queries, int64_t expected)
{
	int64_t others = expected != IB_NONE && queries > expected ? queries - expected : 0;

	return (struct own){hits > others ? hits - others : 0, hits < queries - others ? hits : queries - others, queries - others};
}

/* Warm and reuse: are there enough hits, whoever had them? */
static bool enough(const struct ib_contract_evidence *e, const struct own *own)
{
	if (isnan(e->hit_share_min))
		return own->hits_max > 0;
	return own->queries > 0 && (double)own->hits_max >= e->hit_share_min * (double)own->queries;
}

/* The verdict, once counters are there. expected is IB_NONE when nobody knows. */
static void decide(const struct ib_contract_evidence *e, enum ib_condition condition, int64_t hits, int64_t queries, int64_t expected, struct ib_record *r)
{
	bool fresh = condition == IB_CACHE_COLD || condition == IB_CACHE_RESET;
	ib_auto_free char *share = queries > 0 ? ib_asprintf(" (%.1f %%)", 100.0 * (double)hits / (double)queries) : ib_strdup("");
	ib_auto_free char *counted = ib_asprintf("%" PRId64 " of %" PRId64 " prompt tokens%s came from the cache", hits, queries, share);
	const struct own own = own_share(hits, queries, expected);

	if (condition == IB_CACHE_UNSPECIFIED)
		say(r, IB_UNCONFIRMED, ib_asprintf("%s; no condition is claimed", counted));
	else if (fresh && own.hits_min > e->hits_max)
		say(r, IB_CONTRADICTED, ib_asprintf("%s, where at most %" PRId64 " may", counted, e->hits_max));
	else if (expected == IB_NONE)
		say(r, IB_UNCONFIRMED, ib_asprintf("%s, but how many prompt tokens the client sent is not known", counted));
	else if (queries < expected)
		say(r, IB_UNCONFIRMED, ib_asprintf("the server counted %" PRId64 " prompt tokens, fewer than the %" PRId64 " expected", queries, expected));
	else if (!fresh && !enough(e, &own) && isnan(e->hit_share_min))
		say(r, IB_CONTRADICTED, ib_asprintf("%s, where some must", counted));
	else if (!fresh && !enough(e, &own))
		say(r, IB_CONTRADICTED, ib_asprintf("%s, where at least %g %% must", counted, 100 * e->hit_share_min));
	else if (queries > expected)
		say(r, IB_UNCONFIRMED,
		    ib_asprintf("the server counted %" PRId64 " prompt tokens, more than the %" PRId64 " expected: someone else used it", queries, expected));
	else
		say(r, IB_CONFIRMED, ib_asprintf("%s, all as expected", counted));
}

void ib_cache_judge(const struct ib_contract_evidence *evidence, enum ib_condition condition, const char *before, const char *after, int64_t input_tokens,
		    struct ib_record *record)
{
	struct judge j = {.engine = ib_engine_find(evidence->engine), .before = before, .after = after, .record = record};
	int64_t queries, hits, expected = evidence->queries != IB_UNSET ? evidence->queries : input_tokens;

	free(record->cache.engine);
	record->cache.engine = ib_strdup(evidence->engine);
	record->cache.expected_queries = expected;
	if (!j.engine || !before || !after) {
		say(record, IB_UNCONFIRMED, ib_asprintf("the server's metrics could not be read %s the command", before ? "after" : "before"));
		return;
	}
	queries = delta(&j, j.engine->queries, true);
	hits = delta(&j, j.engine->hits, true);
	record->server_output_tokens = delta(&j, j.engine->output_tokens, false);
	if (j.engine->by_counter)
		ib_prometheus_each(after, j.engine->by_counter, j.engine->by_label, keep_by, &j);
	if (j.trouble)
		say(record, IB_UNCONFIRMED, ib_steal(&j.trouble));
	else if (queries == IB_NONE || hits == IB_NONE || hits > queries)
		say(record, IB_UNCONFIRMED, ib_strdup("the server's counters make no sense: more hits than queries, or no whole numbers"));
	else
		decide(evidence, condition, hits, queries, expected, record);
}

int64_t ib_cache_busy(const char *engine, const char *metrics)
{
	const struct ib_engine *e = ib_engine_find(engine);
	double sum = 0;

	for (size_t i = 0; e && i < IB_ENGINE_NAMES && e->busy[i]; i++)
		sum += ib_prometheus_sum(metrics, e->busy[i]);
	return e ? count(sum) : IB_NONE;
}
