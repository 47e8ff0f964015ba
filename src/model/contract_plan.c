/* SPDX-License-Identifier: Apache-2.0 */
/* From groups to slots: the matrix's product, the order of execution, the commands of each slot. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_internal.h"

struct cell {
	json_t *variables; /* owned */
	char name[IB_NAME_MAX + 1];
	int64_t seen; /* repeats given so far */
};

struct planner {
	const json_t *group;
	const char *name;
	struct cell *cells;
	size_t cells_n;
	int64_t repeats;
	size_t *order; /* cell of each slot */
	size_t slots;
	size_t *budget;
};

uint64_t ib_splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static int spend(struct planner *p, size_t bytes, struct ib_err *err)
{
	if (bytes > *p->budget)
		return ib_fail(err, IB_E_USAGE, 0, "the plan is too large: the commands and variables of all slots take more than %u MiB", IB_CONTRACT_PLAN_MAX >> 20);
	*p->budget -= bytes;
	return 0;
}

/* Number of cells; IB_E_USAGE when the slots are too many. */
static int count_cells(struct planner *p, size_t first_slot, struct ib_err *err)
{
	size_t limit = first_slot < IB_CONTRACT_SLOTS_MAX ? (IB_CONTRACT_SLOTS_MAX - first_slot) / (size_t)p->repeats : 0;
	const char *key;
	json_t *values;

	p->cells_n = 1;
	json_object_foreach(json_object_get(p->group, "matrix"), key, values) {
		size_t n = json_array_size(values);

		if (n == 0 || n > limit || p->cells_n * n > limit)
			return ib_fail(err, IB_E_USAGE, 0, "the plan is too large: more than %d slots", IB_CONTRACT_SLOTS_MAX);
		p->cells_n *= n;
	}
	if (p->cells_n > limit)
		return ib_fail(err, IB_E_USAGE, 0, "the plan is too large: more than %d slots", IB_CONTRACT_SLOTS_MAX);
	p->slots = p->cells_n * (size_t)p->repeats;
	return 0;
}

static void name_text(const json_t *variables, struct ib_buf *b)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)variables, key, value)
		ib_buf_addf(b, "%s%s-%s", b->len ? "_" : "", key, json_string_value(value));
	if (!b->len)
		ib_buf_adds(b, "all");
}

/* The short form of a name that is too long or taken. */
static void name_digest(const char *text, size_t n, char ret[IB_NAME_MAX + 1])
{
	char hex[IB_HEX_LEN];
	size_t keep = strlen(ret) < 23 ? strlen(ret) : 23;

	ib_sha256_of(text, n, hex);
	ret[keep] = '-';
	memcpy(ret + keep + 1, hex, 8);
	ret[keep + 9] = '\0';
}

/* Names a cell; used (an object as a set) holds the names given so far. */
static int name_cell(struct planner *p, struct cell *c, json_t *used, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_CONTRACT_PLAN_MAX);
	size_t i;

	name_text(c->variables, &b);
	for (i = 0; i < b.len && i < IB_NAME_MAX; i++) {
		char ch = b.data[i];

		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '_'))
			ch = '-';
		c->name[i] = ch;
	}
	c->name[i] = '\0';
	if (b.len > IB_NAME_MAX || json_object_get(used, c->name))
		name_digest(ib_buf_str(&b), b.len, c->name);
	if (json_object_get(used, c->name))
		return ib_fail(err, IB_E_USAGE, 0, "two cells of group '%s' get the same name '%s'", p->name, c->name);
	ib_json_set(used, c->name, json_true());
	return 0;
}

