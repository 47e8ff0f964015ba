/* SPDX-License-Identifier: Apache-2.0 */
/* Moments and percentiles of many samples in pieces, against numpy (tests/data/metrics/expected.py). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/stat.h"
#include "metrics_expected.h"
#include "unit.h"

#define N_PS IB_LEN(ps)

static bool near(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* splitmix64, as in the script. */
static double u(uint64_t *x)
{
	uint64_t z = *x += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double sample(const char *name, uint64_t *x)
{
	double a, b;

	if (strcmp(name, "equal") == 0)
		return 0.02;
	a = u(x);
	if (strcmp(name, "ties") == 0)
		return 0.001 * (int)(16 * a);
	if (strcmp(name, "gaps") != 0 && strcmp(name, "wide") != 0)
		return (a - 0.5) * 0.001;
	b = u(x);
	if (strcmp(name, "wide") == 0)
		return ldexp(0.5 + a / 2, (int)(600 * b) - 300);
	b = 0.01 * (1 + 0.2 * (b - 0.5));
	return a < 0.05 ? 0 : a > 0.999 ? b * 100 : b;
}

static double *samples(const struct expected *e)
{
	double *v = ib_realloc(NULL, e->n, sizeof(*v));
	uint64_t x = e->seed;

	for (size_t i = 0; i < e->n; i++)
		v[i] = sample(e->name, &x);
	return v;
}

/* Pieces of 1, 2, 3 … samples with a NaN between some of them. */
static void in_pieces(const double *v, size_t n, double *ret_room, struct ib_series *ret)
{
	size_t at = 0, out = 0;

	*ret = (struct ib_series){.state = IB_STAT_VALUE};
	for (size_t len = 1; at < n; len++) {
		size_t take = len < n - at ? len : n - at;

		memcpy(ret_room + out, v + at, take * sizeof(*v));
		ib_series_piece(ret, ret_room + out, take);
		out += take;
		at += take;
		ret_room[out] = NAN;
		if (len % 2)
			ib_series_piece(ret, ret_room + out, 1);
		out++;
	}
}

static void test_select_moments_equal_numpy(void)
{
	for (size_t k = 0; k < IB_LEN(sets); k++) {
		ib_auto_free double *v = samples(&sets[k]), *room = ib_realloc(NULL, 2 * sets[k].n + 1, sizeof(*room));
		ib_auto_series struct ib_series s = {0};
		struct ib_moments m;

		in_pieces(v, sets[k].n, room, &s);
		m = ib_series_moments(&s);
		CU_ASSERT(s.n == sets[k].n && m.n == s.n && m.count == (double)s.n);
		CU_ASSERT(near(m.mean, sets[k].mean) && m.min == sets[k].min && m.max == sets[k].max);
		/* The mean of equal samples is off by a few ulps in numpy; and here under valgrind, which computes long doubles as doubles. */
		CU_ASSERT(near(m.std, sets[k].std) || (sets[k].std < 1e-13 && m.std < 1e-13));
	}
}

static void test_select_percentiles_equal_numpy(void)
{
	for (size_t k = 0; k < IB_LEN(sets); k++) {
		ib_auto_free double *v = samples(&sets[k]), *room = ib_realloc(NULL, 2 * sets[k].n + 1, sizeof(*room));
		ib_auto_series struct ib_series s = {0};
		struct ib_quantile q[3 * N_PS];

		in_pieces(v, sets[k].n, room, &s);
		for (size_t i = 0; i < N_PS; i++) {
			q[i] = (struct ib_quantile){.p = ps[N_PS - 1 - i], .rule = IB_RULE_LINEAR}; /* in any order */
			q[N_PS + i] = (struct ib_quantile){.p = ps[i], .rule = IB_RULE_NEAREST};
			q[2 * N_PS + i] = (struct ib_quantile){.p = ps[i] < 100 ? ps[i] : 99.9999, .rule = IB_RULE_INVERSE_CDF};
		}
		ib_series_quantiles(&s, q, IB_LEN(q));
		for (size_t i = 0; i < N_PS; i++) {
			CU_ASSERT(near(q[i].value, sets[k].linear[N_PS - 1 - i]));
			CU_ASSERT(q[N_PS + i].value == sets[k].nearest[i]);
			CU_ASSERT(q[2 * N_PS + i].value == sets[k].cdf[i]);
			CU_ASSERT(ib_series_quantile(&s, ps[i], IB_RULE_NEAREST) == sets[k].nearest[i]);
		}
	}
}

static void test_select_weighted_statistics_equal_numpy(void)
{
	for (size_t k = 0; k < IB_LEN(sets); k++) {
		double *v = samples(&sets[k]), *w = ib_realloc(NULL, sets[k].n, sizeof(*w));
		ib_auto_series struct ib_series s = {.state = IB_STAT_VALUE};
		struct ib_moments m;

		for (size_t i = 0; i < sets[k].n; i++)
			w[i] = (double)((i * 7 + 3) % 10);
		ib_series_own(&s, v, w, sets[k].n);
		m = ib_series_moments(&s);
		CU_ASSERT(near(m.mean, sets[k].weighted_mean));
		CU_ASSERT(near(m.std, sets[k].weighted_std) || (sets[k].weighted_std < 1e-13 && m.std < 1e-13));
		for (size_t i = 0; i < N_PS; i++)
			CU_ASSERT(ib_series_quantile(&s, ps[i] < 100 ? ps[i] : 99.9999, IB_RULE_INVERSE_CDF) == sets[k].weighted[i]);
	}
}

/* A rank of every sample, infinities and zeros of both signs included, is what sorting gives. */
static void test_select_ranks_equal_sorting(void)
{
	enum { N = 6000 };
	ib_auto_free double *v = ib_realloc(NULL, N, sizeof(*v)), *out = ib_realloc(NULL, N, sizeof(*out));
	ib_auto_free size_t *ranks = ib_realloc(NULL, N, sizeof(*ranks));
	ib_auto_series struct ib_series s = {.state = IB_STAT_VALUE};
	uint64_t x = 11;
	size_t below, equal;

	for (size_t i = 0; i < N; i++) {
		v[i] = i % 7 == 0 ? 0.0 : i % 7 == 1 ? -0.0 : i % 500 == 2 ? INFINITY : i % 500 == 3 ? -INFINITY : (u(&x) - 0.5) * ldexp(1, (int)(i % 100) - 50);
		ranks[i] = N - 1 - i;
	}
	ib_series_piece(&s, v, N);
	ib_series_select(&s, ranks, out, N);
	for (size_t i = 0; i < N; i += 13) {
		below = equal = 0;
		for (size_t k = 0; k < N; k++) {
			below += v[k] < out[i];
			equal += v[k] == out[i];
		}
		CU_ASSERT(below <= ranks[i] && ranks[i] < below + equal);
	}
}

static void test_select_nothing_is_no_number(void)
{
	struct ib_series none = {.state = IB_STAT_UNDEFINED, .why = "no request succeeded"};
	struct ib_moments m = ib_series_moments(&none);

	CU_ASSERT(m.n == 0 && isnan(m.mean) && isnan(m.std) && isnan(m.min) && isnan(m.max));
	CU_ASSERT(isnan(ib_series_quantile(&none, 50, IB_RULE_LINEAR)) && isnan(ib_series_quantile(&none, 50, IB_RULE_INVERSE_CDF)));
}

static const struct ib_test tests[] = {
	IB_TEST(test_select_moments_equal_numpy),
	IB_TEST(test_select_percentiles_equal_numpy),
	IB_TEST(test_select_weighted_statistics_equal_numpy),
	IB_TEST(test_select_ranks_equal_sorting),
	IB_TEST(test_select_nothing_is_no_number),
	{0},
};

const struct ib_test_suite ib_suite = {"select", tests};
