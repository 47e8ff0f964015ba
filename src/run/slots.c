/* SPDX-License-Identifier: Apache-2.0 */
/* How far each slot of a plan is, by the ledger; which slots were asked for. */
#include "run/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

static int compare(const char *group, const char *cell, int64_t repeat, const struct ib_contract_slot *slot)
{
	int d = strcmp(group, slot->group);

	if (!d)
		d = strcmp(cell, slot->cell);
	return d ? d : (repeat > slot->repeat) - (repeat < slot->repeat);
}

static int by_name(const void *a, const void *b)
{
	const struct ib_contract_slot *x = *(const struct ib_contract_slot *const *)a;

	return compare(x->group, x->cell, x->repeat, *(const struct ib_contract_slot *const *)b);
}

static int find(const void *key, const void *at)
{
	const struct ib_ledger_run *run = key;

	return compare(run->group, run->cell, run->repeat, *(const struct ib_contract_slot *const *)at);
}

void ib_slots_init(struct ib_slots *s, const struct ib_contract *c)
{
	*s = (struct ib_slots){.contract = c};
	s->v = ib_alloc((c->slots_n + 1) * sizeof(*s->v));
	s->by_name = ib_alloc((c->slots_n + 1) * sizeof(*s->by_name));
	for (size_t i = 0; i < c->slots_n; i++) {
		s->v[i].selected = true;
		s->by_name[i] = &c->slots[i];
	}
	if (c->slots_n > 1)
		qsort(s->by_name, c->slots_n, sizeof(*s->by_name), by_name);
}

void ib_slots_clear(struct ib_slots *s)
{
	free(s->v);
	free(s->by_name);
	free(s->open_at);
	ib_strv_clear(&s->open);
	*s = (struct ib_slots){0};
}

static void begin(struct ib_slots *s, struct ib_slot *slot, const char *run, int64_t attempt)
{
	if (attempt > slot->attempts)
		slot->attempts = (int)attempt;
	slot->state = IB_SLOT_TAKEN;
	ib_strv_add(&s->open, run);
	s->open_at = ib_realloc(s->open_at, s->open.n, sizeof(struct ib_slot *));
	s->open_at[s->open.n - 1] = slot;
}

static void end(struct ib_slot *slot, enum ib_state state)
{
	if (state == IB_STATE_COMPLETED)
		slot->state = IB_SLOT_DONE;
	else if (state == IB_STATE_FAILED || state == IB_STATE_TIMED_OUT)
		slot->state = IB_SLOT_FAILED;
}

/* What one run makes of its slot. An excluded one leaves it as it is: it is to be filled by another. */
static void take(struct ib_slots *s, struct ib_slot *slot, const struct ib_ledger_run *run)
{
	if (run->open)
		begin(s, slot, run->id, run->attempt);
	else if (run->attempt > slot->attempts)
		slot->attempts = (int)run->attempt;
	if (!run->open && !run->excluded)
		end(slot, run->state);
}

static struct ib_slot *slot_of(const struct ib_slots *s, const char *group, const char *cell, int64_t repeat)
{
	const struct ib_ledger_run key = {.group = (char *)(uintptr_t)group, .cell = (char *)(uintptr_t)cell, .repeat = repeat};
	const struct ib_contract_slot *const *at =
		group && cell ? bsearch(&key, s->by_name, s->contract->slots_n, sizeof(*s->by_name), find) : NULL;

	return at ? &s->v[*at - s->contract->slots] : NULL;
}

void ib_slots_update(struct ib_slots *s, const struct ib_ledger_view *view, const char *json_sha256)
{
	const struct ib_contract *c = s->contract;
	ib_auto_free bool *ours = ib_alloc(view->contracts_n + 1);

	for (size_t i = 0; i < view->contracts_n; i++)
		ours[i] = strcmp(view->contracts[i].json_sha256, json_sha256) == 0;
	for (size_t i = 0; i < c->slots_n; i++) {
		s->v[i].state = IB_SLOT_EMPTY;
		s->v[i].attempts = 0;
	}
	ib_strv_clear(&s->open);
	for (size_t i = 0; i < view->runs_n; i++) {
		const struct ib_ledger_run *run = &view->runs[i];
		struct ib_slot *slot = ours[run->contract] ? slot_of(s, run->group, run->cell, run->repeat) : NULL;

		if (slot)
			take(s, slot, run);
	}
}

/* The end of a run; one that is of none of these slots changes nothing. */
static void follow_end(struct ib_slots *s, const struct ib_entry *e)
{
	for (size_t i = 0; i < s->open.n; i++) {
		if (strcmp(s->open.v[i], e->run) != 0)
			continue;
		s->open_at[i]->state = IB_SLOT_EMPTY;
		if (e->kind == IB_ENTRY_FINISH)
			end(s->open_at[i], e->state);
		free(s->open.v[i]);
		s->open.v[i] = s->open.v[--s->open.n];
		s->open_at[i] = s->open_at[s->open.n];
		s->open.v[s->open.n] = NULL;
		return;
	}
}

static bool follow_entry(struct ib_slots *s, const struct ib_entry *e)
{
	struct ib_slot *slot;

	switch (e->kind) {
	case IB_ENTRY_START:
		slot = slot_of(s, e->group, e->cell, e->repeat);
		if (slot)
			begin(s, slot, e->run, e->attempt);
		return true;
	case IB_ENTRY_FINISH:
	case IB_ENTRY_ABANDONED:
		follow_end(s, e);
		return true;
	case IB_ENTRY_CONTRACT:
	case IB_ENTRY_AMENDMENT:
	case IB_ENTRY_EXCLUSION:
		return false;
	default:
		return true;
	}
}

