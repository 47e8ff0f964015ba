/* SPDX-License-Identifier: Apache-2.0 */
/* Records in memory: start values, growth, end. */
#include "model/record.h"

#include <string.h>

#include "base/auto.h"

static const char *const state_names[IB_STATE_COUNT] = {
	[IB_STATE_COMPLETED] = "completed", [IB_STATE_FAILED] = "failed",     [IB_STATE_TIMED_OUT] = "timed_out", [IB_STATE_INTERRUPTED] = "interrupted",
	[IB_STATE_REFUSED] = "refused",     [IB_STATE_IMPORTED] = "imported", [IB_STATE_ABANDONED] = "abandoned",
};

const char *ib_state_name(enum ib_state s)
{
	return (unsigned)s < IB_STATE_COUNT ? state_names[s] : "unknown";
}

bool ib_state_parse(const char *name, enum ib_state *ret)
{
	for (unsigned i = 0; i < IB_STATE_COUNT; i++)
		if (ib_streq(name, state_names[i])) {
			*ret = (enum ib_state)i;
			return true;
		}
	return false;
}

void ib_record_init(struct ib_record *r)
{
	*r = (struct ib_record){
		.repeat = 1,
		.attempt = 1,
		.exit = {.status = IB_NONE, .signal = IB_NONE, .exec_errno = IB_NONE},
		.time = {.started_ns = IB_NONE, .finished_ns = IB_NONE, .monotonic_ns = IB_NONE, .suspended_ns = IB_NONE},
		.rusage = {.user_ns = IB_NONE},
		.cache = {.expected_queries = IB_NONE},
		.server_output_tokens = IB_NONE,
		.requests = {.attempted = IB_NONE, .succeeded = IB_NONE, .failed = IB_NONE, .timed_out = IB_NONE, .output_tokens = IB_NONE,
			     .incomplete = IB_NONE, .unaccounted = IB_NONE, .without_output = IB_NONE, .short_output = IB_NONE},
		.synthetic = IB_NONE,
		.survivors = IB_NONE,
		.left_behind = IB_NONE,
	};
}

static void clear_lists(struct ib_record *r)
{
	for (size_t i = 0; i < r->variables_n; i++) {
		free(r->variables[i].name);
		free(r->variables[i].value);
	}
	for (size_t i = 0; i < r->workloads_n; i++) {
		free(r->workloads[i].name);
		free(r->workloads[i].path);
	}
	for (size_t i = 0; i < r->hooks_n; i++)
		free(r->hooks[i].name);
	for (size_t i = 0; i < r->cache.counters_n; i++)
		free(r->cache.counters[i].name);
	for (size_t i = 0; i < r->expectations_n; i++) {
		free(r->expectations[i].key);
		free(r->expectations[i].expected);
		free(r->expectations[i].found);
	}
	for (size_t i = 0; i < r->files_n; i++)
		free(r->files[i].path);
	free(r->variables);
	free(r->workloads);
	free(r->hooks);
	free(r->cache.counters);
	free(r->expectations);
	free(r->files);
}

void ib_record_clear(struct ib_record *r)
{
	char *const texts[] = {r->run_id,          r->study,          r->group,          r->cell,          r->cache.condition, r->cache.why,
			       r->cache.engine,    r->synthetic_why,  r->capture_before, r->capture_after, r->requests.client, r->requests.schema_id,
			       r->tool_name,       r->tool_version,   r->tool_commit};

	for (size_t i = 0; i < IB_LEN(texts); i++)
		free(texts[i]);
	clear_lists(r);
	for (size_t i = 0; i < IB_SECTION_COUNT; i++)
		json_decref(r->section[i]);
	ib_strv_clear(&r->reasons);
	ib_strv_clear(&r->notes);
	ib_record_init(r);
}

/* Room for one more item of a list; the new one is zeroed. */
#define GROW(list, n)                                                      \
	({                                                                 \
		(list) = ib_realloc((list), (n) + 1, sizeof(*(list)));     \
		memset(&(list)[n], 0, sizeof(*(list)));                    \
		&(list)[(n)++];                                            \
	})

void ib_record_add_variable(struct ib_record *r, const char *name, const char *value)
{
	struct ib_var *v = GROW(r->variables, r->variables_n);

	v->name = ib_strdup(name);
	v->value = ib_strdup(value);
}

struct ib_record_workload *ib_record_add_workload(struct ib_record *r, const char *name, const char *path)
{
	struct ib_record_workload *w = GROW(r->workloads, r->workloads_n);

	w->name = ib_strdup(name);
	w->path = ib_strdup(path);
	w->status = IB_WORKLOAD_MISSING;
	w->records = w->unique = IB_NONE;
	return w;
}

struct ib_record_hook *ib_record_add_hook(struct ib_record *r, const char *name)
{
	struct ib_record_hook *h = GROW(r->hooks, r->hooks_n);

	h->name = ib_strdup(name);
	h->exit_status = h->signal = IB_NONE;
	return h;
}

void ib_record_add_counter(struct ib_record *r, const char *name, double before, double after)
{
	struct ib_record_counter *c = GROW(r->cache.counters, r->cache.counters_n);

	c->name = ib_strdup(name);
	c->before = before;
	c->after = after;
}

void ib_record_add_expectation(struct ib_record *r, const char *key, const char *expected, const char *found, enum ib_expectation_status status)
{
	struct ib_record_expectation *e = GROW(r->expectations, r->expectations_n);

	e->key = ib_strdup(key);
	e->expected = ib_strdup(expected);
	e->found = ib_strdup(found);
	e->status = status;
}

void ib_record_add_file(struct ib_record *r, const char *path, uint64_t bytes, const char *sha256)
{
	struct ib_record_file *f = GROW(r->files, r->files_n);

	f->path = ib_strdup(path);
	f->bytes = bytes;
	memcpy(f->sha256, sha256, IB_HEX_LEN);
}

void ib_record_set(struct ib_record *r, enum ib_record_section section, json_t *value)
{
	json_decref(r->section[section]);
	r->section[section] = value;
}

void ib_record_fail(struct ib_record *r, const char *reason)
{
	if (r->state == IB_STATE_COMPLETED)
		r->state = IB_STATE_FAILED;
	for (size_t i = 0; i < r->reasons.n; i++)
		if (strcmp(r->reasons.v[i], reason) == 0)
			return;
	ib_strv_add(&r->reasons, reason);
}
