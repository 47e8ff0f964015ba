/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of what varies: between the cells of a group, and between a group and the one that it is compared with. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/lint.h"

/* The group as the contract has it in its typed form: for what only a person reads. */
static const json_t *typed(const struct ib_lint_view *v, const struct ib_contract_group *g)
{
	return json_array_get(json_object_get(v->contract->json, "groups"), (size_t)(g - v->contract->groups));
}

static bool listed(const json_t *names, const char *name)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		if (ib_streq(json_string_value(json_array_get(names, i)), name))
			return true;
	return false;
}

/* --- L01 --- */

#define FACTORS_MAX 2

static void look_varies(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];
		const json_t *varies = json_object_get(typed(v, g), "varies");
		const char *key;
		json_t *values;

		if (json_array_size(varies) > FACTORS_MAX)
			ib_lint_say(out, g, NULL, "%zu variables vary and 'varies' does not say which of them is asked about: vary one condition at a time",
				    json_array_size(varies));
		json_object_foreach((json_t *)(uintptr_t)g->matrix, key, values)
			if (json_array_size(values) > 1 && !listed(varies, key))
				ib_lint_say(out, g, NULL, "'%s' varies too, and is not in 'varies': what is measured is both", key);
	}
}

const struct ib_lint ib_lint_varies = {.id = "L01", .title = "cells of a group differ in what 'varies' names and nothing else", .look = look_varies};

/* --- L02 --- */

static bool holds(const json_t *command, const char *placeholder)
{
	for (size_t i = 0; i < json_array_size(command); i++)
		if (strstr(json_string_value(json_array_get(command, i)), placeholder))
			return true;
	return false;
}

static bool used(const struct ib_contract_group *g, const char *variable)
{
	ib_auto_free char *placeholder = ib_asprintf("{%s}", variable);
	const json_t *const commands[] = {g->command, g->convert, g->reset.command, g->warmup.command};

	for (size_t i = 0; i < IB_LEN(commands); i++)
		if (holds(commands[i], placeholder) || holds(commands[i], "{cell}"))
			return true;
	return strcmp(variable, "cache") == 0 || (g->reset.http && strstr(g->reset.http, placeholder));
}

static void look_unused(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];
		const char *key;
		json_t *values;

		json_object_foreach((json_t *)(uintptr_t)g->matrix, key, values)
			if (json_array_size(values) > 1 && !used(g, key))
				ib_lint_say(out, g, NULL, "no command has '{%s}': its cells are the same", key);
	}
}

const struct ib_lint ib_lint_unused = {.id = "L02", .title = "every variable of a matrix stands in a command", .look = look_unused};

/* --- L03: a group and its gate --- */

/* Is a difference between two groups meant: does one of them speak of it in what it calls fixed? */
static bool meant(const struct ib_lint_view *v, const struct ib_contract_group *a, const struct ib_contract_group *b, const char *what)
{
	return json_object_get(json_object_get(typed(v, a), "fixed"), what) || json_object_get(json_object_get(typed(v, b), "fixed"), what);
}

static bool fixed_differ(const struct ib_lint_view *v, const struct ib_contract_group *a, const struct ib_contract_group *b)
{
	const json_t *x = json_object_get(typed(v, a), "fixed"), *y = json_object_get(typed(v, b), "fixed");

	return x && y && !json_equal((json_t *)(uintptr_t)x, (json_t *)(uintptr_t)y);
}

static void compare_times(const struct ib_lint_view *v, const struct ib_contract_group *a, const struct ib_contract_group *b, struct ib_lint_out *out)
{
	if (a->timeout_ns != b->timeout_ns && !meant(v, a, b, "timeout"))
		ib_lint_say(out, b, NULL, "its timeout is %.0f s and that of '%s' %.0f s (0: none): a run that ends in one is cut in the other",
			    (double)b->timeout_ns / 1e9, a->name, (double)a->timeout_ns / 1e9);
}

static bool other_expect(const struct ib_contract_expect *x, const struct ib_contract_expect *y)
{
	bool rates = !(isnan(x->success_rate_min) && isnan(y->success_rate_min)) && !(fabs(x->success_rate_min - y->success_rate_min) < 1e-12);

	return rates || x->attempts != y->attempts || x->exit_status != y->exit_status;
}

/* Is the cache something that the groups are about: a variable of the matrix, or reused for a reason that is given? */
static bool about_cache(const struct ib_contract_group *g)
{
	return json_object_get(g->matrix, "cache") || (g->condition == IB_CACHE_REUSE && g->cache_reason);
}

