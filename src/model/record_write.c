/* SPDX-License-Identifier: Apache-2.0 */
/* Records to JSON: total, keys in the order of the schema. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "model/record.h"
#include "model/record_names.h"

static void set_num(json_t *o, const char *key, int64_t v)
{
	if (v == IB_NONE)
		ib_json_set(o, key, NULL);
	else
		ib_json_set_int(o, key, v);
}

static void set_hex(json_t *o, const char *key, const char *hex)
{
	ib_json_set_str(o, key, *hex ? hex : NULL);
}

static void set_time(json_t *o, const char *key, int64_t wall_ns)
{
	char text[IB_TIME_LEN];

	if (wall_ns != IB_NONE)
		ib_time_text(wall_ns, 9, text);
	ib_json_set_str(o, key, wall_ns == IB_NONE ? NULL : text);
}

static json_t *strings(const struct ib_strv *l)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < l->n; i++)
		ib_json_add_str(a, l->v[i]);
	return a;
}

/* A whole number of at most 2^53 is written without a point, as counters are. */
static json_t *number(double v)
{
	json_t *o = ib_json_object(), *j;

	if (isfinite(v) && v == floor(v) && fabs(v) < 9007199254740992.0)
		ib_json_set_int(o, "v", (int64_t)v);
	else
		ib_json_set_real(o, "v", v);
	j = json_incref(json_object_get(o, "v"));
	json_decref(o);
	return j;
}

static json_t *exit_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();

	set_num(o, "status", r->exit.status);
	set_num(o, "signal", r->exit.signal);
	set_num(o, "exec_errno", r->exit.exec_errno);
	ib_json_set_bool(o, "timed_out", r->exit.timed_out);
	return o;
}

static json_t *time_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();
	bool ran = r->time.started_ns != IB_NONE && r->time.finished_ns != IB_NONE;
	int64_t wall_ns = ran ? r->time.finished_ns - r->time.started_ns : IB_NONE;

	set_time(o, "started_at", r->time.started_ns);
	set_time(o, "finished_at", r->time.finished_ns);
	set_num(o, "wall_ns", wall_ns >= 0 ? wall_ns : IB_NONE); /* a clock that was set back tells no duration */
	set_num(o, "monotonic_ns", r->time.monotonic_ns);
	ib_json_set(o, "clock_step_ns", ran && r->time.monotonic_ns != IB_NONE ? json_integer(wall_ns - r->time.monotonic_ns) : NULL);
	set_num(o, "suspended_ns", r->time.suspended_ns);
	return o;
}

static json_t *rusage_json(const struct ib_record *r)
{
	json_t *o;

	if (r->rusage.user_ns == IB_NONE)
		return NULL;
	o = ib_json_object();
	ib_json_set_int(o, "user_ns", r->rusage.user_ns);
	ib_json_set_int(o, "system_ns", r->rusage.system_ns);
	ib_json_set_int(o, "max_rss_bytes", r->rusage.max_rss_bytes);
	ib_json_set_int(o, "voluntary_switches", r->rusage.voluntary_switches);
	ib_json_set_int(o, "involuntary_switches", r->rusage.involuntary_switches);
	return o;
}

static json_t *workloads_json(const struct ib_record *r)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < r->workloads_n; i++) {
		const struct ib_record_workload *w = &r->workloads[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "name", w->name);
		ib_json_set_str(o, "path", w->path);
		set_hex(o, "expected_sha256", w->expected_sha256);
		set_hex(o, "sha256", w->sha256);
		ib_json_set_str(o, "status", ib_workload_names[w->status]);
		set_num(o, "records", w->records);
		set_num(o, "unique", w->unique);
		ib_json_add(a, o);
	}
	return a;
}

static json_t *hooks_json(const struct ib_record *r)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < r->hooks_n; i++) {
		const struct ib_record_hook *h = &r->hooks[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "name", h->name);
		set_num(o, "exit_status", h->exit_status);
		set_num(o, "signal", h->signal);
		ib_json_set_bool(o, "timed_out", h->timed_out);
		ib_json_set_int(o, "duration_ns", h->duration_ns);
		ib_json_add(a, o);
	}
	return a;
}

static json_t *cache_json(const struct ib_record *r)
{
	json_t *o = ib_json_object(), *counters = ib_json_array(), *own;

	for (size_t i = 0; i < r->cache.counters_n; i++) {
		const struct ib_record_counter *c = &r->cache.counters[i];
		json_t *k = ib_json_object();

		ib_json_set_str(k, "name", c->name);
		ib_json_set(k, "before", number(c->before));
		ib_json_set(k, "after", number(c->after));
		ib_json_set(k, "delta", number(c->after - c->before));
		ib_json_add(counters, k);
	}
	ib_json_set_str(o, "condition", r->cache.condition ? r->cache.condition : "unspecified");
	ib_json_set_str(o, "evidence", ib_evidence_names[r->cache.evidence]);
	ib_json_set_str(o, "why", r->cache.why ? r->cache.why : "no evidence was collected");
	ib_json_set_str(o, "engine", r->cache.engine);
	ib_json_set(o, "counters", counters);
	set_num(o, "expected_queries", r->cache.expected_queries);
	if (r->cache.own_requests <= 0 && r->cache.own_perhaps_tokens == 0) {
		ib_json_set(o, "client_requests", NULL);
		return o;
	}
	own = ib_json_object();
	set_num(own, "requests", r->cache.own_requests);
	set_num(own, "prompt_tokens", r->cache.own_tokens);
	set_num(own, "perhaps_prompt_tokens", r->cache.own_perhaps_tokens);
	ib_json_set(o, "client_requests", own);
	return o;
}

