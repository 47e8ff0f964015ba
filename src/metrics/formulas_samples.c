/* SPDX-License-Identifier: Apache-2.0 */
/* Timings of benchmarks of any kind: one sample a run, however it ended. */
#include <math.h>

#include "base/str.h"
#include "metrics/formula.h"


/* The sample of row i, or NaN. */
static double sample(const struct ib_columns *c, size_t i, bool speed)
{
	if (c->warmup && c->warmup[i])
		return NAN;
	if (!speed)
		return c->e2e_s[i];
	if (c->input_tokens[i] < 0 || c->output_tokens[i] < 0)
		return NAN;
	return ((double)c->input_tokens[i] + (double)c->output_tokens[i]) / c->e2e_s[i];
}

static void collect(const struct ib_columns *c, bool speed, bool recorded, const char *missing, struct ib_series *ret)
{
	size_t n = 0;
	double *v;

	*ret = (struct ib_series){.state = IB_STAT_NOT_RECORDED, .why = missing};
	if (!c->n || !recorded)
		return;
	v = ib_realloc(NULL, c->n, sizeof(*v));
	for (size_t i = 0; i < c->n; i++) {
		double one = sample(c, i, speed);

		if (!isnan(one))
			v[n++] = one;
	}
	ib_series_own(ret, v, NULL, n);
	ret->state = n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = n ? NULL : "no run was measured";
}

static void times(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, false, c->e2e_s, "no times of single runs in the file", ret);
}

static void speeds(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, true, c->e2e_s && c->input_tokens && c->output_tokens, "no times or token counts of single runs in the file", ret);
}

const struct ib_formula ib_sample_time = {
	.name = "sample_time",
	.unit = "s",
	.definition = "time of one run of what is measured",
	.population = IB_POPULATION_ALL,
	.samples = "one a run, all of equal weight",
	.clients = "hyperfine (times); pyperf (values); llama-bench (samples_ns); vLLM bench latency (latencies)",
	.series = times,
};

const struct ib_formula ib_sample_speed = {
	.name = "sample_speed",
	.unit = "tokens/s",
	.definition = "tokens of one run, prompt and generated ones together, / its time",
	.population = IB_POPULATION_ALL,
	.samples = "one a run, all of equal weight",
	.clients = "llama-bench (samples_ts)",
	.series = speeds,
};
