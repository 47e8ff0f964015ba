/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics and formulas, against values worked out by hand or by another program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/formula.h"
#include "unit.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static struct ib_series series(const double *v, size_t n)
{
	struct ib_series s = {.state = n ? IB_STAT_VALUE : IB_STAT_UNDEFINED, .why = n ? NULL : "no request succeeded"};
	double *own = ib_realloc(NULL, n + 1, sizeof(*own));

	for (size_t i = 0; i < n; i++)
		own[i] = v[i];
	ib_series_own(&s, own, NULL, n);
	return s;
}

/* References: statistics.quantiles(x, n=100, method="inclusive") of Python, equal to numpy's default. */
static void test_metrics_percentile_linear(void)
{
	static const double x[] = {15, 20, 35, 40, 50};
	static const double y[] = {0.1, 0.25, 0.7, 1.5, 2.25, 3.125, 9.75};

	CU_ASSERT(near(ib_percentile(x, 5, 50, IB_RULE_LINEAR), 35));
	CU_ASSERT(near(ib_percentile(x, 5, 40, IB_RULE_LINEAR), 29));
	CU_ASSERT(near(ib_percentile(x, 5, 95, IB_RULE_LINEAR), 48));
	CU_ASSERT(near(ib_percentile(x, 5, 0, IB_RULE_LINEAR), 15));
	CU_ASSERT(near(ib_percentile(x, 5, 100, IB_RULE_LINEAR), 50));
	CU_ASSERT(near(ib_percentile(y, 7, 90, IB_RULE_LINEAR), 5.775));
	CU_ASSERT(near(ib_percentile(y, 7, 99, IB_RULE_LINEAR), 9.3525));
	CU_ASSERT(near(ib_percentile(y, 7, 1, IB_RULE_LINEAR), 0.109));
	CU_ASSERT(near(ib_percentile(y, 1, 99, IB_RULE_LINEAR), 0.1));
}

static void test_metrics_percentile_nearest_rank(void)
{
	static const double x[] = {15, 20, 35, 40, 50};
	double h[100];

	for (size_t i = 0; i < 100; i++)
		h[i] = (double)i + 1;
	CU_ASSERT(near(ib_percentile(x, 5, 5, IB_RULE_NEAREST_RANK), 15));
	CU_ASSERT(near(ib_percentile(x, 5, 30, IB_RULE_NEAREST_RANK), 20));
	CU_ASSERT(near(ib_percentile(x, 5, 40, IB_RULE_NEAREST_RANK), 20));
	CU_ASSERT(near(ib_percentile(x, 5, 50, IB_RULE_NEAREST_RANK), 35));
	CU_ASSERT(near(ib_percentile(x, 5, 100, IB_RULE_NEAREST_RANK), 50));
	CU_ASSERT(near(ib_percentile(h, 100, 99, IB_RULE_NEAREST_RANK), 99));
	CU_ASSERT(near(ib_percentile(h, 100, 7, IB_RULE_NEAREST_RANK), 7));
}

static void test_metrics_percentile_refuses_few_samples(void)
{
	double v[20];
	ib_auto_series struct ib_series few = {0}, enough = {0}, none = {0};
	struct ib_stat st;

	for (size_t i = 0; i < 20; i++)
		v[i] = 20 - (double)i;
	few = series(v, 19);
	enough = series(v, 20);
	none = series(v, 0);
	st = ib_series_percentile(&few, 95, IB_RULE_LINEAR);
	CU_ASSERT(st.state == IB_STAT_UNDEFINED && isnan(st.value) && st.n == 19 && near(st.max, 20));
	CU_ASSERT_STRING_EQUAL(st.why, "too few samples for this percentile");
	st = ib_series_percentile(&enough, 95, IB_RULE_LINEAR);
	CU_ASSERT(st.state == IB_STAT_VALUE && near(st.value, 19.05) && st.n == 20 && st.rule == IB_RULE_LINEAR);
	st = ib_series_percentile(&few, 50, IB_RULE_LINEAR);
	CU_ASSERT(st.state == IB_STAT_VALUE && near(st.value, 11));
	st = ib_series_percentile(&none, 50, IB_RULE_LINEAR);
	CU_ASSERT(st.state == IB_STAT_UNDEFINED && isnan(st.value) && st.n == 0);
	CU_ASSERT(ib_percentile_needs(50) == 1 && ib_percentile_needs(90) == 10 && ib_percentile_needs(95) == 20);
	CU_ASSERT(ib_percentile_needs(99) == 100 && ib_percentile_needs(99.9) == 1000);
}

