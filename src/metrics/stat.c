/* SPDX-License-Identifier: Apache-2.0 */
/* Means, deviations and percentiles of samples, each with its state. */
#include "metrics/stat.h"

#include <math.h>
#include <stdlib.h>

static const char too_few[] = "too few samples for this percentile";

struct ib_stat ib_stat_value(double value, size_t n)
{
	return (struct ib_stat){.state = IB_STAT_VALUE, .value = value, .n = n, .max = NAN};
}

struct ib_stat ib_stat_ratio(struct ib_stat over, double under)
{
	if (over.state != IB_STAT_VALUE)
		return over;
	if (!(under > 0))
		return ib_stat_undefined("the duration is not positive");
	if (!isfinite(over.value / under))
		return ib_stat_undefined("the duration is too short to divide by");
	return ib_stat_value(over.value / under, over.n);
}

struct ib_stat ib_stat_undefined(const char *why)
{
	return (struct ib_stat){.state = IB_STAT_UNDEFINED, .value = NAN, .max = NAN, .why = why};
}

struct ib_stat ib_stat_not_recorded(const char *why)
{
	return (struct ib_stat){.state = IB_STAT_NOT_RECORDED, .value = NAN, .max = NAN, .why = why};
}

void ib_series_clear(struct ib_series *s)
{
	free(s->v);
	free(s->w);
	*s = (struct ib_series){0};
}

/* The state of a statistic over s before it is computed. */
static struct ib_stat begin(const struct ib_series *s)
{
	if (s->state == IB_STAT_NOT_RECORDED)
		return ib_stat_not_recorded(s->why);
	if (s->state == IB_STAT_UNDEFINED || s->n == 0)
		return ib_stat_undefined(s->why ? s->why : "no samples");
	return ib_stat_value(NAN, s->n);
}

static double mean_of(const struct ib_series *s)
{
	long double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i];
	return (double)(sum / s->n);
}

struct ib_stat ib_series_mean(const struct ib_series *s)
{
	struct ib_stat st = begin(s);

	if (st.state == IB_STAT_VALUE)
		st.value = mean_of(s);
	return st;
}

struct ib_stat ib_series_std(const struct ib_series *s)
{
	struct ib_stat st = begin(s);
	long double sum = 0, mean = 0;

	if (st.state != IB_STAT_VALUE)
		return st;
	if (s->n == 1)
		return ib_stat_undefined("one sample has no deviation");
	for (size_t i = 0; i < s->n; i++)
		mean += s->v[i];
	mean /= s->n;
	for (size_t i = 0; i < s->n; i++)
		sum += (s->v[i] - mean) * (s->v[i] - mean);
	st.value = (double)sqrtl(sum / s->n);
	return st;
}

struct ib_stat ib_series_max(const struct ib_series *s)
{
	struct ib_stat st = begin(s);

	if (st.state != IB_STAT_VALUE)
		return st;
	st.value = s->v[0];
	for (size_t i = 1; i < s->n; i++)
		st.value = s->v[i] > st.value ? s->v[i] : st.value;
	return st;
}

size_t ib_percentile_needs(double p)
{
	if (p <= 50)
		return 1;
	if (p >= 100)
		return 1; /* the maximum is what it says */
	return (size_t)ceil(100 / (100 - p) - 1e-6);
}

/* Between a and b, exact at both ends and monotonic. */
static double between(double a, double b, double t)
{
	return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

double ib_percentile(const double *sorted, size_t n, double p, enum ib_rule rule)
{
	double q = p / 100, at;
	size_t i;

	if (rule == IB_RULE_NEAREST_RANK) {
		at = ceil(q * n - 1e-9);
		i = at < 1 ? 0 : (size_t)at - 1;
		return sorted[i < n ? i : n - 1];
	}
	at = q * (n - 1);
	if (rule == IB_RULE_NEAREST) {
		i = at < 0 ? 0 : (size_t)rint(at); /* rounds halves to even */
		return sorted[i < n ? i : n - 1];
	}
	i = at < 0 ? 0 : (size_t)at;
	if (i + 1 >= n)
		return sorted[n - 1];
	return between(sorted[i], sorted[i + 1], at - i);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void ib_series_sort(struct ib_series *s)
{
	if (!s->sorted && s->n)
		qsort(s->v, s->n, sizeof(*s->v), ascending);
	s->sorted = true;
}

struct ib_stat ib_series_percentile(struct ib_series *s, double p, enum ib_rule rule)
{
	struct ib_stat st = begin(s);

	st.rule = rule;
	if (st.state != IB_STAT_VALUE)
		return st;
	ib_series_sort(s);
	if (s->n < ib_percentile_needs(p))
		return (struct ib_stat){.state = IB_STAT_UNDEFINED, .value = NAN, .n = s->n, .rule = rule, .max = s->v[s->n - 1], .why = too_few};
	st.value = ib_percentile(s->v, s->n, p, rule);
	return st;
}

const char *ib_rule_name(enum ib_rule rule)
{
	static const char *const names[] = {[IB_RULE_NONE] = NULL, [IB_RULE_LINEAR] = "linear", [IB_RULE_NEAREST_RANK] = "nearest_rank", [IB_RULE_NEAREST] = "nearest"};

	return names[rule];
}

const char *ib_stat_state_name(enum ib_stat_state state)
{
	static const char *const names[] = {[IB_STAT_NOT_RECORDED] = "not_recorded", [IB_STAT_UNDEFINED] = "undefined", [IB_STAT_VALUE] = "value"};

	return names[state];
}
