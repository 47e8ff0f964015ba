/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark of GuideLLM states, and the formula behind each number. Of the successful requests; its totals mix in the others. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "clients/guidellm.h"

#define TOLERANCE 1e-9
#define MERGED_S 1e-4 /* events no further apart are one to the client: the end of its window may move by so much */
#define MERGED_OLD_S 1e-6

static const double percents[IB_GUIDELLM_PERCENTILES] = {0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9};
static const char *const percentile_names[IB_GUIDELLM_PERCENTILES] = {"p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"};
static const char mixed[] = "mixes requests that failed or were cut off with those that succeeded, and takes the times that these lack for 0";
static const char no_rate[] = "not a throughput: the middle of rates at single moments, weighted by time";

struct task {
	const struct ib_guidellm_shape *shape;
	const struct ib_guidellm_benchmark *b;
	struct ib_result *r;
	bool clean;  /* all requests of the window succeeded: totals are the same numbers */
	bool beyond; /* successes reach beyond the window */
	double end_s, last_s; /* latest end and last token of the successes, since 1970; NaN: none */
	double mean_s; /* end-to-end time of the successes; NaN: none */
	size_t near_end, near_last; /* successes that end, have their last token, so shortly before that the client takes them for one */
};

/* --- the window --- */

static bool measured(const struct ib_columns *c, size_t i)
{
	return !(c->warmup && c->warmup[i]);
}

/* Has row i start and end, and is it in the population? */
static bool timed(const struct ib_columns *c, size_t i)
{
	return ib_columns_counts(c, i) && c->start_s && c->e2e_s;
}

static void look_at(struct task *t)
{
	const struct ib_columns *c = &t->r->columns;
	double merged = t->shape->flat ? MERGED_OLD_S : MERGED_S, sum = 0, n = 0;

	t->clean = true;
	t->end_s = t->last_s = NAN;
	for (size_t i = 0; i < c->n; i++) {
		double end;

		t->clean = t->clean && (!measured(c, i) || c->outcome[i] == IB_OUTCOME_SUCCEEDED);
		if (!timed(c, i))
			continue;
		end = c->start_s[i] + c->e2e_s[i];
		sum += c->e2e_s[i];
		n++;
		t->beyond = t->beyond || end > t->b->end_s || c->start_s[i] < t->b->start_s;
		t->end_s = fmax(t->end_s, end);
		if (c->last_s)
			t->last_s = fmax(t->last_s, c->start_s[i] + c->last_s[i]);
	}
	t->mean_s = sum / n;
	for (size_t i = 0; i < c->n; i++) {
		t->near_end += timed(c, i) && c->start_s[i] + c->e2e_s[i] >= t->end_s - merged;
		t->near_last += timed(c, i) && c->last_s && c->start_s[i] + c->last_s[i] >= t->last_s - merged;
	}
}

/* --- claims --- */

static struct ib_claim *expect(const struct task *t, enum ib_guidellm_metric_id m, const char *status, const char *statistic, const struct ib_formula *f,
			       enum ib_measure measure, double scale, double claimed, double tolerance)
{
	const char *metric = ib_guidellm_metric_names[m];
	ib_auto_free char *name = ib_asprintf("%s.%s.%s", metric, status, statistic);
	ib_auto_free char *key = ib_asprintf("/metrics/%s/%s/%s%s", metric, status, statistic[0] == 'p' ? "percentiles/" : "", statistic);

	return ib_result_expect(t->r, name, key, f, measure, scale, claimed, tolerance);
}

static const struct series {
	enum ib_guidellm_metric_id metric;
	const struct ib_formula *formula, *old; /* of 0.4 and later, of 0.3 */
	double scale;
	bool headline, weighted;
} series[] = {
	{IB_GUIDELLM_LATENCY, &ib_e2e_closed_excl_connect, &ib_e2e_closed_excl_connect, 1, true, false},
	{IB_GUIDELLM_TTFT, &ib_ttft_excl_connect, &ib_ttft_excl_connect, 1e3, true, false},
	{IB_GUIDELLM_TPOT, &ib_tpot_incl_first, &ib_tpot_decode_over_all, 1e3, true, true},
	{IB_GUIDELLM_ITL, &ib_itl_decode_weighted, &ib_itl_decode_weighted, 1e3, true, true},
	{IB_GUIDELLM_PROMPT_TOKENS, &ib_input_length, &ib_input_length, 1, false, false},
	{IB_GUIDELLM_OUTPUT_TOKENS, &ib_output_length, &ib_output_length, 1, false, false},
	{IB_GUIDELLM_TOTAL_TOKENS, &ib_total_length, &ib_total_length, 1, false, false},
};

