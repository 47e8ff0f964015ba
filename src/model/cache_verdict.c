/* SPDX-License-Identifier: Apache-2.0 */
/* From the numbers in a record to confirmed, contradicted or unconfirmed. */
#include "model/cache_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/engine.h"

#define COUNT_LIMIT 9e15 /* whole numbers are exact in a double up to here */

struct verdict {
	enum ib_evidence_of evidence;
	char *why;
};

/* --- counters --- */

static int64_t count(double v)
{
	return v >= 0 && v < COUNT_LIMIT && v == floor(v) ? (int64_t)v : IB_NONE;
}

static const struct ib_record_counter *find(const struct ib_record *r, const char *name)
{
	for (size_t i = 0; i < r->cache.counters_n; i++)
		if (strcmp(r->cache.counters[i].name, name) == 0)
			return &r->cache.counters[i];
	return NULL;
}

/* Values of a counter; absent ones are 0 where the other counter is there. */
static void values(const struct ib_record *r, const char *name, const char *with, double *ret_before, double *ret_after)
{
	const struct ib_record_counter *c = find(r, name), *w = with ? find(r, with) : NULL;

	*ret_before = c ? c->before : NAN;
	*ret_after = c ? c->after : NAN;
	if (isnan(*ret_before) && w && !isnan(w->before))
		*ret_before = 0;
	if (isnan(*ret_after) && w && !isnan(w->after) && !(*ret_before > 0))
		*ret_after = 0;
}

/* Why two values of a counter have no difference that means something. Allocated, or NULL. */
static char *no_delta(const char *name, double before, double after)
{
	if (isnan(before) || isnan(after))
		return ib_asprintf("the server's metrics do not hold '%s'", name);
	if (before < 0 || after < 0 || before > COUNT_LIMIT || after > COUNT_LIMIT)
		return ib_asprintf("'%s' is no count: it is negative, or so large that single tokens are lost in it", name);
	if (after < before)
		return ib_asprintf("'%s' went down: the server was restarted during the run", name);
	return NULL;
}

int64_t ib_cache_delta(const struct ib_record *record, const char *const *names, size_t n, const char *absent_is_0_with, char **ret_why)
{
	ib_auto_free char *why = NULL;
	double sum = 0;

	for (size_t i = 0; i < n && names[i] && !why; i++) {
		double before, after;

		values(record, names[i], absent_is_0_with, &before, &after);
		why = no_delta(names[i], before, after);
		sum += after - before;
	}
	if (!why)
		return count(sum);
	if (ret_why && !*ret_why)
		*ret_why = ib_steal(&why);
	return IB_NONE;
}

/* Prompt tokens and hits, split among the requests that the client counts, those that it sent on its own, and others. */
struct parts {
	int64_t hits, queries, expected; /* counted; of the requests that the client counts, or IB_NONE */
	int64_t own;                /* tokens of its own requests, as many of them as the queries leave room for; each may have hit, or have made others hit */
	int64_t others;             /* tokens of somebody else: as many hits may be theirs */
	int64_t hits_min, hits_max; /* that are due to neither */
};

static struct parts split(const struct ib_record *r, int64_t hits, int64_t queries)
{
	struct parts p = {.hits = hits, .queries = queries, .expected = r->cache.expected_queries};
	int64_t more = p.expected != IB_NONE && queries > p.expected ? queries - p.expected : 0;
	int64_t sure = r->cache.own_tokens > 0 ? r->cache.own_tokens : 0, perhaps = r->cache.own_perhaps_tokens > 0 ? r->cache.own_perhaps_tokens : 0;

	p.own = more < sure ? more : more == sure + perhaps ? sure + perhaps : sure;
	p.others = more - p.own;
	p.hits_min = hits > more ? hits - more : 0;
	p.hits_max = hits < queries - more ? hits : queries - more;
	return p;
}

/* Warm and reuse: what must come from the cache, of the requests that the client counts. */
static int64_t needed(const struct ib_contract_evidence *e, const struct parts *p)
{
	int64_t of = p->queries - p->own - p->others;

	return isnan(e->hit_share_min) || of <= 0 ? 1 : (int64_t)ceil(e->hit_share_min * (double)of);
}

