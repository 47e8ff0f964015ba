/* SPDX-License-Identifier: Apache-2.0 */
/* The typed form of a contract, read into the struct. It may come from a stranger's packet: every shape is checked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract.h"
#include "model/contract_internal.h"

#define INT_MAX_COUNT 1000000000000LL

/* Remembers the first error, so that a list of keys reads without a test a line. */
struct in {
	const json_t *o;
	const char *where;
	struct ib_err *err;
	int r;
};

static const char *text(struct in *in, const char *key, bool required)
{
	const char *s = NULL;

	if (in->r == 0)
		in->r = required ? ib_get_str(in->o, in->where, key, &s, in->err) : ib_get_str_opt(in->o, in->where, key, &s, in->err);
	return in->r == 0 ? s : NULL;
}

static const char *name(struct in *in, const char *key, bool required)
{
	const char *s = text(in, key, required);

	if (s && !ib_name_valid(s))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no name", in->where, key);
	return s;
}

static int64_t number(struct in *in, const char *key, int64_t min, int64_t max, int64_t fallback)
{
	int64_t v = fallback;

	if (in->r == 0)
		in->r = ib_get_int_opt(in->o, in->where, key, min, max, fallback, &v, in->err);
	return v;
}

static double real(struct in *in, const char *key)
{
	const json_t *v = json_object_get(in->o, key);

	if (in->r < 0 || !v || json_is_null(v))
		return NAN;
	if (!json_is_number(v))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is not a number", in->where, key);
	return json_number_value(v);
}

static bool truth(struct in *in, const char *key)
{
	bool v = false;

	if (in->r == 0)
		in->r = ib_get_bool(in->o, in->where, key, &v, in->err);
	return v;
}

static enum ib_condition condition(struct in *in, const char *key)
{
	enum ib_condition c = IB_CACHE_UNSPECIFIED;
	const char *s = text(in, key, true);

	if (s && !ib_condition_parse(s, &c))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no cache condition", in->where, key);
	return c;
}

/* An object below the current one; the empty one where it is null. */
static struct in inner(struct in *in, const char *key)
{
	const json_t *o = NULL;

	if (in->r == 0)
		in->r = ib_get_obj_opt(in->o, in->where, key, &o, in->err);
	return (struct in){o, in->where, in->err, in->r};
}

static const json_t *array(struct in *in, const char *key)
{
	const json_t *a = NULL;

	if (in->r == 0)
		in->r = ib_get_arr(in->o, in->where, key, &a, in->err);
	return a;
}

/* An array of strings, not empty. */
static const json_t *command(struct in *in, const char *key, bool required)
{
	const json_t *v = json_object_get(in->o, key);
	bool good = json_is_array(v) && json_array_size(v) > 0;

	if (in->r < 0 || (!required && (!v || json_is_null(v))))
		return NULL;
	for (size_t i = 0; good && i < json_array_size(v); i++)
		good = json_is_string(json_array_get(v, i));
	if (!good)
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no list of arguments", in->where, key);
	return v;
}

static bool strings(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v) && json_array_size(v) > 0;
}

/* An object of strings (or of arrays of strings). */
static const json_t *object_of(struct in *in, const char *key, bool arrays)
{
	const json_t *o = NULL;
	const char *k;
	json_t *v;

	if (in->r == 0)
		in->r = ib_get_obj(in->o, in->where, key, &o, in->err);
	if (in->r < 0)
		return NULL;
	json_object_foreach((json_t *)(uintptr_t)o, k, v)
		if (!ib_name_valid(k) || !(arrays ? strings(v) : json_is_string(v))) {
			in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' holds something else than names and text", in->where, key);
			return NULL;
		}
	return o;
}

static void read_hook(struct in *group_cache, const char *key, struct ib_contract_hook *ret)
{
	struct in in = inner(group_cache, key);

	if (in.r == 0 && in.o) {
		ret->command = command(&in, "command", false);
		ret->http = text(&in, "http", false);
		ret->timeout_ns = number(&in, "timeout_ns", 1, INT64_MAX, INT64_MAX);
	}
	group_cache->r = in.r;
}

static void read_cache(struct in *group, struct ib_contract_group *ret)
{
	struct in in = inner(group, "cache");
	struct in evidence;

	if (in.r == 0 && in.o) {
		ret->condition = condition(&in, "condition");
		ret->cache_reason = text(&in, "reason", false);
		read_hook(&in, "reset", &ret->reset);
		read_hook(&in, "warmup", &ret->warmup);
		evidence = inner(&in, "evidence");
		if (evidence.r == 0 && evidence.o) {
			ret->has_evidence = true;
			ret->evidence.engine = text(&evidence, "engine", true);
			ret->evidence.metrics_url = text(&evidence, "metrics_url", true);
			ret->evidence.queries = number(&evidence, "queries", 0, INT_MAX_COUNT, IB_UNSET);
			ret->evidence.hits_max = number(&evidence, "hits_max", 0, INT_MAX_COUNT, 0);
			ret->evidence.hit_share_min = real(&evidence, "hit_share_min");
		}
		in.r = evidence.r;
	}
	group->r = in.r;
}

