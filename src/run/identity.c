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
#include "redact/redact.h"
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
static void fetch(struct ib_run *run, const struct ib_contract_evidence *e, size_t at, const char *moment, struct ib_page *ret)
{
	ib_auto_free char *name = at == 0 ? ib_asprintf("metrics-%s.txt", moment ? moment : "")
					  : ib_asprintf("metrics-%s-%zu.txt", moment ? moment : "", at + 1);
	ib_auto_buf struct ib_buf body = IB_BUF(METRICS_MAX);
	ib_auto_free char *url = NULL;
	struct ib_err why = {0};
	bool got = ib_probe(run, ib_evidence_url(e, at), run->signals->caught ? HASTE_NS : FETCH_NS, &body, &why) == 0;

	*ret = (struct ib_page){.text = got ? ib_strdup(ib_buf_str(&body)) : NULL, .why = got ? NULL : ib_strdup(why.text)};
	if (moment && (!got || ib_probe_keep(run, name, ib_buf_str(&body), &why) < 0))
		ib_strv_take(&run->record->notes, ib_asprintf("endpoint/%s: endpoint %zu: %s", name, at + 1, why.text));
	if (ib_probe_url(run, ib_evidence_url(e, at), &url, NULL) == 0)
		ib_listener_of(NULL, url, &ret->listener);
}

static struct ib_page *fetch_all(struct ib_run *run, const struct ib_contract_evidence *e, const char *moment)
{
	size_t n = urls(e);
	struct ib_page *pages = ib_alloc((n + 1) * sizeof(*pages));

	for (size_t i = 0; i < n; i++)
		fetch(run, e, i, moment, &pages[i]);
	return pages;
}

static void clear_page(struct ib_page *p)
{
	free(p->text);
	free(p->why);
	*p = (struct ib_page){0};
}