static struct verdict say(enum ib_evidence_of evidence, char *why)
{
	return (struct verdict){evidence, why};
}

/* What the client's own requests have to do with it; "" where there are none. Allocated. */
static char *own_words(const struct ib_record *r, const struct parts *p)
{
	if (p->own == 0)
		return ib_strdup("");
	return ib_asprintf("; %" PRId64 " requests that the client sent on its own before (%" PRId64 " prompt tokens) explain at most %" PRId64 " of these",
			   p->own > r->cache.own_tokens ? r->cache.own_requests + 1 : r->cache.own_requests, p->own, p->own < p->hits ? p->own : p->hits);
}

/* Every token is accounted for: cold and reset. */
static struct verdict fresh_verdict(const struct ib_contract_evidence *e, const struct parts *p, const char *counted, const char *own)
{
	if (p->hits <= e->hits_max)
		return say(IB_CONFIRMED, ib_asprintf("%s, all as expected", counted));
	return say(IB_UNCONFIRMED, ib_asprintf("%s, where at most %" PRId64 " may%s: so a measured prompt was in the cache before; let the client send none, or allow "
					       "them with 'hits_max'",
					       counted, e->hits_max, own));
}

/* Warm and reuse. */
static struct verdict full_verdict(const struct ib_contract_evidence *e, const struct parts *p, const char *counted, const char *own)
{
	if (p->hits_min >= needed(e, p) || p->own == 0)
		return say(IB_CONFIRMED, ib_asprintf("%s, all as expected", counted));
	return say(IB_UNCONFIRMED, ib_asprintf("%s, where at least %" PRId64 " of the measured ones must%s", counted, needed(e, p), own));
}

/* Fewer or more tokens than all requests together have. */
static struct verdict uneven(const struct ib_record *r, const struct parts *p)
{
	if (p->queries < p->expected)
		return say(IB_UNCONFIRMED, ib_asprintf("the server counted %" PRId64 " prompt tokens, fewer than the %" PRId64 " expected", p->queries, p->expected));
	if (r->cache.own_requests > 0 && r->cache.own_tokens == IB_NONE)
		return say(IB_UNCONFIRMED, ib_asprintf("the server counted %" PRId64 " prompt tokens, %" PRId64 " more than the client counts: it also sent %" PRId64
						       " requests on its own, whose length its result does not hold",
						       p->queries, p->queries - p->expected, r->cache.own_requests));
	if (p->others == 0)
		return say(IB_UNCONFIRMED, ib_asprintf("the server counted %" PRId64 " prompt tokens, fewer than the %" PRId64 " expected with those that the client sent on "
						       "its own",
						       p->queries, p->expected + r->cache.own_tokens));
	return say(IB_UNCONFIRMED, ib_asprintf("the server counted %" PRId64 " prompt tokens, more than the %" PRId64 " expected: someone else used it", p->queries,
					       p->expected + p->own));
}

/* Hits that can be neither the client's own requests' nor somebody else's, where none may be; too few, whoever had them, where some must be. The verdict's why
 * is NULL where nothing is contradicted. */
static struct verdict contradiction(const struct ib_contract_evidence *e, bool fresh, const struct parts *p, const char *counted, const char *own)
{
	if (fresh && p->hits_min > e->hits_max)
		return say(IB_CONTRADICTED, ib_asprintf("%s, where at most %" PRId64 " may%s", counted, e->hits_max, own));
	if (fresh || p->expected == IB_NONE || p->queries < p->expected || p->hits_max >= needed(e, p))
		return say(IB_UNCONFIRMED, NULL);
	if (isnan(e->hit_share_min))
		return say(IB_CONTRADICTED, ib_asprintf("%s, where some must", counted));
	return say(IB_CONTRADICTED, ib_asprintf("%s, where at least %g %% must", counted, 100 * e->hit_share_min));
}

static bool is_uneven(const struct ib_record *r, const struct parts *p)
{
	return p->queries < p->expected || p->others > 0 || p->own < r->cache.own_tokens || (r->cache.own_requests > 0 && r->cache.own_tokens == IB_NONE);
}