static void read_expect(struct in *group, struct ib_contract_expect *ret)
{
	struct in in = inner(group, "expect");

	*ret = (struct ib_contract_expect){0, IB_UNSET, IB_UNSET, IB_UNSET, IB_UNSET, NAN, false};
	if (in.r == 0 && in.o) {
		ret->exit_status = number(&in, "exit_status", 0, 255, 0);
		ret->attempts = number(&in, "attempts", 0, INT_MAX_COUNT, IB_UNSET);
		ret->output_tokens = number(&in, "output_tokens", 0, INT_MAX_COUNT, IB_UNSET);
		ret->output_tokens_min = number(&in, "output_tokens_min", 0, INT_MAX_COUNT, IB_UNSET);
		ret->output_files_min = number(&in, "output_files_min", 0, INT_MAX_COUNT, IB_UNSET);
		ret->success_rate_min = real(&in, "success_rate_min");
		ret->server_output_tokens = truth(&in, "server_output_tokens");
	}
	group->r = in.r;
}

static int read_group(struct in *in, struct ib_contract_group *ret)
{
	ret->name = name(in, "name", true);
	ret->question = text(in, "question", false);
	ret->diagnostic = truth(in, "diagnostic");
	ret->matrix = object_of(in, "matrix", true);
	ret->load = text(in, "load", false);
	ret->repeats = number(in, "repeats", 1, 1000, 0);
	ret->order = text(in, "order", true);
	ret->seed = number(in, "seed", 0, INT64_MAX, IB_UNSET);
	ret->gate = name(in, "gate", false);
	ret->workload = name(in, "workload", false);
	ret->command = command(in, "command", true);
	ret->convert = command(in, "convert", false);
	ret->timeout_ns = number(in, "timeout_ns", 1, INT64_MAX, 0);
	ret->grace_ns = number(in, "grace_ns", 1, INT64_MAX, 10000000000LL);
	ret->memory_bytes = number(in, "memory_bytes", 1, INT64_MAX, IB_UNSET);
	read_cache(in, ret);
	read_expect(in, &ret->expect);
	if (in->r == 0 && ret->repeats == 0)
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key 'repeats' is missing", in->where);
	return in->r;
}

static int read_groups(struct in *in, struct ib_contract *c)
{
	const json_t *a = array(in, "groups");

	if (in->r < 0)
		return in->r;
	if (json_array_size(a) == 0 || json_array_size(a) > 1000)
		return ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key 'groups' holds no group, or more than 1000", in->where);
	c->groups = ib_alloc(json_array_size(a) * sizeof(*c->groups));
	for (size_t i = 0; i < json_array_size(a); i++) {
		char where[256];
		struct in g = {json_array_get(a, i), where, in->err, 0};
		int r;

		snprintf(where, sizeof(where), "%.200s: groups[%zu]", in->where, i);
		r = read_group(&g, &c->groups[i]);
		if (r < 0)
			return r;
		if (ib_contract_group(c, c->groups[i].name))
			return ib_fail_at(in->err, IB_E_SYNTAX, where, "'%s': a group of that name is there already", where);
		c->groups_n++;
	}
	return 0;
}

/* The plan must be the one that the groups give: nobody may have taken slots away. */
static int check_plan(const struct in *in, const json_t *plan)
{
	const json_t *groups = json_object_get(in->o, "groups");
	ib_auto_json json_t *own = ib_json_array();
	size_t budget = IB_CONTRACT_PLAN_MAX;

	for (size_t i = 0; i < json_array_size(groups); i++)
		if (ib_contract_plan_group(json_array_get(groups, i), own, &budget, in->err) < 0)
			return ib_wrap(in->err, "'%s': key 'plan'", in->where);
	if (json_array_size(own) != json_array_size(plan))
		return ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key 'plan' has %zu slots, its groups give %zu", in->where, json_array_size(plan),
				  json_array_size(own));
	for (size_t i = 0; i < json_array_size(own); i++)
		if (!json_equal(json_array_get(own, i), json_array_get(plan, i)))
			return ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': slot %zu of 'plan' is not the one that its groups give", in->where, i);
	return 0;
}

