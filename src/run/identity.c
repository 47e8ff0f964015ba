/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of metrics of all endpoints of a run, and what they say of the processes that answer. */
#include "run/identity.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "metrics/prometheus.h"
#include "model/engine.h"
#include "run/probe.h"

#define METRICS_MAX (16u << 20)
#define FETCH_NS (10 * IB_NS)
#define HASTE_NS (2 * IB_NS) /* somebody waits for the end of an interrupted run */
#define CLOCKS_APART_S 2 /* a start time is rounded, and its clock another's */

static size_t urls(const struct ib_contract_evidence *e)
{
	return e->engine ? ib_evidence_urls(e) : 0;
}

/* moment NULL: not kept, and no note. */
static char *fetch(struct ib_run *run, const struct ib_contract_evidence *e, size_t at, const char *moment)
{
	ib_auto_free char *name = at == 0 ? ib_asprintf("metrics-%s.txt", moment ? moment : "")
					  : ib_asprintf("metrics-%s-%zu.txt", moment ? moment : "", at + 1);
	ib_auto_buf struct ib_buf body = IB_BUF(METRICS_MAX);
	struct ib_err why = {0};
	bool got = ib_probe(run, ib_evidence_url(e, at), run->signals->caught ? HASTE_NS : FETCH_NS, &body, &why) == 0;

	if (moment && (!got || ib_probe_keep(run, name, ib_buf_str(&body), &why) < 0))
		ib_strv_take(&run->record->notes, ib_asprintf("endpoint/%s: endpoint %zu: %s", name, at + 1, why.text));
	return got ? ib_strdup(ib_buf_str(&body)) : NULL;
}

static char **fetch_all(struct ib_run *run, const struct ib_contract_evidence *e, const char *moment)
{
	size_t n = urls(e);
	char **pages = ib_realloc(NULL, n + 1, sizeof(*pages));

	for (size_t i = 0; i < n; i++)
		pages[i] = fetch(run, e, i, moment);
	return pages;
}

static void clear_pages(char **pages, size_t n)
{
	for (size_t i = 0; pages && i < n; i++)
		free(pages[i]);
	free(pages);
}

void ib_endpoints_clear(struct ib_endpoints *e)
{
	clear_pages(e->before, e->n);
	clear_pages(e->after, e->n);
	*e = (struct ib_endpoints){0};
}

void ib_endpoints_before(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *ret)
{
	ib_endpoints_clear(ret);
	ret->n = urls(evidence);
	ret->before = fetch_all(run, evidence, "before");
}

void ib_endpoints_look(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *ret)
{
	ib_endpoints_clear(ret);
	ret->n = urls(evidence);
	ret->before = fetch_all(run, evidence, NULL);
}

char *ib_endpoints_join(char *const *pages, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF((size_t)METRICS_MAX * 16);

	for (size_t i = 0; i < n; i++) {
		if (!pages || !pages[i])
			return NULL;
		ib_buf_addf(&b, "%s\n", pages[i]);
	}
	return n && !b.overflow ? ib_strdup(ib_buf_str(&b)) : NULL;
}

/* --- one and the same process? --- */

/* What tells one start of a server from another: NAN where the page does not hold it. */
struct start {
	double started_s, created_s, queries;
};

static struct start read_start(const struct ib_engine *engine, const char *page)
{
	struct start s = {NAN, NAN, NAN};
	size_t n = engine->queries[0] ? strlen(engine->queries[0]) : 0;
	ib_auto_free char *created = NULL;

	if (!page || !n)
		return s;
	n -= ib_ends(engine->queries[0], "_total") ? strlen("_total") : 0;
	created = ib_asprintf("%.*s_created", (int)n, engine->queries[0]);
	s.started_s = ib_prometheus_sum(page, IB_ENGINE_STARTED);
	s.created_s = ib_prometheus_sum(page, created);
	s.queries = ib_prometheus_sum(page, engine->queries[0]);
	return s;
}

