/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks: in one-second buckets as clients count them, and at one instant. */
#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "metrics/formula.h"

static const char no_times[] = "no start, first-token and end times in the file";

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

#define TABLE_MAX 1048576 /* seconds, 12 days: longer ones, which no run takes, are sorted */

/* Where arrivals are counted: a table of seconds, or a list of them. */
struct arrivals {
	double first, n_seconds;
	uint32_t *table;
	double *list;
	size_t n;
};

static void arrive(struct arrivals *a, double t)
{
	double since = t - a->first;

	if (!(since >= 0 && since < a->n_seconds))
		return;
	if (a->table)
		a->table[(size_t)since]++;
	else
		a->list[a->n++] = floor(since);
}

static void add_chunks(const struct ib_columns *c, size_t i, struct arrivals *a)
{
	double t = c->start_s[i] + c->ttft_s[i];

	for (size_t k = c->itl_at[i]; k <= c->itl_at[i + 1]; k++) {
		arrive(a, t);
		if (k < c->itl_at[i + 1])
			t += c->itl_s[k];
	}
}

static size_t largest(const uint32_t *table, size_t n)
{
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = table[i] > most ? table[i] : most;
	return most;
}

/* What it costs follows from the number of arrivals, not from the time that a file claims to span. */
static struct ib_stat peak_chunks(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	struct arrivals a = {0};
	size_t samples = 0, most;
	struct ib_stat st;

	if (!c->itl_at)
		return ib_stat_not_recorded(no_times);
	if (!seconds(c, &a.first, &a.n_seconds, &st))
		return st;
	if (a.n_seconds <= TABLE_MAX)
		a.table = ib_alloc((size_t)a.n_seconds * sizeof(*a.table));
	else
		a.list = ib_realloc(NULL, c->itl_n + c->n, sizeof(*a.list));
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		add_chunks(c, i, &a);
		samples++;
	}
	most = a.table ? largest(a.table, (size_t)a.n_seconds) : most_frequent(a.list, a.n);
	free(a.table);
	free(a.list);
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

const struct ib_formula ib_peak_chunks_bucket = {
	.name = "peak_chunks_bucket",
	.unit = "1/s",
	.definition = "most chunks in a one-second bucket from the first start on; not tokens",
	.population = IB_POPULATION_OK,
	.window = "one second",
	.clients = "vLLM bench serve 0.11 to 0.33, SGLang 0.5 (max_output_tokens_per_s)",
	.scalar = peak_chunks,
};

const struct ib_formula ib_peak_requests_bucket = {
	.name = "peak_requests_bucket",
	.unit = "requests",
	.definition = "most requests that touch a one-second bucket; not the requests in flight at once",
	.population = IB_POPULATION_OK,
	.clients = "vLLM bench serve 0.11 to 0.33, SGLang 0.5 (max_concurrent_requests)",
	.scalar = peak_requests,
};

const struct ib_formula ib_peak_in_flight = {
	.name = "peak_in_flight",
	.unit = "requests",
	.definition = "most requests between start and end at one instant",
	.population = IB_POPULATION_ALL,
	.clients = "no client; this is what a cap on concurrency limits",
	.scalar = in_flight,
};
