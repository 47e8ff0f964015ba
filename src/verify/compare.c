/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of repeats, pairs of cells. */
#include "verify/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "verify/cells.h"
#include "verify/compare_reasons.h"

#define POOLS_MAX 8
#define PAIRS_MAX 1000

static double value(struct ib_stat s)
{
	return s.state == IB_STAT_VALUE ? s.value : NAN;
}

/* --- pools --- */

static void join(struct ib_pool *p, const struct ib_member *m)
{
	p->v = ib_realloc(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = m;
}

/* The first pool that takes m, or a new one. Beyond the limit the last pool takes all that is left: it is apart anyway. */
static void place(const struct ib_audit_view *v, struct ib_compared *c, const struct ib_member *m)
{
	unsigned first = 0;

	for (size_t i = 0; i < c->n_pools; i++) {
		unsigned why = ib_compare_reasons(v, c->pools[i].v[0], m, false);

		if (i == 0)
			first = why;
		if (!why) {
			join(&c->pools[i], m);
			return;
		}
	}
	if (c->n_pools == POOLS_MAX) {
		c->pools[POOLS_MAX - 1].why |= first;
		join(&c->pools[POOLS_MAX - 1], m);
		return;
	}
	c->pools = ib_realloc(c->pools, c->n_pools + 1, sizeof(*c->pools));
	c->pools[c->n_pools] = (struct ib_pool){.why = first};
	join(&c->pools[c->n_pools++], m);
}

static void measure(struct ib_compared *c)
{
	const struct ib_study_run *first = c->pools[0].v[0]->run->run;

	if (first && first->exclusion)
		return; /* all of them are */
	for (size_t i = 0; i < c->pools[0].n; i++) {
		const struct ib_result *res = c->pools[0].v[i]->res;
		struct ib_range one = ib_result_interval(res, res->ttft, 50);

		ib_range_add(&c->p50_s, value(ib_result_percentile(res, res->ttft, 50)));
		ib_range_add(&c->rate_hz, value(ib_result_scalar(res, &ib_requests_over_duration)));
		if (one.n) {
			ib_range_add(&c->interval_s, one.min);
			ib_range_add(&c->interval_s, one.max);
		}
	}
}

static char *name_of(const struct ib_member *m)
{
	const struct ib_entry *start = m->run->run && m->run->run->start ? &m->run->run->start->e : NULL;
	const char *cell = start && start->cell ? start->cell : m->run->name;

	if (!start)
		return ib_loose_name(m->run, m->res);
	return m->res->label ? ib_asprintf("%s %s", cell, m->res->label) : ib_strdup(cell);
}

static void gather(const struct ib_audit_view *v, struct ib_comparisons *c)
{
	for (size_t i = 0, to; i < c->members.n; i = to) {
		struct ib_compared *cell;

		to = ib_members_end(&c->members, i);
		c->cells = ib_realloc(c->cells, c->n_cells + 1, sizeof(*c->cells));
		cell = &c->cells[c->n_cells++];
		*cell = (struct ib_compared){.lead = &c->members.v[i], .name = name_of(&c->members.v[i])};
		/* what did not go to its end, or was excluded, leads no pool that others could join */
		for (int aside = 0; aside < 2; aside++)
			for (size_t k = i; k < to; k++)
				if (ib_compare_aside(c->members.v[k].run) == aside)
					place(v, cell, &c->members.v[k]);
		measure(cell);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct ib_compared *x = a, *y = b;

	if (x->lead->place != y->lead->place)
		return x->lead->place < y->lead->place ? -1 : 1;
	return (x->lead->res > y->lead->res) - (x->lead->res < y->lead->res);
}

/* --- pairs --- */

static bool same_group(const struct ib_compared *a, const struct ib_compared *b)
{
	const struct ib_study_run *x = a->lead->run->run, *y = b->lead->run->run;

	if (x && y)
		return x->start && y->start && ib_streq(x->start->e.group, y->start->e.group);
	return !x && !y && a->lead->res->client == b->lead->res->client;
}

static enum ib_order order(const struct ib_range *base, const struct ib_range *other)
{
	if (!base->n || !other->n)
		return IB_ORDER_UNKNOWN;
	if (ib_ranges_overlap(base, other))
		return IB_ORDER_NOT_SEPARABLE;
	return other->max < base->min ? IB_ORDER_LOWER : IB_ORDER_HIGHER;
}

static double middle(const struct ib_range *r)
{
	return r->n ? (r->min + r->max) / 2 : NAN;
}

static void judge(const struct ib_audit_view *v, struct ib_pair *p)
{
	p->why = ib_compare_reasons(v, p->base->pools[0].v[0], p->other->pools[0].v[0], true);
	p->ttft_ratio = p->rate_ratio = NAN;
	if (p->why)
		return;
	p->ttft = order(&p->base->interval_s, &p->other->interval_s);
	if (p->base->rate_hz.n > 1 && p->other->rate_hz.n > 1) /* of one run each nobody knows the spread */
		p->rate = order(&p->base->rate_hz, &p->other->rate_hz);
	p->ttft_ratio = middle(&p->other->p50_s) / middle(&p->base->p50_s);
	p->rate_ratio = middle(&p->other->rate_hz) / middle(&p->base->rate_hz);
}

static void pair(const struct ib_audit_view *v, struct ib_comparisons *c)
{
	c->pairs = ib_alloc((c->n_cells + 1) * sizeof(*c->pairs));
	for (size_t i = 1; i < c->n_cells && c->n_pairs < PAIRS_MAX; i++)
		for (size_t k = 0; k < i; k++) {
			if (!same_group(&c->cells[k], &c->cells[i]))
				continue;
			c->pairs[c->n_pairs] = (struct ib_pair){.base = &c->cells[k], .other = &c->cells[i]};
			judge(v, &c->pairs[c->n_pairs++]);
			break; /* with the first cell of its group */
		}
}

void ib_compare(const struct ib_audit_view *v, struct ib_comparisons *ret)
{
	*ret = (struct ib_comparisons){0};
	ib_members_gather(v, IB_SAME_CELL, &ret->members);
	gather(v, ret);
	if (ret->n_cells > 1)
		qsort(ret->cells, ret->n_cells, sizeof(*ret->cells), by_place);
	pair(v, ret);
}

void ib_comparisons_clear(struct ib_comparisons *c)
{
	for (size_t i = 0; i < c->n_cells; i++) {
		for (size_t k = 0; k < c->cells[i].n_pools; k++)
			free(c->cells[i].pools[k].v);
		free(c->cells[i].pools);
		free(c->cells[i].name);
	}
	free(c->cells);
	free(c->pairs);
	ib_members_clear(&c->members);
	*c = (struct ib_comparisons){0};
}

/* --- the findings document --- */

static json_t *reasons(unsigned why)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < IB_NC_CODES; i++)
		if (why & (1u << i))
			ib_json_add_str(a, ib_nc_code(i));
	return a;
}