/* Once counters are there. */
static struct verdict decide(const struct ib_contract_evidence *e, enum ib_condition condition, const struct ib_record *r, int64_t hits, int64_t queries)
{
	bool fresh = condition == IB_CACHE_COLD || condition == IB_CACHE_RESET;
	ib_auto_free char *share = queries > 0 ? ib_asprintf(" (%.1f %%)", 100.0 * (double)hits / (double)queries) : ib_strdup("");
	ib_auto_free char *counted = ib_asprintf("%" PRId64 " of %" PRId64 " prompt tokens%s came from the cache", hits, queries, share);
	const struct parts p = split(r, hits, queries);
	ib_auto_free char *own = own_words(r, &p);
	struct verdict against;

	if (condition == IB_CACHE_UNSPECIFIED)
		return say(IB_UNCONFIRMED, ib_asprintf("%s; no condition is claimed", counted));
	against = contradiction(e, fresh, &p, counted, own);
	if (against.why)
		return against;
	if (p.expected == IB_NONE)
		return say(IB_UNCONFIRMED, ib_asprintf("%s, but how many prompt tokens the client sent is not known", counted));
	if (is_uneven(r, &p))
		return uneven(r, &p);
	return fresh ? fresh_verdict(e, &p, counted, own) : full_verdict(e, &p, counted, own);
}

static const char *text(const json_t *o, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : otherwise;
}

/* Why one of the endpoints proves nothing, with its number; NULL: none is known to. Allocated. */
static char *endpoint_trouble(const struct ib_record *r)
{
	const json_t *list = json_object_get(r->section[IB_SECTION_SERVER_IDENTITY], "endpoints");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);

		if (strcmp(text(o, "before", "ok"), "ok") != 0)
			return ib_asprintf("endpoint %zu: its metrics could not be read before the command: %s", i + 1, text(o, "before_why", "no answer"));
		if (strcmp(text(o, "after", "ok"), "ok") != 0)
			return ib_asprintf("endpoint %zu: its metrics could not be read after the command: %s", i + 1, text(o, "after_why", "no answer"));
		if (json_object_get(o, "missing") && !json_is_null(json_object_get(o, "missing")))
			return ib_asprintf("endpoint %zu: its metrics do not hold '%s'", i + 1, text(o, "missing", "a counter"));
		if (json_object_get(o, "trouble") && !json_is_null(json_object_get(o, "trouble")))
			return ib_asprintf("endpoint %zu: %s", i + 1, text(o, "trouble", "its metrics make no sense"));
		if (json_is_true(json_object_get(o, "restarted")))
			return ib_asprintf("endpoint %zu: the server was restarted during the run, by %s", i + 1, text(o, "told_by", "its start time"));
	}
	return NULL;
}

static struct verdict of_counters(const struct ib_contract_evidence *e, enum ib_condition condition, const struct ib_record *r)
{
	ib_auto_free char *why = NULL;
	int64_t queries, hits;
	struct ib_engine engine;

	if (!ib_engine_of(e, &engine))
		return say(IB_UNCONFIRMED, ib_strdup("the counters of this engine are not known"));
	why = endpoint_trouble(r);
	if (why)
		return say(IB_UNCONFIRMED, ib_steal(&why));
	if (r->cache.counters_n == 0)
		return say(IB_UNCONFIRMED, ib_strdup("the server's metrics could not be read"));
	queries = ib_cache_delta(r, engine.queries, IB_ENGINE_NAMES, NULL, &why);
	hits = ib_cache_delta(r, engine.hits, IB_ENGINE_NAMES, engine.hits_with, &why);
	if (why)
		return say(IB_UNCONFIRMED, ib_steal(&why));
	if (queries == IB_NONE || hits == IB_NONE || hits > queries)
		return say(IB_UNCONFIRMED, ib_strdup("the server's counters make no sense: more hits than queries, or no whole numbers"));
	return decide(e, condition, r, hits, queries);
}

/* --- files in the page cache --- */

