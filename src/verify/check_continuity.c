/* SPDX-License-Identifier: Apache-2.0 */
/* A33: what the server counted is what the clients counted, and its counters continue from run to run. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/series.h"

#define TOKENS_WITHIN 0.005
#define SPARE 1 /* a client's check that the endpoint answers is a request too */

static void values(struct ib_finding *one, double want, double got)
{
	char a[40], b[40];

	snprintf(a, sizeof(a), "%.0f", want);
	snprintf(b, sizeof(b), "%.0f", got);
	ib_finding_values(one, a, b);
}

/* Requests that are not among the client's results: warm-ups and probes that it was told to send. */
static double extra_allowed(const struct ib_window *w)
{
	return isnan(w->warmups) ? INFINITY : w->warmups + SPARE * (double)w->results + w->failed;
}

static void requests(const struct ib_check *self, const struct ib_window *w, struct ib_findings *f)
{
	double finished = ib_window_finished(w), bad = ib_counter_delta(w->context, IB_COUNTER_DONE_ABORT) + ib_counter_delta(w->context,
			IB_COUNTER_DONE_ERROR);

	if (isnan(finished) || isnan(w->succeeded))
		return;
	if (finished < w->succeeded)
		values(ib_check_fail(self, f, IB_OK, w->file, "the client counts %.0f succeeded requests, the server finished %.0f", w->succeeded,
				finished), finished, w->succeeded);
	else if (finished - w->succeeded > extra_allowed(w))
		values(ib_check_fail(self, f, IB_OK, w->file, "the server finished %.0f requests, of which the client knows %.0f and %.0f warm-ups: "
				"somebody else used it", finished,
				     w->succeeded, w->warmups),
		       w->succeeded + w->warmups, finished);
	if (bad > w->failed)
		values(ib_check_fail(self, f, IB_OK, w->file, "the server ended %.0f requests with an error or abort, the client counts %.0f as failed",
				bad, w->failed), bad, w->failed);
}

/* Tokens beyond those of the client's results that its other requests can account for. */
static double tokens_allowed(const struct ib_window *w)
{
	double finished = ib_window_finished(w), extra;

	if (isnan(w->longest))
		return INFINITY;
	extra = isnan(finished) ? w->warmups + w->failed : finished - w->succeeded + w->failed;
	return isnan(extra) ? INFINITY : (extra < 0 ? 0 : extra) * w->longest;
}

static void tokens(const struct ib_check *self, const struct ib_window *w, struct ib_findings *f)
{
	double made = ib_counter_delta(w->context, IB_COUNTER_OUTPUT_TOKENS), got = w->output_tokens;

	if (isnan(made) || isnan(got))
		return;
	if (got > made * (1 + TOKENS_WITHIN))
		values(ib_check_fail(self, f, IB_OK, w->file, "the client counts %.0f output tokens, the server made %.0f", got, made), made, got);
	else if (made - got > tokens_allowed(w) + TOKENS_WITHIN * made)
		values(ib_check_fail(self, f, IB_OK, w->file, "the server made %.0f output tokens, the client counts %.0f", made, got), made, got);
}

/* --- from run to run --- */

static double at(const struct ib_counters *c, enum ib_counter k)
{
	return c->v[k];
}

static double finished_at(const struct ib_counters *c)
{
	double sum = NAN;

	for (int k = IB_COUNTER_DONE_STOP; k <= IB_COUNTER_DONE_ERROR; k++)
		if (!isnan(c->v[k]))
			sum = isnan(sum) ? c->v[k] : sum + c->v[k];
	return sum;
}

/* Of one start of one server, as far as the pages tell. */
static bool same_server(const struct ib_counters *a, const struct ib_counters *b)
{
	double x = at(a, IB_COUNTER_STARTED_AT), y = at(b, IB_COUNTER_STARTED_AT);

	return ib_streq(a->engine, b->engine) && (isnan(x) || isnan(y) || x == y) && at(a, IB_COUNTER_OUTPUT_TOKENS) <= at(b, IB_COUNTER_OUTPUT_TOKENS);
}