static int read_slots(struct in *in, struct ib_contract *c)
{
	const json_t *a = array(in, "plan");

	if (in->r < 0)
		return in->r;
	in->r = check_plan(in, a);
	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->slots = ib_alloc(json_array_size(a) * sizeof(*c->slots));
	for (size_t i = 0; i < json_array_size(a); i++) {
		struct in s = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_slot *slot = &c->slots[i];
		const struct ib_contract_group *g;

		slot->slot = (int64_t)i;
		slot->group = name(&s, "group", true);
		slot->cell = name(&s, "cell", true);
		slot->variables = object_of(&s, "variables", false);
		slot->repeat = number(&s, "repeat", 1, 1000, 1);
		slot->condition = condition(&s, "cache_condition");
		slot->command = command(&s, "command", true);
		if (s.r < 0)
			return s.r;
		g = ib_contract_group(c, slot->group);
		if (!g)
			return ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': slot %zu of 'plan' is of no group", in->where, i);
		slot->group_at = (size_t)(g - c->groups);
		c->slots_n++;
	}
	return 0;
}

static int read_workloads(struct in *in, struct ib_contract *c)
{
	const json_t *a = array(in, "workloads");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->workloads = ib_alloc(json_array_size(a) * sizeof(*c->workloads));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct in w = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_workload *o = &c->workloads[c->workloads_n++];

		o->name = name(&w, "name", true);
		o->file = text(&w, "file", false);
		o->licence = text(&w, "licence", false);
		o->shareable = truth(&w, "shareable");
		if (w.r == 0)
			w.r = ib_get_hex_opt(w.o, w.where, "sha256", &o->sha256, w.err);
		in->r = w.r;
	}
	return in->r;
}

static int read_targets(struct in *in, struct ib_contract *c)
{
	const json_t *a = array(in, "targets");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->targets = ib_alloc(json_array_size(a) * sizeof(*c->targets));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct in t = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_target *o = &c->targets[c->targets_n++];

		o->group = name(&t, "group", true);
		o->cell = name(&t, "cell", false);
		o->metric = text(&t, "metric", true);
		o->direction = text(&t, "direction", false);
		o->value = real(&t, "value");
		o->tolerance = real(&t, "tolerance");
		in->r = t.r;
	}
	return in->r;
}

static int read_withhold(struct in *in, struct ib_contract *c)
{
	const json_t *a = array(in, "withhold");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->withhold = ib_alloc(json_array_size(a) * sizeof(*c->withhold));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct in w = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_withhold *o = &c->withhold[c->withhold_n++];

		o->path = text(&w, "path", true);
		o->reason = text(&w, "reason", true);
		in->r = w.r;
	}
	return in->r;
}

static void read_readiness(struct in *in, struct ib_contract *c)
{
	struct in r = inner(in, "readiness");

	if (r.r == 0 && r.o) {
		c->readiness.url = text(&r, "url", false);
		c->readiness.command = command(&r, "command", false);
		c->readiness.timeout_ns = number(&r, "timeout_ns", 1, INT64_MAX, 60000000000LL);
		c->readiness.interval_ns = number(&r, "interval_ns", 1, INT64_MAX, 500000000LL);
	}
	in->r = r.r;
}

static int read_top(struct in *in, struct ib_contract *c)
{
	struct in serving, stop;

	c->study = name(in, "study", true);
	c->question = text(in, "question", false);
	c->boundary = text(in, "boundary", false);
	c->decision = text(in, "decision", false);
	c->permission = text(in, "permission", false);
	c->server_log = text(in, "server_log", false);
	c->next = text(in, "next", false);
	if (in->r == 0)
		in->r = ib_get_hex(in->o, in->where, "source_sha256", &c->source_sha256, in->err);
	serving = inner(in, "serving");
	if (serving.r == 0 && serving.o)
		c->endpoint = text(&serving, "endpoint", false);
	in->r = serving.r;
	stop = inner(in, "stop");
	c->stop_failed_runs = 1;
	if (stop.r == 0 && stop.o)
		c->stop_failed_runs = number(&stop, "failed_runs", 0, 1000000, 1);
	in->r = stop.r;
	read_readiness(in, c);
	return in->r;
}

int ib_contract_from_json(json_t *json, const char *where, struct ib_contract *ret, struct ib_err *err)
{
	ib_auto_contract struct ib_contract c = {.json = json_incref(json)};
	struct in in = {json, where, err, 0};
	int r = ib_get_schema(json, where, IB_CONTRACT_SCHEMA, err);

	if (r == 0)
		r = read_top(&in, &c);
	if (r == 0)
		r = read_workloads(&in, &c);
	if (r == 0)
		r = read_groups(&in, &c);
	if (r == 0)
		r = read_slots(&in, &c);
	if (r == 0)
		r = read_targets(&in, &c);
	if (r == 0)
		r = read_withhold(&in, &c);
	if (r < 0)
		return r;
	*ret = c;
	c = (struct ib_contract){0};
	return 0;
}
