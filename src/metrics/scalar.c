/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas that give one number: counts, sums, rates over the client's window, peaks. */
#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "metrics/formula.h"

static const char succeeded[] = "succeeded requests, warm-ups excluded";
static const char attempted[] = "attempted requests, warm-ups excluded";
static const char no_records[] = "no per-request records in the file";
static const char no_times[] = "no start, first-token and end times in the file";

static struct ib_stat count_rows(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	size_t n = 0;

	if (!c->outcome)
		return ib_stat_not_recorded(no_records);
	for (size_t i = 0; i < c->n; i++)
		n += !(c->warmup && c->warmup[i]);
	return ib_stat_value((double)n, n);
}

static struct ib_stat count_warmups(const struct ib_measured *m)
{
	struct ib_stat all = count_rows(m);

	if (all.state != IB_STAT_VALUE)
		return all;
	return ib_stat_value((double)m->columns->n - all.value, m->columns->n);
}

static struct ib_stat count(const struct ib_measured *m, bool ok)
{
	const struct ib_columns *c = m->columns;
	size_t n = 0, all = 0;

	if (!c->outcome)
		return ib_stat_not_recorded(no_records);
	for (size_t i = 0; i < c->n; i++) {
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			return ib_stat_not_recorded("the file does not tell failed requests from succeeded ones");
		all += !(c->warmup && c->warmup[i]);
		n += ib_columns_counts(c, i);
	}
	return ib_stat_value((double)(ok ? n : all - n), all);
}

static struct ib_stat count_ok(const struct ib_measured *m)
{
	return count(m, true);
}

static struct ib_stat count_failed(const struct ib_measured *m)
{
	return count(m, false);
}

static struct ib_stat sum(const struct ib_columns *c, const int64_t *tokens)
{
	double total = 0;
	size_t n = 0;

	if (!c->outcome || !tokens)
		return ib_stat_not_recorded("no token counts per request in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (tokens[i] < 0)
			return ib_stat_not_recorded("some succeeded requests have no token count in the file");
		total += (double)tokens[i];
		n++;
	}
	return ib_stat_value(total, n);
}

static struct ib_stat sum_input(const struct ib_measured *m)
{
	return sum(m->columns, m->columns->input_tokens);
}

static struct ib_stat sum_output(const struct ib_measured *m)
{
	return sum(m->columns, m->columns->output_tokens);
}

static struct ib_stat over_duration(const struct ib_measured *m, struct ib_stat numerator)
{
	if (numerator.state == IB_STAT_VALUE && isnan(m->duration_s))
		return ib_stat_not_recorded("no duration in the file");
	return ib_stat_ratio(numerator, m->duration_s);
}

static struct ib_stat request_rate(const struct ib_measured *m)
{
	return over_duration(m, count_ok(m));
}

static struct ib_stat input_rate(const struct ib_measured *m)
{
	return over_duration(m, sum_input(m));
}

static struct ib_stat output_rate(const struct ib_measured *m)
{
	return over_duration(m, sum_output(m));
}

static struct ib_stat total_rate(const struct ib_measured *m)
{
	struct ib_stat in = sum_input(m), out = sum_output(m);

	if (in.state == IB_STAT_VALUE && out.state == IB_STAT_VALUE)
		in.value += out.value;
	return over_duration(m, out.state == IB_STAT_VALUE ? in : out);
}

/* First start and last end among the succeeded; false when there is none or a time is missing. */
static bool span(const struct ib_columns *c, double *ret_first, double *ret_last)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (isnan(c->start_s[i]) || isnan(c->e2e_s[i]))
			return false;
		if (!any || c->start_s[i] < *ret_first)
			*ret_first = c->start_s[i];
		if (!any || c->start_s[i] + c->e2e_s[i] > *ret_last)
			*ret_last = c->start_s[i] + c->e2e_s[i];
		any = true;
	}
	return any;
}

/* The second, counted from the first start on, in which everything ends; false, with *ret saying why, when there is none. */
static bool seconds(const struct ib_columns *c, double *ret_first, double *ret_n, struct ib_stat *ret)
{
	double last = 0;

	*ret = ib_stat_not_recorded(no_times);
	if (!c->outcome || !c->start_s || !c->e2e_s || !c->ttft_s)
		return false;
	*ret = ib_stat_undefined("no request succeeded with all its times recorded");
	if (!span(c, ret_first, &last))
		return false;
	*ret = ib_stat_undefined("the times run backwards");
	*ret_n = ceil(last - *ret_first) + 1;
	return last >= *ret_first && isfinite(*ret_n);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of sorted whole numbers, how often the most frequent one occurs. */
static size_t most_frequent(double *v, size_t n)
{
	size_t most = 0, run = 0;

	qsort(v, n, sizeof(*v), ascending);
	for (size_t i = 0; i < n; i++) {
		run = i && !(v[i - 1] < v[i]) ? run + 1 : 1;
		most = run > most ? run : most;
	}
	return most;
}

/* Chunks of request i, by the second of their arrival; v has room for all of them. Returns how many there are. */
static size_t add_chunks(const struct ib_columns *c, size_t i, double first, double n_seconds, double *v)
{
	double t = c->start_s[i] + c->ttft_s[i];
	size_t n = 0;

	for (size_t k = c->itl_at[i]; k <= c->itl_at[i + 1]; k++) {
		double since = t - first;

		if (since >= 0 && since < n_seconds)
			v[n++] = floor(since);
		if (k < c->itl_at[i + 1])
			t += c->itl_s[k];
	}
	return n;
}

/* The arrivals themselves are sorted: what it costs follows from their number, not from the time that a file claims to span. */
static struct ib_stat peak_chunks(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	size_t n = 0, samples = 0, most;
	double first = 0, n_seconds;
	struct ib_stat st;
	double *v;

	if (!c->itl_at)
		return ib_stat_not_recorded(no_times);
	if (!seconds(c, &first, &n_seconds, &st))
		return st;
	v = ib_realloc(NULL, c->itl_n + c->n, sizeof(*v));
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		n += add_chunks(c, i, first, n_seconds, v + n);
		samples++;
	}
	most = most_frequent(v, n);
	free(v);
	return ib_stat_value((double)most, samples);
}

