/* SPDX-License-Identifier: Apache-2.0 */
/* From a verdict to rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static const struct ib_requests unknown = {IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE,
					   IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE};
static const char hidden[] = "its bytes are not those that were recorded";
static const char around[] = "what holds the runs together is not as it was recorded";

/* Does the finding speak of this run alone? */
static bool about_run(const struct ib_finding *f, const char *id)
{
	size_t n = strlen(id);

	return f->file && strncmp(f->file, "runs/", 5) == 0 && strncmp(f->file + 5, id, n) == 0 && (f->file[5 + n] == '/' || !f->file[5 + n]);
}

static bool about_any_run(const struct ib_finding *f)
{
	return f->file && strncmp(f->file, "runs/", 5) == 0;
}

/* Bytes or structure at fault, in contrast to what they say (the audit: A…). */
static bool at_fault(const struct ib_finding *f)
{
	return f->level == IB_FINDING_E && f->status == IB_FAIL && f->code && f->id && f->id[0] != 'A';
}

/* Why a row is not established: its own files, or the rest of the study or packet. */
static const char *why_not(const struct ib_verdict *v, const char *id)
{
	for (size_t i = 0; i < v->findings.n; i++)
		if (at_fault(&v->findings.v[i]) && about_run(&v->findings.v[i], id))
			return hidden;
	return around;
}

/* A packet stands or falls as a whole. In a study a fault within one run's directory leaves the others as they are. */
static bool established(const struct ib_verdict *v, const struct ib_study_run *run)
{
	bool elsewhere = false;

	if (v->kind == IB_KIND_PACKET || v->kind == IB_KIND_UNKNOWN)
		return v->intact == IB_HOLDS_YES;
	for (size_t i = 0; i < v->findings.n; i++) {
		const struct ib_finding *f = &v->findings.v[i];

		if (at_fault(f) && (about_run(f, run->id) || !about_any_run(f)))
			return false;
		elsewhere = elsewhere || at_fault(f);
	}
	return v->intact == IB_HOLDS_YES || elsewhere;
}

static double claimed(const struct ib_result *r, const char *name, const char *other)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	if (!c && other)
		c = ib_result_find_claim(r, other);
	/* zeros of a run without success stand for "no value" */
	return c && c->status == IB_CLAIM_NOT_DERIVABLE && c->derived.state == IB_STAT_NOT_RECORDED && c->claimed > 0 ? c->claimed : NAN;
}

static struct ib_report_number ttft(const struct ib_result *r, double p, const char *name, const char *other)
{
	struct ib_report_number n = {ib_result_percentile(r, r->ttft, p), NAN};

	n.stat.value *= 1000;
	n.stat.max *= 1000;
	if (n.stat.state == IB_STAT_NOT_RECORDED)
		n.claimed = claimed(r, name, other);
	return n;
}

static void note(struct ib_report_row *row, char *text)
{
	ib_strv_take(&row->notes, text);
}

static void note_claims(struct ib_report_row *row)
{
	const struct ib_claim *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < row->result->n_claims; i++)
		if (row->result->claims[i].status == IB_CLAIM_DIFFERS && n++ == 0)
			first = &row->result->claims[i];
	if (n)
		note(row, ib_asprintf("%zu of the client's numbers %s not follow from its records, first '%s'", n, n == 1 ? "does" : "do", first->name));
}

/* A cap that was never reached: the run says nothing about it. */
static void note_cap(struct ib_report_row *row)
{
	struct ib_stat peak = ib_result_scalar(row->result, &ib_peak_in_flight);

	if (row->result->concurrency_asked > 0 && peak.state == IB_STAT_VALUE && peak.value < (double)row->result->concurrency_asked)
		note(row, ib_asprintf("cap %lld unused, peak %.0f", (long long)row->result->concurrency_asked, peak.value));
}

static void note_counts(struct ib_report_row *row)
{
	const struct ib_requests *q = &row->requests;

	if (q->asked >= 0 && q->attempted >= 0 && q->asked != q->attempted)
		note(row, ib_asprintf("%lld requests asked, %lld in the file", (long long)q->asked, (long long)q->attempted));
	if (q->timed_out > 0)
		note(row, ib_asprintf("%lld requests timed out", (long long)q->timed_out));
	if (q->incomplete > 0)
		note(row, ib_asprintf("%lld requests were cut off", (long long)q->incomplete));
	if (q->without_output > 0)
		note(row, ib_asprintf("%lld requests ended without an error and without output", (long long)q->without_output));
	if (q->short_output > 0)
		note(row, ib_asprintf("%lld requests succeeded with fewer output tokens than asked", (long long)q->short_output));
}

/* Cut streams and early ends leave shorter outputs, and some clients call them successes. */
static void note_outputs(struct ib_report_row *row)
{
	const struct ib_columns *c = &row->result->columns;
	int64_t least = INT64_MAX, most = -1;

	for (size_t i = 0; c->output_tokens && row->requests.short_output < 0 && i < c->n; i++) {
		if (!ib_columns_counts(c, i) || c->output_tokens[i] < 0)
			continue;
		least = c->output_tokens[i] < least ? c->output_tokens[i] : least;
		most = c->output_tokens[i] > most ? c->output_tokens[i] : most;
	}
	if (most > least)
		note(row, ib_asprintf("outputs have %lld to %lld tokens; the file does not say how many were asked", (long long)least, (long long)most));
}