static void set_percentile(struct ib_claim *c, double p, bool headline)
{
	if (!c)
		return;
	c->p = p;
	c->rule = IB_RULE_INVERSE_CDF;
	c->headline = headline;
}

static void claim_series(const struct task *t, const struct series *s)
{
	const struct ib_guidellm_metric *m = &t->b->metrics[s->metric];
	const struct ib_formula *f = t->shape->flat ? s->old : s->formula;
	const struct ib_guidellm_summary *v = &m->ok;
	struct ib_claim *c = expect(t, s->metric, "successful", "mean", f, IB_MEASURE_MEAN, s->scale, v->mean, TOLERANCE);

	if (c)
		c->headline = s->headline;
	set_percentile(expect(t, s->metric, "successful", "median", f, IB_MEASURE_PERCENTILE, s->scale, v->median, TOLERANCE), 50, s->headline);
	expect(t, s->metric, "successful", "std_dev", f, IB_MEASURE_STD, s->scale, v->std_dev, TOLERANCE);
	expect(t, s->metric, "successful", "min", f, IB_MEASURE_MIN, s->scale, v->min, TOLERANCE);
	expect(t, s->metric, "successful", "max", f, IB_MEASURE_MAX, s->scale, v->max, TOLERANCE);
	if (!t->shape->flat || !s->weighted) { /* 0.3 counts values and adds them up, whatever they weigh */
		expect(t, s->metric, "successful", "count", f, IB_MEASURE_COUNT, 1, v->count, 0);
		expect(t, s->metric, "successful", "total_sum", f, IB_MEASURE_SUM, s->scale, v->total_sum, TOLERANCE);
	}
	for (size_t i = 0; i < IB_GUIDELLM_PERCENTILES; i++)
		set_percentile(expect(t, s->metric, "successful", percentile_names[i], f, IB_MEASURE_PERCENTILE, s->scale, v->percentiles[i], TOLERANCE),
			       percents[i], s->headline && percents[i] >= 90 && percents[i] < 99.5);
	c = expect(t, s->metric, "total", "mean", f, IB_MEASURE_MEAN, s->scale, m->total.mean, TOLERANCE);
	if (!t->clean)
		ib_claim_leave_open(c, mixed);
}

static const struct rate {
	enum ib_guidellm_metric_id metric;
	const struct ib_formula *formula, *span; /* over the duration, over the time of the tokens */
} rates[] = {
	{IB_GUIDELLM_REQUEST_RATE, &ib_requests_over_duration, &ib_requests_over_duration},
	{IB_GUIDELLM_PROMPT_RATE, &ib_input_tokens_over_duration, &ib_input_tokens_over_first_tokens},
	{IB_GUIDELLM_OUTPUT_RATE, &ib_output_tokens_over_duration, &ib_output_tokens_over_tokens},
	{IB_GUIDELLM_TOTAL_RATE, &ib_total_tokens_over_duration, &ib_total_tokens_over_tokens},
	{IB_GUIDELLM_CONCURRENCY, &ib_concurrency_mean, &ib_concurrency_mean},
};

/* By how much a rate may be off because the client takes events close together for one. */
static double rate_tolerance(const struct task *t, enum ib_guidellm_metric_id m)
{
	bool tokens = m == IB_GUIDELLM_OUTPUT_RATE || m == IB_GUIDELLM_TOTAL_RATE || m == IB_GUIDELLM_PROMPT_RATE;
	double d = t->r->duration_s;

	if (m == IB_GUIDELLM_CONCURRENCY)
		return t->mean_s > 0 ? fmax(TOLERANCE, 2 * (t->shape->flat ? MERGED_OLD_S : MERGED_S) / t->mean_s) : TOLERANCE;
	if (t->shape->flat || !(d > MERGED_S))
		return TOLERANCE;
	if (tokens && t->shape->token_span)
		return t->near_last > 1 ? 1.01 * MERGED_S / d : TOLERANCE;
	if (tokens)
		return t->last_s >= t->b->end_s - MERGED_S ? 1.01 * MERGED_S / d : TOLERANCE;
	return t->near_end > 1 ? 1.01 * MERGED_S / d : TOLERANCE;
}

