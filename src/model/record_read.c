/* SPDX-License-Identifier: Apache-2.0 */
/* Records from JSON: schema, types, ranges and words are checked. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "model/record.h"
#include "model/record_names.h"

#define LIST_MAX 1000000 /* items of one list */

static int get_num(const json_t *o, const char *where, const char *key, int64_t *ret, struct ib_err *err)
{
	return ib_get_int_opt(o, where, key, 0, INT64_MAX, IB_NONE, ret, err);
}

/* One of the words of names; *ret is its index. */
static int get_word(const json_t *o, const char *where, const char *key, const char *const *names, int *ret, struct ib_err *err)
{
	const char *s;
	int r = ib_get_str(o, where, key, &s, err);

	if (r < 0)
		return r;
	for (int i = 0; names[i]; i++)
		if (strcmp(s, names[i]) == 0) {
			*ret = i;
			return 0;
		}
	return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' is '%.60s', a word that is not known", where, key, s);
}

static int get_time_opt(const json_t *o, const char *where, const char *key, int64_t *ret, struct ib_err *err)
{
	const char *s;
	int r = ib_get_str_opt(o, where, key, &s, err);

	*ret = IB_NONE;
	if (r < 0 || !s)
		return r;
	r = ib_time_parse(s, ret, err);
	return r < 0 ? ib_wrap(err, "'%s': key '%s'", where, key) : 0;
}

static int get_strings(const json_t *o, const char *where, const char *key, struct ib_strv *ret, struct ib_err *err)
{
	const json_t *a, *v;
	size_t i;
	int r = ib_get_arr(o, where, key, &a, err);

	if (r < 0)
		return r;
	json_array_foreach(a, i, v) {
		if (!json_is_string(v))
			return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' holds something that is not a string", where, key);
		ib_strv_add(ret, json_string_value(v));
	}
	return 0;
}

typedef int read_fn(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err);

/* Every item of the list at key must be an object that each() takes. */
static int get_list(const json_t *o, const char *where, const char *key, read_fn *each, struct ib_record *r, struct ib_err *err)
{
	const json_t *a, *v;
	size_t i;
	int e = ib_get_arr(o, where, key, &a, err);

	if (e < 0)
		return e;
	if (json_array_size(a) > LIST_MAX)
		return ib_fail_at(err, IB_E_LIMIT, where, "'%s': key '%s' holds more than %d items", where, key, LIST_MAX);
	json_array_foreach(a, i, v) {
		if (!json_is_object(v))
			return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' holds something that is not an object", where, key);
		e = each(v, where, r, err);
		if (e < 0)
			return ib_wrap(err, "%s %zu", key, i);
	}
	return 0;
}

static int read_part(const json_t *o, const char *where, const char *key, read_fn *each, struct ib_record *r, struct ib_err *err)
{
	const json_t *part;
	int e = ib_get_obj(o, where, key, &part, err);

	if (e == 0)
		e = each(part, where, r, err);
	return e;
}

static int read_identity(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const json_t *variables;
	const char *key;
	json_t *v;
	int e;

	if ((e = ib_get_dup(o, where, "run_id", &r->run_id, err)) < 0 || (e = ib_get_dup(o, where, "study", &r->study, err)) < 0 ||
	    (e = ib_get_dup_opt(o, where, "group", &r->group, err)) < 0 || (e = ib_get_dup_opt(o, where, "cell", &r->cell, err)) < 0 ||
	    (e = ib_get_int(o, where, "repeat", 1, 1000000, &r->repeat, err)) < 0 || (e = ib_get_int(o, where, "attempt", 1, 1000000, &r->attempt, err)) < 0 ||
	    (e = ib_get_hex_copy_opt(o, where, "contract_sha256", r->contract_sha256, err)) < 0 || (e = ib_get_obj(o, where, "variables", &variables, err)) < 0)
		return e;
	json_object_foreach(json_object_get(o, "variables"), key, v) {
		if (!json_is_string(v))
			return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': variable '%s' is not a string", where, key);
		ib_record_add_variable(r, key, json_string_value(v));
	}
	return 0;
}

