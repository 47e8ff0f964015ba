/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas that give one sample a request, or a gap, over the requests that succeeded. */
#include <math.h>

#include "base/str.h"
#include "metrics/formula.h"

static const char population[] = "succeeded requests, warm-ups excluded";
static const char none[] = "no request succeeded";

/* False, and *ret set, when outcomes are missing: then nobody knows which rows to take. */
static bool tell_apart(const struct ib_columns *c, struct ib_series *ret)
{
	for (size_t i = 0; c->outcome && i < c->n; i++)
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			ret->why = "the file does not tell failed requests from succeeded ones";
	return c->n && c->outcome && !ret->why;
}

/* Value of row i, or NaN when the row has no such sample. */
typedef double (*row_fn)(const struct ib_columns *c, size_t i);

static void collect(const struct ib_columns *c, row_fn row, bool recorded, const char *missing, struct ib_series *ret)
{
	*ret = (struct ib_series){.state = IB_STAT_NOT_RECORDED};
	if (!recorded || !tell_apart(c, ret)) {
		ret->why = ret->why && recorded ? ret->why : missing;
		return;
	}
	ret->v = ib_realloc(NULL, c->n, sizeof(*ret->v));
	for (size_t i = 0; i < c->n; i++) {
		double v = ib_columns_counts(c, i) ? row(c, i) : NAN;

		if (!isnan(v))
			ret->v[ret->n++] = v;
	}
	ret->state = ret->n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = ret->n ? NULL : none;
}

static double row_ttft(const struct ib_columns *c, size_t i)
{
	return c->ttft_s[i];
}

static void ttft(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_ttft, c->ttft_s, "no times to the first token in the file", ret);
}

static double row_e2e(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i];
}

static void e2e(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_e2e, c->e2e_s, "no end-to-end times in the file", ret);
}

static double row_queue(const struct ib_columns *c, size_t i)
{
	return c->queue_s[i];
}

static void queue(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_queue, c->queue_s, "no queue times in the file", ret);
}

static double row_e2e_queue(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i] + c->queue_s[i];
}

static void e2e_queue(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_e2e_queue, c->e2e_s && c->queue_s, "no end-to-end or queue times in the file", ret);
}

static double row_tpot(const struct ib_columns *c, size_t i)
{
	if (c->output_tokens[i] < 2)
		return NAN;
	return (c->e2e_s[i] - c->ttft_s[i]) / (c->output_tokens[i] - 1);
}

static void tpot(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_tpot, c->e2e_s && c->ttft_s && c->output_tokens, "no first-token times, end-to-end times or output lengths in the file", ret);
}

static double row_gaps(const struct ib_columns *c, size_t i)
{
	double t = c->ttft_s[i];

	for (size_t k = c->itl_at[i]; k < c->itl_at[i + 1]; k++)
		t += c->itl_s[k];
	return t;
}

static void ttft_plus_gaps(const struct ib_columns *c, struct ib_series *ret)
{
	collect(c, row_gaps, c->ttft_s && c->itl_at, "no first-token times or gaps in the file", ret);
}

static void gaps(const struct ib_columns *c, struct ib_series *ret)
{
	*ret = (struct ib_series){.state = IB_STAT_NOT_RECORDED};
	if (!c->itl_at || !tell_apart(c, ret)) {
		ret->why = ret->why ? ret->why : "no gaps between chunks in the file";
		return;
	}
	ret->v = ib_realloc(NULL, c->itl_n + 1, sizeof(*ret->v));
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = c->itl_at[i]; ib_columns_counts(c, i) && k < c->itl_at[i + 1]; k++)
			ret->v[ret->n++] = c->itl_s[k];
	ret->state = ret->n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = ret->n ? NULL : "no succeeded request had a second chunk";
}

const struct ib_formula ib_ttft_first_chunk = {
	.name = "ttft_first_chunk",
	.unit = "s",
	.definition = "time from sending a request to the first chunk of its response",
	.population = population,
	.series = ttft,
};

const struct ib_formula ib_ttft_first_text = {
	.name = "ttft_first_text",
	.unit = "s",
	.definition = "time from sending a request to the first chunk of its response that holds text",
	.population = population,
	.series = ttft,
};

const struct ib_formula ib_tpot_excl_first = {
	.name = "tpot_excl_first",
	.unit = "s",
	.definition = "(end to end - time to first token) / (output tokens - 1), for more than one output token",
	.population = population,
	.series = tpot,
};

const struct ib_formula ib_itl_all_gaps = {
	.name = "itl_all_gaps",
	.unit = "s",
	.definition = "gaps between the chunks of a response, those of all requests in one pool; a chunk is not a token",
	.population = population,
	.series = gaps,
};

const struct ib_formula ib_itl_text_gaps = {
	.name = "itl_text_gaps",
	.unit = "s",
	.definition = "gaps between the chunks with text of a response, those of all requests in one pool; a chunk is not a token",
	.population = population,
	.series = gaps,
};

const struct ib_formula ib_e2e_last_token = {
	.name = "e2e_last_token",
	.unit = "s",
	.definition = "time from sending a request to its last chunk with a token",
	.population = population,
	.series = e2e,
};

const struct ib_formula ib_e2e_ttft_plus_gaps = {
	.name = "e2e_ttft_plus_gaps",
	.unit = "s",
	.definition = "time to first token + all gaps, where the file keeps no end-to-end time",
	.population = population,
	.series = ttft_plus_gaps,
};

const struct ib_formula ib_queue_client = {
	.name = "queue_client",
	.unit = "s",
	.definition = "wait inside the client between the moment a request was due and its sending",
	.population = population,
	.series = queue,
};

const struct ib_formula ib_e2e_incl_queue = {
	.name = "e2e_incl_queue",
	.unit = "s",
	.definition = "end to end + wait inside the client",
	.population = population,
	.series = e2e_queue,
};
