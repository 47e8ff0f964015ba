/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of percentiles, against binomial sums in whole numbers (tests/data/metrics/intervals.py); repeats, against values worked out by hand. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/interval.h"
#include "unit.h"

static const struct row {
	size_t n;
	double p;
	size_t low, high;
	double level; /* 0: too few samples */
} rows[] = {
	{5, 50, 0, 0, 0},
	{6, 50, 0, 5, 0.96875},
	{7, 50, 0, 6, 0.984375},
	{10, 50, 1, 8, 0.978515625},
	{20, 50, 5, 14, 0.9586105346679688},
	{21, 50, 5, 15, 0.9733963012695312},
	{100, 50, 39, 60, 0.9647997997822951},
	{101, 50, 40, 60, 0.9539559330706572},
	{1000, 50, 468, 531, 0.9537088026395019},
	{20, 90, 0, 0, 0},
	{40, 90, 31, 39, 0.9697238116441209},
	{100, 95, 89, 99, 0.9826070607121813},
	{1000, 95, 935, 963, 0.9580952682226541},
	{300, 99, 0, 0, 0},
	{2000, 99, 1970, 1988, 0.957831397098948},
	{50, 10, 0, 9, 0.9703082890880884},
	{100000, 50, 49689, 50310, 0.9504442853304751},
};

static void test_interval_ranks_equal_exact_sums(void)
{
	for (size_t i = 0; i < IB_LEN(rows); i++) {
		size_t low = 99, high = 99;
		double level = 0;
		bool any = ib_interval_ranks(rows[i].n, rows[i].p, 0.95, &low, &high, &level);

		CU_ASSERT(any == (rows[i].level > 0));
		CU_ASSERT(!any || (low == rows[i].low && high == rows[i].high && fabs(level - rows[i].level) < 1e-9));
	}
}

static struct ib_series samples(size_t n, double first, double step)
{
	struct ib_series s = {.state = n ? IB_STAT_VALUE : IB_STAT_UNDEFINED};
	double *v = ib_realloc(NULL, n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = first + step * (double)((i * 7) % n); /* in no order: n is no multiple of 7 */
	ib_series_own(&s, v, NULL, n);
	return s;
}

static void test_interval_lies_between_order_statistics(void)
{
	ib_auto_series struct ib_series s = samples(20, 100, 1), few = samples(5, 0, 1), none = samples(0, 0, 0), equal = samples(20, 5, 0);
	struct ib_series missing = {.why = "no times in the file"};
	struct ib_interval in = ib_series_interval(&s, 50);

	CU_ASSERT(in.state == IB_STAT_VALUE && in.n == 20 && in.low == 105 && in.high == 114 && in.level > 0.95 && in.level < 0.96);
	in = ib_series_interval(&few, 50);
	CU_ASSERT(in.state == IB_STAT_UNDEFINED && isnan(in.low) && isnan(in.high) && isnan(in.level) && in.why);
	CU_ASSERT(ib_series_interval(&none, 50).state == IB_STAT_UNDEFINED);
	CU_ASSERT(ib_series_interval(&missing, 50).state == IB_STAT_NOT_RECORDED);
	CU_ASSERT(ib_series_interval(&s, 0).state == IB_STAT_UNDEFINED && ib_series_interval(&s, 100).state == IB_STAT_UNDEFINED);
	in = ib_series_interval(&equal, 50);
	CU_ASSERT(in.state == IB_STAT_VALUE && in.low == 5 && in.high == 5);
	s.w = ib_alloc(20 * sizeof(double));
	CU_ASSERT(ib_series_interval(&s, 50).state == IB_STAT_UNDEFINED);
}

static void test_interval_apart_only_without_overlap(void)
{
	ib_auto_series struct ib_series a = samples(20, 100, 1), b = samples(20, 109, 1), c = samples(20, 110, 1), few = samples(3, 500, 1);
	struct ib_interval x = ib_series_interval(&a, 50), touching = ib_series_interval(&b, 50), other = ib_series_interval(&c, 50),
			   none = ib_series_interval(&few, 50);

	CU_ASSERT(ib_intervals_apart(&x, &touching) == IB_APART_NO); /* 105 to 114, 114 to 123 */
	CU_ASSERT(ib_intervals_apart(&x, &other) == IB_APART_YES && ib_intervals_apart(&other, &x) == IB_APART_YES);
	CU_ASSERT(ib_intervals_apart(&x, &none) == IB_APART_UNKNOWN);
}

/* The true median lies in the interval in at least 95 % of samples: 2,000 samples of 31 from splitmix64. */
static void test_interval_covers_what_it_says(void)
{
	uint64_t x = 2026;
	size_t hits = 0;

	for (size_t k = 0; k < 2000; k++) {
		ib_auto_series struct ib_series s = {.state = IB_STAT_VALUE};
		double *v = ib_realloc(NULL, 31, sizeof(*v));
		struct ib_interval in;

		for (size_t i = 0; i < 31; i++) {
			uint64_t z = x += UINT64_C(0x9E3779B97F4A7C15);

			z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
			z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
			v[i] = (double)((z ^ z >> 31) >> 11) * 0x1p-53;
		}
		ib_series_own(&s, v, NULL, 31);
		in = ib_series_interval(&s, 50);
		hits += in.low <= 0.5 && 0.5 <= in.high;
	}
	CU_ASSERT(hits >= 1900 && hits <= 1980); /* 97.1 % for 31 */
}

static void test_interval_repeats_and_their_spread(void)
{
	static const double v[] = {100, NAN, 110, 90};
	struct ib_repeats r = ib_repeats_of(v, 4);

	CU_ASSERT(r.n == 3 && r.mean == 100 && r.min == 90 && r.max == 110 && fabs(r.cv - 0.1) < 1e-15); /* deviation 10 */
	r = ib_repeats_of(v, 1);
	CU_ASSERT(r.n == 1 && r.mean == 100 && isnan(r.cv));
	r = ib_repeats_of(v + 1, 1);
	CU_ASSERT(r.n == 0 && isnan(r.mean) && isnan(r.min) && isnan(r.max) && isnan(r.cv));
}

static const struct ib_test tests[] = {
	IB_TEST(test_interval_ranks_equal_exact_sums),
	IB_TEST(test_interval_lies_between_order_statistics),
	IB_TEST(test_interval_apart_only_without_overlap),
	IB_TEST(test_interval_covers_what_it_says),
	IB_TEST(test_interval_repeats_and_their_spread),
	{0},
};

const struct ib_test_suite ib_suite = {"interval", tests};