static int read_exit(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e;

	if ((e = ib_get_int_opt(o, where, "status", 0, 255, IB_NONE, &r->exit.status, err)) < 0 ||
	    (e = ib_get_int_opt(o, where, "signal", 1, 128, IB_NONE, &r->exit.signal, err)) < 0 ||
	    (e = ib_get_int_opt(o, where, "exec_errno", 1, 4095, IB_NONE, &r->exit.exec_errno, err)) < 0)
		return e;
	return ib_get_bool(o, where, "timed_out", &r->exit.timed_out, err);
}

static int read_time(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e;

	if ((e = get_time_opt(o, where, "started_at", &r->time.started_ns, err)) < 0 || (e = get_time_opt(o, where, "finished_at", &r->time.finished_ns, err)) < 0)
		return e;
	if ((e = ib_get_int_opt(o, where, "suspended_ns", 0, INT64_MAX, IB_NONE, &r->time.suspended_ns, err)) < 0)
		return e;
	return get_num(o, where, "monotonic_ns", &r->time.monotonic_ns, err);
}

static int read_rusage(const json_t *top, const char *where, struct ib_record *r, struct ib_err *err)
{
	const json_t *o;
	int e = ib_get_obj_opt(top, where, "rusage", &o, err);

	if (e < 0 || !o)
		return e;
	if ((e = ib_get_int(o, where, "user_ns", 0, INT64_MAX, &r->rusage.user_ns, err)) < 0 ||
	    (e = ib_get_int(o, where, "system_ns", 0, INT64_MAX, &r->rusage.system_ns, err)) < 0 ||
	    (e = ib_get_int(o, where, "max_rss_bytes", 0, INT64_MAX, &r->rusage.max_rss_bytes, err)) < 0 ||
	    (e = ib_get_int(o, where, "voluntary_switches", 0, INT64_MAX, &r->rusage.voluntary_switches, err)) < 0)
		return e;
	return ib_get_int(o, where, "involuntary_switches", 0, INT64_MAX, &r->rusage.involuntary_switches, err);
}

static int read_workload(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	struct ib_record_workload *w;
	const char *name, *path;
	int e, word;

	if ((e = ib_get_str(o, where, "name", &name, err)) < 0 || (e = ib_get_str(o, where, "path", &path, err)) < 0)
		return e;
	w = ib_record_add_workload(r, name, path);
	if ((e = ib_get_hex_copy_opt(o, where, "expected_sha256", w->expected_sha256, err)) < 0 || (e = ib_get_hex_copy_opt(o, where, "sha256", w->sha256, err)) < 0 ||
	    (e = get_word(o, where, "status", ib_workload_names, &word, err)) < 0)
		return e;
	w->status = (enum ib_workload_status)word;
	e = get_num(o, where, "records", &w->records, err);
	return e < 0 ? e : get_num(o, where, "unique", &w->unique, err);
}

static int read_hook(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	struct ib_record_hook *h;
	const char *name;
	int e = ib_get_str(o, where, "name", &name, err);

	if (e < 0)
		return e;
	h = ib_record_add_hook(r, name);
	if ((e = get_num(o, where, "exit_status", &h->exit_status, err)) < 0 || (e = get_num(o, where, "signal", &h->signal, err)) < 0 ||
	    (e = ib_get_bool(o, where, "timed_out", &h->timed_out, err)) < 0)
		return e;
	return ib_get_int(o, where, "duration_ns", 0, INT64_MAX, &h->duration_ns, err);
}

static int read_readiness(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e, word;

	if ((e = get_word(o, where, "status", ib_readiness_names, &word, err)) < 0 ||
	    (e = ib_get_int(o, where, "attempts", 0, INT64_MAX, &r->readiness.attempts, err)) < 0)
		return e;
	r->readiness.status = (enum ib_readiness)word;
	return ib_get_int(o, where, "waited_ns", 0, INT64_MAX, &r->readiness.waited_ns, err);
}

