/* SPDX-License-Identifier: Apache-2.0 */
/* What AIPerf alone computes: latencies in which a failed request never ended, and responses of another length than was asked for. */
#include <math.h>

#include "base/str.h"
#include "metrics/formula.h"

#define MISSED_SHARE 0.05 /* of the length asked for; */
#define MISSED_TOKENS 50  /* and at most so many */

static const char samples[] = "one a request, those that failed infinite, all of equal weight";

/* The samples of f, then one infinite one for every request that failed. */
static void with_failures(const struct ib_formula *f, const struct ib_columns *c, struct ib_series *ret)
{
	size_t failed = 0;

	double *v;

	f->series(c, ret);
	if (ret->state == IB_STAT_NOT_RECORDED)
		return;
	for (size_t i = 0; i < c->n; i++)
		failed += (c->outcome[i] == IB_OUTCOME_FAILED || c->outcome[i] == IB_OUTCOME_TIMED_OUT) && !(c->warmup && c->warmup[i]);
	if (!failed)
		return;
	v = ib_realloc(NULL, ret->n + failed, sizeof(*v));
	for (size_t i = 0; i < ret->n + failed; i++)
		v[i] = i < ret->n ? ret->v[i] : INFINITY;
	failed += ret->n;
	ib_series_clear(ret);
	ib_series_own(ret, v, NULL, failed);
	ret->state = IB_STAT_VALUE;
}

static void e2e(const struct ib_columns *c, struct ib_series *ret)
{
	with_failures(&ib_e2e_last_content, c, ret);
}

static void ttft(const struct ib_columns *c, struct ib_series *ret)
{
	with_failures(&ib_ttft_first_content, c, ret);
}

static void tpot(const struct ib_columns *c, struct ib_series *ret)
{
	with_failures(&ib_tpot_excl_first, c, ret);
}

static void decode(const struct ib_columns *c, struct ib_series *ret)
{
	with_failures(&ib_time_decode, c, ret);
}

/* Of every request that was measured, failed ones too. */
static void waits(const struct ib_columns *c, struct ib_series *ret)
{
	*ret = (struct ib_series){.state = IB_STAT_NOT_RECORDED, .why = "no queue times in the file"};
	if (!c->queue_s)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (!(c->warmup && c->warmup[i]))
			ib_series_piece(ret, &c->queue_s[i], 1);
	ret->state = ret->n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = ret->n ? NULL : "no request was measured";
}

static struct ib_stat missed(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	size_t n = 0, of = 0;

	if (!c->output_asked || !c->output_tokens || !c->outcome)
		return ib_stat_not_recorded("no requested lengths in the file");
	for (size_t i = 0; i < c->n; i++) {
		double asked = (double)c->output_asked[i], got = (double)c->output_tokens[i];

		if (!ib_columns_counts(c, i) || asked < 0 || got < 0)
			continue;
		of++;
		n += fabs(got - asked) > fmin(asked * MISSED_SHARE, MISSED_TOKENS);
	}
	return ib_stat_value((double)n, of);
}

#define ADJUSTED(var, id, fn, text, who) \
	const struct ib_formula var = {.name = id, .unit = "s", .definition = text, .population = IB_POPULATION_ALL, .samples = samples, .clients = who, .series = fn}

ADJUSTED(ib_e2e_failed_never, "e2e_failed_never", e2e, "time from sending a request to its last chunk with content; of a failed request, infinite",
	 "AIPerf 0.12 and 0.13 (adj_request_latency)");
ADJUSTED(ib_ttft_failed_never, "ttft_failed_never", ttft, "time from sending a request to its first chunk with content; of a failed request, infinite",
	 "AIPerf 0.12 and 0.13 (adj_time_to_first_token)");
ADJUSTED(ib_tpot_failed_never, "tpot_failed_never", tpot,
	 "(end to end - time to first token) / (output tokens - 1), for more than one output token; of a failed request, infinite",
	 "AIPerf 0.12 and 0.13 (adj_inter_token_latency)");
ADJUSTED(ib_time_decode_failed_never, "time_decode_failed_never", decode, "end to end - time to first token; of a failed request, infinite",
	 "AIPerf 0.12 and 0.13 (adj_decode_duration)");

const struct ib_formula ib_queue_all = {
	.name = "queue_all",
	.unit = "s",
	.definition = "wait inside the client between the moment a request was due and its sending, of failed requests too",
	.population = IB_POPULATION_ALL,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "AIPerf 0.12 and 0.13 (credit_to_start_latency)",
	.series = waits,
};

const struct ib_formula ib_count_length_missed = {
	.name = "count_length_missed",
	.unit = "requests",
	.definition = "succeeded requests whose output is more than 5 % or 50 tokens off the length asked for",
	.population = IB_POPULATION_OK,
	.clients = "AIPerf 0.10 to 0.13 (osl_mismatch_count)",
	.scalar = missed,
};