static json_t *requests_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "client", r->requests.client);
	ib_json_set_str(o, "schema_id", r->requests.schema_id);
	set_num(o, "attempted", r->requests.attempted);
	set_num(o, "succeeded", r->requests.succeeded);
	set_num(o, "failed", r->requests.failed);
	set_num(o, "timed_out", r->requests.timed_out);
	set_num(o, "output_tokens", r->requests.output_tokens);
	set_num(o, "incomplete", r->requests.incomplete);
	set_num(o, "unaccounted", r->requests.unaccounted);
	set_num(o, "without_output", r->requests.without_output);
	set_num(o, "short_output", r->requests.short_output);
	return o;
}

static json_t *expectations_json(const struct ib_record *r)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < r->expectations_n; i++) {
		const struct ib_record_expectation *e = &r->expectations[i];
		json_t *o = ib_json_object();

		ib_json_set_str(o, "key", e->key);
		ib_json_set_str(o, "expected", e->expected);
		ib_json_set_str(o, "found", e->found);
		ib_json_set_str(o, "status", ib_expectation_names[e->status]);
		ib_json_add(a, o);
	}
	return a;
}

static json_t *files_json(const struct ib_record *r)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < r->files_n; i++) {
		json_t *o = ib_json_object();

		ib_json_set_str(o, "path", r->files[i].path);
		ib_json_set_int(o, "bytes", (int64_t)r->files[i].bytes);
		ib_json_set_str(o, "sha256", r->files[i].sha256);
		if (r->files[i].older)
			ib_json_set_bool(o, "older", true);
		ib_json_add(a, o);
	}
	return a;
}

static json_t *readiness_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "status", ib_readiness_names[r->readiness.status]);
	ib_json_set_int(o, "attempts", r->readiness.attempts);
	ib_json_set_int(o, "waited_ns", r->readiness.waited_ns);
	return o;
}

static json_t *captures_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();

	set_hex(o, "node", r->capture_node);
	ib_json_set_str(o, "before", r->capture_before ? r->capture_before : "absent");
	ib_json_set_str(o, "after", r->capture_after ? r->capture_after : "absent");
	return o;
}

static json_t *tool_json(const struct ib_record *r)
{
	json_t *o = ib_json_object();
	bool ours = r->tool_version == NULL;

	ib_json_set_str(o, "name", ours ? "ib-run" : r->tool_name);
	ib_json_set_str(o, "version", ours ? PACKAGE_VERSION : r->tool_version);
	ib_json_set_str(o, "commit", !ours ? r->tool_commit : IB_COMMIT[0] ? IB_COMMIT : NULL);
	return o;
}

/* What the run was: the part of the record that is known before anything happens. */
static void set_identity(json_t *o, const struct ib_record *r)
{
	json_t *variables = ib_json_object();

	for (size_t i = 0; i < r->variables_n; i++)
		ib_json_set_str(variables, r->variables[i].name, r->variables[i].value);
	ib_json_set_str(o, "schema", IB_RECORD_SCHEMA);
	ib_json_set_str(o, "run_id", r->run_id);
	ib_json_set_str(o, "study", r->study);
	ib_json_set_str(o, "group", r->group);
	ib_json_set_str(o, "cell", r->cell);
	ib_json_set_int(o, "repeat", r->repeat);
	ib_json_set_int(o, "attempt", r->attempt);
	ib_json_set(o, "variables", variables);
	set_hex(o, "contract_sha256", r->contract_sha256);
}

json_t *ib_record_to_json(const struct ib_record *r)
{
	json_t *o = ib_json_object(), *server = ib_json_object();

	set_num(server, "output_tokens", r->server_output_tokens);
	set_identity(o, r);
	ib_json_set_str(o, "state", ib_state_name(r->state));
	ib_json_set(o, "reasons", strings(&r->reasons));
	ib_json_set(o, "notes", strings(&r->notes));
	ib_json_set(o, "exit", exit_json(r));
	ib_json_set(o, "time", time_json(r));
	ib_json_set(o, "rusage", rusage_json(r));
	ib_json_set_str(o, "command_sha256", r->command_sha256);
	ib_json_set(o, "workloads", workloads_json(r));
	ib_json_set(o, "hooks", hooks_json(r));
	ib_json_set(o, "readiness", readiness_json(r));
	ib_json_set(o, "cache", cache_json(r));
	ib_json_set(o, "server", server);
	ib_json_set(o, "requests", requests_json(r));
	ib_json_set(o, "expectations", expectations_json(r));
	for (size_t i = 0; i < IB_SECTION_COUNT; i++)
		ib_json_set(o, ib_section_names[i].key, json_incref(r->section[i]));
	ib_json_set(o, "synthetic", r->synthetic == IB_NONE ? NULL : r->synthetic ? json_true() : json_false());
	ib_json_set_str(o, "synthetic_why", r->synthetic_why);
	ib_json_set(o, "captures", captures_json(r));
	ib_json_set(o, "files", files_json(r));
	set_num(o, "survivors", r->survivors);
	set_num(o, "left_behind", r->left_behind);
	ib_json_set(o, "tool", tool_json(r));
	return o;
}
