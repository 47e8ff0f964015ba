/* SPDX-License-Identifier: Apache-2.0 */
/* Shares and means over all attempted requests, as InferenceBench states them. */
#include "metrics/formula.h"

static struct ib_stat share_ok(const struct ib_measured *m)
{
	struct ib_stat all = ib_count_attempted.scalar(m), ok = ib_count_succeeded.scalar(m);

	if (all.state == IB_STAT_VALUE && !(all.value > 0))
		return ib_stat_undefined("no request was attempted");
	return all.state == IB_STAT_VALUE ? ib_stat_ratio(ok, all.value) : all;
}

static struct ib_stat tokens_per_attempt(const struct ib_measured *m)
{
	struct ib_stat all = ib_count_attempted.scalar(m), tokens = ib_sum_output_tokens.scalar(m);

	if (all.state == IB_STAT_VALUE && !(all.value > 0))
		return ib_stat_undefined("no request was attempted");
	return all.state == IB_STAT_VALUE ? ib_stat_ratio(tokens, all.value) : all;
}

const struct ib_formula ib_share_succeeded = {
	.name = "share_succeeded",
	.unit = "1",
	.definition = "succeeded requests / attempted requests",
	.population = IB_POPULATION_ALL,
	.clients = "InferenceBench 0.1 (ok_rate)",
	.scalar = share_ok,
};

const struct ib_formula ib_output_tokens_per_attempt = {
	.name = "output_tokens_per_attempt",
	.unit = "tokens",
	.definition = "output tokens of the succeeded requests / attempted requests; times the rate of all requests it is the throughput",
	.population = IB_POPULATION_ALL,
	.clients = "InferenceBench 0.1 (throughput_tok_per_s / req_per_s_all)",
	.scalar = tokens_per_attempt,
};