bool ib_slots_follow(struct ib_slots *s, const char *data, size_t n, size_t *ret_n)
{
	const char *at = data, *stop;

	while ((stop = memchr(at, '\n', (size_t)(data + n - at)))) {
		ib_auto_json json_t *j = NULL;
		ib_auto_entry struct ib_entry e = {0};

		if (ib_json_load(at, (size_t)(stop - at), "ledger.jsonl", &j, NULL) < 0 || ib_entry_from_json(j, "ledger.jsonl", &e, NULL) < 0 || !follow_entry(s, &e))
			return false;
		at = stop + 1;
	}
	*ret_n = (size_t)(at - data);
	return true;
}

size_t ib_slots_open(const struct ib_slots *s, const char *group)
{
	size_t n = 0;

	for (size_t i = 0; i < s->contract->slots_n; i++)
		n += s->v[i].state != IB_SLOT_DONE && (group ? strcmp(s->contract->slots[i].group, group) == 0 : s->v[i].selected);
	return n;
}

/* --- choosing some of them --- */

/* GROUP[.CELL[.rN]] in parts; names hold no dot. */
struct choice {
	char *group, *cell;
	int64_t repeat; /* 0: all */
};

static void choice_clear(struct choice *c)
{
	free(c->group);
	free(c->cell);
}

static int split(const char *text, size_t n, struct choice *ret, struct ib_err *err)
{
	ib_auto_free char *copy = ib_strndup(text, n);
	char *cell = strchr(copy, '.'), *repeat = cell ? strchr(cell + 1, '.') : NULL;

	if (repeat && (repeat[1] != 'r' || ib_parse_int(repeat + 2 + strspn(repeat + 2, "0"), 1, 1000, &ret->repeat, NULL) < 0))
		return ib_fail(err, IB_E_USAGE, 0, "'%s' does not end with the number of a repeat: GROUP.CELL.r1", copy);
	if (repeat)
		*repeat = '\0';
	if (cell)
		*cell++ = '\0';
	ret->group = ib_strdup(copy);
	ret->cell = ib_strdup(cell);
	return 0;
}

/* An error that names what there is. group NULL: groups, else cells of that group. */
static int unknown(const struct ib_contract *c, const char *name, const char *group, struct ib_err *err)
{
	ib_auto_free const char **names = ib_alloc((c->slots_n + c->groups_n + 1) * sizeof(*names));
	const char *near;
	size_t n = 0;

	for (size_t i = 0; !group && i < c->groups_n; i++)
		names[n++] = c->groups[i].name;
	for (size_t i = 0; group && i < c->slots_n; i++)
		if (c->slots[i].repeat == 1 && strcmp(c->slots[i].group, group) == 0)
			names[n++] = c->slots[i].cell;
	names[n] = NULL;
	near = ib_nearest(name, names);
	if (group)
		return ib_fail(err, IB_E_USAGE, 0, "group '%s' has no cell '%s'%s%s%s", group, name,
			       near ? "; did you mean '" : ": --dry-run lists them", near ? near : "", near ? "'?" : "");
	return ib_fail(err, IB_E_USAGE, 0, "the contract has no group '%s'%s%s%s", name, near ? "; did you mean '" : ": --dry-run lists them",
		       near ? near : "", near ? "'?" : "");
}

static bool matches(const struct choice *one, const struct ib_contract_slot *s, bool with_cell)
{
	return strcmp(one->group, s->group) == 0 && (!with_cell || !one->cell || strcmp(one->cell, s->cell) == 0);
}

static int choose(struct ib_slots *s, const struct choice *one, struct ib_err *err)
{
	const struct ib_contract *c = s->contract;
	size_t group = 0, cell = 0, taken = 0;

	for (size_t i = 0; i < c->slots_n; i++) {
		group += matches(one, &c->slots[i], false);
		cell += matches(one, &c->slots[i], true);
		if (!matches(one, &c->slots[i], true) || (one->repeat && one->repeat != c->slots[i].repeat))
			continue;
		s->v[i].selected = true;
		taken++;
	}
	if (!group)
		return unknown(c, one->group, NULL, err);
	if (!cell)
		return unknown(c, one->cell, one->group, err);
	if (!taken)
		return ib_fail(err, IB_E_USAGE, 0, "'%s.%s' has no repeat %lld: its group has %lld", one->group, one->cell ? one->cell : "",
			       (long long)one->repeat, (long long)ib_contract_group(c, one->group)->repeats);
	return 0;
}

int ib_slots_select(struct ib_slots *s, const char *only, struct ib_err *err)
{
	for (size_t i = 0; i < s->contract->slots_n; i++)
		s->v[i].selected = false;
	for (const char *at = only;; at++) {
		size_t n = strcspn(at, ",");
		__attribute__((cleanup(choice_clear))) struct choice one = {0};
		int r = n ? split(at, n, &one, err) : ib_fail(err, IB_E_USAGE, 0, "--only takes GROUP, GROUP.CELL or GROUP.CELL.r1, separated by commas");

		if (r == 0)
			r = choose(s, &one, err);
		if (r < 0)
			return r;
		at += n;
		if (!*at)
			return 0;
	}
}

size_t ib_slots_selected(const struct ib_slots *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->contract->slots_n; i++)
		n += s->v[i].selected;
	return n;
}
