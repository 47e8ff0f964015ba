/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a server: ready, and idle. */
#include "run/ready.h"

#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "base/str.h"
#include "run/cache.h"
#include "run/probe.h"

#define ATTEMPT_NS (10 * IB_NS)  /* longest single attempt; the last one gets a second, so that it says something */
#define IDLE_EVERY_NS (IB_NS / 5)
#define BODY_MAX (16u << 20)

static int ask_command(struct ib_run *run, const json_t *command, int64_t timeout_ns, struct ib_err *err)
{
	ib_auto_strv struct ib_strv argv = {0};
	ib_auto_buf struct ib_buf out = IB_BUF(1u << 20);
	ib_auto_strv struct ib_strv env = {0};
	struct ib_spawn what = {.timeout_ns = timeout_ns};
	struct ib_child_end end;
	int r;

	for (size_t i = 0; i < json_array_size(command); i++) {
		char *s;

		r = ib_run_expand(run, json_string_value(json_array_get(command, i)), true, &s, err);
		if (r < 0)
			return r;
		ib_strv_take(&argv, s);
	}
	for (char *const *e = run->env; *e; e++)
		ib_strv_add(&env, *e);
	ib_strv_add(&env, "IB_HOOK=readiness"); /* a server that it starts is no survivor */
	what.env = env.v;
	what.argv = (const char *const *)argv.v;
	r = ib_probe_spawn(run, &what, &out, &end, err);
	if (r < 0)
		return r;
	if (end.timed_out)
		return ib_fail(err, IB_E_TIMEOUT, 0, "the readiness command did not end in time");
	if (end.status != 0)
		return ib_fail(err, IB_E_IO, 0, "the readiness command ended with status %d", end.status);
	return 0;
}

static int ask(struct ib_run *run, const struct ib_contract *c, int64_t timeout_ns, struct ib_err *err)
{
	ib_auto_buf struct ib_buf body = IB_BUF(BODY_MAX);

	if (c->readiness.command)
		return ask_command(run, c->readiness.command, timeout_ns, err);
	return ib_probe(run, c->readiness.url, timeout_ns, &body, err);
}

int ib_ready_wait(struct ib_run *run, const struct ib_contract *contract, struct ib_err *err)
{
	int64_t start = ib_monotonic_ns(run->ctx->clock), left = contract->readiness.timeout_ns, earlier = run->record->readiness.waited_ns;
	struct ib_err why = {0};

	if (!contract->readiness.url && !contract->readiness.command)
		return 0;
	run->record->readiness.status = IB_NOT_READY;
	do {
		int r = ask(run, contract, left < IB_NS ? IB_NS : left < ATTEMPT_NS ? left : ATTEMPT_NS, &why);

		run->record->readiness.attempts++;
		left = contract->readiness.timeout_ns - (ib_monotonic_ns(run->ctx->clock) - start);
		run->record->readiness.waited_ns = earlier + contract->readiness.timeout_ns - left;
		if (r == 0) {
			run->record->readiness.status = IB_READY;
			return 0;
		}
		if (run->signals->caught)
			return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
		if (r == IB_E_USAGE)
			return ib_fail(err, r, 0, "readiness cannot be asked: %s", why.text);
		r = ib_run_sleep(run, left > contract->readiness.interval_ns ? contract->readiness.interval_ns : left > 0 ? left : 0, err);
		if (r < 0)
			return r;
		left = contract->readiness.timeout_ns - (ib_monotonic_ns(run->ctx->clock) - start);
	} while (left > 0);
	return ib_fail(err, IB_E_TIMEOUT, 0, "not ready after %.1f s and %" PRId64 " attempts: %s", (double)contract->readiness.timeout_ns / IB_NS,
		       run->record->readiness.attempts, why.text);
}

/* Requests under way on all endpoints; IB_NONE: one has no gauges, or cannot be asked. */
static int64_t busy_now(struct ib_run *run, const struct ib_contract_evidence *evidence)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ib_evidence_urls(evidence); i++) {
		ib_auto_buf struct ib_buf body = IB_BUF(BODY_MAX);
		int64_t busy;

		if (ib_probe(run, ib_evidence_url(evidence, i), ATTEMPT_NS, &body, NULL) < 0)
			return IB_NONE; /* the evidence will say that there are no metrics */
		busy = ib_cache_busy(evidence, ib_buf_str(&body));
		if (busy == IB_NONE)
			return IB_NONE;
		sum += busy;
	}
	return sum;
}

int ib_ready_idle(struct ib_run *run, const struct ib_contract_evidence *evidence, int64_t timeout_ns, struct ib_err *err)
{
	int64_t start = ib_monotonic_ns(run->ctx->clock), busy, waited = 0;

	while ((busy = busy_now(run, evidence)) > 0) {
		int r;

		waited = ib_monotonic_ns(run->ctx->clock) - start;
		if (waited >= timeout_ns)
			return ib_fail(err, IB_E_TIMEOUT, 0, "the server is not idle: %" PRId64 " requests under way", busy);
		r = ib_run_sleep(run, IDLE_EVERY_NS, err);
		if (r < 0)
			return r;
	}
	if (run->signals->caught)
		return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
	if (busy == IB_NONE)
		ib_strv_add(&run->record->notes, "whether the server was idle is not known: no gauges of requests under way could be read");
	else if (waited)
		ib_strv_take(&run->record->notes, ib_asprintf("waited %.1f s until the server had no request under way", (double)waited / IB_NS));
	return 0;
}
