/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of requests and sums of tokens. */
#include "metrics/formula.h"

static const char no_records[] = "no per-request records in the file";
static const char not_told[] = "the file does not tell failed requests from succeeded ones";

static bool measured(const struct ib_columns *c, size_t i)
{
	return !(c->warmup && c->warmup[i]);
}

static struct ib_stat count_rows(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	size_t n = 0;

	if (!c->outcome)
		return ib_stat_not_recorded(no_records);
	for (size_t i = 0; i < c->n; i++)
		n += measured(c, i);
	return ib_stat_value((double)n, n);
}

static struct ib_stat count_warmups(const struct ib_measured *m)
{
	struct ib_stat all = count_rows(m);

	if (all.state != IB_STAT_VALUE)
		return all;
	return ib_stat_value((double)m->columns->n - all.value, m->columns->n);
}

/* Measured rows whose outcome is one of those in the set, a bit each. */
static struct ib_stat count(const struct ib_columns *c, unsigned outcomes)
{
	size_t n = 0, all = 0;

	if (!c->outcome)
		return ib_stat_not_recorded(no_records);
	for (size_t i = 0; i < c->n; i++) {
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			return ib_stat_not_recorded(not_told);
		if (!measured(c, i))
			continue;
		all++;
		n += (outcomes >> c->outcome[i]) & 1;
	}
	return ib_stat_value((double)n, all);
}

#define BIT(outcome) (1u << (outcome))
#define ERRORED (BIT(IB_OUTCOME_FAILED) | BIT(IB_OUTCOME_TIMED_OUT))
#define NOT_OK (ERRORED | BIT(IB_OUTCOME_INCOMPLETE))

static struct ib_stat count_ok(const struct ib_measured *m)
{
	return count(m->columns, BIT(IB_OUTCOME_SUCCEEDED));
}

static struct ib_stat count_failed(const struct ib_measured *m)
{
	return count(m->columns, NOT_OK);
}

static struct ib_stat count_errored(const struct ib_measured *m)
{
	return count(m->columns, ERRORED);
}

static struct ib_stat count_timed_out(const struct ib_measured *m)
{
	return count(m->columns, BIT(IB_OUTCOME_TIMED_OUT));
}

static struct ib_stat count_incomplete(const struct ib_measured *m)
{
	return count(m->columns, BIT(IB_OUTCOME_INCOMPLETE));
}

static struct ib_stat count_ended(const struct ib_measured *m)
{
	return count(m->columns, ERRORED | BIT(IB_OUTCOME_SUCCEEDED));
}

static struct ib_stat share_failed(const struct ib_measured *m)
{
	struct ib_stat bad = count_errored(m), all = count_ended(m);

	if (bad.state == IB_STAT_VALUE && !(all.value > 0))
		return ib_stat_undefined("no request ended");
	return bad.state == IB_STAT_VALUE ? ib_stat_value(bad.value / all.value, all.n) : bad;
}

/* --- sums --- */

static struct ib_stat sum(const struct ib_columns *c, const int64_t *tokens)
{
	double total = 0;
	size_t n = 0;

	if (!c->outcome || !tokens)
		return ib_stat_not_recorded("no token counts per request in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (tokens[i] < 0)
			return ib_stat_not_recorded("some succeeded requests have no token count in the file");
		total += (double)tokens[i];
		n++;
	}
	return ib_stat_value(total, n);
}

struct ib_stat ib_numerator(const struct ib_columns *c, enum ib_numerator what)
{
	struct ib_stat in = sum(c, c->input_tokens), out = sum(c, c->output_tokens);

	switch (what) {
	case IB_OF_REQUESTS:
		return count(c, BIT(IB_OUTCOME_SUCCEEDED));
	case IB_OF_INPUT_TOKENS:
		return in;
	case IB_OF_OUTPUT_TOKENS:
		return out;
	default:
		break;
	}
	if (in.state != IB_STAT_VALUE || out.state != IB_STAT_VALUE)
		return in.state != IB_STAT_VALUE ? in : out;
	in.value += out.value;
	return in;
}

static struct ib_stat sum_input(const struct ib_measured *m)
{
	return ib_numerator(m->columns, IB_OF_INPUT_TOKENS);
}

static struct ib_stat sum_output(const struct ib_measured *m)
{
	return ib_numerator(m->columns, IB_OF_OUTPUT_TOKENS);
}

static struct ib_stat sum_total(const struct ib_measured *m)
{
	return ib_numerator(m->columns, IB_OF_TOTAL_TOKENS);
}

