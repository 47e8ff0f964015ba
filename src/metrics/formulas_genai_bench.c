/* SPDX-License-Identifier: Apache-2.0 */
/* genai-bench leaves out the time per token of responses that came within a millisecond of their first token. */
#include <math.h>

#include "metrics/formula.h"

#define SHORTEST_S 0.001

static double row_tpot(const struct ib_columns *c, size_t i)
{
	double decode = c->e2e_s[i] - c->ttft_s[i];

	return c->output_tokens[i] < 2 || decode < SHORTEST_S ? NAN : decode / (double)(c->output_tokens[i] - 1);
}

static void tpot(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_tpot, NULL, c->e2e_s && c->ttft_s && c->output_tokens, "no first-token times, end-to-end times or output lengths in the file",
			  ret);
}

static double row_speed(const struct ib_columns *c, size_t i)
{
	return 1 / row_tpot(c, i);
}

static void speed(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_speed, NULL, c->e2e_s && c->ttft_s && c->output_tokens, "no first-token times, end-to-end times or output lengths in the file",
			  ret);
}

const struct ib_formula ib_tpot_excl_first_1ms = {
	.name = "tpot_excl_first_1ms",
	.unit = "s",
	.definition = "(end to end - time to first token) / (output tokens - 1), for more than one output token and a difference of 1 ms or more",
	.population = IB_POPULATION_OK,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "genai-bench 0.0 (tpot)",
	.series = tpot,
};

const struct ib_formula ib_speed_decode_1ms = {
	.name = "speed_decode_1ms",
	.unit = "tokens/s",
	.definition = "(output tokens - 1) / (end to end - time to first token) of one request, for more than one output token and a difference of 1 ms or more",
	.population = IB_POPULATION_OK,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "genai-bench 0.0 (output_inference_speed)",
	.series = speed,
};