static int read_counter(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const json_t *before = json_object_get(o, "before"), *after = json_object_get(o, "after");
	const char *name;
	int e = ib_get_str(o, where, "name", &name, err);

	if (e < 0)
		return e;
	if ((!json_is_number(before) && !json_is_null(before)) || (!json_is_number(after) && !json_is_null(after)))
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': counter '%s' is neither numbers nor null", where, name);
	ib_record_add_counter(r, name, json_is_number(before) ? json_number_value(before) : NAN, json_is_number(after) ? json_number_value(after) : NAN);
	return 0;
}

/* A record of an earlier version does not say. */
static int read_own_requests(const json_t *cache, const char *where, struct ib_record *r, struct ib_err *err)
{
	const json_t *o = json_object_get(cache, "client_requests");
	int e;

	if (!o)
		r->cache.own_requests = IB_NONE;
	if (!o || json_is_null(o))
		return 0;
	if (!json_is_object(o))
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': 'client_requests' is no object", where);
	if ((e = get_num(o, where, "requests", &r->cache.own_requests, err)) < 0 || (e = get_num(o, where, "prompt_tokens", &r->cache.own_tokens, err)) < 0)
		return e;
	return get_num(o, where, "perhaps_prompt_tokens", &r->cache.own_perhaps_tokens, err);
}

static int read_cache(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e, word, condition;

	if ((e = get_word(o, where, "condition", ib_condition_names, &condition, err)) < 0 ||
	    (e = get_word(o, where, "evidence", ib_evidence_names, &word, err)) < 0 ||
	    (e = ib_get_dup(o, where, "why", &r->cache.why, err)) < 0 || (e = ib_get_dup_opt(o, where, "engine", &r->cache.engine, err)) < 0 ||
	    (e = get_num(o, where, "expected_queries", &r->cache.expected_queries, err)) < 0 || (e = read_own_requests(o, where, r, err)) < 0)
		return e;
	r->cache.condition = ib_strdup(ib_condition_names[condition]);
	r->cache.evidence = (enum ib_evidence_of)word;
	return get_list(o, where, "counters", read_counter, r, err);
}

static int read_server(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	return get_num(o, where, "output_tokens", &r->server_output_tokens, err);
}

static int read_requests(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e;

	if ((e = ib_get_dup_opt(o, where, "client", &r->requests.client, err)) < 0 || (e = ib_get_dup_opt(o, where, "schema_id", &r->requests.schema_id, err)) < 0 ||
	    (e = get_num(o, where, "attempted", &r->requests.attempted, err)) < 0 || (e = get_num(o, where, "succeeded", &r->requests.succeeded, err)) < 0 ||
	    (e = get_num(o, where, "failed", &r->requests.failed, err)) < 0 || (e = get_num(o, where, "timed_out", &r->requests.timed_out, err)) < 0)
		return e;
	if ((e = get_num(o, where, "output_tokens", &r->requests.output_tokens, err)) < 0 ||
	    (e = get_num(o, where, "incomplete", &r->requests.incomplete, err)) < 0 || (e = get_num(o, where, "unaccounted", &r->requests.unaccounted, err)) < 0 ||
	    (e = get_num(o, where, "without_output", &r->requests.without_output, err)) < 0)
		return e;
	return get_num(o, where, "short_output", &r->requests.short_output, err);
}

static int read_expectation(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const char *key, *expected, *found;
	int e, word;

	if ((e = ib_get_str(o, where, "key", &key, err)) < 0 || (e = ib_get_str(o, where, "expected", &expected, err)) < 0 ||
	    (e = ib_get_str_opt(o, where, "found", &found, err)) < 0 || (e = get_word(o, where, "status", ib_expectation_names, &word, err)) < 0)
		return e;
	ib_record_add_expectation(r, key, expected, found, (enum ib_expectation_status)word);
	return 0;
}

static int read_captures(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e;

	if ((e = ib_get_hex_copy_opt(o, where, "node", r->capture_node, err)) < 0 || (e = ib_get_dup(o, where, "before", &r->capture_before, err)) < 0)
		return e;
	return ib_get_dup(o, where, "after", &r->capture_after, err);
}

