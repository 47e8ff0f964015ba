/* SPDX-License-Identifier: Apache-2.0 */
/* What AIPerf's summary states, and the formula behind each number. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "clients/aiperf.h"

#define TOLERANCE 1e-9
#define CLOCK_S 1.5e-6 /* what two times written in whole microseconds may be off together; more than a double's step at today's date */

struct metric {
	const char *name;
	const struct ib_formula *formula;
	double scale;
	bool headline;
};

/* One sample a request, or a gap. */
static const struct metric series[] = {
	{"request_latency", &ib_e2e_last_content, 1e3, true},
	{"time_to_first_token", &ib_ttft_first_content, 1e3, true},
	{"ttft", &ib_ttft_first_content, 1e3, true}, /* its name in the early schema */
	{"inter_token_latency", &ib_tpot_excl_first, 1e3, true},
	{"inter_chunk_latency", &ib_itl_content_gaps, 1e3, false},
	{"time_to_second_token", &ib_gap_second_chunk, 1e3, false},
	{"decode_duration", &ib_time_decode, 1e3, false},
	{"output_token_throughput_per_user", &ib_speed_decode, 1, false},
	{"e2e_output_token_throughput", &ib_speed_e2e, 1, false},
	{"prefill_throughput_per_user", &ib_speed_prefill, 1, false},
	{"input_sequence_length", &ib_input_length, 1, false},
	{"output_sequence_length", &ib_output_length, 1, false},
	{"credit_to_start_latency", &ib_queue_all, 1e3, false},
	{"adj_request_latency", &ib_e2e_failed_never, 1e3, false},
	{"adj_time_to_first_token", &ib_ttft_failed_never, 1e3, false},
	{"adj_inter_token_latency", &ib_tpot_failed_never, 1e3, false},
	{"adj_decode_duration", &ib_time_decode_failed_never, 1e3, false},
};

/* Counts and sums: must be equal. */
static const struct metric totals[] = {
	{"request_count", &ib_count_succeeded, 1, true},
	{"error_request_count", &ib_count_errored, 1, true},
	{"completed_request_count", &ib_count_ended, 1, false},
	{"osl_mismatch_count", &ib_count_length_missed, 1, false},
	{"total_isl", &ib_sum_input_tokens, 1, false},
	{"total_osl", &ib_sum_output_tokens, 1, false},
	{"total_usage_prompt_tokens", &ib_sum_input_server, 1, false},
	{"total_usage_completion_tokens", &ib_sum_output_server, 1, false},
};

static const struct rate {
	const char *name;
	const struct ib_formula *phase, *ok;
	const char *count; /* that it is the rate of */
} rates[] = {
	{"request_throughput", &ib_requests_over_phase, &ib_requests_over_ok, "request_count"},
	{"output_token_throughput", &ib_output_tokens_over_phase, &ib_output_tokens_over_ok, "total_osl"},
	{"input_token_throughput", &ib_input_tokens_over_phase, &ib_input_tokens_over_ok, "total_isl"},
	{"total_token_throughput", &ib_total_tokens_over_phase, &ib_total_tokens_over_ok, NULL},
};

static const struct statistic {
	const char *name;
	enum ib_measure measure;
	double p;
	bool headline;
} statistics[] = {
	{"avg", IB_MEASURE_MEAN, 0, true},         {"std", IB_MEASURE_STD, 0, false},         {"min", IB_MEASURE_MIN, 0, false},
	{"max", IB_MEASURE_MAX, 0, false},         {"count", IB_MEASURE_COUNT, 0, false},     {"sum", IB_MEASURE_SUM, 0, false},
	{"p1", IB_MEASURE_PERCENTILE, 1, false},   {"p5", IB_MEASURE_PERCENTILE, 5, false},   {"p10", IB_MEASURE_PERCENTILE, 10, false},
	{"p25", IB_MEASURE_PERCENTILE, 25, false}, {"p50", IB_MEASURE_PERCENTILE, 50, true},  {"p75", IB_MEASURE_PERCENTILE, 75, false},
	{"p90", IB_MEASURE_PERCENTILE, 90, true},  {"p95", IB_MEASURE_PERCENTILE, 95, true},  {"p99", IB_MEASURE_PERCENTILE, 99, true},
};

