/* SPDX-License-Identifier: Apache-2.0 */
/* Order-statistic intervals from exact binomial tails. */
#include "metrics/interval.h"

#include <math.h>

/* Binomial distribution of how many of n samples lie below the percentile. */
struct binomial {
	size_t n;
	long double p;
};

static long double log_factorial(size_t n)
{
	int sign;

	return lgammal_r((long double)n + 1, &sign);
}

static long double mass(const struct binomial *b, size_t k)
{
	return expl(log_factorial(b->n) - log_factorial(k) - log_factorial(b->n - k) + k * logl(b->p) + (b->n - k) * log1pl(-b->p));
}

/* Of k samples or fewer, for a k below the mean: terms fall off geometrically. */
static long double below_or_at(const struct binomial *b, size_t k)
{
	long double term = mass(b, k), sum = term, odds = (1 - b->p) / b->p;

	for (; k > 0 && term > sum * 1e-21L; k--) {
		term *= (long double)k / (long double)(b->n - k + 1) * odds;
		sum += term;
	}
	return sum;
}

/* The largest k for which "fewer than k samples" has a probability of at most tail, which goes to *ret_sum; 0: there is none. */
static size_t largest_within(const struct binomial *b, long double tail, long double *ret_sum)
{
	long double mean = (long double)b->n * b->p, deviation = sqrtl(mean * (1 - b->p)), sum;
	long double guess = floorl(mean - 2 * deviation);
	size_t k = guess > 0 ? (size_t)guess : 0;

	for (sum = below_or_at(b, k); sum > tail; sum = below_or_at(b, --k))
		if (k == 0) {
			*ret_sum = 0;
			return 0;
		}
	while (k + 1 < b->n) {
		long double more = sum + mass(b, k + 1);

		if (more > tail)
			break;
		sum = more;
		k++;
	}
	*ret_sum = sum;
	return k + 1;
}

bool ib_interval_ranks(size_t n, double p, double level, size_t *ret_low, size_t *ret_high, double *ret_level)
{
	const struct binomial below = {n, (long double)p / 100}, above = {n, 1 - (long double)p / 100};
	long double tail = (1 - (long double)level) / 2, left, right;
	size_t low, high;

	if (!(p > 0 && p < 100) || n == 0)
		return false;
	low = largest_within(&below, tail, &left); /* 1-based: the order statistic itself */
	high = largest_within(&above, tail, &right); /* counted from the largest */
	if (low == 0 || high == 0)
		return false;
	*ret_low = low - 1;
	*ret_high = n - high;
	*ret_level = (double)(1 - left - right);
	return *ret_low <= *ret_high;
}

struct ib_interval ib_series_interval(const struct ib_series *s, double p)
{
	struct ib_interval in = {.low = NAN, .high = NAN, .level = NAN, .n = s->n};
	size_t ranks[2];
	double values[2];

	if (s->state != IB_STAT_VALUE || s->n == 0) {
		in.state = s->state == IB_STAT_NOT_RECORDED ? IB_STAT_NOT_RECORDED : IB_STAT_UNDEFINED;
		in.why = s->why ? s->why : "no samples";
		return in;
	}
	in.state = IB_STAT_UNDEFINED;
	in.why = s->w ? "weighted samples are not independent" : "too few samples for an interval";
	if (s->w || !ib_interval_ranks(s->n, p, IB_INTERVAL_LEVEL, &ranks[0], &ranks[1], &in.level)) {
		in.level = NAN;
		return in;
	}
	ib_series_select(s, ranks, values, 2);
	in.state = IB_STAT_VALUE;
	in.low = values[0];
	in.high = values[1];
	in.why = NULL;
	return in;
}

enum ib_apart ib_intervals_apart(const struct ib_interval *a, const struct ib_interval *b)
{
	if (a->state != IB_STAT_VALUE || b->state != IB_STAT_VALUE)
		return IB_APART_UNKNOWN;
	return a->high < b->low || b->high < a->low ? IB_APART_YES : IB_APART_NO;
}

struct ib_repeats ib_repeats_of(const double *v, size_t n)
{
	struct ib_repeats r = {0, NAN, NAN, NAN, NAN};
	long double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		sum += v[i];
		r.min = r.n ? fmin(r.min, v[i]) : v[i];
		r.max = r.n ? fmax(r.max, v[i]) : v[i];
		r.n++;
	}
	if (r.n == 0)
		return r;
	mean = sum / r.n;
	r.mean = (double)mean;
	for (size_t i = 0; i < n; i++)
		squares += isnan(v[i]) ? 0 : (v[i] - mean) * (v[i] - mean);
	if (r.n > 1 && fabs(r.mean) > 0)
		r.cv = (double)(sqrtl(squares / (r.n - 1)) / fabsl(mean));
	return r;
}