static int read_file(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const char *path, *sha256;
	int64_t bytes;
	int e;

	if ((e = ib_get_str(o, where, "path", &path, err)) < 0 || (e = ib_get_int(o, where, "bytes", 0, INT64_MAX, &bytes, err)) < 0 ||
	    (e = ib_get_hex(o, where, "sha256", &sha256, err)) < 0)
		return e;
	if (r->files_n && strcmp(r->files[r->files_n - 1].path, path) >= 0)
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': file '%s' is not in order", where, path);
	ib_record_add_file(r, path, (uint64_t)bytes, sha256);
	r->files[r->files_n - 1].older = json_is_true(json_object_get(o, "older"));
	return 0;
}

static int read_tool(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	int e;

	if ((e = ib_get_dup(o, where, "name", &r->tool_name, err)) < 0 || (e = ib_get_dup(o, where, "version", &r->tool_version, err)) < 0)
		return e;
	return ib_get_dup_opt(o, where, "commit", &r->tool_commit, err);
}

static int read_state(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const char *state;
	int e = ib_get_str(o, where, "state", &state, err);

	if (e < 0)
		return e;
	if (!ib_state_parse(state, &r->state) || r->state == IB_STATE_ABANDONED)
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key 'state' is '%.60s', which no record can hold", where, state);
	if ((e = get_strings(o, where, "reasons", &r->reasons, err)) < 0)
		return e;
	return get_strings(o, where, "notes", &r->notes, err);
}

static int read_synthetic(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	const json_t *v = json_object_get(o, "synthetic");

	if (json_is_boolean(v))
		r->synthetic = json_is_true(v);
	else if (!json_is_null(v))
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key 'synthetic' is neither true, false nor null", where);
	return ib_get_dup_opt(o, where, "synthetic_why", &r->synthetic_why, err);
}

/* Records of before a section was known do not have it. */
static int read_sections(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	for (size_t i = 0; i < IB_SECTION_COUNT; i++) {
		json_t *v = json_object_get(o, ib_section_names[i].key);

		if (!v || json_is_null(v))
			continue;
		if (ib_section_names[i].list ? !json_is_array(v) : !json_is_object(v))
			return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' is no %s", where, ib_section_names[i].key,
					  ib_section_names[i].list ? "list" : "object");
		ib_record_set(r, (enum ib_record_section)i, json_incref(v));
	}
	return 0;
}

static int read_top(const json_t *o, const char *where, struct ib_record *r, struct ib_err *err)
{
	static const struct {
		const char *key;
		read_fn *fn;
		bool list;
	} parts[] = {
		{"exit", read_exit, false},          {"time", read_time, false},           {"workloads", read_workload, true},
		{"hooks", read_hook, true},          {"readiness", read_readiness, false}, {"cache", read_cache, false},
		{"server", read_server, false},      {"requests", read_requests, false},   {"expectations", read_expectation, true},
		{"captures", read_captures, false},  {"files", read_file, true},           {"tool", read_tool, false},
	};
	const char *command;
	int e;

	if ((e = ib_get_schema(o, where, IB_RECORD_SCHEMA, err)) < 0 || (e = read_identity(o, where, r, err)) < 0 || (e = read_state(o, where, r, err)) < 0 ||
	    (e = read_rusage(o, where, r, err)) < 0 || (e = ib_get_hex(o, where, "command_sha256", &command, err)) < 0 ||
	    (e = read_synthetic(o, where, r, err)) < 0 || (e = get_num(o, where, "survivors", &r->survivors, err)) < 0 ||
	    (e = get_num(o, where, "left_behind", &r->left_behind, err)) < 0)
		return e;
	memcpy(r->command_sha256, command, IB_HEX_LEN);
	if ((e = read_sections(o, where, r, err)) < 0)
		return e;
	for (size_t i = 0; i < IB_LEN(parts); i++) {
		e = parts[i].list ? get_list(o, where, parts[i].key, parts[i].fn, r, err) : read_part(o, where, parts[i].key, parts[i].fn, r, err);
		if (e < 0)
			return e;
	}
	return 0;
}

int ib_record_from_json(const json_t *j, const char *where, struct ib_record *ret, struct ib_err *err)
{
	int e;

	ib_record_init(ret);
	e = read_top(j, where, ret, err);
	if (e < 0)
		ib_record_clear(ret);
	return e;
}
