/* SPDX-License-Identifier: Apache-2.0 */
/* A19: the cache condition of every run is what the server's counters show; and repeats were in one cache state. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/warmups.h"
#include "model/cache_verdict.h"
#include "verify/check.h"
#include "verify/series.h"

#define SHARE_LABEL 0.10 /* of prompt tokens found in the cache, without a word about it */
#define SHARE_APART 0.02 /* between repeats of one command */

/* --- a study: labels, hooks and the record's own counters --- */

static void one_hook(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	const struct ib_record *r = &run->record;

	for (size_t i = 0; i < r->hooks_n; i++) {
		const struct ib_record_hook *h = &r->hooks[i];
		bool failed = h->timed_out || (h->signal != IB_NONE && h->signal != 0) || (h->exit_status != IB_NONE && h->exit_status != 0);

		if (failed && strstr(h->name, "reset"))
			ib_check_fail(self, f, IB_OK, run->doc.path, "the reset before the run failed ('%s'), and the run was measured", h->name);
	}
}

static const char *const words[] = {[IB_UNCONFIRMED] = "unconfirmed", [IB_CONFIRMED] = "confirmed", [IB_CONTRADICTED] = "contradicted"};

/* Are all results of the run at hand? */
static bool read_whole(const struct ib_audit_run *audit)
{
	const struct ib_study_run *run = audit->run;

	if (audit->results->n == 0 || run->torn_results.n || run->unread)
		return false;
	for (size_t i = 0; i < run->record.files_n; i++)
		if (run->record.files[i].older) /* its results are not the run's */
			return false;
	return true;
}

static void differ(const struct ib_check *self, const struct ib_study_run *run, const char *what, int64_t want, int64_t got, struct ib_findings *f)
{
	ib_auto_free char *a = want == IB_NONE ? ib_strdup("not known") : ib_asprintf("%" PRId64, want);
	ib_auto_free char *b = got == IB_NONE ? ib_strdup("not known") : ib_asprintf("%" PRId64, got);

	ib_finding_values(ib_check_fail(self, f, IB_OK, run->doc.path, "the record %s", what), a, b);
}

/* Is the number of prompt tokens that the record expects the one that contract or client give? */
static void one_expected(const struct ib_check *self, const struct ib_audit_run *audit, const struct ib_contract_evidence *evidence, struct ib_findings *f)
{
	int64_t sent = 0, expected = audit->run->record.cache.expected_queries;

	if (!evidence->engine || expected == IB_NONE || !read_whole(audit))
		return;
	for (size_t i = 0; i < audit->results->n; i++) {
		const struct ib_result *res = &audit->results->v[i];

		if (res->input_tokens == IB_NOT_IN_FILE && evidence->queries == IB_UNSET)
			return;
		sent += res->within ? 0 : res->input_tokens;
	}
	if (evidence->queries != IB_UNSET)
		sent = evidence->queries;
	if (sent != expected)
		differ(self, audit->run, "expects another number of prompt tokens than the client sent, or the contract says", sent, expected, f);
}

static int64_t or_none(int64_t n)
{
	return n == IB_NOT_IN_FILE ? IB_NONE : n;
}

/* Requests that are said to be the client's own explain hits: are they those of its command and its result? */
static void one_own(const struct ib_check *self, const struct ib_audit_run *audit, const struct ib_contract_evidence *evidence, struct ib_findings *f)
{
	const struct ib_study_run *run = audit->run;
	const struct ib_record *r = &run->record;
	struct ib_warmups w = {0};

	if (!evidence->engine || r->cache.own_requests == IB_NONE || !run->argv.n || !read_whole(audit))
		return;
	if (evidence->queries == IB_UNSET)
		ib_warmups_of((const char *const *)run->argv.v, run->argv.n, audit->results, &w);
	if (w.requests != r->cache.own_requests)
		differ(self, run, "counts other requests that the client sent on its own than its command says", w.requests, r->cache.own_requests, f);
	else if (or_none(w.tokens) != r->cache.own_tokens || or_none(w.perhaps_tokens) != r->cache.own_perhaps_tokens)
		differ(self, run, "gives the requests that the client sent on its own other prompt tokens than its result says", or_none(w.tokens),
		       r->cache.own_tokens, f);
}