/* 0.3 leaves out the tokens at the very end: one of each request that ends there. */
static double rate_step(const struct task *t, enum ib_guidellm_metric_id m)
{
	bool tokens = m == IB_GUIDELLM_OUTPUT_RATE || m == IB_GUIDELLM_TOTAL_RATE;

	return t->shape->flat && tokens && t->r->duration_s > 0 ? 1.01 * (double)t->near_last / t->r->duration_s : 0;
}

/* Why the mean of a rate cannot be repeated, or NULL. */
static const char *obstacle(const struct task *t, enum ib_guidellm_metric_id m)
{
	if (t->beyond)
		return "successful requests reach beyond the measured window, and what of them lies within is not in the file";
	if (t->shape->flat && m == IB_GUIDELLM_REQUEST_RATE && t->near_end > 1)
		return "requests ended at the same moment at the very end, which this version leaves out";
	return NULL;
}

static void claim_rate(const struct task *t, const struct rate *rate)
{
	const struct ib_guidellm_metric *m = &t->b->metrics[rate->metric];
	const struct ib_formula *f = t->shape->token_span ? rate->span : rate->formula;
	double tolerance = rate_tolerance(t, rate->metric);
	const char *why = obstacle(t, rate->metric);
	struct ib_claim *c = expect(t, rate->metric, "successful", "mean", f, IB_MEASURE_SCALAR, 1, m->ok.mean, tolerance);

	if (c) {
		c->headline = rate->metric != IB_GUIDELLM_CONCURRENCY && rate->metric != IB_GUIDELLM_PROMPT_RATE;
		c->step = rate_step(t, rate->metric);
	}
	if (why)
		ib_claim_leave_open(c, why);
	if (rate->metric != IB_GUIDELLM_CONCURRENCY)
		ib_claim_leave_open(expect(t, rate->metric, "successful", "median", &ib_claimed_only, IB_MEASURE_GIVEN, 1, m->ok.median, TOLERANCE), no_rate);
	c = expect(t, rate->metric, "total", "mean", f, IB_MEASURE_SCALAR, 1, m->total.mean, tolerance);
	if (c)
		c->step = rate_step(t, rate->metric);
	if (why || !t->clean)
		ib_claim_leave_open(c, why ? why : mixed);
}

/* --- counters --- */

static void claim_count(struct ib_result *r, const char *key, const struct ib_formula *f, int64_t claimed, int64_t found)
{
	if (claimed < 0)
		return;
	ib_result_claim(r, key, f, (double)claimed,
			r->partial ? ib_stat_not_recorded("the file does not hold all records of the run") : ib_stat_value((double)found, (size_t)found), 0, NULL);
}

