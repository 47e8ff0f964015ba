/* SPDX-License-Identifier: Apache-2.0 */
/* Means, deviations and percentiles of samples, each with its state. */
#include "metrics/stat.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

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

/* --- samples --- */

static void add_piece(struct ib_series *s, const double *v, size_t n)
{
	if (n == 0)
		return;
	s->n += n;
	if (s->n_pieces && s->pieces[s->n_pieces - 1].v + s->pieces[s->n_pieces - 1].n == v) {
		s->pieces[s->n_pieces - 1].n += n;
		return;
	}
	if (s->n_pieces < 4 || (s->n_pieces & (s->n_pieces - 1)) == 0)
		s->pieces = ib_realloc(s->pieces, 2 * s->n_pieces + 4, sizeof(*s->pieces));
	s->pieces[s->n_pieces++] = (struct ib_piece){v, n};
}

void ib_series_own(struct ib_series *s, double *v, double *w, size_t n)
{
	s->v = v;
	s->w = w;
	add_piece(s, v, n);
}

void ib_series_piece(struct ib_series *s, const double *v, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++)
		if (isnan(v[i])) {
			add_piece(s, v + from, i - from);
			from = i + 1;
		}
	add_piece(s, v + from, n - from);
}

void ib_series_clear(struct ib_series *s)
{
	free(s->pieces);
	free(s->v);
	free(s->w);
	*s = (struct ib_series){0};
}

/* --- moments --- */

static struct ib_moments weighted(const struct ib_series *s)
{
	struct ib_moments m = {.mean = NAN, .min = INFINITY, .max = -INFINITY, .n = s->n};
	long double all = 0, sum = 0, squares = 0, mean;

	for (size_t i = 0; i < s->n; i++) {
		all += s->w[i];
		sum += (long double)s->v[i] * s->w[i];
		m.min = fmin(m.min, s->v[i]);
		m.max = fmax(m.max, s->v[i]);
	}
	mean = sum / all;
	for (size_t i = 0; i < s->n; i++)
		squares += s->w[i] * (s->v[i] - mean) * (s->v[i] - mean);
	m.count = (double)all;
	m.mean = (double)mean;
	m.std = (double)sqrtl(squares / all);
	return m;
}

struct ib_moments ib_series_moments(const struct ib_series *s)
{
	struct ib_moments m = {.mean = NAN, .min = INFINITY, .max = -INFINITY, .std = NAN, .n = s->n};
	long double sum = 0, squares = 0, mean;

	if (s->state != IB_STAT_VALUE || s->n == 0)
		return (struct ib_moments){NAN, NAN, NAN, NAN, NAN, 0};
	if (s->w)
		return weighted(s);
	for (size_t k = 0; k < s->n_pieces; k++)
		for (size_t i = 0; i < s->pieces[k].n; i++) {
			double v = s->pieces[k].v[i];

			sum += v;
			m.min = v < m.min ? v : m.min;
			m.max = v > m.max ? v : m.max;
		}
	mean = sum / s->n;
	for (size_t k = 0; k < s->n_pieces; k++)
		for (size_t i = 0; i < s->pieces[k].n; i++) {
			long double d = s->pieces[k].v[i] - mean;

			squares += d * d;
		}
	m.count = (double)s->n;
	m.mean = (double)mean;
	m.std = (double)sqrtl(squares / s->n);
	return m;
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

struct ib_stat ib_series_mean(const struct ib_series *s)
{
	struct ib_stat st = begin(s);

	if (st.state == IB_STAT_VALUE)
		st.value = ib_series_moments(s).mean;
	return st;
}

struct ib_stat ib_series_std(const struct ib_series *s)
{
	struct ib_stat st = begin(s);

	if (st.state == IB_STAT_VALUE && s->n == 1)
		return ib_stat_undefined("one sample has no deviation");
	if (st.state == IB_STAT_VALUE)
		st.value = ib_series_moments(s).std;
	return st;
}

struct ib_stat ib_series_max(const struct ib_series *s)
{
	struct ib_stat st = begin(s);

	if (st.state == IB_STAT_VALUE)
		st.value = ib_series_moments(s).max;
	return st;
}

/* --- percentiles --- */

size_t ib_percentile_needs(double p)
{
	if (p <= 50)
		return 1;
	if (p >= 100)
		return 1; /* the maximum is what it says */
	return (size_t)ceil(100 / (100 - p) - 1e-6);
}

struct ib_stat ib_series_percentile(const struct ib_series *s, double p, enum ib_rule rule)
{
	struct ib_stat st = begin(s);

	st.rule = rule;
	if (st.state != IB_STAT_VALUE)
		return st;
	if (s->n < ib_percentile_needs(p))
		return (struct ib_stat){
			.state = IB_STAT_UNDEFINED, .value = NAN, .n = s->n, .rule = rule, .max = ib_series_moments(s).max, .why = too_few};
	st.value = ib_series_quantile(s, p, rule);
	return st;
}

const char *ib_rule_name(enum ib_rule rule)
{
	static const char *const names[] = {[IB_RULE_NONE] = NULL,
					    [IB_RULE_LINEAR] = "linear",
					    [IB_RULE_NEAREST_RANK] = "nearest_rank",
					    [IB_RULE_NEAREST] = "nearest",
					    [IB_RULE_INVERSE_CDF] = "inverse_cdf"};

	return names[rule];
}

const char *ib_stat_state_name(enum ib_stat_state state)
{
	static const char *const names[] = {[IB_STAT_NOT_RECORDED] = "not_recorded", [IB_STAT_UNDEFINED] = "undefined", [IB_STAT_VALUE] = "value"};

	return names[state];
}
