/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering results by cell. */
#include "verify/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/series.h"

#define CELLS_MAX 1000 /* a screen shows a few; what lies beyond is for the report */

static bool same(const struct ib_cell *a, const struct ib_cell *b)
{
	return ib_streq(a->group, b->group) && ib_streq(a->cell, b->cell) && a->res == b->res && a->contract == b->contract &&
	       ib_streq(a->label, b->label);
}

struct gathered {
	const struct ib_study_view *study; /* NULL: a folder */
	struct ib_cell *cells;
	size_t n;
};

static struct ib_cell *cell_of(struct gathered *g, const struct ib_audit_run *run, const struct ib_result *res)
{
	const struct ib_entry *start = run->run && run->run->start ? &run->run->start->e : NULL;
	struct ib_cell key = {.group = start ? start->group : NULL, .cell = start ? start->cell : NULL, .label = res ? res->label : NULL};

	if (!start) {
		key.res = res;
		key.run = run;
	} else if (g->study) {
		key.contract = ib_study_contract_at(g->study, start->seq, NULL);
		key.amended = key.contract && g->study->contract_entry && key.contract != &g->study->contract_entry->e;
	}
	key.diagnostic = json_is_true(json_object_get(run->group, "diagnostic"));
	key.asked = key.got = 0;
	key.hit_share = NAN;
	for (size_t i = 0; i < g->n; i++)
		if (same(&g->cells[i], &key))
			return &g->cells[i];
	if (g->n == CELLS_MAX)
		return NULL;
	g->cells[g->n] = key;
	return &g->cells[g->n++];
}

char *ib_loose_name(const struct ib_audit_run *run, const struct ib_result *res)
{
	ib_auto_free char *number = res && (res->index || run->results->n > 1) && !res->label ? ib_asprintf(" #%zu", res->index + 1) : ib_strdup("");
	bool by_file = res && (strcmp(run->name, ".") == 0 || run->results->n > 1);

	return ib_asprintf("%s%s%s%s", by_file ? res->file : run->name, number, res && res->label ? " " : "", res && res->label ? res->label : "");
}

static double value(struct ib_stat s)
{
	return s.state == IB_STAT_VALUE ? s.value : NAN;
}

/* Output tokens that the succeeded requests were asked for; NaN: not said. */
static double asked_tokens(const struct ib_audit_run *run, const struct ib_result *res)
{
	const struct ib_columns *c = &res->columns;
	double each = ib_audit_number(run, res, IB_SET_OUTPUT_LEN), sum = 0;

	for (size_t i = 0; c->output_asked && i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (c->output_asked[i] < 0)
			return NAN;
		sum += (double)c->output_asked[i];
	}
	if (c->output_asked)
		return sum;
	return res->requests.succeeded == IB_NOT_IN_FILE ? NAN : each * (double)res->requests.succeeded;
}

static void add_times(struct ib_cell *c, const struct ib_result *res)
{
	struct ib_range interval = ib_result_interval(res, res->ttft, 50);

	c->formulas_differ = c->formulas_differ || (c->ttft && c->ttft != res->ttft);
	c->ttft = c->formulas_differ ? NULL : res->ttft;
	ib_range_add(&c->p50_s, value(ib_result_percentile(res, res->ttft, 50)));
	ib_range_add(&c->p95_s, value(ib_result_percentile(res, res->ttft, 95)));
	if (!interval.n)
		return;
	ib_range_add(&c->interval_s, interval.min);
	ib_range_add(&c->interval_s, interval.max);
}

static void add_result(struct ib_cell *c, const struct ib_audit_run *run, const struct ib_result *res)
{
	c->measured++;
	if (res->requests.attempted != IB_NOT_IN_FILE && res->requests.succeeded != IB_NOT_IN_FILE) {
		c->attempted += res->requests.attempted;
		c->succeeded += res->requests.succeeded;
	}
	c->got += res->output_tokens == IB_NOT_IN_FILE ? NAN : (double)res->output_tokens;
	c->asked += asked_tokens(run, res);
	if (!res->any_benchmark)
		add_times(c, res);
	ib_range_add(&c->rate_hz, value(ib_result_scalar(res, &ib_requests_over_duration)));
	if (res->concurrency_asked > 0)
		ib_range_add(&c->cap, (double)res->concurrency_asked);
	ib_range_add(&c->peak, value(ib_result_scalar(res, &ib_peak_in_flight)));
}

static void add_record(struct ib_cell *c, const struct ib_record *r)
{
	c->confirmed += r->cache.evidence == IB_CONFIRMED;
	c->contradicted += r->cache.evidence == IB_CONTRADICTED;
	c->unconfirmed += r->cache.evidence == IB_UNCONFIRMED;
	if (!c->condition)
		c->condition = r->cache.condition;
	else if (!ib_streq(c->condition, r->cache.condition))
		c->mixed = true;
}

static double hit_share(const struct ib_context *c)
{
	const struct ib_window w = {.context = c, .output_tokens = NAN};

	return !c->before.file || !c->after.file || ib_window_trouble(&w) ? NAN : ib_window_hits(&w) / ib_window_queries(&w);
}

static void count_run(struct ib_cell *c, const struct ib_audit_run *run)
{
	c->runs++;
	if (run->run && run->run->has_record && run->run->record.state != IB_STATE_REFUSED)
		add_record(c, &run->run->record);
}

static void add_run(struct gathered *g, const struct ib_audit_run *run)
{
	struct ib_cell *c = NULL;
	bool counted = false;

	if (run->run && run->run->exclusion) {
		c = cell_of(g, run, NULL);
		if (c)
			c->runs++;
		if (c)
			c->excluded++;
		return;
	}
	for (size_t k = 0; k < run->results->n; k++) {
		const struct ib_result *res = &run->results->v[k];

		if (res->unknown_version)
			continue;
		c = cell_of(g, run, res);
		if (!c)
			return;
		add_result(c, run, res);
		c->hit_share = hit_share(run->context);
		if (!counted || res->label || !run->run)
			count_run(c, run);
		counted = true;
	}
	c = counted || !run->run ? NULL : cell_of(g, run, NULL);
	if (c)
		count_run(c, run);
}

/* Diagnostic cells stand behind all others, each kind in its order. */
static struct ib_cell *headline_first(struct ib_cell *cells, size_t n)
{
	struct ib_cell *ret = ib_alloc(CELLS_MAX * sizeof(*ret));
	size_t k = 0;

	for (int diagnostic = 0; diagnostic < 2; diagnostic++)
		for (size_t i = 0; i < n; i++)
			if (cells[i].diagnostic == diagnostic)
				ret[k++] = cells[i];
	free(cells);
	return ret;
}

size_t ib_audit_cells(const struct ib_audit_view *v, struct ib_cell **ret)
{
	struct gathered g = {.study = v->study, .cells = ib_alloc(CELLS_MAX * sizeof(*g.cells))};

	for (size_t i = 0; i < v->n_runs; i++)
		if (!v->runs[i].run || v->runs[i].run->start)
			add_run(&g, &v->runs[i]);
	*ret = headline_first(g.cells, g.n);
	return g.n;
}
