/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics wanted against metrics derived; cells planned against cells run. */
#include "verify/coverage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "verify/load.h"

#define CELLS_MAX 10000

/* --- metrics --- */

/* A word in a metric's name, and how its number is looked for: in a result's own formula of that sort, or as a scalar; in claims by their formula's name. */
static const struct metric {
	const char *word;
	const char *claim; /* beginning of the names of formulas */
	char series;       /* 't' TTFT, 'p' TPOT, 'i' ITL, 'e' end to end, 0 */
	const struct ib_formula *scalar;
} metrics[] = {
	{"energy", "energy", 0, &ib_energy_per_output_token}, /* before the times of which its name holds words */
	{"ttft", "ttft", 't', NULL},
	{"first token", "ttft", 't', NULL},
	{"tpot", "tpot", 'p', NULL},
	{"per output token", "tpot", 'p', NULL},
	{"itl", "itl", 'i', NULL},
	{"inter-token", "itl", 'i', NULL},
	{"e2e", "e2e", 'e', NULL},
	{"end to end", "e2e", 'e', NULL},
	{"latency", "e2e", 'e', NULL},
	{"goodput", "goodput", 0, &ib_goodput_client},
	{"requests", "requests_over", 0, &ib_requests_over_duration},
	{"req/s", "requests_over", 0, &ib_requests_over_duration},
	{"total token", "total_tokens_over", 0, &ib_total_tokens_over_duration},
	{"input token", "input_tokens_over", 0, &ib_input_tokens_over_duration},
	{"output token", "output_tokens_over", 0, &ib_output_tokens_over_duration},
	{"tokens", "output_tokens_over", 0, &ib_output_tokens_over_duration},
	{"tok/s", "output_tokens_over", 0, &ib_output_tokens_over_duration},
	{"throughput", "output_tokens_over", 0, &ib_output_tokens_over_duration},
	{"fail", "count_failed", 0, &ib_count_failed},
	{"error", "count_failed", 0, &ib_count_failed},
	{"success", "count_succeeded", 0, &ib_count_succeeded},
};

static const struct metric *find(const char *name)
{
	ib_auto_buf struct ib_buf plain = IB_BUF(1000);

	for (const char *c = name; *c; c++)
		ib_buf_addc(&plain, *c == '_' ? ' ' : *c);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (strcasestr(ib_buf_str(&plain), metrics[i].word))
			return &metrics[i];
	return NULL;
}

static const struct ib_formula *formula_of(const struct metric *m, const struct ib_result *res)
{
	switch (m->series) {
	case 't':
		return res->ttft;
	case 'p':
		return res->tpot;
	case 'i':
		return res->itl;
	case 'e':
		return res->e2e;
	default:
		return m->scalar;
	}
}

static bool derives(const struct ib_formula *f, const struct ib_audit_run *run, const struct ib_result *res)
{
	if (!f)
		return false;
	if (f == &ib_energy_per_output_token) /* its counter is the run's, not the result's */
		return ib_load_energy_per_token(run, res).state == IB_STAT_VALUE;
	return (f->series ? ib_result_percentile(res, f, 50) : ib_result_scalar(res, f)).state == IB_STAT_VALUE;
}

static bool claims(const struct metric *m, const struct ib_result *res)
{
	for (size_t i = 0; i < res->n_claims; i++)
		if (ib_starts(res->claims[i].formula->name, m->claim))
			return true;
	return false;
}

static void look(const struct ib_audit_view *v, struct ib_wanted *w)
{
	const struct metric *m = find(w->metric);

	w->unknown = !m;
	for (size_t i = 0; m && i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];
			const struct ib_formula *f = formula_of(m, res);

			if (res->within || res->unknown_version)
				continue;
			w->results++;
			if (derives(f, &v->runs[i], res)) {
				w->derived++;
				w->formula = w->formula ? w->formula : f->name;
			} else if (claims(m, res)) {
				w->claimed++;
			}
		}
	if (w->results && w->derived == w->results)
		w->how = IB_COVERED_DERIVED;
	else if (w->derived + w->claimed)
		w->how = IB_COVERED_CLAIMED;
}

/* --- cells --- */

static struct ib_planned *planned_cell(struct ib_coverage *c, const char *group, const char *cell)
{
	for (size_t i = 0; i < c->n_cells; i++)
		if (ib_streq(c->cells[i].group, group) && ib_streq(c->cells[i].cell, cell))
			return &c->cells[i];
	return NULL;
}

static void plan(const struct ib_audit_view *v, struct ib_coverage *c)
{
	const json_t *slots = json_object_get(v->study->contract, "plan");
	size_t i;
	json_t *slot;

	c->cells = ib_alloc((json_array_size(slots) + 1) * sizeof(*c->cells));
	json_array_foreach(slots, i, slot) {
		const char *group = json_string_value(json_object_get(slot, "group")), *cell = json_string_value(json_object_get(slot, "cell"));
		struct ib_planned *p = planned_cell(c, group, cell);

		if (!p && c->n_cells < CELLS_MAX) {
			p = &c->cells[c->n_cells++];
			*p = (struct ib_planned){.group = group, .cell = cell};
		}
		if (p)
			p->planned++;
	}
}

