/* SPDX-License-Identifier: Apache-2.0 */
/* Results by what they have in common; results by the pages of metrics around them. */
#include "verify/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define KEY_MAX 8192

static const enum ib_setting_key work[] = {IB_SET_MODEL, IB_SET_DATASET, IB_SET_REQUESTS, IB_SET_INPUT_LEN, IB_SET_OUTPUT_LEN, IB_SET_LENGTH_RANGE,
		IB_SET_IGNORE_EOS};

static void add_setting(struct ib_buf *b, const struct ib_audit_run *run, const struct ib_result *res, enum ib_setting_key k)
{
	const char *text = ib_audit_setting(run, res, k);

	ib_buf_addf(b, "|%d=%s", (int)k, text ? text : "");
}

/* Asked lengths, where the records hold them: a cell that varies them is other work. */
static void add_asked(struct ib_buf *b, const struct ib_columns *c)
{
	int64_t in = 0, out = 0;

	for (size_t i = 0; i < c->n; i++) {
		in += c->input_asked && c->input_asked[i] > 0 ? c->input_asked[i] : 0;
		out += c->output_asked && c->output_asked[i] > 0 ? c->output_asked[i] : 0;
	}
	ib_buf_addf(b, "|%" PRId64 "|%" PRId64, in, out);
}

static void add_work(struct ib_buf *b, const struct ib_audit_run *run, const struct ib_result *res)
{
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		add_setting(b, run, res, work[i]);
	ib_buf_addf(b, "|%s|%" PRId64, res->label ? res->label : "", res->requests.asked);
	add_asked(b, &res->columns);
}

static void add_command(struct ib_buf *b, const struct ib_audit_run *run, const struct ib_result *res, bool seed)
{
	for (int k = 0; k < IB_SETTINGS; k++)
		if (k != IB_SET_SEED || seed)
			add_setting(b, run, res, (enum ib_setting_key)k);
	ib_buf_addf(b, "|%" PRId64 "|%g", res->concurrency_asked, res->rate_asked);
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static char *key_of(const struct ib_audit_run *run, const struct ib_result *res, enum ib_sameness by)
{
	const struct ib_entry *start = run->run && run->run->start ? &run->run->start->e : NULL;
	const char *cell = start ? or_empty(start->cell) : "";
	struct ib_buf b = IB_BUF(KEY_MAX);

	ib_buf_addf(&b, "%s|", start ? or_empty(start->group) : "");
	if (by == IB_SAME_CELL && start) {
		ib_buf_addf(&b, "%s|%s", cell, or_empty(res->label));
		return ib_buf_steal(&b);
	}
	ib_buf_adds(&b, res->client->name);
	if (by != IB_SAME_CLIENT)
		add_work(&b, run, res);
	if (by >= IB_SAME_CELL) {
		ib_buf_addf(&b, "|%s", cell);
		add_command(&b, run, res, by == IB_SAME_COMMAND);
	}
	return ib_buf_steal(&b);
}

static int by_key(const void *a, const void *b)
{
	const struct ib_member *x = a, *y = b;
	int d = strcmp(x->key, y->key);

	if (d)
		return d;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->res > y->res) - (x->res < y->res);
}

void ib_members_gather(const struct ib_audit_view *v, enum ib_sameness by, struct ib_members *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		n += v->runs[i].results->n;
	*ret = (struct ib_members){.v = ib_alloc((n + 1) * sizeof(*ret->v))};
	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			if (res->unknown_version || res->any_benchmark || res->within)
				continue;
			ret->v[ret->n++] = (struct ib_member){&v->runs[i], res, key_of(&v->runs[i], res, by), i};
		}
	if (ret->n > 1)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_key);
}

size_t ib_members_end(const struct ib_members *m, size_t from)
{
	size_t to = from + 1;

	while (to < m->n && strcmp(m->v[to].key, m->v[from].key) == 0)
		to++;
	return to;
}

void ib_members_clear(struct ib_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].key);
	free(m->v);
	*m = (struct ib_members){0};
}

static double number(int64_t n)
{
	return n == IB_NOT_IN_FILE ? NAN : (double)n;
}