static void test_metrics_mean_and_deviation(void)
{
	static const double v[] = {2, 4, 4, 4, 5, 5, 7, 9};
	ib_auto_series struct ib_series s = series(v, 8), one = series(v, 1), none = series(v, 0);
	struct ib_series missing = {.why = "no times in the file"};

	CU_ASSERT(near(ib_series_mean(&s).value, 5));
	CU_ASSERT(near(ib_series_std(&s).value, 2));
	CU_ASSERT(near(ib_series_max(&s).value, 9));
	CU_ASSERT(ib_series_std(&one).state == IB_STAT_UNDEFINED && isnan(ib_series_std(&one).value));
	CU_ASSERT(ib_series_mean(&none).state == IB_STAT_UNDEFINED && isnan(ib_series_mean(&none).value));
	CU_ASSERT(ib_series_mean(&missing).state == IB_STAT_NOT_RECORDED && isnan(ib_series_mean(&missing).value));
}

/* Three requests: a succeeded one, a failed one with times, a succeeded warm-up. */
static struct ib_columns three(void)
{
	struct ib_columns c = {.n = 3, .itl_n = 5};

	c.start_s = ib_columns_reals(3);
	c.ttft_s = ib_columns_reals(3);
	c.e2e_s = ib_columns_reals(3);
	c.last_s = ib_columns_reals(3);
	c.queue_s = ib_columns_reals(3);
	c.output_tokens = ib_columns_ints(3);
	c.output_server = ib_columns_ints(3);
	c.input_tokens = ib_columns_ints(3);
	c.input_server = ib_columns_ints(3);
	c.chunks = ib_columns_ints(3);
	c.outcome = ib_alloc(3);
	c.warmup = ib_alloc(3);
	c.itl_at = ib_realloc(NULL, 4, sizeof(size_t));
	c.itl_s = ib_columns_reals(5);
	for (size_t i = 0; i < 3; i++) {
		c.start_s[i] = (double)i;
		c.ttft_s[i] = 0.5;
		c.e2e_s[i] = 1.5;
		c.last_s[i] = 1.25;
		c.queue_s[i] = 0.25;
		c.output_tokens[i] = 3;
		c.output_server[i] = 4;
		c.input_tokens[i] = 10;
		c.input_server[i] = 12;
		c.chunks[i] = 3;
		c.outcome[i] = i == 1 ? IB_OUTCOME_FAILED : IB_OUTCOME_SUCCEEDED;
	}
	c.warmup[2] = true;
	c.itl_at[0] = 0;
	c.itl_at[1] = 2;
	c.itl_at[2] = 3;
	c.itl_at[3] = 5;
	for (size_t i = 0; i < 5; i++)
		c.itl_s[i] = 0.5;
	return c;
}

static void test_metrics_population_is_succeeded_without_warmups(void)
{
	struct ib_columns c = three();
	const struct ib_measured m = {.columns = &c, .duration_s = 2};

	for (size_t i = 0; ib_formulas[i]; i++) {
		ib_auto_series struct ib_series s = {0};

		if (!ib_formulas[i]->series)
			continue;
		ib_formulas[i]->series(&c, &s);
		CU_ASSERT(s.state == IB_STAT_VALUE);
		CU_ASSERT(s.n == (strcmp(ib_formulas[i]->samples, IB_SAMPLE_GAP) == 0 || strcmp(ib_formulas[i]->population, IB_POPULATION_ALL) == 0 ? 2 : 1));
	}
	CU_ASSERT(near(ib_count_attempted.scalar(&m).value, 2));
	CU_ASSERT(near(ib_count_warmups.scalar(&m).value, 1));
	CU_ASSERT(near(ib_count_succeeded.scalar(&m).value, 1));
	CU_ASSERT(near(ib_count_failed.scalar(&m).value, 1));
	CU_ASSERT(near(ib_sum_output_tokens.scalar(&m).value, 3));
	CU_ASSERT(near(ib_requests_over_duration.scalar(&m).value, 0.5));
	CU_ASSERT(near(ib_peak_in_flight.scalar(&m).value, 2));
	ib_columns_clear(&c);
}

