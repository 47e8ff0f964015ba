/* SPDX-License-Identifier: Apache-2.0 */
/* The typed form of a contract, read into the struct. It may come from a stranger's packet: every shape is checked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/contract_in.h"
#include "model/contract_internal.h"

static int read_groups(struct ib_in *in, struct ib_contract *c)
{
	const json_t *a = ib_in_array(in, "groups");

	if (in->r < 0)
		return in->r;
	if (json_array_size(a) == 0 || json_array_size(a) > 1000)
		return ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key 'groups' holds no group, or more than 1000", in->where);
	c->groups = ib_alloc(json_array_size(a) * sizeof(*c->groups));
	for (size_t i = 0; i < json_array_size(a); i++) {
		char where[256];
		struct ib_in g = {json_array_get(a, i), where, in->err, 0};
		int r;

		snprintf(where, sizeof(where), "%.200s: groups[%zu]", in->where, i);
		r = ib_contract_read_group(&g, &c->groups[i]);
		if (r < 0)
			return r;
		if (ib_contract_group(c, c->groups[i].name))
			return ib_fail_at(in->err, IB_E_SYNTAX, where, "'%s': a group of that name is there already", where);
		c->groups_n++;
	}
	return 0;
}

/* The plan must be the one that the groups give: nobody may have taken slots away. */
static int check_plan(const struct ib_in *in, const json_t *plan)
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

static int read_slots(struct ib_in *in, struct ib_contract *c)
{
	const json_t *a = ib_in_array(in, "plan");

	if (in->r < 0)
		return in->r;
	in->r = check_plan(in, a);
	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->slots = ib_alloc(json_array_size(a) * sizeof(*c->slots));
	for (size_t i = 0; i < json_array_size(a); i++) {
		struct ib_in s = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_slot *slot = &c->slots[i];
		const struct ib_contract_group *g;

		slot->slot = (int64_t)i;
		slot->group = ib_in_name(&s, "group", true);
		slot->cell = ib_in_name(&s, "cell", true);
		slot->variables = ib_in_object_of(&s, "variables", false);
		slot->repeat = ib_in_number(&s, "repeat", 1, 1000, 1);
		slot->condition = ib_in_condition(&s, "cache_condition");
		slot->command = ib_in_command(&s, "command", true);
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

static int read_workloads(struct ib_in *in, struct ib_contract *c)
{
	const json_t *a = ib_in_array(in, "workloads");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->workloads = ib_alloc(json_array_size(a) * sizeof(*c->workloads));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct ib_in w = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_workload *o = &c->workloads[c->workloads_n++];

		o->name = ib_in_name(&w, "name", true);
		o->file = ib_in_text(&w, "file", false);
		o->licence = ib_in_text(&w, "licence", false);
		o->prompt_key = ib_in_text(&w, "prompt_key", false);
		o->shareable = ib_in_truth(&w, "shareable");
		o->record = ib_in_truth_opt(&w, "record", false);
		if (w.r == 0)
			w.r = ib_get_hex_opt(w.o, w.where, "sha256", &o->sha256, w.err);
		in->r = w.r;
	}
	return in->r;
}

static int read_targets(struct ib_in *in, struct ib_contract *c)
{
	const json_t *a = ib_in_array(in, "targets");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->targets = ib_alloc(json_array_size(a) * sizeof(*c->targets));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct ib_in t = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_target *o = &c->targets[c->targets_n++];

		o->group = ib_in_name(&t, "group", true);
		o->cell = ib_in_name(&t, "cell", false);
		o->metric = ib_in_text(&t, "metric", true);
		o->direction = ib_in_text(&t, "direction", false);
		o->value = ib_in_real(&t, "value");
		o->tolerance = ib_in_real(&t, "tolerance");
		in->r = t.r;
	}
	return in->r;
}

static int read_withhold(struct ib_in *in, struct ib_contract *c)
{
	const json_t *a = ib_in_array(in, "withhold");

	if (in->r < 0 || json_array_size(a) == 0)
		return in->r;
	c->withhold = ib_alloc(json_array_size(a) * sizeof(*c->withhold));
	for (size_t i = 0; in->r == 0 && i < json_array_size(a); i++) {
		struct ib_in w = {json_array_get(a, i), in->where, in->err, 0};
		struct ib_contract_withhold *o = &c->withhold[c->withhold_n++];

		o->path = ib_in_text(&w, "path", true);
		o->reason = ib_in_text(&w, "reason", true);
		in->r = w.r;
	}
	return in->r;
}

static void read_readiness(struct ib_in *in, struct ib_contract *c)
{
	struct ib_in r = ib_in_inner(in, "readiness");

	if (r.r == 0 && r.o) {
		c->readiness.url = ib_in_text(&r, "url", false);
		c->readiness.command = ib_in_command(&r, "command", false);
		c->readiness.timeout_ns = ib_in_number(&r, "timeout_ns", 1, INT64_MAX, 60000000000LL);
		c->readiness.interval_ns = ib_in_number(&r, "interval_ns", 1, INT64_MAX, 500000000LL);
	}
	in->r = r.r;
}

static void read_stop(struct ib_in *in, struct ib_contract *c)
{
	struct ib_in stop = ib_in_inner(in, "stop");

	c->stop_failed_runs = 1;
	if (stop.r == 0 && stop.o) {
		c->stop_failed_runs = ib_in_number(&stop, "failed_runs", 0, 1000000, 1);
		c->stop_refused_runs = ib_in_number(&stop, "refused_runs", 0, 1000000, 0);
		c->stop_contradicted_runs = ib_in_number(&stop, "contradicted_runs", 0, 1000000, 0);
		c->stop_after_ns = ib_in_number(&stop, "after_ns", 1, INT64_MAX, 0);
	}
	in->r = stop.r;
}

static void read_sampling(struct ib_in *in, struct ib_contract *c)
{
	struct ib_in sampling = ib_in_inner(in, "sampling");

	c->sample = true;
	c->sample_interval_ns = 1000000000LL;
	if (sampling.r == 0 && sampling.o) {
		c->sample = ib_in_truth(&sampling, "enabled");
		c->sample_interval_ns = ib_in_number(&sampling, "interval_ns", 100000000, INT64_MAX, 1000000000LL);
	}
	in->r = sampling.r;
}

static int read_top(struct ib_in *in, struct ib_contract *c)
{
	struct ib_in inner;

	c->study = ib_in_name(in, "study", true);
	c->question = ib_in_text(in, "question", false);
	c->boundary = ib_in_text(in, "boundary", false);
	c->decision = ib_in_text(in, "decision", false);
	c->permission = ib_in_text(in, "permission", false);
	c->server_log = ib_in_text(in, "server_log", false);
	c->next = ib_in_text(in, "next", false);
	c->server_logs = ib_in_objects(in, "server_logs");
	c->nodes = ib_in_objects(in, "nodes");
	if (in->r == 0)
		in->r = ib_get_hex(in->o, in->where, "source_sha256", &c->source_sha256, in->err);
	inner = ib_in_inner(in, "serving");
	if (inner.r == 0 && inner.o)
		c->endpoint = ib_in_text(&inner, "endpoint", false);
	in->r = inner.r;
	inner = ib_in_inner(in, "quality");
	c->quality = inner.o;
	in->r = inner.r;
	read_stop(in, c);
	read_sampling(in, c);
	read_readiness(in, c);
	return in->r;
}

int ib_contract_from_json(json_t *json, const char *where, struct ib_contract *ret, struct ib_err *err)
{
	ib_auto_contract struct ib_contract c = {.json = json_incref(json)};
	struct ib_in in = {json, where, err, 0};
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
