/* SPDX-License-Identifier: Apache-2.0 */
/* What records show of the load and of first tokens. */
#include <math.h>

#include "metrics/formula.h"
#include "metrics/traits.h"

static const char no_times[] = "no start and end times in the file";
static const char no_ttft[] = "no times to the first token in the file";
static const char no_window[] = "no duration in the file";
static const char not_told[] = "the file does not tell failed requests from succeeded ones";

static bool measured(const struct ib_columns *c, size_t i)
{
	return !(c->warmup && c->warmup[i]);
}

static bool told(const struct ib_columns *c)
{
	for (size_t i = 0; c->outcome && i < c->n; i++)
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			return false;
	return c->outcome && c->n;
}

struct ib_stat ib_trait_in_flight_mean(const struct ib_columns *c, double window_s)
{
	long double sum = 0;
	size_t n = 0;

	if (!c->e2e_s)
		return ib_stat_not_recorded("no end-to-end times in the file");
	if (isnan(window_s))
		return ib_stat_not_recorded(no_window);
	for (size_t i = 0; i < c->n; i++) {
		if (!measured(c, i) || isnan(c->e2e_s[i]))
			continue;
		sum += c->e2e_s[i];
		n++;
	}
	return ib_stat_ratio(ib_stat_value((double)sum, n), window_s);
}

struct ib_stat ib_trait_cap_used(const struct ib_columns *c, double window_s, int64_t cap)
{
	if (cap <= 0)
		return ib_stat_not_recorded("no cap on concurrency is known");
	return ib_stat_ratio(ib_trait_in_flight_mean(c, window_s), (double)cap);
}

struct ib_stat ib_trait_idle(const struct ib_columns *c, double window_s, int64_t cap)
{
	struct ib_stat used = ib_trait_cap_used(c, window_s, cap);

	return used.state == IB_STAT_VALUE ? ib_stat_value(1 - used.value, used.n) : used;
}

struct ib_stat ib_trait_rate_share(const struct ib_columns *c, double asked_per_s)
{
	const struct ib_measured m = {.columns = c, .duration_s = NAN};

	if (isnan(asked_per_s))
		return ib_stat_not_recorded("no request rate is known that was asked for");
	if (isinf(asked_per_s))
		return ib_stat_undefined("requests were to be sent as fast as possible");
	return ib_stat_ratio(ib_rate_started.scalar(&m), asked_per_s);
}

struct ib_stat ib_trait_queue_over_e2e(const struct ib_columns *c)
{
	long double waited = 0, took = 0;
	size_t n = 0;

	if (!c->queue_s || !c->e2e_s)
		return ib_stat_not_recorded("no queue times in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || isnan(c->queue_s[i]) || isnan(c->e2e_s[i]))
			continue;
		waited += c->queue_s[i];
		took += c->e2e_s[i];
		n++;
	}
	if (!(took > 0))
		return ib_stat_undefined("no request succeeded that took any time");
	return ib_stat_value((double)(waited / took), n);
}

struct ib_stat ib_trait_starts_unordered(const struct ib_columns *c)
{
	double last = -INFINITY;
	size_t n = 0, late = 0;

	if (!c->start_s)
		return ib_stat_not_recorded("no start times in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!measured(c, i) || isnan(c->start_s[i]))
			continue;
		late += c->start_s[i] < last;
		last = c->start_s[i];
		n++;
	}
	return ib_stat_value((double)late, n);
}

struct ib_stat ib_trait_ends_after(const struct ib_columns *c, double window_s)
{
	double first = INFINITY;
	size_t n = 0, after = 0;

	if (!c->start_s || !c->e2e_s)
		return ib_stat_not_recorded(no_times);
	if (isnan(window_s))
		return ib_stat_not_recorded(no_window);
	for (size_t i = 0; i < c->n; i++)
		if (measured(c, i))
			first = fmin(first, c->start_s[i]);
	for (size_t i = 0; i < c->n; i++) {
		double end = c->start_s[i] + c->e2e_s[i] - first;

		if (!measured(c, i) || isnan(end))
			continue;
		after += end > window_s + 1e-6;
		n++;
	}
	return n ? ib_stat_value((double)after, n) : ib_stat_undefined("no request has both a start and an end");
}

