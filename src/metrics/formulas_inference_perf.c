/* SPDX-License-Identifier: Apache-2.0 */
/* What inference-perf computes its own way: lengths from two sources, the rate at which it sent. */
#include <math.h>

#include "metrics/formula.h"

/* --- the server's count of output tokens, else the client's --- */

static double row_reported(const struct ib_columns *c, size_t i)
{
	if (c->output_server && c->output_server[i] >= 0)
		return (double)c->output_server[i];
	return c->output_tokens && c->output_tokens[i] >= 0 ? (double)c->output_tokens[i] : NAN;
}

static void reported(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_reported, NULL, c->output_server || c->output_tokens, "no token counts per request in the file", ret);
}

const struct ib_formula ib_output_length_reported = {
	.name = "output_length_reported",
	.unit = "tokens",
	.definition = "output tokens of a request, as the server counts them, else as the client does",
	.population = IB_POPULATION_OK,
	.samples = IB_SAMPLE_REQUEST,
	.clients = "inference-perf 0.7 (output_tokens)",
	.series = reported,
};

/* --- sending --- */

static struct ib_stat sends(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	double first = INFINITY, last = -INFINITY;
	size_t n = 0;

	if (!c->outcome || !c->start_s)
		return ib_stat_not_recorded("no start times in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (c->warmup && c->warmup[i])
			continue;
		if (isnan(c->start_s[i]))
			return ib_stat_not_recorded("some requests have no start in the file");
		first = fmin(first, c->start_s[i]);
		last = fmax(last, c->start_s[i]);
		n++;
	}
	return n ? ib_stat_value(last - first, n) : ib_stat_undefined("no requests");
}

static struct ib_stat sent(const struct ib_measured *m)
{
	struct ib_stat span = sends(m);

	return ib_rate(ib_stat_value((double)span.n, span.n), span);
}

const struct ib_formula ib_duration_sends = {
	.name = "duration_sends",
	.unit = "s",
	.definition = "first start to last start of all attempted requests",
	.population = IB_POPULATION_ALL,
	.clients = "inference-perf 0.7 (send_duration)",
	.scalar = sends,
};

const struct ib_formula ib_requests_over_sends = {
	.name = "requests_over_sends",
	.unit = "1/s",
	.definition = "requests / first start to last start: one more than there are spaces between them",
	.population = IB_POPULATION_ALL,
	.window = "first start to last start of all attempted requests",
	.clients = "inference-perf 0.7 (achieved_rate)",
	.scalar = sent,
};
