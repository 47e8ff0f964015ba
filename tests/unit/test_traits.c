/* SPDX-License-Identifier: Apache-2.0 */
/* What records show, against values worked out by hand. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/traits.h"
#include "unit.h"

#define N 6

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static bool is(struct ib_stat st, double value, size_t n)
{
	return st.state == IB_STAT_VALUE && near(st.value, value) && st.n == n;
}

/* Five succeeded requests at 0, 1, 2, 3, 4 s and a failed one at 5 s. Each takes 2 s: TTFT 0.5 (the first 1.25), then 3 gaps of 0.5 (the first 0.25 each); 4 tokens
 * of 4 asked for. The failed one ended after 1 s. */
static void six(struct ib_columns *ret)
{
	struct ib_row row;

	for (size_t i = 0; i < N; i++) {
		row = ib_row_empty();
		row.start_s = (double)i;
		row.outcome = i < 5 ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
		row.e2e_s = i < 5 ? 2 : 1;
		row.prompt_hash = 100 + i;
		if (i < 5) {
			row.ttft_s = i ? 0.5 : 1.25;
			row.queue_s = 0.5;
			row.input_tokens = 10;
			row.input_asked = 8;
			row.output_tokens = row.output_server = row.output_asked = 4;
			row.output_hash = 7 + i;
			for (size_t k = 0; k < 3; k++)
				ib_columns_gap(ret, i ? 0.5 : 0.25);
		}
		ib_columns_add(ret, &row);
	}
	ib_columns_end(ret);
}