static void compare_inputs(const struct ib_lint_view *v, const struct ib_contract_group *a, const struct ib_contract_group *b, struct ib_lint_out *out)
{
	if (!ib_streq(a->workload, b->workload) && !fixed_differ(v, a, b) && !meant(v, a, b, "workload"))
		ib_lint_say(out, b, NULL, "its workload is '%s' and that of '%s' '%s', and 'fixed' does not say so", b->workload ? b->workload : "-", a->name,
			    a->workload ? a->workload : "-");
	if (a->condition != b->condition && !about_cache(a) && !about_cache(b) && !meant(v, a, b, "cache"))
		ib_lint_say(out, b, NULL, "its cache condition is '%s' and that of '%s' '%s', and no 'reason' says why", ib_condition_name(b->condition), a->name,
			    ib_condition_name(a->condition));
}

static void look_setup(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *b = &v->contract->groups[i], *a = b->gate ? ib_contract_group(v->contract, b->gate) : NULL;

		if (!a || a->diagnostic || b->diagnostic)
			continue;
		compare_times(v, a, b, out);
		compare_inputs(v, a, b, out);
		if (other_expect(&a->expect, &b->expect) && !fixed_differ(v, a, b) && !meant(v, a, b, "expect"))
			ib_lint_say(out, b, NULL, "it expects other attempts, success rate or exit status than '%s': a run may count here and not there", a->name);
	}
}

const struct ib_lint ib_lint_setup = {
	.id = "L03", .title = "a group differs from its gate in timeout, workload, cache condition and expectations only where it says so", .look = look_setup};

/* --- L04: their commands --- */

/* Is the value one of those that the group calls fixed or varies on purpose? */
static bool declared(const struct ib_lint_view *v, const struct ib_contract_group *g, const char *value)
{
	const char *key;
	json_t *one;

	json_object_foreach(json_object_get((json_t *)(uintptr_t)typed(v, g), "fixed"), key, one)
		if (ib_streq(json_string_value(one), value))
			return true;
	json_object_foreach((json_t *)(uintptr_t)g->matrix, key, one)
		if (listed(one, value))
			return true;
	return false;
}

static const struct ib_lint_cell *first_of(const struct ib_lint_view *v, const struct ib_contract_group *g)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->cells[i].group == g)
			return &v->cells[i];
	return NULL;
}

/* Does any cell of the group have this value? */
static bool has_value(const struct ib_lint_view *v, const struct ib_contract_group *g, enum ib_setting_key key, const char *value)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->cells[i].group == g && ib_streq(v->cells[i].settings.v[key], value))
			return true;
	return false;
}

static void compare_settings(const struct ib_lint_view *v, const struct ib_lint_cell *a, const struct ib_lint_cell *b, struct ib_lint_out *out)
{
	static const enum ib_setting_key keys[] = {IB_SET_MODEL, IB_SET_TOKENIZER, IB_SET_ENDPOINT, IB_SET_BACKEND, IB_SET_REQUESTS, IB_SET_CONCURRENCY, IB_SET_RATE,
						   IB_SET_INPUT_LEN, IB_SET_OUTPUT_LEN, IB_SET_IGNORE_EOS, IB_SET_TEMPERATURE};

	for (size_t i = 0; i < IB_LEN(keys); i++) {
		const char *x = a->settings.v[keys[i]], *y = b->settings.v[keys[i]], *name = ib_setting_name(keys[i]);

		if (ib_streq(x, y) || has_value(v, a->group, keys[i], y) || meant(v, a->group, b->group, name))
			continue;
		if ((!x || declared(v, a->group, x)) && (!y || declared(v, b->group, y)) && (x || y))
			continue;
		ib_lint_say(out, b->group, NULL, "'%s' is %s in its command and %s in that of '%s', and neither 'fixed' nor 'matrix' names it", name, y ? y : "not set",
			    x ? x : "not set", a->group->name);
	}
}

static void look_settings(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i], *gate = g->gate ? ib_contract_group(v->contract, g->gate) : NULL;
		const struct ib_lint_cell *b = first_of(v, g), *a = gate ? first_of(v, gate) : NULL;

		if (!a || !b || gate->diagnostic || g->diagnostic)
			continue;
		if (a->client != b->client)
			ib_lint_say(out, g, NULL, "its client is %s and that of '%s' %s: their times follow other formulas", b->client ? b->client->name : "another program",
				    gate->name, a->client ? a->client->name : "another program");
		else
			compare_settings(v, a, b, out);
	}
}

const struct ib_lint ib_lint_settings = {
	.id = "L04", .title = "the commands of a group and its gate differ in what 'fixed' and 'matrix' name and nothing else", .look = look_settings};