static struct ib_stat sum_input_server(const struct ib_measured *m)
{
	return sum(m->columns, m->columns->input_server);
}

static struct ib_stat sum_output_server(const struct ib_measured *m)
{
	return sum(m->columns, m->columns->output_server);
}

/* Rows without a count add nothing: that is how it is computed. */
static struct ib_stat sum_output_all(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	double total = 0;
	size_t n = 0;

	if (!c->outcome || !c->output_tokens)
		return ib_stat_not_recorded("no token counts per request in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!measured(c, i) || c->output_tokens[i] < 0)
			continue;
		total += (double)c->output_tokens[i];
		n++;
	}
	return ib_stat_value(total, n);
}

#define SCALAR(var, id, u, pop, fn, text, who) \
	const struct ib_formula var = {.name = id, .unit = u, .definition = text, .population = pop, .clients = who, .scalar = fn}

SCALAR(ib_count_attempted, "count_attempted", "requests", IB_POPULATION_ALL, count_rows, "requests sent or asked for",
       "GuideLLM (request_totals.total); genai-bench (num_requests); inference-perf (load_summary.count)");
SCALAR(ib_count_warmups, "count_warmups", "requests", "warm-up requests", count_warmups, "requests sent before the measured ones", NULL);
SCALAR(ib_count_succeeded, "count_succeeded", "requests", IB_POPULATION_ALL, count_ok, "requests with no error and at least one output token",
       "vLLM bench serve, SGLang (completed); GuideLLM (request_totals.successful); AIPerf (request_count); inference-perf (successes.count); genai-bench "
       "(num_completed_requests). They count responses without a token too: a number that differs shows it");
SCALAR(ib_count_failed, "count_failed", "requests", IB_POPULATION_ALL, count_failed, "attempted requests that did not succeed",
       "vLLM bench serve 0.11 to 0.33 (failed); inference-perf (failures.count); genai-bench (num_error_requests)");
SCALAR(ib_count_errored, "count_errored", "requests", IB_POPULATION_ALL, count_errored,
       "attempted requests that ended without success; those cut off by the end of the run are not among them",
       "GuideLLM (request_totals.errored); AIPerf (error_request_count)");
SCALAR(ib_count_timed_out, "count_timed_out", "requests", IB_POPULATION_ALL, count_timed_out, "attempted requests that ran into the client's time limit", NULL);
SCALAR(ib_count_incomplete, "count_incomplete", "requests", IB_POPULATION_ALL, count_incomplete, "attempted requests cut off by the end of the run",
       "GuideLLM (request_totals.incomplete)");
SCALAR(ib_count_ended, "count_ended", "requests", IB_POPULATION_ALL, count_ended,
       "attempted requests that ended, with success or without; those cut off by the end of the run are not among them",
       "AIPerf (completed_request_count)");
SCALAR(ib_share_failed, "share_failed", "1", IB_POPULATION_ALL, share_failed, "requests that ended without success / requests that ended",
       "AIPerf (request_error_rate)");
SCALAR(ib_sum_input_tokens, "sum_input_tokens", "tokens", IB_POPULATION_OK, sum_input, "sum of the input lengths, as the client counts them",
       "vLLM bench serve, SGLang (total_input_tokens); AIPerf (total_isl)");
SCALAR(ib_sum_output_tokens, "sum_output_tokens", "tokens", IB_POPULATION_OK, sum_output, "sum of the output lengths, as the client counts them",
       "vLLM bench serve, SGLang (total_output_tokens: of SGLang what was asked, unless the server sends its count); AIPerf (total_osl)");
SCALAR(ib_sum_total_tokens, "sum_total_tokens", "tokens", IB_POPULATION_OK, sum_total, "sum of the input and output lengths, as the client counts them", NULL);
SCALAR(ib_sum_input_server, "sum_input_server", "tokens", IB_POPULATION_OK, sum_input_server, "sum of the input lengths, as the server counts them",
       "AIPerf (total_usage_prompt_tokens)");
SCALAR(ib_sum_output_server, "sum_output_server", "tokens", IB_POPULATION_OK, sum_output_server, "sum of the output lengths, as the server counts them",
       "AIPerf (total_usage_completion_tokens); inference-perf (output_tokens)");
SCALAR(ib_sum_output_all, "sum_output_all", "tokens", IB_POPULATION_ALL, sum_output_all,
       "sum of the output lengths of all attempted requests, failed and cut off ones too", "GuideLLM (output_tokens of .total)");
