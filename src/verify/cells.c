/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering runs by cell. */
#include "verify/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "metrics/formula.h"

#define CELLS_MAX 1000 /* a screen shows a few; what lies beyond is for the report */

static struct ib_cell *cell_of(struct ib_cell *cells, size_t *n, const struct ib_entry *start)
{
	for (size_t i = 0; i < *n; i++)
		if (ib_streq(cells[i].group, start->group) && ib_streq(cells[i].cell, start->cell))
			return &cells[i];
	if (*n == CELLS_MAX)
		return NULL;
	cells[*n] = (struct ib_cell){.group = start->group, .cell = start->cell};
	return &cells[(*n)++];
}

static void widen(struct ib_range *r, struct ib_stat s)
{
	if (s.state != IB_STAT_VALUE)
		return;
	if (!r->n || s.value < r->min)
		r->min = s.value;
	if (!r->n || s.value > r->max)
		r->max = s.value;
	r->n++;
}

static void add_result(struct ib_cell *c, const struct ib_result *res)
{
	c->measured++;
	if (res->requests.attempted != IB_NOT_IN_FILE && res->requests.succeeded != IB_NOT_IN_FILE) {
		c->attempted += res->requests.attempted;
		c->succeeded += res->requests.succeeded;
	}
	widen(&c->p50_s, ib_result_percentile(res, res->ttft, 50));
	widen(&c->p95_s, ib_result_percentile(res, res->ttft, 95));
	widen(&c->rate_hz, ib_result_scalar(res, &ib_requests_over_duration));
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

size_t ib_study_cells(const struct ib_study_view *v, struct ib_cell **ret)
{
	struct ib_cell *cells = ib_alloc(CELLS_MAX * sizeof(*cells));
	size_t n = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *run = &v->runs[i];
		struct ib_cell *c = run->start ? cell_of(cells, &n, &run->start->e) : NULL;

		if (!c)
			continue;
		c->runs++;
		if (run->has_record && run->record.state != IB_STATE_REFUSED)
			add_record(c, &run->record);
		for (size_t k = 0; k < run->results.n; k++)
			add_result(c, &run->results.v[k]);
	}
	*ret = cells;
	return n;
}
