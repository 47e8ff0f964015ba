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
	struct ib_spawn what = {.env = run->env, .timeout_ns = timeout_ns};
	struct ib_child_end end;
	int r;

	for (size_t i = 0; i < json_array_size(command); i++) {
		char *s;

		r = ib_run_expand(run, json_string_value(json_array_get(command, i)), true, &s, err);
		if (r < 0)
			return r;
		ib_strv_take(&argv, s);
	}
	what.argv = (const char *const *)argv.v;
	r = ib_spawn(&what, &out, &end, err);
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

int ib_ready_idle(struct ib_run *run, const struct ib_contract_evidence *evidence, int64_t timeout_ns, struct ib_err *err)
{
	int64_t start = ib_monotonic_ns(run->ctx->clock), busy;

	for (;;) {
		ib_auto_buf struct ib_buf body = IB_BUF(BODY_MAX);
		int r;

		if (ib_probe(run, evidence->metrics_url, ATTEMPT_NS, &body, NULL) < 0)
			return 0; /* the evidence will say that there are no metrics */
		busy = ib_cache_busy(evidence->engine, ib_buf_str(&body));
		if (busy <= 0)
			return 0;
		if (ib_monotonic_ns(run->ctx->clock) - start >= timeout_ns)
			return ib_fail(err, IB_E_TIMEOUT, 0, "the server is not idle: %" PRId64 " requests under way", busy);
		r = ib_run_sleep(run, IDLE_EVERY_NS, err);
		if (r < 0)
			return r;
	}
}
