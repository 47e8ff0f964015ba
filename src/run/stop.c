/* SPDX-License-Identifier: Apache-2.0 */
/* What stops a plan before its end. */
#include "run/stop.h"

#include <inttypes.h>

#include "base/clock.h"

bool ib_stop_time(const struct ib_ctx *ctx, const struct ib_contract *c, const struct ib_stop *s)
{
	if (!c->stop_after_ns || ib_monotonic_ns(ctx->clock) - s->began_ns < c->stop_after_ns)
		return false;
	ib_log(ctx, IB_LOG_WARNING, "the %.0f s are over that the contract gives one ib-run ('after'): the plan stops here; the same command goes on with it",
	       (double)c->stop_after_ns / IB_NS);
	return true;
}

static bool over(int64_t n, int64_t limit)
{
	return limit && n == limit;
}

bool ib_stop_run(const struct ib_ctx *ctx, const struct ib_contract *c, const struct ib_record *r, struct ib_stop *s)
{
	bool bad = r->state != IB_STATE_COMPLETED, refused = r->state == IB_STATE_REFUSED;
	bool contradicted = !refused && r->cache.evidence == IB_CONTRADICTED;

	s->failed += bad;
	s->refused += refused;
	s->contradicted += contradicted;
	if (refused && over(s->refused, c->stop_refused_runs)) {
		ib_log(ctx, IB_LOG_WARNING, "%" PRId64 " of the runs were refused ('refused_runs'): the plan stops here; once the cause is gone the same "
					    "command runs their slots again", s->refused);
		return true;
	}
	if (contradicted && over(s->contradicted, c->stop_contradicted_runs)) {
		ib_log(ctx, IB_LOG_WARNING, "the evidence of %" PRId64 " runs contradicts their cache condition ('contradicted_runs'): the plan stops here; --exclude "
					    "RUN --reason TEXT frees a slot, the same command goes on behind it", s->contradicted);
		return true;
	}
	if (bad && over(s->failed, c->stop_failed_runs)) {
		ib_log(ctx, IB_LOG_WARNING, "%" PRId64 " of the runs did not end as expected: the contract stops the plan here ('failed_runs'); the same command "
					    "goes on behind them", s->failed);
		return true;
	}
	return false;
}