static bool differ(double a, double b)
{
	return !isnan(a) && !isnan(b) && a != b;
}

enum renewal { RENEWAL_UNSEEN, RENEWAL_SAME, RENEWAL_OTHER };

static enum renewal renewed(const struct start *a, const struct start *b)
{
	if (differ(a->started_s, b->started_s) || differ(a->created_s, b->created_s) || b->queries < a->queries)
		return RENEWAL_OTHER;
	return (!isnan(a->started_s) && !isnan(b->started_s)) || (!isnan(a->created_s) && !isnan(b->created_s)) ? RENEWAL_SAME : RENEWAL_UNSEEN;
}

static json_t *endpoint_json(size_t at, const char *before, const char *after, const struct start *a, const struct start *b)
{
	json_t *o = ib_json_object();
	enum renewal r = renewed(a, b);

	ib_json_set_int(o, "endpoint", (int64_t)at + 1);
	ib_json_set_str(o, "before", before ? "ok" : "error");
	ib_json_set_str(o, "after", after ? "ok" : "error");
	ib_json_set_real(o, "started_before_s", a->started_s);
	ib_json_set_real(o, "started_after_s", b->started_s);
	ib_json_set_real(o, "created_before_s", a->created_s);
	ib_json_set_real(o, "created_after_s", b->created_s);
	ib_json_set(o, "restarted", r == RENEWAL_UNSEEN ? NULL : r == RENEWAL_OTHER ? json_true() : json_false());
	return o;
}

void ib_endpoints_after(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *e)
{
	json_t *o, *list;
	struct ib_engine engine;

	if (!e->n || !e->before || !ib_engine_of(evidence, &engine))
		return;
	e->after = fetch_all(run, evidence, "after");
	o = ib_json_object();
	list = ib_json_array();
	for (size_t i = 0; i < e->n; i++) {
		struct start a = read_start(&engine, e->before[i]), b = read_start(&engine, e->after[i]);

		ib_json_add(list, endpoint_json(i, e->before[i], e->after[i], &a, &b));
	}
	ib_json_set(o, "endpoints", list);
	ib_json_set(o, "renewed_by_reset", evidence->engine && e->n && json_object_get(run->record->section[IB_SECTION_SERVER_IDENTITY], "renewed_by_reset")
						   ? json_true()
						   : NULL);
	ib_record_set(run->record, IB_SECTION_SERVER_IDENTITY, o);
}

int ib_endpoints_renewed(struct ib_run *run, const struct ib_contract_evidence *evidence, const struct ib_endpoints *seen, int64_t since_ns, struct ib_err *err)
{
	struct ib_engine engine;
	json_t *o;

	if (!seen->n || !ib_engine_of(evidence, &engine))
		return ib_fail(err, IB_E_STATE, 0, "whether the reset has started another server cannot be seen: 'restart' needs 'evidence' with a metrics URL");
	for (size_t i = 0; i < seen->n; i++) {
		ib_auto_free char *now = fetch(run, evidence, i, NULL);
		struct start a = read_start(&engine, seen->before[i]), b = read_start(&engine, now);
		enum renewal r = renewed(&a, &b);

		if (!now)
			return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: its metrics cannot be read after the reset", i + 1);
		if (!seen->before[i] && b.started_s + CLOCKS_APART_S >= (double)since_ns / IB_NS)
			r = RENEWAL_OTHER; /* nothing answered before */
		if (r == RENEWAL_SAME)
			return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: the server is the same process after the reset as before", i + 1);
		if (r == RENEWAL_UNSEEN)
			return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: its metrics do not tell whether the reset has started another server", i + 1);
	}
	o = ib_json_object();
	ib_json_set_bool(o, "renewed_by_reset", true);
	ib_record_set(run->record, IB_SECTION_SERVER_IDENTITY, o);
	return 0;
}
