/* SPDX-License-Identifier: Apache-2.0 */
/* Percentile rules, over order statistics. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/stat.h"

#define CDF_MAX 1000000 /* samples of equal weight beyond which a running sum of doubles is no longer imitated */

/* As the decimal number is written: 99.9 % is 0.999, which 99.9 / 100 is not. */
static double share(double p)
{
	double whole = nearbyint(p * 1e6);

	return fabs(whole - p * 1e6) < 1e-3 ? whole / 1e8 : p / 100;
}

/* The order statistics between which a percentile lies, and how far. */
struct place {
	size_t low, high;
	double t;
};

static size_t rank_at(double at, size_t n)
{
	if (!(at > 0))
		return 0;
	return at >= (double)n - 1 ? n - 1 : (size_t)at;
}

static struct place place_of(double p, size_t n, enum ib_rule rule)
{
	double at = p / 100 * (double)(n - 1);
	struct place pl;

	switch (rule) {
	case IB_RULE_NEAREST_RANK:
	case IB_RULE_INVERSE_CDF:
		pl.low = pl.high = rank_at(ceil(p / 100 * (double)n - 1e-9) - 1, n);
		pl.t = 0;
		break;
	case IB_RULE_NEAREST:
		pl.low = pl.high = rank_at(nearbyint(at), n);
		pl.t = 0;
		break;
	default:
		pl.low = rank_at(at, n);
		pl.high = pl.low + 1 < n ? pl.low + 1 : pl.low;
		pl.t = pl.low == pl.high ? 0 : at - (double)pl.low;
		break;
	}
	return pl;
}

/* Between a and b, exact at both ends and monotonic. */
static double between(double a, double b, double t)
{
	if (t <= 0 || a == b)
		return a;
	return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double ib_percentile(const double *sorted, size_t n, double p, enum ib_rule rule)
{
	struct place pl = place_of(p, n, rule);

	return between(sorted[pl.low], sorted[pl.high], pl.t);
}

/* --- weights --- */

struct weighed {
	double v, w;
};

static int by_value(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

/* Distinct values in ascending order, each with the sum of its weights; those of no weight are left out. */
static struct weighed *distribution(const struct ib_series *s, size_t *ret_n)
{
	struct weighed *d = ib_realloc(NULL, s->n + 1, sizeof(*d));
	size_t n = 0, out = 0;

	for (size_t k = 0; k < s->n_pieces; k++)
		for (size_t i = 0; i < s->pieces[k].n; i++, n++)
			d[n] = (struct weighed){s->pieces[k].v[i], s->w ? s->w[n] : 1};
	qsort(d, n, sizeof(*d), by_value);
	for (size_t i = 0; i < n; i++) {
		if (!(d[i].w > 0))
			continue;
		if (out && d[out - 1].v == d[i].v)
			d[out - 1].w += d[i].w;
		else
			d[out++] = d[i];
	}
	*ret_n = out;
	return d;
}

/* The shares are added up in doubles, one after the other: a sum that falls short of p by rounding takes the next value, as it does in the client. */
static void by_cdf(const struct ib_series *s, struct ib_quantile *q, size_t n)
{
	size_t n_values;
	ib_auto_free struct weighed *d = distribution(s, &n_values);
	long double all = 0;
	double sum = 0;

	for (size_t i = 0; i < n_values; i++)
		all += d[i].w;
	for (size_t i = 0; i < n_values; i++) {
		sum += d[i].w / (double)all;
		d[i].w = sum;
	}
	for (size_t k = 0; k < n; k++) {
		size_t low = 0, high = n_values;

		if (q[k].rule != IB_RULE_INVERSE_CDF)
			continue;
		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (d[mid].w < share(q[k].p))
				low = mid + 1;
			else
				high = mid;
		}
		q[k].value = n_values ? d[low < n_values ? low : n_values - 1].v : NAN;
	}
}

/* --- all of them --- */

void ib_series_quantiles(const struct ib_series *s, struct ib_quantile *q, size_t n)
{
	ib_auto_free size_t *ranks = ib_realloc(NULL, 2 * n + 1, sizeof(*ranks));
	ib_auto_free double *values = ib_realloc(NULL, 2 * n + 1, sizeof(*values));
	bool cdf = false;

	for (size_t k = 0; k < n; k++) {
		struct place pl = {0, 0, 0};

		q[k].value = NAN;
		cdf = cdf || q[k].rule == IB_RULE_INVERSE_CDF;
		if (s->n)
			pl = place_of(q[k].p, s->n, q[k].rule);
		ranks[2 * k] = pl.low;
		ranks[2 * k + 1] = pl.high;
	}
	if (s->state != IB_STAT_VALUE || s->n == 0)
		return;
	ib_series_select(s, ranks, values, 2 * n);
	for (size_t k = 0; k < n; k++)
		q[k].value = between(values[2 * k], values[2 * k + 1], place_of(q[k].p, s->n, q[k].rule).t);
	if (cdf && (s->w || s->n <= CDF_MAX))
		by_cdf(s, q, n);
}

double ib_series_quantile(const struct ib_series *s, double p, enum ib_rule rule)
{
	struct ib_quantile q = {.p = p, .rule = rule};

	ib_series_quantiles(s, &q, 1);
	return q.value;
}