static void clear_pages(struct ib_page *pages, size_t n)
{
	for (size_t i = 0; pages && i < n; i++)
		clear_page(&pages[i]);
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

char *ib_endpoints_join(const struct ib_page *pages, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF((size_t)METRICS_MAX * 16);

	for (size_t i = 0; i < n; i++) {
		if (!pages || !pages[i].text)
			return NULL;
		ib_buf_addf(&b, "%s\n", pages[i].text);
	}
	return n && !b.overflow ? ib_strdup(ib_buf_str(&b)) : NULL;
}

/* --- one and the same process? --- */

/* What tells one start of a server from another: NAN where the page does not hold it. */
struct start {
	double started_s, created_s, queries;
	const struct ib_listener *listener;
};

/* The counter that is not there, where one of the evidence is missing on the page; else NULL. */
static const char *missing(const struct ib_engine *engine, const char *page)
{
	bool late = engine->hits_with && !isnan(ib_prometheus_sum(page, engine->hits_with));

	for (size_t i = 0; i < IB_ENGINE_NAMES && engine->queries[i]; i++)
		if (isnan(ib_prometheus_sum(page, engine->queries[i])))
			return engine->queries[i];
	for (size_t i = 0; i < IB_ENGINE_NAMES && engine->hits[i] && !late; i++)
		if (isnan(ib_prometheus_sum(page, engine->hits[i])))
			return engine->hits[i];
	return NULL;
}

/* What is wrong with one counter, though its sum may look right. Allocated, or NULL. */
static char *odd(const char *name, const struct ib_page *before, const struct ib_page *after)
{
	if (ib_prometheus_twice(before->text, name) || ib_prometheus_twice(after->text, name))
		return ib_asprintf("its metrics hold '%s' twice with the same labels", name);
	if (ib_prometheus_fell(before->text, after->text, name))
		return ib_asprintf("'%s' went down or away in one of its series: a part of the server was restarted during the run", name);
	return NULL;
}

static char *trouble(const struct ib_engine *engine, const struct ib_page *before, const struct ib_page *after)
{
	char *why = NULL;

	if (!before->text || !after->text)
		return NULL;
	for (size_t i = 0; i < IB_ENGINE_NAMES && engine->queries[i] && !why; i++)
		why = odd(engine->queries[i], before, after);
	for (size_t i = 0; i < IB_ENGINE_NAMES && engine->hits[i] && !why; i++)
		why = odd(engine->hits[i], before, after);
	return why;
}

static struct start read_start(const struct ib_engine *engine, const struct ib_page *page)
{
	struct start s = {NAN, NAN, NAN, &page->listener};
	size_t n = engine->queries[0] ? strlen(engine->queries[0]) : 0;
	ib_auto_free char *created = NULL;

	if (!page->text || !n)
		return s;
	n -= ib_ends(engine->queries[0], "_total") ? strlen("_total") : 0;
	created = ib_asprintf("%.*s_created", (int)n, engine->queries[0]);
	s.started_s = ib_prometheus_sum(page->text, IB_ENGINE_STARTED);
	s.created_s = ib_prometheus_sum(page->text, created);
	s.queries = ib_prometheus_sum(page->text, engine->queries[0]);
	return s;
}

static bool both(double a, double b)
{
	return !isnan(a) && !isnan(b);
}

/* By what it can be told whether it is another server, NULL: by nothing. The server's own word counts before the process that listens, which may only pass on
 * what it is asked. */
static const char *told_by(const struct start *a, const struct start *b, bool *ret_other)
{
	*ret_other = true;
	if (both(a->started_s, b->started_s) && a->started_s != b->started_s)
		return IB_ENGINE_STARTED;
	if (both(a->created_s, b->created_s) && a->created_s != b->created_s)
		return "the time at which its counters were made";
	if (b->queries < a->queries)
		return "counters that are lower than before";
	*ret_other = false;
	if (both(a->started_s, b->started_s))
		return IB_ENGINE_STARTED;
	if (both(a->created_s, b->created_s))
		return "the time at which its counters were made";
	*ret_other = ib_listener_other(a->listener, b->listener);
	return *ret_other || ib_listener_same(a->listener, b->listener) ? "the process that listens" : NULL;
}

static json_t *process_json(const struct ib_run *run, const struct ib_listener *l)
{
	ib_auto_free char *name = *l->name ? ib_redact_text(run->study->redactor, l->name) : NULL;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "status", l->status ? l->status : "unknown");
	ib_json_set_str(o, "why", l->status ? l->why : "nobody looked");
	ib_json_set_str(o, "name", name);
	if (l->processes) {
		ib_json_set_int(o, "pid", l->pid);
		ib_json_set_int(o, "start_ticks", l->start_ticks);
	} else {
		ib_json_set(o, "pid", NULL);
		ib_json_set(o, "start_ticks", NULL);
	}
	ib_json_set_real(o, "started_s", l->processes ? l->started_s : NAN);
	ib_json_set_int(o, "processes", l->processes);
	return o;
}

/* What both moments say of one endpoint. */
static void describe(const struct ib_run *run, json_t *o, const struct ib_page *before, const struct ib_page *after, const char *by, bool other)
{
	ib_json_set(o, "process_before", process_json(run, &before->listener));
	ib_json_set(o, "process_after", process_json(run, &after->listener));
	ib_json_set(o, "restarted", !by ? NULL : other ? json_true() : json_false());
	ib_json_set_str(o, "told_by", by);
}

static void set_starts(json_t *o, const struct start *a, const struct start *b)
{
	ib_json_set_real(o, "started_before_s", a->started_s);
	ib_json_set_real(o, "started_after_s", b->started_s);
	ib_json_set_real(o, "created_before_s", a->created_s);
	ib_json_set_real(o, "created_after_s", b->created_s);
}

static json_t *endpoint_json(const struct ib_run *run, const struct ib_engine *engine, size_t at, const struct ib_page *before, const struct ib_page *after)
{
	struct start a = read_start(engine, before), b = read_start(engine, after);
	bool other;
	ib_auto_free char *why = NULL;
	const char *by = told_by(&a, &b, &other), *lacks = before->text ? missing(engine, before->text) : NULL;
	json_t *o = ib_json_object();

	if (!lacks && after->text)
		lacks = missing(engine, after->text);
	ib_json_set_int(o, "endpoint", (int64_t)at + 1);
	ib_json_set_str(o, "before", before->text ? "ok" : "error");
	ib_json_set_str(o, "after", after->text ? "ok" : "error");
	ib_json_set_str(o, "before_why", before->why);
	ib_json_set_str(o, "after_why", after->why);
	why = lacks || (by && other) ? NULL : trouble(engine, before, after);
	ib_json_set_str(o, "missing", lacks);
	ib_json_set_str(o, "trouble", why);
	set_starts(o, &a, &b);
	describe(run, o, before, after, by, other);
	return o;
}

