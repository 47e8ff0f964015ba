/* SPDX-License-Identifier: Apache-2.0 */
/* --record-workload. */
#include "run/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "run/against.h"
#include "run/aside.h"

#define RECORD_MAX ((size_t)1 << 31)
#define DIR_NAME "workload/recorded"

/* Is the workload of the group to be recorded? NULL: no. */
static const struct ib_contract_workload *wanted(const struct ib_contract *c, const struct ib_contract_group *g)
{
	for (size_t i = 0; i < c->workloads_n; i++)
		if (c->workloads[i].record && (!g->workload || strcmp(g->workload, c->workloads[i].name) == 0))
			return &c->workloads[i];
	return NULL;
}

/* Was the same command recorded for an earlier slot of this call? */
static bool done_before(const struct ib_plan *plan, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (plan->slots.v[i].selected && ib_against_same(&plan->contract, i, at))
			return true;
	return false;
}

static bool depends_on_repeat(const struct ib_contract_slot *s)
{
	for (size_t i = 0; i < json_array_size(s->command); i++)
		if (strstr(json_string_value(json_array_get(s->command, i)), "{repeat}"))
			return true;
	return false;
}

/* Path of the nth recording of a slot, from 1. */
static char *path_of(const struct ib_contract_slot *s, int n)
{
	ib_auto_free char *repeat = depends_on_repeat(s) ? ib_asprintf(".r%02" PRId64, s->repeat) : ib_strdup("");
	ib_auto_free char *again = n > 1 ? ib_asprintf(".%d", n) : ib_strdup("");

	return ib_asprintf(DIR_NAME "/%s.%s%s%s.jsonl", s->group, s->cell, repeat, again);
}

static void compose(const struct ib_plan *plan, const struct ib_contract_slot *s, const struct ib_contract_workload *w, const struct ib_recorded *r,
		    bool bodies, struct ib_buf *b)
{
	ib_auto_json json_t *o = ib_json_object();

	ib_json_set_str(o, "schema", IB_RECORDING_SCHEMA);
	ib_json_set_str(o, "study", plan->study.name);
	ib_json_set_str(o, "group", s->group);
	ib_json_set_str(o, "cell", s->cell);
	ib_json_set(o, "repeat", depends_on_repeat(s) ? json_integer(s->repeat) : NULL);
	ib_json_set_str(o, "workload", w->name);
	ib_json_set_str(o, "contract_sha256", plan->json_sha256);
	ib_json_set_int(o, "requests", (int64_t)r->n);
	ib_json_set_int(o, "unique", (int64_t)r->unique);
	ib_json_set(o, "unique_prompts", r->prompts == r->n ? json_integer((json_int_t)r->unique_prompts) : NULL);
	ib_json_set_str(o, "set_sha256", r->set_sha256);
	ib_json_set_bool(o, "bodies", bodies);
	ib_json_write(o, b);
	ib_buf_addc(b, '\n');
	ib_buf_add(b, ib_buf_str(&r->lines), r->lines.len);
}

static int keep(struct ib_plan *plan, const struct ib_contract_slot *s, int nth, const struct ib_recorded *r, bool bodies, struct ib_err *err)
{
	const struct ib_contract_workload *w = wanted(&plan->contract, &plan->contract.groups[s->group_at]);
	ib_auto_free char *path = path_of(s, nth);
	ib_auto_buf struct ib_buf b = IB_BUF(RECORD_MAX);
	int e = ib_make_dirs(plan->study.fd, DIR_NAME, 0755, err);

	compose(plan, s, w, r, bodies, &b);
	if (e == 0)
		e = ib_aside_keep_bytes(plan, IB_ENTRY_RECORDING, path, &b, err);
	if (e == 0)
		ib_log(plan->ctx, IB_LOG_INFO, "%s.%s: %zu requests recorded, %zu different: %s", s->group, s->cell, r->n, r->unique, path);
	if (e == 0 && r->prompts == r->n && (double)r->unique_prompts < 0.99 * (double)r->n)
		ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: only %zu of %zu prompts are different: the others can come from the server's cache", s->group, s->cell,
		       r->unique_prompts, r->n);
	return e;
}