/* Those of the window, and all. A request that was cut off counts in the window when it had begun by its end. */
static void claim_counts(const struct task *t)
{
	const struct ib_columns *c = &t->r->columns;
	const struct ib_guidellm_counts *k = &t->b->totals;
	const char *under = t->shape->flat ? "request_totals" : "metrics/request_totals";
	int64_t ok = 0, bad = 0, cut = 0, all_ok = 0, all_bad = 0;
	ib_auto_free char *ok_key = ib_asprintf("%s/successful", under), *bad_key = ib_asprintf("%s/errored", under);
	ib_auto_free char *cut_key = ib_asprintf("%s/incomplete", under), *all_key = ib_asprintf("%s/total", under);

	for (size_t i = 0; i < c->n; i++) {
		bool counted = c->outcome[i] == IB_OUTCOME_SUCCEEDED || (c->outcome[i] == IB_OUTCOME_FAILED && c->output_tokens && c->output_tokens[i] == 0);
		bool failed = !counted && c->outcome[i] != IB_OUTCOME_INCOMPLETE;

		all_ok += counted;
		all_bad += failed;
		ok += counted && measured(c, i);
		bad += failed && measured(c, i);
		cut += c->outcome[i] == IB_OUTCOME_INCOMPLETE && measured(c, i) && !(c->start_s && c->start_s[i] > t->b->end_s);
	}
	claim_count(t->r, ok_key, &ib_count_succeeded, k->successful, ok);
	claim_count(t->r, bad_key, &ib_count_errored, k->errored, bad);
	claim_count(t->r, cut_key, &ib_count_incomplete, k->incomplete, cut);
	claim_count(t->r, all_key, &ib_count_attempted, k->total, ok + bad + cut);
	claim_count(t->r, "scheduler_state/successful_requests", &ib_count_succeeded, t->b->successful, all_ok);
	claim_count(t->r, "scheduler_state/errored_requests", &ib_count_errored, t->b->errored, all_bad);
}

/* The window is from the first start to the last end, or as the limits of the run cut it. */
static void claim_duration(const struct task *t)
{
	const struct ib_columns *c = &t->r->columns;
	double first = NAN, last = NAN;
	bool whole = t->b->cooldown_s <= 0 && t->b->warmup_s <= 0 && !t->r->partial && c->start_s && c->e2e_s;

	for (size_t i = 0; whole && i < c->n; i++) {
		whole = c->outcome[i] != IB_OUTCOME_INCOMPLETE && !isnan(c->e2e_s[i]);
		first = fmin(first, c->start_s[i]);
		last = fmax(last, c->start_s[i] + c->e2e_s[i]);
	}
	if (isnan(t->b->duration_s))
		return;
	if (whole && c->n)
		ib_result_claim(t->r, "duration", &ib_duration_all, t->b->duration_s, ib_stat_value(last - first, c->n), TOLERANCE, NULL);
	else
		ib_result_claim(t->r, "duration", &ib_duration_client, t->b->duration_s, ib_stat_value(t->b->end_s - t->b->start_s, 0), TOLERANCE,
				"no start and end of the window in the file");
}

/* --- what the printed table hides --- */

static void note_totals(const struct task *t)
{
	const struct ib_guidellm_counts *k = &t->b->totals;
	double total = t->b->metrics[IB_GUIDELLM_REQUEST_RATE].total.mean, ok = t->b->metrics[IB_GUIDELLM_REQUEST_RATE].ok.mean;

	if (k->errored > 0 || k->incomplete > 0)
		ib_result_hint(t->r, "A12", "/metrics/requests_per_second/total/mean", NULL, NULL,
			       "the printed server throughput (%.6g requests/s) is over all requests, %lld that failed and %lld that were cut off among them; of the "
			       "successful ones it is %.6g",
			       total, (long long)(k->errored > 0 ? k->errored : 0), (long long)(k->incomplete > 0 ? k->incomplete : 0), ok);
}

static void note_bundles(const struct task *t)
{
	const struct ib_columns *c = &t->r->columns;
	double tokens = 0, chunks = 0;

	for (size_t i = 0; c->chunks && c->output_tokens && i < c->n; i++)
		if (ib_columns_counts(c, i) && c->chunks[i] > 0) {
			tokens += (double)c->output_tokens[i];
			chunks += (double)c->chunks[i];
		}
	if (tokens > 1.5 * chunks)
		ib_result_hint(t->r, "A12", "/metrics/inter_token_latency_ms/successful/mean", NULL, NULL,
			       "a chunk holds %.1f tokens on average: inter_token_latency_ms counts the first one as one token and comes out low", tokens / chunks);
}

void ib_guidellm_claims(const struct ib_guidellm_shape *shape, const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	struct task t = {.shape = shape, .b = b, .r = r};

	look_at(&t);
	for (size_t i = 0; i < IB_LEN(rates); i++)
		claim_rate(&t, &rates[i]);
	for (size_t i = 0; i < IB_LEN(series); i++)
		claim_series(&t, &series[i]);
	claim_counts(&t);
	claim_duration(&t);
	note_totals(&t);
	note_bundles(&t);
}
