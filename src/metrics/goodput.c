/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that need more than a result file: goodput needs its thresholds, energy per token a counter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/formula.h"

/* "name:number" at text; where it ends, or NULL. */
static const char *one_threshold(const char *text, struct ib_slo *slo)
{
	const struct {
		const char *word;
		double *to;
	} known[] = {{"ttft:", &slo->ttft_s}, {"tpot:", &slo->tpot_s}, {"e2el:", &slo->e2e_s}};

	for (size_t i = 0; i < 3; i++) {
		const char *at = text + strlen(known[i].word);
		size_t n;
		char *end;

		if (strncmp(text, known[i].word, strlen(known[i].word)) != 0)
			continue;
		n = strspn(at, "0123456789.eE+");
		*known[i].to = strtod(at, &end) / 1000;
		return n && end == at + n && isfinite(*known[i].to) ? end : NULL;
	}
	return NULL;
}

bool ib_slo_parse(const char *text, struct ib_slo *ret)
{
	bool any = false;

	*ret = (struct ib_slo){NAN, NAN, NAN};
	for (text += strspn(text, " ,"); *text; text += strspn(text, " ,")) {
		text = one_threshold(text, ret);
		if (!text || (*text && !strchr(" ,", *text)))
			return false;
		any = true;
	}
	return any;
}

static bool within(double v, double limit)
{
	return isnan(limit) || v <= limit;
}

/* TPOT of a request with one token or none is taken as 0: it cannot miss a threshold. */
static double tpot(const struct ib_columns *c, size_t i)
{
	return c->output_tokens[i] > 1 ? (c->e2e_s[i] - c->ttft_s[i]) / (double)(c->output_tokens[i] - 1) : 0;
}

static bool good(const struct ib_columns *c, const struct ib_slo *slo, size_t i)
{
	if (!isnan(slo->ttft_s) && !within(c->ttft_s[i], slo->ttft_s))
		return false;
	if (!isnan(slo->e2e_s) && !within(c->e2e_s[i], slo->e2e_s))
		return false;
	return isnan(slo->tpot_s) || within(tpot(c, i), slo->tpot_s);
}

static struct ib_stat goodput(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	const struct ib_slo *slo = m->slo;
	size_t n = 0, all = 0;

	if (!c->outcome)
		return ib_stat_not_recorded("no per-request records in the file");
	if (!slo)
		return ib_stat_not_recorded("the thresholds are not in the file");
	if ((!isnan(slo->ttft_s) && !c->ttft_s) || (!isnan(slo->e2e_s) && !c->e2e_s) ||
	    (!isnan(slo->tpot_s) && (!c->ttft_s || !c->e2e_s || !c->output_tokens)))
		return ib_stat_not_recorded("the times that the thresholds are for are not in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			return ib_stat_not_recorded("the file does not tell failed requests from succeeded ones");
		if (!ib_columns_counts(c, i))
			continue;
		all++;
		n += good(c, slo, i);
	}
	if (isnan(m->duration_s))
		return ib_stat_not_recorded("no duration in the file");
	return ib_stat_ratio(ib_stat_value((double)n, all), m->duration_s);
}

static struct ib_stat energy(const struct ib_measured *m)
{
	struct ib_stat tokens = ib_numerator(m->columns, IB_OF_OUTPUT_TOKENS);

	if (!m->energy || isnan(m->energy->joules))
		return ib_stat_not_recorded("no energy counter was read");
	if (!m->energy->source || !m->energy->scope)
		return ib_stat_not_recorded("the energy counter has no name or no scope");
	if (tokens.state != IB_STAT_VALUE)
		return tokens;
	if (!(tokens.value > 0))
		return ib_stat_undefined("no output tokens");
	if (m->energy->joules < 0)
		return ib_stat_undefined("the energy counter ran backwards");
	return ib_stat_value(m->energy->joules / tokens.value, tokens.n);
}

const struct ib_formula ib_goodput_client = {
	.name = "goodput_client",
	.unit = "1/s",
	.definition = "requests within the client's thresholds / the client's duration; limits are inclusive, the TPOT of one token is taken as 0",
	.population = IB_POPULATION_OK,
	.window = "the duration that the client states",
	.clients = "vLLM bench serve 0.6 to 0.33 (request_goodput), whose files do not hold the thresholds: they are taken from its command line",
	.scalar = goodput,
};

const struct ib_formula ib_energy_per_output_token = {
	.name = "energy_per_output_token",
	.unit = "J/token",
	.definition = "what an energy counter moved by during the measurement / output tokens; the counter and what it covers are named beside it",
	.population = IB_POPULATION_OK,
	.clients = "no client; without a counter there is no number",
	.scalar = energy,
};