static struct verdict of_files(const struct ib_contract_evidence *e, const struct ib_record *r)
{
	const json_t *list = r->section[IB_SECTION_RESIDENCY];
	double bytes = 0, resident = 0, share;
	size_t known = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i), *in = json_object_get(o, "resident_before_bytes"), *of = json_object_get(o, "bytes");

		if (!json_is_true(json_object_get(o, "evidence")))
			continue;
		if (!json_is_integer(in) || !json_is_integer(of))
			return say(IB_UNCONFIRMED, ib_asprintf("how much of file %zu is in the page cache is not known", i + 1));
		bytes += json_number_value(of);
		resident += json_number_value(in);
		known++;
	}
	if (known != json_array_size(e->files) || !(bytes > 0))
		return say(IB_UNCONFIRMED, ib_strdup("how much of the files is in the page cache is not known"));
	share = resident / bytes;
	if (!isnan(e->resident_share_max) && share > e->resident_share_max)
		return say(IB_CONTRADICTED, ib_asprintf("%.0f of %.0f bytes of the files were in the page cache (%.1f %%), where at most %g %% may", resident, bytes,
							100 * share, 100 * e->resident_share_max));
	if (!isnan(e->resident_share_min) && share < e->resident_share_min)
		return say(IB_CONTRADICTED, ib_asprintf("%.0f of %.0f bytes of the files were in the page cache (%.1f %%), where at least %g %% must", resident,
							bytes, 100 * share, 100 * e->resident_share_min));
	return say(IB_CONFIRMED, ib_asprintf("%.0f of %.0f bytes of the files were in the page cache (%.1f %%)", resident, bytes, 100 * share));
}

/* --- both --- */

/* One contradiction decides; all that is asked for must confirm. */
static enum ib_evidence_of both(enum ib_evidence_of a, enum ib_evidence_of b)
{
	if (a == IB_CONTRADICTED || b == IB_CONTRADICTED)
		return IB_CONTRADICTED;
	return a == IB_CONFIRMED && b == IB_CONFIRMED ? IB_CONFIRMED : IB_UNCONFIRMED;
}

static bool asks_for_files(const struct ib_contract_evidence *e)
{
	return e->files && (!isnan(e->resident_share_min) || !isnan(e->resident_share_max));
}

enum ib_evidence_of ib_cache_verdict(const struct ib_contract_evidence *evidence, enum ib_condition condition, const struct ib_record *record, char **ret_why)
{
	bool files = asks_for_files(evidence);
	struct verdict a = {IB_CONFIRMED, NULL}, b = {IB_CONFIRMED, NULL};

	if (!evidence->engine && !files) {
		*ret_why = ib_strdup("no evidence was collected");
		return IB_UNCONFIRMED;
	}
	if (evidence->engine)
		a = of_counters(evidence, condition, record);
	if (files)
		b = of_files(evidence, record);
	if (files && b.evidence == IB_CONFIRMED && condition == IB_CACHE_UNSPECIFIED)
		b.evidence = IB_UNCONFIRMED;
	*ret_why = a.why && b.why ? ib_asprintf("%s; %s", a.why, b.why) : ib_strdup(a.why ? a.why : b.why);
	free(a.why);
	free(b.why);
	return both(a.evidence, b.evidence);
}

static double share(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

bool ib_cache_evidence(const json_t *o, struct ib_contract_evidence *ret)
{
	const json_t *queries = json_object_get(o, "queries"), *files = json_object_get(o, "files");

	if (!json_is_object(o))
		return false;
	*ret = (struct ib_contract_evidence){
		.engine = json_string_value(json_object_get(o, "engine")),
		.counters = json_object_get(o, "counters"),
		.files = json_array_size(files) ? files : NULL,
		.resident_share_min = share(o, "resident_share_min"),
		.resident_share_max = share(o, "resident_share_max"),
		.queries = json_is_integer(queries) ? json_integer_value(queries) : IB_UNSET,
		.hits_max = json_integer_value(json_object_get(o, "hits_max")),
		.hit_share_min = share(o, "hit_share_min"),
	};
	return true;
}