static bool absurd(double t, double window_s)
{
	return t < 0 || isinf(t) || t > window_s + 1e-6;
}

static bool absurd_row(const struct ib_columns *c, size_t i, double window_s)
{
	const double *const columns[] = {c->ttft_s, c->last_s, c->e2e_s, c->queue_s};

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		if (columns[k] && absurd(columns[k][i], window_s))
			return true;
	for (size_t k = c->itl_at ? c->itl_at[i] : 0; c->itl_at && k < c->itl_at[i + 1]; k++)
		if (absurd(c->itl_s[k], window_s))
			return true;
	return false;
}

struct ib_stat ib_trait_absurd_times(const struct ib_columns *c, double window_s)
{
	size_t n = 0, bad = 0;

	if (!c->ttft_s && !c->last_s && !c->e2e_s && !c->queue_s && !c->itl_at)
		return ib_stat_not_recorded("no times in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!measured(c, i))
			continue;
		bad += absurd_row(c, i, window_s);
		n++;
	}
	return ib_stat_value((double)bad, n);
}

/* --- first tokens --- */

static bool has_ttft(const struct ib_columns *c, size_t i)
{
	return c->ttft_s[i] > 0;
}

/* The counting row with a TTFT that started first; c->n: none. Without start times, the first in the file. */
static size_t first_row(const struct ib_columns *c)
{
	size_t first = c->n;

	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || !has_ttft(c, i) || (c->start_s && isnan(c->start_s[i])))
			continue;
		if (first == c->n || (c->start_s && c->start_s[i] < c->start_s[first]))
			first = i;
	}
	return first;
}

struct ib_stat ib_trait_first_ttft_over_median(const struct ib_columns *c)
{
	ib_auto_series struct ib_series rest = {.state = IB_STAT_VALUE};
	size_t first;

	if (!c->ttft_s)
		return ib_stat_not_recorded(no_ttft);
	if (!told(c))
		return ib_stat_not_recorded(not_told);
	first = first_row(c);
	for (size_t i = 0; i < c->n; i++)
		if (i != first && ib_columns_counts(c, i) && has_ttft(c, i))
			ib_series_piece(&rest, &c->ttft_s[i], 1);
	if (rest.n < 2)
		return ib_stat_undefined("fewer than 3 requests have a time to the first token");
	return ib_stat_value(c->ttft_s[first] / ib_series_quantile(&rest, 50, IB_RULE_LINEAR), rest.n + 1);
}

struct ib_stat ib_trait_ttft_missing(const struct ib_columns *c)
{
	size_t n = 0, missing = 0;

	if (!c->ttft_s)
		return ib_stat_not_recorded(no_ttft);
	if (!told(c))
		return ib_stat_not_recorded(not_told);
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		missing += !has_ttft(c, i);
		n++;
	}
	return n ? ib_stat_value((double)missing / (double)n, n) : ib_stat_undefined("no request succeeded");
}

static struct ib_stat ttft_mean(const struct ib_columns *c, bool zeros)
{
	long double sum = 0;
	size_t n = 0;

	if (!c->ttft_s)
		return ib_stat_not_recorded(no_ttft);
	if (!told(c))
		return ib_stat_not_recorded(not_told);
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || (!zeros && !has_ttft(c, i)))
			continue;
		sum += has_ttft(c, i) ? c->ttft_s[i] : 0;
		n++;
	}
	return n ? ib_stat_value((double)(sum / n), n) : ib_stat_undefined("no succeeded request has a time to the first token");
}

struct ib_stat ib_trait_ttft_mean_zeros(const struct ib_columns *c)
{
	return ttft_mean(c, true);
}

struct ib_stat ib_trait_ttft_mean_recorded(const struct ib_columns *c)
{
	return ttft_mean(c, false);
}