/* The record's verdict against its own numbers. */
static void one_verdict(const struct ib_check *self, const struct ib_audit_run *run, struct ib_findings *f)
{
	const struct ib_record *r = &run->run->record;
	enum ib_evidence_of drawn = IB_UNCONFIRMED;
	enum ib_condition condition;
	struct ib_contract_evidence evidence;
	ib_auto_free char *why = NULL;

	if (r->cache.evidence == IB_CONTRADICTED)
		ib_check_fail(self, f, IB_OK, run->run->doc.path, "the cache condition '%s' is contradicted: %s", r->cache.condition,
			      r->cache.why ? r->cache.why : "the counters show another one");
	if (r->cache.counters_n == 0 && !r->section[IB_SECTION_RESIDENCY] && (r->cache.evidence == IB_UNCONFIRMED || !run->group))
		return;
	if (!ib_condition_parse(r->cache.condition, &condition))
		return;
	/* without a contract at hand: by the engine that the record names, no hits being allowed */
	if (!ib_cache_evidence(json_object_get(json_object_get(run->group, "cache"), "evidence"), &evidence))
		evidence = (struct ib_contract_evidence){.engine = r->cache.engine, .queries = IB_UNSET, .hit_share_min = NAN, .resident_share_min = NAN,
							 .resident_share_max = NAN};
	if (!evidence.engine && !evidence.files)
		return;
	one_expected(self, run, &evidence, f);
	one_own(self, run, &evidence, f);
	drawn = ib_cache_verdict(&evidence, condition, r, &why);
	/* a page that could not be read leaves it unconfirmed: to say less than the numbers show is no fault */
	if (drawn != r->cache.evidence && (r->cache.evidence != IB_UNCONFIRMED || drawn == IB_CONTRADICTED))
		ib_finding_values(ib_check_fail(self, f, IB_OK, run->run->doc.path, "the cache condition '%s' is called %s, but its own counters say: %s",
						r->cache.condition, words[r->cache.evidence], why),
				  words[drawn], words[r->cache.evidence]);
}

/* Were all pages of that moment (0 before, 1 after) read that the record lists? */
static bool pages_read(const struct ib_study_run *run, int moment)
{
	const char *prefix = moment ? "endpoint/metrics-after" : "endpoint/metrics-before";
	size_t n = 0;

	for (size_t i = 0; i < run->record.files_n; i++)
		n += ib_starts(run->record.files[i].path, prefix);
	return n > 0 && n == run->pages.pages[moment];
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static char *pair(double before, double after)
{
	ib_auto_free char *a = isnan(before) ? ib_strdup("none") : ib_asprintf("%.17g", before), *b = isnan(after) ? ib_strdup("none") : ib_asprintf("%.17g", after);

	return ib_asprintf("%s before, %s after", a, b);
}

/* The counters of the record against the pages of metrics that lie beside it. */
static void one_page(const struct ib_check *self, const struct ib_study_run *run, struct ib_findings *f)
{
	const struct ib_record *r = &run->record;

	if (!pages_read(run, 0) || !pages_read(run, 1))
		return;
	for (size_t i = 0; i < r->cache.counters_n; i++) {
		const struct ib_record_counter *c = &r->cache.counters[i];
		const struct ib_page_counter *page = ib_pages_find(&run->pages, c->name);
		ib_auto_free char *want = NULL, *got = NULL;

		if (!page || (same(page->v[0], c->before) && same(page->v[1], c->after)))
			continue;
		want = pair(page->v[0], page->v[1]);
		got = pair(c->before, c->after);
		ib_finding_values(ib_check_fail(self, f, IB_OK, run->doc.path, "the record's counter '%s' is not that of its pages of metrics", c->name), want, got);
	}
}

static void of_study(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, confirmed = 0, unconfirmed = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *run = v->runs[i].run;

		if (!run->has_record || run->record.state == IB_STATE_REFUSED)
			continue;
		one_hook(self, run, f);
		one_verdict(self, &v->runs[i], f);
		one_page(self, run, f);
		confirmed += run->record.cache.evidence == IB_CONFIRMED;
		unconfirmed += run->record.cache.evidence == IB_UNCONFIRMED;
	}
	if (unconfirmed) {
		ib_auto_free char *why = ib_asprintf("%zu of %zu measured runs have no evidence for their cache condition", unconfirmed,
				unconfirmed + confirmed);

		ib_check_skip(self, f, NULL, why);
	} else if (!confirmed && f->n == before) {
		ib_check_skip(self, f, NULL, "no run was measured");
	}
}

/* --- any evidence: what the pages of metrics say --- */

/* The label of the runs between two pages; NULL: none says anything. */
static const char *label_of(const struct ib_audit_view *v, const struct ib_window *w)
{
	const struct ib_study_run *run = v->runs[w->first].run;
	const char *label = run && run->has_record ? run->record.cache.condition : NULL;

	return ib_streq(label, "unspecified") ? NULL : label;
}