/* May ib-run, on behalf of the contract, send requests before the first page of the later run? A reset by HTTP is none that makes tokens. */
static bool warmed(const struct ib_audit_view *v, const struct ib_window *w)
{
	const struct ib_audit_run *audit = &v->runs[w->first];
	const struct ib_study_run *run = audit->run;
	const json_t *reset = json_object_get(json_object_get(audit->group, "cache"), "reset");
	bool by_http = json_is_string(json_object_get(reset, "http"));

	if (!run || !run->has_record)
		return false;
	for (size_t i = 0; i < run->record.hooks_n; i++)
		if (!by_http || !ib_ends(run->record.hooks[i].name, "-reset"))
			return true;
	return run->record.section[IB_SECTION_OUTPUT_CHECK] || json_is_object(json_object_get(v->study->contract, "quality"));
}

static int by_counters(const void *a, const void *b)
{
	const struct ib_counters *x = &((const struct ib_window *)a)->context->before, *y = &((const struct ib_window *)b)->context->before;
	double p = at(x, IB_COUNTER_STARTED_AT), q = at(y, IB_COUNTER_STARTED_AT);

	if (p != q && !isnan(p) && !isnan(q))
		return p < q ? -1 : 1;
	p = at(x, IB_COUNTER_OUTPUT_TOKENS) + at(x, IB_COUNTER_PROMPT_TOKENS);
	q = at(y, IB_COUNTER_OUTPUT_TOKENS) + at(y, IB_COUNTER_PROMPT_TOKENS);
	return (p > q) - (p < q);
}

static void one_gap(const struct ib_check *self, const struct ib_audit_view *v, const struct ib_window *a, const struct ib_window *b, struct ib_findings *f)
{
	const struct ib_counters *end = &a->context->after, *next = &b->context->before;
	double made = at(next, IB_COUNTER_OUTPUT_TOKENS) - at(end, IB_COUNTER_OUTPUT_TOKENS), done = finished_at(next) - finished_at(end);

	if (at(next, IB_COUNTER_OUTPUT_TOKENS) < at(end, IB_COUNTER_OUTPUT_TOKENS)) {
		if (at(next, IB_COUNTER_STARTED_AT) == at(end, IB_COUNTER_STARTED_AT))
			values(ib_check_fail(self, f, IB_OK, b->file, "the server's counters at its start are those before the end of '%s': the runs "
					"overlapped, or the pages are of other runs",
					     a->file),
			       at(end, IB_COUNTER_OUTPUT_TOKENS), at(next, IB_COUNTER_OUTPUT_TOKENS));
		return;
	}
	if (!same_server(end, next) || !(made > 0 || done > 0) || warmed(v, b))
		return;
	if (done > 0)
		values(ib_check_fail(self, f, IB_OK, b->file, "between '%s' and this run the server finished %.0f requests (%.0f output tokens) that are in "
				"no run", a->file, done, made),
		       0, done);
	else
		values(ib_check_fail(self, f, IB_OK, b->file, "between '%s' and this run the server made %.0f output tokens that are in no run", a->file,
				made), 0, made);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_windows struct ib_windows w;
	size_t before = f->n;

	ib_windows_gather(v, &w);
	for (size_t i = 0; i < w.n; i++) {
		if (ib_window_trouble(&w.v[i])) {
			ib_check_skip(self, f, w.v[i].file, ib_window_trouble(&w.v[i]));
			continue;
		}
		if (!w.v[i].complete || !w.v[i].results)
			continue;
		requests(self, &w.v[i], f);
		tokens(self, &w.v[i], f);
	}
	if (w.n > 1)
		qsort(w.v, w.n, sizeof(*w.v), by_counters);
	for (size_t i = 1; i < w.n; i++)
		one_gap(self, v, &w.v[i - 1], &w.v[i], f);
	ib_check_hints(self, v, f);
	if (!w.n)
		ib_check_skip(self, f, NULL, "there are no pages of the server's metrics before and after a run: nobody but the client counted its requests");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_continuity = {
	.id = "A33",
	.level = IB_FINDING_W,
	.title = "the server's counters agree with the client's, and continue from run to run",
	.reads = "pages of the server's metrics before and after each run: requests by how they ended against those of the client with its warm-ups; tokens "
		 "made against tokens counted (0.5 %); "
		 "the page after one run against the page before the next, for one start of the server",
	.means = "the client counts what the server did not do, or the server did what is in no result: other users, or runs that are not shown",
	.todo = "ask for the runs between; measure on a server that nobody else uses; let the server's usage be counted, not text that is tokenised again",
	.audit = run,
};
