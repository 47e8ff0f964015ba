/* SPDX-License-Identifier: Apache-2.0 */
/* --ceiling. */
#include "run/ceiling.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "run/against.h"
#include "run/aside.h"

#define TRUTH_MAX ((size_t)1 << 30)

static int add_line(const char *line, size_t n, struct ib_truth_sum *s, int64_t *first, int64_t *last, struct ib_err *err)
{
	static const char where[] = "the endpoint's log";
	ib_auto_json json_t *j = NULL;
	const char *what, *finish;
	int64_t arrived, ended, status, tokens;
	int e;

	if ((e = ib_json_load(line, n, where, &j, err)) < 0 || (e = ib_get_str(j, where, "what", &what, err)) < 0)
		return e;
	if (strcmp(what, "completion") != 0 && strcmp(what, "chat") != 0)
		return 0;
	if ((e = ib_get_int(j, where, "arrived_ns", 0, INT64_MAX, &arrived, err)) < 0 || (e = ib_get_int(j, where, "ended_ns", 0, INT64_MAX / 2, &ended, err)) < 0 ||
	    (e = ib_get_int(j, where, "status", 0, 999, &status, err)) < 0 || (e = ib_get_int(j, where, "output_tokens", 0, INT64_MAX / 2, &tokens, err)) < 0 ||
	    (e = ib_get_str_opt(j, where, "finish_reason", &finish, err)) < 0)
		return e;
	s->requests++;
	if (status != 200 || !finish || strcmp(finish, "abort") == 0)
		return 0;
	s->succeeded++;
	s->output_tokens += tokens;
	*first = arrived < *first ? arrived : *first;
	*last = arrived + ended > *last ? arrived + ended : *last;
	return 0;
}

int ib_truth_sum(const char *data, size_t n, struct ib_truth_sum *ret, struct ib_err *err)
{
	struct ib_truth_sum s = {.window_ns = IB_NONE};
	int64_t first = INT64_MAX, last = 0;
	int e = 0;

	for (size_t at = 0; e == 0 && at < n;) {
		const char *stop = memchr(data + at, '\n', n - at);
		size_t len = stop ? (size_t)(stop - data) - at : n - at;

		if (!stop)
			return ib_fail(err, IB_E_TRUNC, 0, "the endpoint's log does not end with a whole line");
		e = add_line(data + at, len, &s, &first, &last, err);
		at += len + 1;
	}
	if (e < 0)
		return e;
	if (s.succeeded > 0)
		s.window_ns = last - first;
	*ret = s;
	return 0;
}

static json_t *cell_json(const struct ib_plan *plan, const struct ib_contract_slot *s, const struct ib_against *a, const struct ib_truth_sum *t)
{
	double window = t->window_ns > 0 ? (double)t->window_ns / IB_NS : NAN;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "group", s->group);
	ib_json_set_str(o, "cell", s->cell);
	ib_json_set_str(o, "load", plan->contract.groups[s->group_at].load);
	ib_json_set_str(o, "status", a->why ? "failed" : t->succeeded ? "measured" : "nothing_sent");
	ib_json_set_str(o, "why", a->why);
	ib_json_set(o, "exit_status", a->res.exit_status != IB_NONE ? json_integer(a->res.exit_status) : NULL);
	ib_json_set_int(o, "requests", t->requests);
	ib_json_set_int(o, "succeeded", t->succeeded);
	ib_json_set_int(o, "output_tokens", t->output_tokens);
	ib_json_set(o, "window_ns", t->window_ns != IB_NONE ? json_integer(t->window_ns) : NULL);
	ib_json_set_real(o, "requests_per_s", a->why ? NAN : (double)t->succeeded / window);
	ib_json_set_real(o, "output_tokens_per_s", a->why ? NAN : (double)t->output_tokens / window);
	ib_json_set_int(o, "command_ns", a->res.duration_ns);
	return o;
}

static int measure(struct ib_plan *plan, const struct ib_contract_slot *s, json_t *cells, bool *ret_good, struct ib_err *err)
{
	ib_auto_against struct ib_against a = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(TRUTH_MAX);
	struct ib_truth_sum t;
	json_t *o;
	int e = ib_against(plan, s, &a, err);

	if (e == 0)
		e = ib_read_file(a.dir_fd, "truth.jsonl", &b, err);
	if (e == 0)
		e = ib_truth_sum(ib_buf_str(&b), b.len, &t, err);
	if (e < 0)
		return e;
	o = cell_json(plan, s, &a, &t);
	ib_json_add(cells, o);
	*ret_good = !a.why && t.window_ns > 0;
	if (*ret_good)
		ib_log(plan->ctx, IB_LOG_INFO, "%s.%s: the client by itself reaches %.6g requests/s, %.6g output tokens/s (%" PRId64 " requests)", s->group, s->cell,
		       json_number_value(json_object_get(o, "requests_per_s")), json_number_value(json_object_get(o, "output_tokens_per_s")), t.succeeded);
	else
		ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: not measured: %s", s->group, s->cell, a.why ? a.why : "the command ended well, but no request succeeded");
	return 0;
}

/* Has an earlier selected slot of the group the same command, whatever its cell and repeat? */
static bool measured_before(const struct ib_plan *plan, size_t at)
{
	const struct ib_contract *c = &plan->contract;

	for (size_t i = 0; i < at; i++)
		if (plan->slots.v[i].selected && strcmp(c->slots[i].group, c->slots[at].group) == 0 && json_equal(c->slots[i].command, c->slots[at].command))
			return true;
	return false;
}

static int keep(struct ib_plan *plan, json_t *cells, struct ib_err *err)
{
	ib_auto_json json_t *o = ib_json_object();
	ib_auto_free char *path = NULL;
	char id[IB_RUN_ID_MAX], at[IB_TIME_LEN];
	int e = ib_aside_id(plan, "ceiling", id, err);

	if (e == 0)
		e = ib_make_dirs(plan->study.fd, "ceiling", 0755, err);
	if (e < 0)
		return e;
	path = ib_asprintf("ceiling/%s.json", id);
	ib_time_text(ib_wall_ns(plan->ctx->clock), 3, at);
	ib_json_set_str(o, "schema", IB_CEILING_SCHEMA);
	ib_json_set_str(o, "id", id);
	ib_json_set_str(o, "study", plan->study.name);
	ib_json_set_str(o, "contract_sha256", plan->json_sha256);
	ib_json_set_str(o, "finished_at", at);
	ib_json_set_str(o, "endpoint", "ib-loopback " PACKAGE_VERSION);
	ib_json_set(o, "cells", json_incref(cells));
	return ib_aside_keep(plan, IB_ENTRY_CEILING, path, o, err);
}

int ib_ceiling(struct ib_plan *plan, int *ret_exit, struct ib_err *err)
{
	ib_auto_json json_t *cells = ib_json_array();
	int e = 0;

	*ret_exit = 0;
	for (size_t i = 0; e == 0 && i < plan->contract.slots_n && !plan->signals.caught; i++) {
		bool good = true;

		if (!plan->slots.v[i].selected || measured_before(plan, i))
			continue;
		e = measure(plan, &plan->contract.slots[i], cells, &good, err);
		if (!good)
			*ret_exit = 1;
	}
	return e < 0 || json_array_size(cells) == 0 ? e : keep(plan, cells, err);
}