static json_t *bounds(const struct ib_range *r)
{
	json_t *a;

	if (!r->n)
		return NULL;
	a = ib_json_array();
	ib_json_add(a, json_real(r->min));
	ib_json_add(a, json_real(r->max));
	return a;
}

static json_t *pool(const struct ib_pool *p)
{
	json_t *o = ib_json_object(), *files = ib_json_array();

	for (size_t i = 0; i < p->n; i++)
		ib_json_add_str(files, p->v[i]->res->file);
	ib_json_set(o, "results", files);
	ib_json_set(o, "apart", reasons(p->why));
	return o;
}

static const char *group_of(const struct ib_compared *c)
{
	const struct ib_study_run *run = c->lead->run->run;

	return run && run->start ? run->start->e.group : NULL;
}

json_t *ib_compared_json(const struct ib_comparisons *c)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < c->n_cells; i++) {
		const struct ib_compared *cell = &c->cells[i];
		json_t *o = ib_json_object(), *pools = ib_json_array();

		ib_json_set_str(o, "group", group_of(cell));
		ib_json_set_str(o, "cell", cell->name);
		for (size_t k = 0; k < cell->n_pools; k++)
			ib_json_add(pools, pool(&cell->pools[k]));
		ib_json_set(o, "pools", pools);
		ib_json_set_str(o, "ttft_formula", cell->lead->res->any_benchmark ? NULL : cell->pools[0].v[0]->res->ttft->name);
		ib_json_set(o, "ttft_p50_s", bounds(&cell->p50_s));
		ib_json_set(o, "ttft_p50_interval_s", bounds(&cell->interval_s));
		ib_json_set(o, "requests_per_s", bounds(&cell->rate_hz));
		ib_json_add(a, o);
	}
	return a;
}

static const char *order_name(enum ib_order o)
{
	static const char *const names[] = {[IB_ORDER_NOT_SEPARABLE] = "not_separable", [IB_ORDER_LOWER] = "lower", [IB_ORDER_HIGHER] = "higher"};

	return o == IB_ORDER_UNKNOWN ? NULL : names[o];
}

json_t *ib_pairs_json(const struct ib_comparisons *c)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct ib_pair *p = &c->pairs[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "group", group_of(p->base));
		ib_json_set_str(o, "base", p->base->name);
		ib_json_set_str(o, "other", p->other->name);
		ib_json_set_bool(o, "comparable", p->why == 0);
		ib_json_set(o, "reasons", reasons(p->why));
		ib_json_set_str(o, "ttft_p50", order_name(p->ttft));
		ib_json_set_real(o, "ttft_p50_ratio", p->ttft_ratio);
		ib_json_set_str(o, "requests_per_s", order_name(p->rate));
		ib_json_set_real(o, "requests_per_s_ratio", p->rate_ratio);
		ib_json_add(a, o);
	}
	return a;
}