static int make_cells(struct planner *p, struct ib_err *err)
{
	const json_t *matrix = json_object_get(p->group, "matrix");
	ib_auto_json json_t *used = ib_json_object();

	p->cells = ib_alloc(p->cells_n * sizeof(*p->cells));
	for (size_t i = 0; i < p->cells_n; i++) {
		size_t rest = i, block = p->cells_n;
		const char *key;
		json_t *values;
		int r;

		p->cells[i].variables = ib_json_object();
		json_object_foreach((json_t *)(uintptr_t)matrix, key, values) {
			json_t *v;

			block /= json_array_size(values);
			v = json_array_get(values, rest / block);
			rest %= block;
			r = spend(p, strlen(key) + json_string_length(v), err);
			if (r < 0)
				return r;
			ib_json_set(p->cells[i].variables, key, json_incref(v));
		}
		r = name_cell(p, &p->cells[i], used, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void make_order(struct planner *p)
{
	const char *order = json_string_value(json_object_get(p->group, "order"));
	bool interleaved = ib_streq(order, "interleaved");
	uint64_t state = (uint64_t)json_integer_value(json_object_get(p->group, "seed"));

	p->order = ib_alloc(p->slots * sizeof(*p->order));
	for (size_t i = 0; i < p->slots; i++)
		p->order[i] = interleaved ? i % p->cells_n : i / (size_t)p->repeats;
	if (!ib_streq(order, "shuffled"))
		return;
	for (size_t i = p->slots - 1; i > 0; i--) {
		size_t k = (size_t)(ib_splitmix64(&state) % (i + 1)), other = p->order[k];

		p->order[k] = p->order[i];
		p->order[i] = other;
	}
}

static int expand_command(struct planner *p, const json_t *variables, json_t **ret, struct ib_err *err)
{
	const json_t *command = json_object_get(p->group, "command");
	ib_auto_free struct ib_template_var *vars = ib_realloc(NULL, json_object_size(variables) + 1, sizeof(*vars));
	struct ib_template t = {.vars = vars, .mode = IB_TEMPLATE_PARTIAL};
	ib_auto_json json_t *argv = ib_json_array();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)variables, key, value)
		vars[t.n++] = (struct ib_template_var){key, json_string_value(value)};
	for (size_t i = 0; i < json_array_size(command); i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(*p->budget);
		int r = ib_template_expand(&t, json_string_value(json_array_get(command, i)), &b, err);

		if (r < 0)
			return r;
		r = spend(p, b.overflow ? SIZE_MAX : b.len, err);
		if (r < 0)
			return r;
		ib_json_add_str(argv, ib_buf_str(&b));
	}
	*ret = ib_steal(&argv);
	return 0;
}

static int add_slot(struct planner *p, struct cell *c, json_t *plan, struct ib_err *err)
{
	const json_t *condition = json_object_get(c->variables, "cache");
	json_t *slot = ib_json_object(), *command = NULL;
	int r;

	if (!condition)
		condition = json_object_get(json_object_get(p->group, "cache"), "condition");
	ib_json_set_int(slot, "slot", (int64_t)json_array_size(plan));
	ib_json_add(plan, slot);
	ib_json_set_str(slot, "group", p->name);
	ib_json_set_str(slot, "cell", c->name);
	ib_json_set(slot, "variables", json_deep_copy(c->variables));
	ib_json_set_int(slot, "repeat", ++c->seen);
	ib_json_set_str(slot, "cache_condition", condition ? json_string_value(condition) : "unspecified");
	r = spend(p, 64, err);
	if (r == 0)
		r = expand_command(p, c->variables, &command, err);
	if (r == 0)
		ib_json_set(slot, "command", command);
	return r;
}

static void planner_clear(struct planner *p)
{
	for (size_t i = 0; p->cells && i < p->cells_n; i++)
		json_decref(p->cells[i].variables);
	free(p->cells);
	free(p->order);
}

int ib_contract_plan_group(const json_t *group, json_t *plan, size_t *budget, struct ib_err *err)
{
	__attribute__((cleanup(planner_clear))) struct planner p = {.group = group, .budget = budget};
	int r;

	p.name = json_string_value(json_object_get(group, "name"));
	p.repeats = json_integer_value(json_object_get(group, "repeats"));
	r = count_cells(&p, json_array_size(plan), err);
	if (r == 0)
		r = make_cells(&p, err);
	if (r < 0)
		return r;
	make_order(&p);
	for (size_t i = 0; r == 0 && i < p.slots; i++)
		r = add_slot(&p, &p.cells[p.order[i]], plan, err);
	return r;
}