static void note_first_tokens(struct ib_report_row *row)
{
	const struct ib_stat *st = &row->p50_ms.stat;

	if (st->state != IB_STAT_NOT_RECORDED && row->requests.succeeded > (int64_t)st->n)
		note(row, ib_asprintf("%lld of %lld succeeded requests have no first-token time", (long long)(row->requests.succeeded - (int64_t)st->n),
				      (long long)row->requests.succeeded));
}

static void fill_result(struct ib_report_row *row)
{
	const struct ib_result *r = row->result;

	row->requests = r->requests;
	row->p50_ms = ttft(r, 50, "p50_ttft_ms", "median_ttft_ms");
	row->p95_ms = ttft(r, 95, "p95_ttft_ms", NULL);
	row->rate_hz = ib_result_scalar(r, &ib_requests_over_duration);
	if (r->synthetic) {
		row->synthetic = true;
		row->synthetic_why = r->synthetic;
	}
	if (row->of > 1)
		note(row, ib_asprintf("one of %zu results of this run: '%s' number %zu", row->of, r->file, r->index + 1));
	note_counts(row);
	note_outputs(row);
	note_first_tokens(row);
	note_claims(row);
	note_cap(row);
}

static void note_reasons(struct ib_report_row *row)
{
	const struct ib_strv *l = &row->run->record.reasons;

	for (size_t i = 0; row->run->has_record && i < l->n; i++)
		note(row, ib_asprintf("reason: %s", l->v[i]));
}

static void note_cache(struct ib_report_row *row)
{
	const struct ib_record *r = &row->run->record;

	if (row->run->has_record && r->cache.condition && strcmp(r->cache.condition, "unspecified") != 0 && r->cache.evidence != IB_CONFIRMED)
		note(row, ib_asprintf("cache: %s", r->cache.why ? r->cache.why : "no evidence was collected"));
}

static void note_run(const struct ib_verdict *v, struct ib_report_row *row)
{
	const struct ib_study_run *run = row->run;

	if (run->exclusion)
		note(row, ib_asprintf("excluded: %s", run->exclusion->e.reason ? run->exclusion->e.reason : "no reason given"));
	if (!run->start && !run->ends)
		note(row, ib_strdup("the ledger does not name this run"));
	if (!row->established) {
		note(row, ib_strdup(why_not(v, run->id)));
		return;
	}
	note_reasons(row);
	note_cache(row);
	for (size_t i = 0; i < run->torn_results.n; i++)
		note(row, ib_asprintf("unreadable result file: %s", run->torn_results.v[i]));
	if (!row->result && run->state == IB_STATE_COMPLETED && !run->running && !run->torn_results.n)
		note(row, ib_strdup("no result file of a known client"));
}

/* By the contract that was in force when it started. */
static bool diagnostic(const struct ib_study_view *s, const struct ib_study_run *run)
{
	const json_t *contract = NULL, *groups;

	if (run->start)
		ib_study_contract_at(s, run->start->e.seq, &contract);
	groups = json_object_get(contract, "groups");
	for (size_t i = 0; i < json_array_size(groups); i++) {
		const json_t *g = json_array_get(groups, i);

		if (ib_streq(json_string_value(json_object_get(g, "name")), run->start->e.group))
			return json_is_true(json_object_get(g, "diagnostic"));
	}
	return false;
}

static void add_row(struct ib_report *rep, const struct ib_study_run *run, const struct ib_result *result, size_t of)
{
	struct ib_report_row *row;

	rep->rows = ib_realloc(rep->rows, rep->n + 1, sizeof(*rep->rows));
	row = &rep->rows[rep->n++];
	*row = (struct ib_report_row){.run = run, .of = of, .established = established(rep->verdict, run), .requests = unknown};
	row->result = row->established ? result : NULL;
	row->p50_ms = row->p95_ms = (struct ib_report_number){ib_stat_not_recorded(row->established ? "no result" : why_not(rep->verdict, run->id)), NAN};
	row->rate_hz = row->p50_ms.stat;
	row->synthetic = row->established && run->has_record && run->record.synthetic == 1;
	row->diagnostic = diagnostic(&rep->verdict->study, run);
	row->synthetic_why = row->synthetic ? run->record.synthetic_why : NULL;
	note_run(rep->verdict, row);
	if (row->result)
		fill_result(row);
	rep->synthetic += row->synthetic;
}

static void add_run(struct ib_report *rep, const struct ib_study_run *run)
{
	if (rep->verdict->kind == IB_KIND_RUN && !run->n_files)
		return; /* the ledger names it, and nobody looked at it */
	add_row(rep, run, run->results.n ? &run->results.v[0] : NULL, run->results.n);
	for (size_t k = 1; k < run->results.n && rep->rows[rep->n - 1].established; k++)
		add_row(rep, run, &run->results.v[k], run->results.n);
}

static const char *text_of(const json_t *o, const char *key)
{
	return o ? json_string_value(json_object_get(o, key)) : NULL;
}

void ib_report_build(const struct ib_verdict *v, struct ib_report *ret)
{
	const struct ib_study_view *s = &v->study;

	*ret = (struct ib_report){.verdict = v};
	if (v->kind != IB_KIND_PACKET || v->intact == IB_HOLDS_YES) {
		ret->study = text_of(s->contract, "study");
		ret->question = text_of(s->contract, "question");
		if (!ret->study && s->contract_entry)
			ret->study = s->contract_entry->e.study;
	}
	for (int aside = 0; aside < 2; aside++)
		for (size_t i = 0; i < s->n_runs; i++)
			if (diagnostic(s, &s->runs[i]) == aside)
				add_run(ret, &s->runs[i]);
}

void ib_report_clear(struct ib_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		ib_strv_clear(&r->rows[i].notes);
	free(r->rows);
	*r = (struct ib_report){0};
}
