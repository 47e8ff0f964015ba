/* SPDX-License-Identifier: Apache-2.0 */
/* LLMPerf's "inter-token latency": the wait for the first token is in it, and all requests weigh the same. Its throughput of one request counts chunks. */
#include <math.h>

#include "metrics/formula.h"

static double row_last_over_all(const struct ib_columns *c, size_t i)
{
	return c->output_tokens[i] < 1 ? NAN : c->last_s[i] / (double)c->output_tokens[i];
}

static void last_over_all(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_last_over_all, NULL, c->last_s && c->output_tokens, "no last-token times or output lengths in the file", ret);
}

const struct ib_formula ib_tpot_last_over_all = {
	.name = "tpot_last_over_all",
	.unit = "s",
	.definition = "(last token - start) / output tokens, all requests of equal weight: the time to first token is in it",
	.population = IB_POPULATION_OK,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "LLMPerf (inter_token_latency_s)",
	.series = last_over_all,
};

static double row_speed(const struct ib_columns *c, size_t i)
{
	double v = c->chunks[i] < 0 ? NAN : (double)c->chunks[i] / c->e2e_s[i];

	return isfinite(v) ? v : NAN;
}

static void speed(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_speed, NULL, c->chunks && c->e2e_s, "no numbers of chunks or end-to-end times in the file", ret);
}

const struct ib_formula ib_speed_chunks_e2e = {
	.name = "speed_chunks_e2e",
	.unit = "1/s",
	.definition = "chunks / end to end of one request; a chunk is not a token",
	.population = IB_POPULATION_OK,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "LLMPerf (request_output_throughput_token_per_s)",
	.series = speed,
};