static void one_window(const struct ib_check *self, const struct ib_audit_view *v, const struct ib_window *w, struct ib_findings *f)
{
	double hits = ib_window_hits(w), queries = ib_window_queries(w);
	ib_auto_free char *got = NULL;

	if (ib_window_trouble(w) || isnan(hits) || !(queries > 0)) {
		ib_check_skip(self, f, w->file, ib_window_trouble(w) ? ib_window_trouble(w) : "the pages of metrics do not count cache hits");
		return;
	}
	got = ib_asprintf("%.0f of %.0f (%.1f %%)", hits, queries, 100 * hits / queries);
	if (!label_of(v, w) && hits / queries > SHARE_LABEL)
		ib_finding_values(ib_check_fail(self, f, IB_OK, w->file, "%.0f of %.0f prompt tokens (%.1f %%) came from the server's cache, and no label "
				"says so", hits,
						queries, 100 * hits / queries),
				  "at most 10 % without a label", got);
	if (w->complete && queries < 0.99 * w->input_tokens)
		ib_check_skip(self, f, w->file, "the server counted fewer prompt tokens than the client sent: another server, or a router, answered too");
}

/* Vllm's warm-ups send the first prompt of the measured set again. */
static void one_warmup(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	double n = ib_audit_number(run, res, IB_SET_WARMUPS);

	if (ib_streq(res->client->name, "vllm-bench") && n > 0)
		ib_check_fail_as(self, f, IB_FINDING_I, res->file, "its %.0f warm-up requests replay prompt 0 of the measured set: request 0 is answered "
				"from the cache, even after a reset",
				 n);
}

/* NaN: the pages do not tell. */
static double hit_share(const struct ib_context *c)
{
	const struct ib_window w = {.context = c, .output_tokens = NAN};

	return !c->before.file || !c->after.file || ib_window_trouble(&w) ? NAN : ib_window_hits(&w) / ib_window_queries(&w);
}

/* Of one command: were the repeats in the same cache state? */
static void one_series(const struct ib_check *self, const struct ib_audit_view *v, const struct ib_members *m, size_t from, size_t to, struct ib_findings *f)
{
	struct ib_buf list = IB_BUF(400);
	double least = INFINITY, most = -INFINITY;
	const char *file = NULL;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		double share = i > from && m->v[i].run == m->v[i - 1].run ? NAN : hit_share(m->v[i].run->context);

		if (isnan(share))
			continue;
		if (n++ < 12)
			ib_buf_addf(&list, "%s%.0f", list.len ? ", " : "", ib_counter_delta(m->v[i].run->context, IB_COUNTER_CACHE_HITS));
		least = share < least ? share : least;
		most = share > most ? share : most;
		file = m->v[i].run->context->after.file;
	}
	if (n > 1 && most - least > SHARE_APART)
		ib_finding_values(ib_check_fail(self, f, IB_OK, file, "%zu repeats of one command were not in the same cache state: %s prompt tokens came "
				"from the cache", n,
						ib_buf_str(&list)),
				  "shares within 2 percentage points", ib_buf_str(&list));
	else if (!n && to - from > 1 && !v->study && ib_audit_setting(m->v[from].run, m->v[from].res, IB_SET_SEED))
		ib_check_skip(self, f, m->v[from + 1].res->file, "repeats with one seed send the same prompts: whether the cache was reset between them is "
				"in no file");
	ib_buf_clear(&list);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_members struct ib_members m;
	ib_auto_windows struct ib_windows w;
	size_t before = f->n;

	if (v->study)
		of_study(self, v, f);
	ib_windows_gather(v, &w);
	for (size_t i = 0; i < w.n; i++)
		one_window(self, v, &w.v[i], f);
	ib_members_gather(v, IB_SAME_COMMAND, &m);
	for (size_t i = 0; i < m.n; i++)
		one_warmup(self, m.v[i].run, m.v[i].res, f);
	for (size_t i = 0, to; i < m.n; i = to) {
		to = ib_members_end(&m, i);
		one_series(self, v, &m, i, to, f);
	}
	ib_check_hints(self, v, f);
	if (!w.n && !v->study)
		ib_check_skip(self, f, NULL, "in which state the server's cache was is in no file: pages of its metrics before and after each run would "
				"show it");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_cache = {
	.id = "A19",
	.level = IB_FINDING_W,
	.title = "the cache conditions are confirmed by counters",
	.reads = "the records' cache conditions, reset hooks and counters; pages of the server's metrics before and after each run; seeds and warm-ups in "
		 "the clients' "
		 "settings. More than 10 % of the prompt tokens from the cache without a label fail, and shares that differ by more than 2 percentage "
		 "points between "
		 "repeats of one command; a run that is labelled cold or reset may have no hits but those that its contract allows",
	.means = "a run was faster, or slower, for prompts that the server had seen before: it is not in the condition that its label says, or has none",
	.todo = "reset the cache before every repeat or label the reuse, use another seed for each, and keep /metrics before and after; never pool runs of "
		 "different cache "
		"states",
	.audit = run,
};