double ib_aiperf_number(const json_t *metrics, const char *metric, const char *statistic)
{
	const json_t *v = json_object_get(json_object_get(metrics, metric), statistic);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static struct ib_claim *expect(const struct ib_aiperf_summary *s, struct ib_result *r, const char *metric, const char *statistic,
			       const struct ib_formula *f, enum ib_measure measure, double scale, double tolerance)
{
	ib_auto_free char *name = ib_asprintf("%s.%s", metric, statistic);
	ib_auto_free char *key = ib_asprintf("%s/%s/%s", s->under, metric, statistic);

	return ib_result_expect(r, name, key, f, measure, scale, ib_aiperf_number(s->metrics, metric, statistic), tolerance);
}

/* Why this statistic cannot be repeated, or NULL. */
static const char *obstacle(const struct ib_aiperf_summary *s, const struct ib_formula *f, enum ib_measure measure)
{
	bool divided = f == &ib_tpot_excl_first || f == &ib_speed_decode || f == &ib_tpot_failed_never;

	if (s->chunk_usage && divided && measure != IB_MEASURE_COUNT)
		return "the client divided by the tokens after the first chunk; how many the first chunk held is not in the records";
	if (s->sketch && f == &ib_itl_content_gaps && measure == IB_MEASURE_PERCENTILE)
		return "this version takes percentiles of gaps from a sketch (t-digest), which cannot be repeated";
	return NULL;
}

static void claim_series(const struct ib_aiperf_summary *s, struct ib_result *r, const struct metric *m)
{
	for (size_t i = 0; i < IB_LEN(statistics); i++) {
		const struct statistic *st = &statistics[i];
		bool count = st->measure == IB_MEASURE_COUNT;
		const char *why = obstacle(s, m->formula, st->measure);
		struct ib_claim *c = expect(s, r, m->name, st->name, m->formula, st->measure, count ? 1 : m->scale, count ? 0 : TOLERANCE);

		if (!c)
			continue;
		c->headline = m->headline && st->headline;
		if (st->measure == IB_MEASURE_PERCENTILE) {
			c->p = st->p;
			c->rule = ib_starts(m->name, "adj_") ? IB_RULE_NEAREST : IB_RULE_LINEAR;
		}
		if (why)
			ib_claim_leave_open(c, why);
	}
}

/* The share by which a rate over d seconds may be off when d is the difference of two rounded times. */
static double clock_tolerance(double d)
{
	return isnan(d) || d <= 0 ? TOLERANCE : fmax(TOLERANCE, CLOCK_S / d);
}

static void claim_rates(const struct ib_aiperf_summary *s, struct ib_result *r)
{
	double window = s->by_phase ? r->duration_s : ib_aiperf_number(s->metrics, "benchmark_duration", "avg");

	for (size_t i = 0; i < IB_LEN(rates); i++) {
		struct ib_claim *c = expect(s, r, rates[i].name, "avg", s->by_phase ? rates[i].phase : rates[i].ok, IB_MEASURE_SCALAR, 1, clock_tolerance(window));
		double count = rates[i].count ? ib_aiperf_number(s->metrics, rates[i].count, "avg") : NAN;

		if (!c)
			continue;
		c->headline = true;
		if (fabs(count / window - c->claimed) > 2 * clock_tolerance(window) * fabs(c->claimed)) {
			ib_auto_free char *is = ib_asprintf("%.9g", c->claimed), *should = ib_asprintf("%.9g", count / window);

			ib_result_hint(r, "A13", c->key, should, is, "%s is not %s divided by the %.6f s of the run", rates[i].name, rates[i].count, window);
		}
	}
}

/* Tokens that the model thought with, and nobody saw. */
static void note_reasoning(const struct ib_aiperf_summary *s, struct ib_result *r)
{
	double thought = ib_aiperf_number(s->metrics, "total_reasoning_tokens", "avg"), seen = ib_aiperf_number(s->metrics, "total_output_tokens", "avg");
	double all = ib_aiperf_number(s->metrics, "total_osl", "avg"), rate = ib_aiperf_number(s->metrics, "output_token_throughput", "avg");
	double n = ib_aiperf_number(s->metrics, "output_token_count", "count"), of = ib_aiperf_number(s->metrics, "request_count", "avg");
	ib_auto_free char *key = ib_asprintf("%s/output_token_throughput/avg", s->under);
	ib_auto_free char *count = ib_asprintf("%s/output_token_count/count", s->under);

	if (thought > 0 && all > 0 && seen >= 0 && rate > 0)
		ib_result_hint(r, "A12", key, NULL, NULL, "output_token_throughput (%.1f tokens/s) counts reasoning tokens: the visible output is %.1f tokens/s", rate,
			       rate * seen / all);
	if (n < of)
		ib_result_hint(r, "A12", count, NULL, NULL, "output_token_count covers %.0f of %.0f requests: those that had visible output", n, of);
}

static void note_lengths(const struct ib_aiperf_summary *s, struct ib_result *r)
{
	double missed = ib_aiperf_number(s->metrics, "osl_mismatch_count", "avg"), of = ib_aiperf_number(s->metrics, "request_count", "avg");
	ib_auto_free char *key = ib_asprintf("%s/osl_mismatch_count/avg", s->under);
	ib_auto_free char *found = ib_asprintf("%.0f", missed);

	if (missed > 0)
		ib_result_hint(r, "A16", key, "0", found,
			       "%.0f of %.0f responses have another length than was asked for: stopped early, cut, or broken by an error within the stream, which this "
			       "client counts as success",
			       missed, of);
}

void ib_aiperf_claims(const struct ib_aiperf_summary *s, struct ib_result *r)
{
	struct ib_claim *c;

	for (size_t i = 0; i < IB_LEN(series); i++)
		claim_series(s, r, &series[i]);
	for (size_t i = 0; i < IB_LEN(totals); i++) {
		c = expect(s, r, totals[i].name, "avg", totals[i].formula, IB_MEASURE_SCALAR, totals[i].scale, 0);
		if (c)
			c->headline = totals[i].headline;
	}
	expect(s, r, "request_error_rate", "avg", &ib_share_failed, IB_MEASURE_SCALAR, 100, TOLERANCE);
	claim_rates(s, r);
	c = expect(s, r, "benchmark_duration", "avg", &ib_duration_ok, IB_MEASURE_SCALAR, 1, TOLERANCE);
	if (c)
		c->step = CLOCK_S;
	note_reasoning(s, r);
	note_lengths(s, r);
}