void ib_endpoints_after(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *e)
{
	json_t *o, *list, *renewal;
	struct ib_engine engine;

	if (!e->n || !e->before || !ib_engine_of(evidence, &engine))
		return;
	e->after = fetch_all(run, evidence, "after");
	o = ib_json_object();
	list = ib_json_array();
	for (size_t i = 0; i < e->n; i++)
		ib_json_add(list, endpoint_json(run, &engine, i, &e->before[i], &e->after[i]));
	ib_json_set(o, "endpoints", list);
	renewal = json_object_get(run->record->section[IB_SECTION_SERVER_IDENTITY], "reset");
	ib_json_set(o, "renewed_by_reset", renewal ? json_true() : NULL);
	ib_json_set(o, "reset", renewal ? json_incref(renewal) : NULL);
	ib_record_set(run->record, IB_SECTION_SERVER_IDENTITY, o);
}

/* Nothing answered before the reset, which began at since_s: is the server that answers now younger? */
static const char *told_by_age(const struct start *now, double since_s, const char *by, bool *ret_other)
{
	bool seen = now->listener->status && strcmp(now->listener->status, "ok") == 0;
	double started = isnan(now->started_s) && seen ? now->listener->started_s : now->started_s;

	if (isnan(started))
		return by;
	*ret_other = started + CLOCKS_APART_S >= since_s;
	return "its start, nothing having answered before";
}

static int judge_renewal(const struct ib_page *seen, const struct ib_page *now, size_t at, const char *by, bool other, struct ib_err *err)
{
	const char *why = now->listener.why ? now->listener.why : seen->listener.why;

	if (!now->text)
		return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: its metrics cannot be read after the reset: %s", at + 1, now->why);
	if (by && !other)
		return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: the server is the same process after the reset as before, by %s", at + 1, by);
	if (!by)
		return ib_fail(err, IB_E_STATE, 0, "endpoint %zu: nothing tells whether the reset has started another server: its metrics have no start time, and of the "
						   "process that listens: %s",
			       at + 1, why ? why : "it was not seen before");
	return 0;
}

/* One endpoint before and after the reset; its row goes into list. */
static int renewed(struct ib_run *run, const struct ib_engine *engine, const struct ib_page *seen, const struct ib_page *now, size_t at, int64_t since_ns,
		   json_t *list, struct ib_err *err)
{
	struct start a = read_start(engine, seen), b = read_start(engine, now);
	bool other;
	const char *by = told_by(&a, &b, &other);
	json_t *o = ib_json_object();

	if (!seen->text && now->text)
		by = told_by_age(&b, (double)since_ns / IB_NS, by, &other);
	ib_json_set_int(o, "endpoint", (int64_t)at + 1);
	set_starts(o, &a, &b);
	describe(run, o, seen, now, by, other);
	ib_json_add(list, o);
	return judge_renewal(seen, now, at, by, other, err);
}

int ib_endpoints_renewed(struct ib_run *run, const struct ib_contract_evidence *evidence, const struct ib_endpoints *seen, int64_t since_ns, struct ib_err *err)
{
	struct ib_engine engine;
	json_t *o, *list;
	int r = 0;

	if (!seen->n || !ib_engine_of(evidence, &engine))
		return ib_fail(err, IB_E_STATE, 0, "whether the reset has started another server cannot be seen: 'restart' needs 'evidence' with a metrics URL");
	list = ib_json_array();
	for (size_t i = 0; i < seen->n && r == 0; i++) {
		struct ib_page now;

		fetch(run, evidence, i, NULL, &now);
		r = renewed(run, &engine, &seen->before[i], &now, i, since_ns, list, err);
		clear_page(&now);
	}
	o = ib_json_object();
	ib_json_set_bool(o, "renewed_by_reset", r == 0);
	ib_json_set(o, "reset", list);
	ib_record_set(run->record, IB_SECTION_SERVER_IDENTITY, o);
	return r;
}