struct event {
	double at;
	int change;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->change - y->change; /* an end before a start at the same instant */
}

/* The most that is open at once. Frees e. */
static int sweep(struct event *e, size_t n)
{
	int now = 0, most = 0;

	qsort(e, n, sizeof(*e), by_time);
	for (size_t i = 0; i < n; i++) {
		now += e[i].change;
		most = now > most ? now : most;
	}
	free(e);
	return most;
}

static struct ib_stat peak_requests(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	double first = 0, n_seconds;
	size_t n = 0, samples = 0;
	struct ib_stat st;
	struct event *e;

	if (!seconds(c, &first, &n_seconds, &st))
		return st;
	e = ib_realloc(NULL, 2 * c->n + 1, sizeof(*e));
	for (size_t i = 0; i < c->n; i++) {
		double from, to;

		if (!ib_columns_counts(c, i))
			continue;
		from = c->start_s[i] - first;
		to = c->start_s[i] + c->e2e_s[i] - first;
		samples++;
		if (to < from)
			continue;
		e[n++] = (struct event){floor(from), 1};
		e[n++] = (struct event){floor(to) + 1, -1};
	}
	return ib_stat_value(sweep(e, n), samples);
}

static struct ib_stat in_flight(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	struct event *e;
	size_t n = 0;
	int most;

	if (!c->outcome || !c->start_s || !c->e2e_s)
		return ib_stat_not_recorded(no_times);
	e = ib_realloc(NULL, 2 * c->n + 1, sizeof(*e));
	for (size_t i = 0; i < c->n; i++)
		if (!(c->warmup && c->warmup[i]) && !isnan(c->start_s[i]) && !isnan(c->e2e_s[i])) {
			e[n++] = (struct event){c->start_s[i], 1};
			e[n++] = (struct event){c->start_s[i] + c->e2e_s[i], -1};
		}
	most = sweep(e, n);
	return n ? ib_stat_value(most, n / 2) : ib_stat_undefined("no request has both a start and an end");
}

#define SCALAR(var, id, u, pop, fn, text) const struct ib_formula var = {.name = id, .unit = u, .population = pop, .scalar = fn, .definition = text}

SCALAR(ib_count_attempted, "count_attempted", "requests", attempted, count_rows, "requests sent or asked for");
SCALAR(ib_count_warmups, "count_warmups", "requests", "warm-up requests", count_warmups, "requests sent before the measured ones");
SCALAR(ib_count_succeeded, "count_succeeded", "requests", attempted, count_ok, "requests with no error and at least one output token");
SCALAR(ib_count_failed, "count_failed", "requests", attempted, count_failed, "attempted requests that did not succeed");
SCALAR(ib_sum_input_tokens, "sum_input_tokens", "tokens", succeeded, sum_input, "sum of the input lengths");
SCALAR(ib_sum_output_tokens, "sum_output_tokens", "tokens", succeeded, sum_output, "sum of the output lengths");
SCALAR(ib_requests_over_duration, "requests_over_duration", "1/s", succeeded, request_rate, "succeeded requests / the client's duration");
SCALAR(ib_input_tokens_over_duration, "input_tokens_over_duration", "1/s", succeeded, input_rate, "input tokens / the client's duration");
SCALAR(ib_output_tokens_over_duration, "output_tokens_over_duration", "1/s", succeeded, output_rate, "output tokens / the client's duration");
SCALAR(ib_total_tokens_over_duration, "total_tokens_over_duration", "1/s", succeeded, total_rate, "(input + output tokens) / the client's duration");
SCALAR(ib_peak_chunks_bucket, "peak_chunks_bucket", "1/s", succeeded, peak_chunks, "most chunks in a one-second bucket from the first start on; not tokens");
SCALAR(ib_peak_requests_bucket, "peak_requests_bucket", "requests", succeeded, peak_requests,
       "most requests that touch a one-second bucket; not the requests in flight at once");
SCALAR(ib_peak_in_flight, "peak_in_flight", "requests", attempted, in_flight, "most requests between start and end at one instant");
SCALAR(ib_duration_client, "duration_client", "s", attempted, NULL, "window that the client states; only a lower bound follows from the records");
SCALAR(ib_goodput_client, "goodput_client", "1/s", succeeded, NULL,
       "requests within the client's thresholds / the client's duration; the thresholds are not saved");
