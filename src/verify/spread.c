/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics as bounds of a percentile (Conover, Practical Nonparametric Statistics, 3.2). */
#include "verify/spread.h"

#include <math.h>

#define LEVEL 0.95
#define EXACT_MAX 10000
#define Z 1.959963984540054

void ib_range_add(struct ib_range *r, double value)
{
	if (isnan(value))
		return;
	if (!r->n || value < r->min)
		r->min = value;
	if (!r->n || value > r->max)
		r->max = value;
	r->n++;
}

bool ib_ranges_overlap(const struct ib_range *a, const struct ib_range *b)
{
	return a->min <= b->max && b->min <= a->max;
}

/* Probability that exactly k of n fall below the percentile. */
static double binomial(size_t n, size_t k, double q)
{
	double a = (double)n, b = (double)k;

	return exp(lgamma(a + 1) - lgamma(b + 1) - lgamma(a - b + 1) + b * log(q) + (a - b) * log1p(-q));
}

/* Ranks from 0; false: n is too small. */
static bool exact(size_t n, double q, size_t *ret_low, size_t *ret_high)
{
	double half = (1 - LEVEL) / 2, sum = 0;
	size_t k = 0;

	for (; k <= n; k++) { /* the largest rank below which at most half of what may be missed lies */
		sum += binomial(n, k, q);
		if (sum > half)
			break;
	}
	if (k == 0)
		return false;
	*ret_low = k - 1;
	for (k = n, sum = 0; k > 0; k--) {
		sum += binomial(n, k, q);
		if (sum > half)
			break;
	}
	if (k >= n)
		return false;
	*ret_high = k;
	return true;
}

static bool ranks(size_t n, double q, size_t *ret_low, size_t *ret_high)
{
	double at = (double)n * q, d = Z * sqrt(at * (1 - q));

	if (n <= EXACT_MAX)
		return exact(n, q, ret_low, ret_high);
	if (at - d < 1 || at + d >= (double)n)
		return false;
	*ret_low = (size_t)floor(at - d) - 1;
	*ret_high = (size_t)ceil(at + d);
	if (*ret_high >= n)
		*ret_high = n - 1;
	return true;
}

struct ib_range ib_result_interval(const struct ib_result *r, const struct ib_formula *f, double p)
{
	ib_auto_series struct ib_series s = {0};
	struct ib_range ret = {NAN, NAN, 0};
	double values[2];
	size_t at[2];

	if (!f || !f->series)
		return ret;
	f->series(&r->columns, &s);
	if (s.state != IB_STAT_VALUE || !s.n || !ranks(s.n, p / 100, &at[0], &at[1]))
		return ret;
	ib_series_select(&s, at, values, 2);
	return (struct ib_range){values[0], values[1], s.n};
}