/* Row 0 alone counts: start 0, first token 0.5, last token 1.25, end 1.5, 10 tokens in, 3 out, gaps 0.5 and 0.5, queued 0.25. */
static void test_metrics_series_of_one_request(void)
{
	static const struct {
		const struct ib_formula *formula;
		double value, weight; /* 0: none */
	} rows[] = {
		{&ib_ttft_excl_connect, 0.5, 0},
		{&ib_e2e_closed, 1.5, 0},
		{&ib_e2e_ttft_plus_gaps, 1.5, 0},
		{&ib_e2e_incl_queue, 1.75, 0},
		{&ib_total_length, 13, 0},
		{&ib_input_length_server, 12, 0},
		{&ib_output_length_server, 4, 0},
		{&ib_tpot_excl_first, 0.5, 0},
		{&ib_tpot_incl_first, 1.25 / 3, 3},
		{&ib_tpot_decode_over_all, 0.25, 0},
		{&ib_tpot_decode, 0.375, 0},
		{&ib_tpot_e2e_over_all, 0.5, 0},
		{&ib_itl_decode_weighted, 0.375, 2},
		{&ib_gap_second_chunk, 0.5, 0},
		{&ib_time_decode, 1, 0},
		{&ib_speed_decode, 2, 0},
		{&ib_speed_e2e, 2, 0},
		{&ib_speed_prefill, 20, 0},
	};
	struct ib_columns c = three();

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		ib_auto_series struct ib_series s = {0};

		rows[i].formula->series(&c, &s);
		CU_ASSERT_FATAL(s.n == 1);
		CU_ASSERT(near(s.v[0], rows[i].value));
		CU_ASSERT((s.w != NULL) == (rows[i].weight > 0) && (!s.w || near(s.w[0], rows[i].weight)));
	}
	ib_columns_clear(&c);
}

