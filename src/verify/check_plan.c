/* SPDX-License-Identifier: Apache-2.0 */
/* S11: every planned run was made, and every run was planned. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

struct slot {
	const char *group, *cell;
	int64_t repeat;
	bool filled;
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	int d = compare_text(x->group, y->group);

	if (!d)
		d = compare_text(x->cell, y->cell);
	return d ? d : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

static struct slot *slots_of(const json_t *plan, const char *where, size_t n, struct ib_err *err)
{
	struct slot *slots = ib_alloc(n * sizeof(*slots));

	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(plan, i);

		if (ib_get_str(one, where, "group", &slots[i].group, err) < 0 || ib_get_str_opt(one, where, "cell", &slots[i].cell, err) < 0 ||
		    ib_get_int(one, where, "repeat", 1, INT32_MAX, &slots[i].repeat, err) < 0) {
			free(slots);
			return NULL;
		}
	}
	qsort(slots, n, sizeof(*slots), compare);
	return slots;
}

static bool fills(enum ib_state s)
{
	return s == IB_STATE_COMPLETED || s == IB_STATE_FAILED || s == IB_STATE_TIMED_OUT;
}

static void match(const struct ib_check *self, const struct ib_study_view *v, struct slot *slots, size_t n, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];
		struct slot key = {.group = r->start->e.group, .cell = r->start->e.cell, .repeat = r->start->e.repeat};
		struct slot *slot = bsearch(&key, slots, n, sizeof(*slots), compare);

		if (slot)
			slot->filled |= !r->running && !r->exclusion && fills(r->state); /* an excluded run leaves its slot to another */
		else if (v->n_registrations == 1) /* after an amendment, earlier runs may stand outside the plan */
			ib_check_fail(self, f, IB_OK, "ledger.jsonl", "run '%s' is not in the plan of the contract", r->id);
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	const json_t *plan = json_object_get(v->contract, "plan");
	size_t before = f->n, n = json_array_size(plan), open = 0;
	struct slot *slots;
	struct ib_err err;

	if (!n) {
		ib_check_skip(self, f, NULL, "there is no plan: how many runs were meant is not known");
		return;
	}
	slots = slots_of(plan, "the plan of the contract", n, &err);
	if (!slots) {
		ib_check_fail(self, f, err.code, NULL, "%s", err.text);
		return;
	}
	match(self, v, slots, n, f);
	for (size_t i = 0; i < n; i++)
		open += !slots[i].filled;
	free(slots);
	if (open)
		ib_check_fail(self, f, IB_OK, NULL, "%zu of %zu planned runs were not carried out", open, n);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_plan = {.id = "S11", .level = IB_FINDING_W, .title = "every planned run was carried out", .run = run};