/* The latest recording that is there; *ret_n 0: none. */
static int latest(const struct ib_plan *plan, const struct ib_contract_slot *s, int *ret_n, struct ib_recorded *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(RECORD_MAX);
	ib_auto_free char *path = NULL;
	int n = 0, e;

	for (;;) {
		ib_auto_free char *next = path_of(s, n + 1);

		if (faccessat(plan->study.fd, next, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			break;
		n++;
	}
	*ret_n = n;
	if (!n)
		return 0;
	path = path_of(s, n);
	e = ib_read_file(plan->study.fd, path, &b, err);
	if (e == 0)
		e = ib_recorded_read(ib_buf_str(&b), b.len, true, ret, err);
	return e < 0 ? ib_wrap(err, "the earlier recording '%s'", path) : 0;
}

/* False: it is not what was recorded before. */
static int settle(struct ib_plan *plan, const struct ib_contract_slot *s, const struct ib_recorded *got, bool bodies, bool *ret_same, struct ib_err *err)
{
	ib_auto_recorded struct ib_recorded before = {0};
	size_t n, first;
	int nth, e = latest(plan, s, &nth, &before, err);

	*ret_same = true;
	if (e < 0)
		return e;
	if (nth && strcmp(before.set_sha256, got->set_sha256) == 0) {
		ib_log(plan->ctx, IB_LOG_INFO, "%s.%s: recorded again, the same %zu requests", s->group, s->cell, got->n);
		return 0;
	}
	if (nth) {
		*ret_same = false;
		n = ib_recorded_differ(&before, got, &first);
		if (n)
			ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: recorded again, and %zu of %zu requests are others than before, the first of them request %zu (from 0)",
			       s->group, s->cell, n, got->n, first);
		else
			ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: recorded again, and %zu of the %zu requests of before are missing", s->group, s->cell,
			       before.n - got->n, before.n);
	}
	return keep(plan, s, nth + 1, got, bodies, err);
}

static int record_one(struct ib_plan *plan, const struct ib_contract_slot *s, bool bodies, bool *ret_good, struct ib_err *err)
{
	ib_auto_against struct ib_against a = {.record = true, .bodies = bodies};
	ib_auto_recorded struct ib_recorded got = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(RECORD_MAX);
	int e = ib_against(plan, s, &a, err);

	*ret_good = false;
	if (e < 0)
		return e;
	if (a.why) {
		ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: not recorded: %s", s->group, s->cell, a.why);
		return 0;
	}
	if (a.server_tokens != IB_NONE && a.server_tokens != 0) {
		ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: not recorded: meanwhile the server itself counted %" PRId64 " prompt tokens, which may be the client's",
		       s->group, s->cell, a.server_tokens);
		return 0;
	}
	e = ib_read_file(a.dir_fd, "record.jsonl", &b, err);
	if (e == 0)
		e = ib_recorded_read(ib_buf_str(&b), b.len, false, &got, err);
	if (e < 0)
		return e;
	if (got.n == 0) {
		ib_log(plan->ctx, IB_LOG_WARNING, "%s.%s: not recorded: the command ended well, but sent no request", s->group, s->cell);
		return 0;
	}
	return settle(plan, s, &got, bodies, ret_good, err);
}

int ib_recording(struct ib_plan *plan, bool bodies, int *ret_exit, struct ib_err *err)
{
	size_t n = 0;
	int e = 0;

	*ret_exit = 0;
	for (size_t i = 0; e == 0 && i < plan->contract.slots_n && !plan->signals.caught; i++) {
		const struct ib_contract_slot *s = &plan->contract.slots[i];
		bool good;

		if (!plan->slots.v[i].selected || !wanted(&plan->contract, &plan->contract.groups[s->group_at]))
			continue;
		n++;
		if (done_before(plan, i))
			continue;
		e = record_one(plan, s, bodies, &good, err);
		if (e == 0 && !good)
			*ret_exit = 1;
	}
	if (e == 0 && !n)
		return ib_fail(err, IB_E_USAGE, 0, "nothing is to be recorded: no workload of these groups has 'record: true'");
	return e;
}