/* Rows 0 and 1 are measured, row 0 succeeded: 0 … 1.5 and 1 … 2.5. */
static void test_metrics_rates_divide_by_their_windows(void)
{
	struct ib_columns c = three();
	const struct ib_measured m = {.columns = &c, .duration_s = 4};

	CU_ASSERT(near(ib_duration_all.scalar(&m).value, 2.5) && near(ib_duration_ok.scalar(&m).value, 1.5));
	CU_ASSERT(near(ib_requests_over_all.scalar(&m).value, 1 / 2.5));
	CU_ASSERT(near(ib_output_tokens_over_all.scalar(&m).value, 3 / 2.5));
	CU_ASSERT(near(ib_total_tokens_over_ok.scalar(&m).value, 13 / 1.5));
	CU_ASSERT(near(ib_input_tokens_over_phase.scalar(&m).value, 10 / 4.0));
	CU_ASSERT(near(ib_output_tokens_over_tokens.scalar(&m).value, 3 / 0.75));
	CU_ASSERT(ib_input_tokens_over_first_tokens.scalar(&m).state == IB_STAT_UNDEFINED); /* one first token spans no time */
	CU_ASSERT(near(ib_rate_started.scalar(&m).value, 1));
	CU_ASSERT(near(ib_concurrency_mean.scalar(&m).value, 1.5 / 4));
	CU_ASSERT(near(ib_share_failed.scalar(&m).value, 0.5));
	CU_ASSERT(near(ib_sum_output_all.scalar(&m).value, 6));
	c.outcome[1] = IB_OUTCOME_INCOMPLETE;
	CU_ASSERT(near(ib_count_ended.scalar(&m).value, 1) && near(ib_count_incomplete.scalar(&m).value, 1));
	CU_ASSERT(near(ib_count_errored.scalar(&m).value, 0) && near(ib_count_failed.scalar(&m).value, 1));
	c.e2e_s[1] = NAN;
	CU_ASSERT(ib_requests_over_all.scalar(&m).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(near(ib_requests_over_ok.scalar(&m).value, 1 / 1.5));
	ib_columns_clear(&c);
}

static void test_metrics_goodput_needs_its_thresholds(void)
{
	struct ib_columns c = three();
	struct ib_slo slo;
	struct ib_measured m = {.columns = &c, .duration_s = 4};

	CU_ASSERT(ib_goodput_client.scalar(&m).state == IB_STAT_NOT_RECORDED);
	m.slo = &slo;
	CU_ASSERT(ib_slo_parse("ttft:500 tpot:500", &slo) && near(slo.ttft_s, 0.5) && isnan(slo.e2e_s));
	CU_ASSERT(near(ib_goodput_client.scalar(&m).value, 0.25)); /* inclusive */
	CU_ASSERT(ib_slo_parse("tpot:499.9", &slo));
	CU_ASSERT(near(ib_goodput_client.scalar(&m).value, 0) && ib_goodput_client.scalar(&m).n == 1);
	c.output_tokens[0] = 1;
	CU_ASSERT(near(ib_goodput_client.scalar(&m).value, 0.25)); /* the TPOT of one token is 0 */
	CU_ASSERT(ib_slo_parse("e2el:1000", &slo) && near(ib_goodput_client.scalar(&m).value, 0));
	CU_ASSERT(!ib_slo_parse("", &slo) && !ib_slo_parse("ttft", &slo) && !ib_slo_parse("ttft:", &slo) && !ib_slo_parse("ttft:1x", &slo));
	CU_ASSERT(!ib_slo_parse("ttft:nan", &slo) && !ib_slo_parse("itl:5", &slo) && !ib_slo_parse("ttft:0x10", &slo));
	ib_columns_clear(&c);
}

static void test_metrics_energy_needs_a_named_counter(void)
{
	struct ib_columns c = three();
	struct ib_energy e = {.joules = 12};
	struct ib_measured m = {.columns = &c, .duration_s = 4};

	CU_ASSERT(ib_energy_per_output_token.scalar(&m).state == IB_STAT_NOT_RECORDED);
	m.energy = &e;
	CU_ASSERT(ib_energy_per_output_token.scalar(&m).state == IB_STAT_NOT_RECORDED);
	e.source = "a counter";
	e.scope = "one device";
	CU_ASSERT(near(ib_energy_per_output_token.scalar(&m).value, 4));
	e.joules = -1;
	CU_ASSERT(ib_energy_per_output_token.scalar(&m).state == IB_STAT_UNDEFINED);
	ib_columns_clear(&c);
}

static void test_metrics_missing_columns_are_not_recorded(void)
{
	struct ib_columns none = {0}, c = three();
	const struct ib_measured nothing = {.columns = &none, .duration_s = NAN}, no_window = {.columns = &c, .duration_s = NAN}, empty_window = {.columns = &c, .duration_s = 0};

	for (size_t i = 0; ib_formulas[i]; i++) {
		ib_auto_series struct ib_series s = {0};

		if (ib_formulas[i]->series) {
			ib_formulas[i]->series(&none, &s);
			CU_ASSERT(s.state == IB_STAT_NOT_RECORDED && s.why != NULL && s.n == 0);
		}
		if (ib_formulas[i]->scalar) {
			CU_ASSERT(ib_formulas[i]->scalar(&nothing).state == IB_STAT_NOT_RECORDED);
			CU_ASSERT(isnan(ib_formulas[i]->scalar(&nothing).value));
		}
	}
	CU_ASSERT(ib_requests_over_duration.scalar(&no_window).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_requests_over_duration.scalar(&empty_window).state == IB_STAT_UNDEFINED);
	free(c.input_tokens);
	c.input_tokens = NULL;
	CU_ASSERT(ib_input_tokens_over_duration.scalar(&empty_window).state == IB_STAT_NOT_RECORDED);
	c.outcome[0] = IB_OUTCOME_UNKNOWN;
	CU_ASSERT(ib_count_succeeded.scalar(&no_window).state == IB_STAT_NOT_RECORDED);
	ib_columns_clear(&c);
}

static void test_metrics_formula_names_are_unique(void)
{
	for (size_t i = 0; ib_formulas[i]; i++) {
		CU_ASSERT_PTR_EQUAL(ib_formula_find(ib_formulas[i]->name), ib_formulas[i]);
		CU_ASSERT(ib_formulas[i]->definition && ib_formulas[i]->unit && ib_formulas[i]->population);
	}
	CU_ASSERT_PTR_NULL(ib_formula_find("tpot"));
}

/* One request of 4 chunks within a second, hostile times elsewhere: no bucket outside the table is touched. */
static void test_metrics_peaks_stay_in_bounds(void)
{
	struct ib_columns c = three();
	const struct ib_measured m = {.columns = &c, .duration_s = 2};

	CU_ASSERT(near(ib_peak_chunks_bucket.scalar(&m).value, 2));
	CU_ASSERT(near(ib_peak_requests_bucket.scalar(&m).value, 1));
	c.outcome[1] = IB_OUTCOME_SUCCEEDED; /* 0 … 1.5 and 1 … 2.5 touch second 1 both */
	CU_ASSERT(near(ib_peak_requests_bucket.scalar(&m).value, 2));
	c.outcome[1] = IB_OUTCOME_FAILED;
	c.ttft_s[0] = -1e300;
	CU_ASSERT(ib_peak_chunks_bucket.scalar(&m).state == IB_STAT_VALUE);
	c.e2e_s[0] = 1e300;
	CU_ASSERT(ib_peak_chunks_bucket.scalar(&m).state == IB_STAT_VALUE); /* no table as long as the time: 1e300 seconds cost nothing */
	CU_ASSERT(near(ib_peak_requests_bucket.scalar(&m).value, 1));
	c.e2e_s[0] = -5;
	CU_ASSERT(ib_peak_requests_bucket.scalar(&m).state != IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_peak_chunks_bucket.scalar(&m).state != IB_STAT_NOT_RECORDED);
	ib_columns_clear(&c);
}

static void test_metrics_ratios_are_finite_or_undefined(void)
{
	struct ib_columns c = three();
	const struct ib_measured instant = {&c, 5e-324};

	CU_ASSERT(near(ib_stat_ratio(ib_stat_value(3, 7), 2).value, 1.5) && ib_stat_ratio(ib_stat_value(3, 7), 2).n == 7);
	CU_ASSERT(ib_stat_ratio(ib_stat_not_recorded("x"), 2).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_stat_ratio(ib_stat_value(3, 7), 0).state == IB_STAT_UNDEFINED);
	CU_ASSERT(ib_requests_over_duration.scalar(&instant).state == IB_STAT_UNDEFINED);
	ib_columns_clear(&c);
}

static const struct ib_test tests[] = {
	IB_TEST(test_metrics_percentile_linear),
	IB_TEST(test_metrics_percentile_nearest_rank),
	IB_TEST(test_metrics_percentile_refuses_few_samples),
	IB_TEST(test_metrics_mean_and_deviation),
	IB_TEST(test_metrics_population_is_succeeded_without_warmups),
	IB_TEST(test_metrics_series_of_one_request),
	IB_TEST(test_metrics_rates_divide_by_their_windows),
	IB_TEST(test_metrics_goodput_needs_its_thresholds),
	IB_TEST(test_metrics_energy_needs_a_named_counter),
	IB_TEST(test_metrics_missing_columns_are_not_recorded),
	IB_TEST(test_metrics_formula_names_are_unique),
	IB_TEST(test_metrics_peaks_stay_in_bounds),
	IB_TEST(test_metrics_ratios_are_finite_or_undefined),
	{0},
};

const struct ib_test_suite ib_suite = {"metrics", tests};