static void carry_out(const struct ib_audit_view *v, struct ib_coverage *c)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *run = v->runs[i].run;
		struct ib_planned *p = run->start ? planned_cell(c, run->start->e.group, run->start->e.cell) : NULL;

		if (!p || run->running)
			continue;
		if (run->exclusion) {
			p->excluded++;
			p->why = run->exclusion->e.reason;
		} else if (run->state == IB_STATE_COMPLETED) {
			p->completed++;
			continue;
		} else {
			p->failed++;
		}
		p->run = run->id;
	}
}

static bool unsupported(const char *why)
{
	return why && (strcasestr(why, "unsupported") || strcasestr(why, "not supported"));
}

static enum ib_resolution resolve(const struct ib_planned *p)
{
	if (p->completed >= p->planned)
		return IB_CELL_COMPLETED;
	if (p->completed)
		return IB_CELL_PARTLY;
	if (unsupported(p->why))
		return IB_CELL_UNSUPPORTED;
	if (p->excluded)
		return IB_CELL_EXCLUDED;
	return p->failed ? IB_CELL_FAILED : IB_CELL_UNRUN;
}

void ib_coverage(const struct ib_audit_view *v, struct ib_coverage *ret)
{
	const json_t *wanted = v->study ? json_object_get(v->study->contract, "metrics") : NULL;
	size_t i;
	json_t *one;

	*ret = (struct ib_coverage){0};
	if (!v->study || !v->study->contract)
		return;
	ret->metrics = ib_alloc((json_array_size(wanted) + 1) * sizeof(*ret->metrics));
	json_array_foreach(wanted, i, one) {
		if (!json_is_string(one))
			continue;
		ret->metrics[ret->n_metrics] = (struct ib_wanted){.metric = json_string_value(one)};
		look(v, &ret->metrics[ret->n_metrics++]);
	}
	if (v->alone)
		return;
	plan(v, ret);
	carry_out(v, ret);
	for (i = 0; i < ret->n_cells; i++)
		ret->cells[i].how = resolve(&ret->cells[i]);
}

void ib_coverage_clear(struct ib_coverage *c)
{
	free(c->metrics);
	free(c->cells);
	*c = (struct ib_coverage){0};
}

const char *ib_covered_name(enum ib_covered c)
{
	static const char *const names[] = {[IB_COVERED_MISSING] = "missing", [IB_COVERED_CLAIMED] = "claimed", [IB_COVERED_DERIVED] = "derived"};

	return names[c];
}

const char *ib_resolution_name(enum ib_resolution r)
{
	static const char *const names[] = {
		[IB_CELL_UNRUN] = "unrun",           [IB_CELL_COMPLETED] = "completed",     [IB_CELL_PARTLY] = "partly",
		[IB_CELL_FAILED] = "failed",         [IB_CELL_UNSUPPORTED] = "unsupported", [IB_CELL_EXCLUDED] = "excluded",
	};

	return names[r];
}

json_t *ib_coverage_json(const struct ib_audit_view *v, const struct ib_coverage *c)
{
	json_t *a;

	if (!v->study || !v->study->contract)
		return NULL;
	a = ib_json_array();
	for (size_t i = 0; i < c->n_metrics; i++) {
		const struct ib_wanted *w = &c->metrics[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "metric", w->metric);
		ib_json_set_str(o, "status", ib_covered_name(w->how));
		ib_json_set_str(o, "formula", w->formula);
		ib_json_set_int(o, "results", (int64_t)w->results);
		ib_json_set_int(o, "derived", (int64_t)w->derived);
		ib_json_set_int(o, "claimed", (int64_t)w->claimed);
		ib_json_set_bool(o, "known", !w->unknown);
		ib_json_add(a, o);
	}
	return a;
}

json_t *ib_planned_json(const struct ib_audit_view *v, const struct ib_coverage *c)
{
	json_t *a;

	if (!v->study || !v->study->contract || v->alone)
		return NULL;
	a = ib_json_array();
	for (size_t i = 0; i < c->n_cells; i++) {
		const struct ib_planned *p = &c->cells[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "group", p->group);
		ib_json_set_str(o, "cell", p->cell);
		ib_json_set_str(o, "resolution", ib_resolution_name(p->how));
		ib_json_set_int(o, "planned", (int64_t)p->planned);
		ib_json_set_int(o, "completed", (int64_t)p->completed);
		ib_json_set_int(o, "failed", (int64_t)p->failed);
		ib_json_set_int(o, "excluded", (int64_t)p->excluded);
		ib_json_set_str(o, "run", p->run);
		ib_json_set_str(o, "why", p->why);
		ib_json_add(a, o);
	}
	return a;
}
