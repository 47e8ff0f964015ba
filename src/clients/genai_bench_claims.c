/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that genai-bench states, and the counts of its errors that contradict each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/genai_bench.h"
#include "clients/statistic.h"

#define EXACT 1e-9

static const char left_out[] = "the client left the first or last requests out of its statistics, and its records do not say which";

static double number(const struct ib_genai_bench *f, const char *key)
{
	return ib_statistic_number(f->run, key);
}

/* How many requests a statistic was taken over, by its sum and mean; 0: they do not tell. */
static double taken(const json_t *statistic)
{
	double n = ib_statistic_number(statistic, "sum") / ib_statistic_number(statistic, "mean");

	return fabs(n - round(n)) <= 1e-6 ? round(n) : 0;
}

/* The client can leave a share of the first and the last requests out of its statistics, and marks none of them. */
static bool cut(const struct ib_genai_bench *f, const struct ib_result *r)
{
	const json_t *all = json_object_get(f->run, "stats");
	double n = taken(json_object_get(all, "e2e_latency"));
	int64_t ok = 0;

	for (size_t i = 0; i < r->columns.n; i++)
		ok += r->columns.outcome[i] == IB_OUTCOME_SUCCEEDED;
	return n > 0 && n < (double)ok && !(fabs(taken(json_object_get(all, "ttft")) - n) > 0) &&
	       !(fabs(taken(json_object_get(all, "num_input_tokens")) - n) > 0);
}

static void claim_statistics(const struct ib_genai_bench *f, struct ib_result *r, bool part)
{
	static const struct {
		const char *key;
		const struct ib_formula *formula;
		bool time, headline;
	} stats[] = {{"ttft", &ib_ttft_first_content, true, true},
		     {"tpot", &ib_tpot_excl_first_1ms, true, true},
		     {"e2e_latency", &ib_e2e_last_chunk, true, true},
		     {"output_latency", &ib_time_decode, true, false},
		     {"output_inference_speed", &ib_speed_decode_1ms, false, false},
		     {"output_throughput", &ib_speed_decode, false, false},
		     {"input_throughput", &ib_speed_prefill, false, false},
		     {"num_input_tokens", &ib_input_length, false, false},
		     {"num_output_tokens", &ib_output_length, false, false},
		     {"total_tokens", &ib_total_length, false, false}};
	const json_t *all = json_object_get(f->run, "stats");

	for (size_t i = 0; i < IB_LEN(stats); i++) {
		ib_auto_free char *at = ib_asprintf("/aggregated_metrics/stats/%s", stats[i].key);
		const struct ib_statistics what = {.formula = stats[i].formula,
						   .name = stats[i].key,
						   .at = at,
						   .scale = stats[i].time && f->unit && strcmp(f->unit, "ms") == 0 ? 1000 : 1,
						   .tolerance = EXACT,
						   .std = IB_MEASURE_STD,
						   .headline = stats[i].headline};
		size_t from = r->n_claims;

		ib_statistics_expect(r, json_object_get(all, stats[i].key), &what);
		for (size_t k = from; part && k < r->n_claims; k++)
			ib_claim_leave_open(&r->claims[k], left_out);
	}
}

static void claim_totals(const struct ib_genai_bench *f, struct ib_result *r, bool part)
{
	static const struct {
		const char *key;
		const struct ib_formula *formula;
		double tolerance;
		bool rate, headline;
	} totals[] = {{"num_requests", &ib_count_attempted, 0, false, true},
		      {"num_completed_requests", &ib_count_succeeded, 0, false, true},
		      {"num_error_requests", &ib_count_errored, 0, false, true},
		      {"error_rate", &ib_share_failed, EXACT, false, true},
		      {"requests_per_second", &ib_requests_over_duration, EXACT, true, true},
		      {"mean_input_throughput_tokens_per_s", &ib_input_tokens_over_duration, EXACT, true, false},
		      {"mean_output_throughput_tokens_per_s", &ib_output_tokens_over_duration, EXACT, true, true},
		      {"mean_total_tokens_throughput_tokens_per_s", &ib_total_tokens_over_duration, EXACT, true, false}};

	for (size_t i = 0; i < IB_LEN(totals); i++) {
		ib_auto_free char *at = ib_asprintf("/aggregated_metrics/%s", totals[i].key);
		double claimed = number(f, totals[i].key);
		struct ib_claim *c = totals[i].rate && isnan(r->duration_s) && !(claimed > 0)
					     ? NULL
					     : ib_result_expect(r, totals[i].key, at, totals[i].formula, IB_MEASURE_SCALAR, 1, claimed, totals[i].tolerance);

		if (c)
			c->headline = totals[i].headline;
		if (part && totals[i].rate && totals[i].formula != &ib_requests_over_duration)
			ib_claim_leave_open(c, left_out);
	}
}

/* --- hints --- */

static int64_t errors_of(const struct ib_result *r)
{
	const struct ib_measured m = {.columns = &r->columns, .duration_s = NAN};
	struct ib_stat st = ib_count_errored.scalar(&m);

	return st.state == IB_STAT_VALUE ? (int64_t)st.value : 0;
}

static void hint_errors(const struct ib_genai_bench *f, struct ib_result *r)
{
	int64_t errors = errors_of(r), coded = 0;
	json_t *codes = json_object_get(f->run, "error_codes_frequency");
	const char *code;
	json_t *v;

	json_object_foreach(codes, code, v) {
		coded += ib_count_of_real(json_number_value(v)) > 0 ? ib_count_of_real(json_number_value(v)) : 0;
	}
	if (errors > 0 && !(number(f, "error_rate") > 0))
		ib_result_hint(r, "A07", "/aggregated_metrics/error_rate", NULL, "0", "error_rate is 0 beside %lld errors of %zu requests", (long long)errors,
			       r->columns.n);
	if (errors > 0 && !(number(f, "num_requests") > 0))
		ib_result_hint(r, "A09", "/aggregated_metrics/num_requests", NULL, "0",
			       "the run's counts are 0 where its records hold %lld errors: it ended before they were set", (long long)errors);
	if (r->columns.n && coded != errors)
		ib_result_hint(r, "A07", "/aggregated_metrics/error_codes_frequency", NULL, NULL, "the error codes account for %lld errors, the records hold %lld",
			       (long long)coded, (long long)errors);
}

/* The records state numbers that follow from others of theirs. */
static void hint_records(const struct ib_genai_bench *f, struct ib_result *r)
{
	const struct ib_columns *c = &r->columns;
	size_t wrong = 0;

	for (size_t i = 0; i < c->n && c->ttft_s && c->e2e_s && c->output_tokens; i++) {
		double tpot = c->output_tokens[i] > 1 ? (c->e2e_s[i] - c->ttft_s[i]) / (double)(c->output_tokens[i] - 1) : NAN;

		wrong += fabs(f->tpots.v[i] - tpot) > 1e-6 * fabs(tpot);
	}
	if (wrong)
		ib_result_hint(r, "A10", "/individual_request_metrics", NULL, NULL, "%zu records state a time per token that does not follow from their own times", wrong);
}

void ib_genai_bench_claims(const struct ib_genai_bench *f, struct ib_result *r)
{
	bool part = cut(f, r);

	claim_totals(f, r, part);
	claim_statistics(f, r, part);
	ib_result_derive(r);
	if (!isnan(r->duration_s))
		ib_result_claim(r, "aggregated_metrics/run_duration", &ib_duration_client, r->duration_s, ib_stat_not_recorded("no start or end times in the file"), 0,
				NULL);
	hint_errors(f, r);
	hint_records(f, r);
}