static double or_zero(int64_t n)
{
	return n == IB_NOT_IN_FILE ? 0 : (double)n;
}

/* The most output tokens that one request of the result can have had. */
static double longest_of(const struct ib_audit_run *run, const struct ib_result *res)
{
	const struct ib_columns *c = &res->columns;
	double most = ib_audit_number(run, res, IB_SET_OUTPUT_LEN);

	for (size_t i = 0; i < c->n; i++) {
		int64_t one = c->output_asked && c->output_asked[i] > 0 ? c->output_asked[i] : c->output_tokens ? c->output_tokens[i] : -1;

		if (one > 0 && !(most >= (double)one))
			most = (double)one;
	}
	return most;
}

static void add_result(struct ib_window *w, const struct ib_audit_run *run, const struct ib_result *res)
{
	double longest = longest_of(run, res);

	w->results++;
	w->complete = w->complete && !res->unknown_version;
	w->succeeded += number(res->requests.succeeded);
	w->failed += or_zero(res->requests.failed) + or_zero(res->requests.timed_out) + or_zero(res->requests.incomplete);
	w->input_tokens += number(res->input_tokens);
	w->output_tokens += number(res->output_tokens);
	w->warmups += ib_audit_number(run, res, IB_SET_WARMUPS);
	if (!(w->longest >= longest))
		w->longest = longest;
}

static bool same_pages(const struct ib_context *a, const struct ib_context *b)
{
	return a == b || (ib_streq(a->before.file, b->before.file) && ib_streq(a->after.file, b->after.file));
}

void ib_windows_gather(const struct ib_audit_view *v, struct ib_windows *ret)
{
	*ret = (struct ib_windows){.v = ib_alloc((v->n_runs + 1) * sizeof(*ret->v))};
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];
		struct ib_window *w = ret->n ? &ret->v[ret->n - 1] : NULL;

		if (!run->context->before.file || !run->context->after.file)
			continue;
		if (!w || !same_pages(w->context, run->context)) {
			w = &ret->v[ret->n++];
			*w = (struct ib_window){.context = run->context, .file = run->context->after.file, .first = i, .longest = NAN, .complete = true};
		}
		w->last = i;
		w->runs++;
		w->complete = w->complete && !run->torn.n && ib_audit_whole(run);
		for (size_t k = 0; k < run->results->n; k++)
			if (!run->results->v[k].within)
				add_result(w, run, &run->results->v[k]);
	}
}

void ib_windows_clear(struct ib_windows *w)
{
	free(w->v);
	*w = (struct ib_windows){0};
}

double ib_window_hits(const struct ib_window *w)
{
	return ib_counter_delta(w->context, IB_COUNTER_CACHE_HITS);
}

double ib_window_queries(const struct ib_window *w)
{
	double queries = ib_counter_delta(w->context, IB_COUNTER_CACHE_QUERIES);

	/* llama.cpp counts the prompt tokens that it found in the cache apart from the others */
	return isnan(queries) && strcmp(w->context->after.engine, "llamacpp") != 0 ? ib_counter_delta(w->context, IB_COUNTER_PROMPT_TOKENS) : queries;
}

double ib_window_finished(const struct ib_window *w)
{
	double sum = NAN;

	for (int k = IB_COUNTER_DONE_STOP; k <= IB_COUNTER_DONE_ERROR; k++) {
		double d = ib_counter_delta(w->context, (enum ib_counter)k);

		if (!isnan(d))
			sum = isnan(sum) ? d : sum + d;
	}
	return sum;
}

const char *ib_window_trouble(const struct ib_window *w)
{
	double made = ib_counter_delta(w->context, IB_COUNTER_OUTPUT_TOKENS), began = ib_counter_delta(w->context, IB_COUNTER_STARTED_AT);

	if (w->context->counters_problem)
		return w->context->counters_problem;
	if (!isnan(began) && began != 0)
		return "the server was restarted between the two pages of metrics";
	if (made < 0 || ib_window_queries(w) < 0)
		return "a counter went down: the server was restarted between the two pages of metrics";
	if (made == 0 && w->output_tokens > 0)
		return "the counters stood still: the pages of metrics are not of this run";
	return NULL;
}