static void test_traits_of_load(void)
{
	struct ib_columns c = {0};

	six(&c);
	CU_ASSERT(is(ib_trait_in_flight_mean(&c, 5.5), 2, 6)); /* 5 x 2 + 1 over 5.5 */
	CU_ASSERT(is(ib_trait_cap_used(&c, 5.5, 4), 0.5, 6));
	CU_ASSERT(is(ib_trait_idle(&c, 5.5, 4), 0.5, 6));
	CU_ASSERT(ib_trait_cap_used(&c, 5.5, IB_NOT_IN_FILE).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_trait_in_flight_mean(&c, NAN).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(is(ib_trait_rate_share(&c, 2), 0.5, 6)); /* 5 spaces in 5 s */
	CU_ASSERT(ib_trait_rate_share(&c, INFINITY).state == IB_STAT_UNDEFINED);
	CU_ASSERT(ib_trait_rate_share(&c, NAN).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(is(ib_trait_queue_over_e2e(&c), 0.25, 5));
	CU_ASSERT(is(ib_trait_starts_unordered(&c), 0, 6));
	CU_ASSERT(is(ib_trait_ends_after(&c, 6), 0, 6));
	CU_ASSERT(is(ib_trait_ends_after(&c, 5), 2, 6)); /* the last two end at 6 */
	c.start_s[3] = 0.5;
	CU_ASSERT(is(ib_trait_starts_unordered(&c), 1, 6));
	ib_columns_clear(&c);
}

static void test_traits_of_absurd_times(void)
{
	struct ib_columns c = {0};

	six(&c);
	CU_ASSERT(is(ib_trait_absurd_times(&c, 6), 0, 6));
	CU_ASSERT(is(ib_trait_absurd_times(&c, 1.5), 5, 6)); /* 2 s in a window of 1.5 */
	CU_ASSERT(is(ib_trait_absurd_times(&c, NAN), 0, 6));
	c.ttft_s[0] = -1.7e9;
	c.itl_s[3] = -0.1; /* of row 1 */
	c.e2e_s[2] = INFINITY;
	CU_ASSERT(is(ib_trait_absurd_times(&c, NAN), 3, 6));
	ib_columns_clear(&c);
}

static void test_traits_of_first_tokens(void)
{
	struct ib_columns c = {0};

	six(&c);
	CU_ASSERT(is(ib_trait_first_ttft_over_median(&c), 2.5, 5));
	CU_ASSERT(is(ib_trait_ttft_missing(&c), 0, 5));
	c.start_s[0] = 4.5; /* now row 1 started first */
	CU_ASSERT(is(ib_trait_first_ttft_over_median(&c), 1, 5));
	c.ttft_s[0] = NAN;
	c.ttft_s[1] = 0;
	CU_ASSERT(is(ib_trait_ttft_missing(&c), 0.4, 5));
	CU_ASSERT(is(ib_trait_ttft_mean_zeros(&c), 0.3, 5));
	CU_ASSERT(is(ib_trait_ttft_mean_recorded(&c), 0.5, 3));
	c.ttft_s[2] = NAN;
	CU_ASSERT(ib_trait_first_ttft_over_median(&c).state == IB_STAT_UNDEFINED);
	c.outcome[4] = IB_OUTCOME_UNKNOWN;
	CU_ASSERT(ib_trait_ttft_missing(&c).state == IB_STAT_NOT_RECORDED);
	ib_columns_clear(&c);
}

static void test_traits_of_chunks(void)
{
	struct ib_columns c = {0};

	six(&c);
	CU_ASSERT(is(ib_trait_tiny_gaps(&c), 0, 15));
	CU_ASSERT(is(ib_trait_gap_median_over_mean(&c), 0.5 / 0.45, 15)); /* 12 of 0.5, 3 of 0.25 */
	CU_ASSERT(is(ib_trait_gap_over_tpot(&c), 0.45 / 0.45, 15));	     /* TPOT: 4 of 0.5, one of 0.25 */
	CU_ASSERT(is(ib_trait_tokens_per_chunk(&c), 1, 5));
	CU_ASSERT(is(ib_trait_chunks_not_tokens(&c), 0, 5));
	CU_ASSERT(is(ib_trait_ttft_in_gaps(&c), 0.8, 5)); /* 0.5 after 0.5, as it happens */
	CU_ASSERT(is(ib_trait_e2e_against_gaps(&c), 0, 5));
	c.e2e_s[0] = 2.5;
	c.itl_s[0] = c.itl_s[1] = 0.00005;
	c.output_tokens[1] = 12; /* several a chunk */
	c.output_tokens[2] = 2;  /* fewer than chunks */
	CU_ASSERT(is(ib_trait_tiny_gaps(&c), 2 / 15.0, 15));
	CU_ASSERT(is(ib_trait_e2e_against_gaps(&c), (2.5 - 1.25 - 0.2501) / 2.5, 5));
	CU_ASSERT(is(ib_trait_tokens_per_chunk(&c), 26 / 20.0, 5));
	CU_ASSERT(is(ib_trait_chunks_not_tokens(&c), 0.4, 5));
	CU_ASSERT(is(ib_trait_chunks_beyond_tokens(&c), 0.2, 5));
	ib_columns_clear(&c);
}

static void test_traits_of_lengths(void)
{
	struct ib_columns c = {0};

	six(&c);
	CU_ASSERT(is(ib_trait_output_over_asked(&c, IB_NOT_IN_FILE), 1, 5));
	CU_ASSERT(is(ib_trait_output_as_asked(&c, IB_NOT_IN_FILE), 1, 5));
	CU_ASSERT(is(ib_trait_output_constant(&c), 1, 5));
	CU_ASSERT(is(ib_trait_input_over_asked(&c, IB_NOT_IN_FILE), 1.25, 5));
	CU_ASSERT(is(ib_trait_server_count_off(&c), 0, 5));
	c.output_tokens[0] = 1;
	c.output_tokens[1] = 0;
	CU_ASSERT(is(ib_trait_output_over_asked(&c, IB_NOT_IN_FILE), 3.25 / 5, 5));
	CU_ASSERT(is(ib_trait_output_short(&c, IB_NOT_IN_FILE), 0.4, 5));
	CU_ASSERT(is(ib_trait_output_constant(&c), 0, 5));
	CU_ASSERT(is(ib_trait_without_output(&c), 1, 5));
	CU_ASSERT(is(ib_trait_server_count_off(&c), 4, 5));
	free(c.output_asked);
	c.output_asked = NULL;
	CU_ASSERT(is(ib_trait_output_short(&c, 2), 0.4, 5));
	CU_ASSERT(ib_trait_output_short(&c, IB_NOT_IN_FILE).state == IB_STAT_NOT_RECORDED);
	ib_columns_clear(&c);
}

static void test_traits_of_texts(void)
{
	struct ib_columns a = {0}, b = {0};

	six(&a);
	six(&b);
	CU_ASSERT(is(ib_trait_prompts_repeated(&a), 0, 6));
	CU_ASSERT(is(ib_trait_outputs_equal(&a, &b), 1, 5));
	a.prompt_hash[2] = a.prompt_hash[4] = a.prompt_hash[0];
	CU_ASSERT(is(ib_trait_prompts_repeated(&a), 2 / 6.0, 6));
	b.output_hash[1] = 99;
	CU_ASSERT(is(ib_trait_outputs_equal(&a, &b), 2 / 3.0, 3)); /* rows 2 and 4 have other prompts now */
	ib_columns_clear(&a);
	CU_ASSERT(ib_trait_prompts_repeated(&a).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_trait_outputs_equal(&a, &b).state == IB_STAT_NOT_RECORDED);
	ib_columns_clear(&b);
}

static void test_traits_percentile_that_is_the_maximum(void)
{
	CU_ASSERT(ib_trait_percentile_is_max(12.5, 99, 12.5, 22, -1));
	CU_ASSERT(!ib_trait_percentile_is_max(12.4, 99, 12.5, 22, -1));
	CU_ASSERT(ib_trait_percentile_is_max(12.498, 99, 12.5, 22, 2)); /* both are printed 12.50 */
	CU_ASSERT(!ib_trait_percentile_is_max(12.5, 99, 12.5, 100, -1));
	CU_ASSERT(!ib_trait_percentile_is_max(12.5, 50, 12.5, 1, -1) && !ib_trait_percentile_is_max(12.5, 100, 12.5, 5, -1));
}

/* Nothing recorded: no trait has a value, none crashes; one request: none that needs two. */
static void test_traits_without_records_are_not_recorded(void)
{
	static struct ib_stat (*const plain[])(const struct ib_columns *c) = {
		ib_trait_queue_over_e2e,      ib_trait_starts_unordered,  ib_trait_first_ttft_over_median, ib_trait_ttft_missing,
		ib_trait_ttft_mean_zeros,     ib_trait_tiny_gaps,	  ib_trait_gap_median_over_mean,   ib_trait_gap_over_tpot,
		ib_trait_tokens_per_chunk,    ib_trait_ttft_in_gaps,	  ib_trait_e2e_against_gaps,	   ib_trait_chunks_not_tokens,
		ib_trait_output_constant,     ib_trait_without_output,	  ib_trait_server_count_off,	   ib_trait_prompts_repeated,
		ib_trait_ttft_mean_recorded,  ib_trait_chunks_beyond_tokens,
	};
	struct ib_columns none = {0}, one = {0};
	struct ib_row row = ib_row_empty();

	row.outcome = IB_OUTCOME_FAILED;
	row.start_s = row.ttft_s = row.e2e_s = row.queue_s = 1;
	row.output_tokens = row.output_server = 3;
	ib_columns_gap(&one, 1);
	ib_columns_add(&one, &row);
	ib_columns_end(&one);
	for (size_t i = 0; i < IB_LEN(plain); i++) {
		CU_ASSERT(plain[i](&none).state == IB_STAT_NOT_RECORDED && plain[i](&none).why && isnan(plain[i](&none).value));
		CU_ASSERT(plain[i](&one).state != IB_STAT_VALUE || plain[i](&one).value == 0);
	}
	CU_ASSERT(ib_trait_absurd_times(&none, 1).state == IB_STAT_NOT_RECORDED && ib_trait_ends_after(&none, 1).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_trait_in_flight_mean(&none, 1).state == IB_STAT_NOT_RECORDED && ib_trait_output_short(&none, 5).state == IB_STAT_NOT_RECORDED);
	ib_columns_clear(&one);
}

static const struct ib_test tests[] = {
	IB_TEST(test_traits_of_load),
	IB_TEST(test_traits_of_absurd_times),
	IB_TEST(test_traits_of_first_tokens),
	IB_TEST(test_traits_of_chunks),
	IB_TEST(test_traits_of_lengths),
	IB_TEST(test_traits_of_texts),
	IB_TEST(test_traits_percentile_that_is_the_maximum),
	IB_TEST(test_traits_without_records_are_not_recorded),
	{0},
};

const struct ib_test_suite ib_suite = {"traits", tests};
