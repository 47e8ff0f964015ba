/* SPDX-License-Identifier: Apache-2.0 */
/* Rates: what stands above the line, over the window below it. Two rates with other windows are two formulas. */
#include <math.h>

#include "metrics/formula.h"

static const char stated[] = "the duration that the client states";
static const char phase[] = "end - start of the measured phase, both stated by the client";
static const char all_requests[] = "first start to last end of all attempted requests, failed ones too";
static const char ok_requests[] = "first start to last end of the succeeded requests";
static const char tokens_span[] = "first token to last token of the succeeded requests, in wall time";
static const char first_tokens_span[] = "earliest to latest first token of the succeeded requests, in wall time";

struct ib_stat ib_rate(struct ib_stat over, struct ib_stat window)
{
	if (over.state == IB_STAT_VALUE && window.state != IB_STAT_VALUE)
		return window;
	return ib_stat_ratio(over, window.value);
}

static struct ib_stat duration(const struct ib_measured *m)
{
	return isnan(m->duration_s) ? ib_stat_not_recorded("no duration in the file") : ib_stat_value(m->duration_s, 0);
}

/* Offset from a row's start; NULL: the start itself. */
struct edge {
	const double *offset;
};

static double at(const struct ib_columns *c, struct edge e, size_t i)
{
	return e.offset ? c->start_s[i] + e.offset[i] : c->start_s[i];
}

/* Latest end minus earliest begin, over the succeeded rows or all measured ones. */
static struct ib_stat span(const struct ib_columns *c, bool ok_only, struct edge begin, struct edge end)
{
	double first = INFINITY, last = -INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		double from, to;

		if (ok_only ? !ib_columns_counts(c, i) : c->warmup && c->warmup[i])
			continue;
		from = at(c, begin, i);
		to = at(c, end, i);
		if (isnan(from) || isnan(to))
			return ib_stat_not_recorded("some requests have no start or end in the file");
		first = fmin(first, from);
		last = fmax(last, to);
		n++;
	}
	if (n == 0)
		return ib_stat_undefined(ok_only ? "no request succeeded" : "no requests");
	return ib_stat_value(last - first, n);
}

static struct ib_stat all_span(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;

	if (!c->outcome || !c->start_s || !c->e2e_s)
		return ib_stat_not_recorded("no start and end times in the file");
	return span(c, false, (struct edge){0}, (struct edge){c->e2e_s});
}

static struct ib_stat ok_span(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;

	if (!c->outcome || !c->start_s || !c->e2e_s)
		return ib_stat_not_recorded("no start and end times in the file");
	return span(c, true, (struct edge){0}, (struct edge){c->e2e_s});
}

static struct ib_stat token_span(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;

	if (!c->outcome || !c->start_s || !c->ttft_s || !c->last_s)
		return ib_stat_not_recorded("no times of first and last tokens in the file");
	return span(c, true, (struct edge){c->ttft_s}, (struct edge){c->last_s});
}

static struct ib_stat first_token_span(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;

	if (!c->outcome || !c->start_s || !c->ttft_s)
		return ib_stat_not_recorded("no times of first tokens in the file");
	return span(c, true, (struct edge){c->ttft_s}, (struct edge){c->ttft_s});
}

/* One function a formula: numerator over window. */
#define RATE(fn, what, window)                                             \
	static struct ib_stat fn(const struct ib_measured *m)              \
	{                                                                  \
		return ib_rate(ib_numerator(m->columns, what), window(m)); \
	}

RATE(requests_duration, IB_OF_REQUESTS, duration)
RATE(input_duration, IB_OF_INPUT_TOKENS, duration)
RATE(output_duration, IB_OF_OUTPUT_TOKENS, duration)
RATE(total_duration, IB_OF_TOTAL_TOKENS, duration)
RATE(requests_all, IB_OF_REQUESTS, all_span)
RATE(input_all, IB_OF_INPUT_TOKENS, all_span)
RATE(output_all, IB_OF_OUTPUT_TOKENS, all_span)
RATE(total_all, IB_OF_TOTAL_TOKENS, all_span)
RATE(requests_ok, IB_OF_REQUESTS, ok_span)
RATE(input_ok, IB_OF_INPUT_TOKENS, ok_span)
RATE(output_ok, IB_OF_OUTPUT_TOKENS, ok_span)
RATE(total_ok, IB_OF_TOTAL_TOKENS, ok_span)
RATE(input_first_tokens, IB_OF_INPUT_TOKENS, first_token_span)
RATE(output_tokens, IB_OF_OUTPUT_TOKENS, token_span)
RATE(total_tokens, IB_OF_TOTAL_TOKENS, token_span)

/* n starts have n - 1 spaces between them. */
static struct ib_stat started(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	struct ib_stat s;

	if (!c->outcome || !c->start_s)
		return ib_stat_not_recorded("no start times in the file");
	s = span(c, false, (struct edge){0}, (struct edge){0});
	if (s.state == IB_STAT_VALUE && s.n < 2)
		return ib_stat_undefined("one request has no rate");
	return ib_rate(ib_stat_value((double)s.n - 1, s.n), s);
}

static struct ib_stat concurrency(const struct ib_measured *m)
{
	const struct ib_columns *c = m->columns;
	long double sum = 0;
	size_t n = 0;

	if (!c->outcome || !c->e2e_s)
		return ib_stat_not_recorded("no end-to-end times in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			return ib_stat_not_recorded("the file does not tell failed requests from succeeded ones");
		if (!ib_columns_counts(c, i) || isnan(c->e2e_s[i]))
			continue;
		sum += c->e2e_s[i];
		n++;
	}
	return ib_rate(ib_stat_value((double)sum, n), duration(m));
}

#define SCALAR(var, id, u, fn, below, text, who) \
	const struct ib_formula var = {.name = id, .unit = u, .definition = text, .population = IB_POPULATION_OK, .window = below, .clients = who, .scalar = fn}

SCALAR(ib_requests_over_duration, "requests_over_duration", "1/s", requests_duration, stated, "succeeded requests / the client's duration",
       "vLLM bench serve 0.6 to 0.33, SGLang 0.5 (request_throughput); GuideLLM 0.3 to 0.8 (requests_per_second.successful); genai-bench "
       "(requests_per_second); LLMPerf (num_completed_requests_per_min)");
SCALAR(ib_input_tokens_over_duration, "input_tokens_over_duration", "tokens/s", input_duration, stated,
       "input tokens of the succeeded requests / the client's duration",
       "vLLM bench serve, SGLang (input_throughput); GuideLLM 0.7.4 and 0.8 (prompt_tokens_per_second.successful); genai-bench "
       "(mean_input_throughput_tokens_per_s)");
SCALAR(ib_output_tokens_over_duration, "output_tokens_over_duration", "tokens/s", output_duration, stated,
       "output tokens of the succeeded requests / the client's duration",
       "vLLM bench serve, SGLang (output_throughput); GuideLLM 0.8, and 0.3 within 0.1 % (output_tokens_per_second.successful); genai-bench "
       "(mean_output_throughput_tokens_per_s)");
SCALAR(ib_total_tokens_over_duration, "total_tokens_over_duration", "tokens/s", total_duration, stated,
       "(input + output tokens) of the succeeded requests / the client's duration",
       "vLLM bench serve (total_token_throughput); SGLang (total_throughput); GuideLLM 0.8, and 0.3 within 0.1 % (tokens_per_second.successful); genai-bench "
       "(mean_total_tokens_throughput_tokens_per_s)");

SCALAR(ib_requests_over_phase, "requests_over_phase", "1/s", requests_duration, phase, "succeeded requests / the measured phase",
       "AIPerf 0.12 and 0.13 (request_throughput)");
SCALAR(ib_input_tokens_over_phase, "input_tokens_over_phase", "tokens/s", input_duration, phase, "input tokens of the succeeded requests / the measured phase",
       "AIPerf 0.12 and 0.13 (input_token_throughput)");
SCALAR(ib_output_tokens_over_phase, "output_tokens_over_phase", "tokens/s", output_duration, phase,
       "output tokens of the succeeded requests / the measured phase", "AIPerf 0.12 and 0.13 (output_token_throughput)");
SCALAR(ib_total_tokens_over_phase, "total_tokens_over_phase", "tokens/s", total_duration, phase,
       "(input + output tokens) of the succeeded requests / the measured phase", "AIPerf 0.12 and 0.13 (total_token_throughput)");

SCALAR(ib_requests_over_all, "requests_over_all", "1/s", requests_all, all_requests, "succeeded requests / first start to last end of all requests",
       "inference-perf 0.7 (requests_per_sec)");
SCALAR(ib_input_tokens_over_all, "input_tokens_over_all", "tokens/s", input_all, all_requests,
       "input tokens of the succeeded requests / first start to last end of all requests", "inference-perf 0.7 (input_tokens_per_sec)");
SCALAR(ib_output_tokens_over_all, "output_tokens_over_all", "tokens/s", output_all, all_requests,
       "output tokens of the succeeded requests / first start to last end of all requests", "inference-perf 0.7 (output_tokens_per_sec)");
SCALAR(ib_total_tokens_over_all, "total_tokens_over_all", "tokens/s", total_all, all_requests,
       "(input + output tokens) of the succeeded requests / first start to last end of all requests", "inference-perf 0.7 (total_tokens_per_sec)");

SCALAR(ib_requests_over_ok, "requests_over_ok", "1/s", requests_ok, ok_requests, "succeeded requests / first start to last end of them",
       "AIPerf to 0.11; 0.12 and 0.13 of a run that was cancelled (request_throughput)");
SCALAR(ib_input_tokens_over_ok, "input_tokens_over_ok", "tokens/s", input_ok, ok_requests,
       "input tokens of the succeeded requests / first start to last end of them",
       "AIPerf to 0.11; 0.12 and 0.13 of a run that was cancelled (input_token_throughput)");
SCALAR(ib_output_tokens_over_ok, "output_tokens_over_ok", "tokens/s", output_ok, ok_requests,
       "output tokens of the succeeded requests / first start to last end of them",
       "AIPerf to 0.11; 0.12 and 0.13 of a run that was cancelled (output_token_throughput)");
SCALAR(ib_total_tokens_over_ok, "total_tokens_over_ok", "tokens/s", total_ok, ok_requests,
       "(input + output tokens) of the succeeded requests / first start to last end of them",
       "AIPerf to 0.11; 0.12 and 0.13 of a run that was cancelled (total_token_throughput)");

SCALAR(ib_input_tokens_over_first_tokens, "input_tokens_over_first_tokens", "tokens/s", input_first_tokens, first_tokens_span,
       "input tokens of the succeeded requests / earliest to latest first token", "GuideLLM 0.4 to 0.7.3 (prompt_tokens_per_second.successful)");
SCALAR(ib_output_tokens_over_tokens, "output_tokens_over_tokens", "tokens/s", output_tokens, tokens_span,
       "output tokens of the succeeded requests / first token to last token of all of them", "GuideLLM 0.4 to 0.7.3 (output_tokens_per_second.successful)");
SCALAR(ib_total_tokens_over_tokens, "total_tokens_over_tokens", "tokens/s", total_tokens, tokens_span,
       "(input + output tokens) of the succeeded requests / first token to last token of all of them", "GuideLLM 0.4 to 0.7.3 (tokens_per_second.successful)");

SCALAR(ib_concurrency_mean, "concurrency_mean", "requests", concurrency, stated,
       "sum of the end-to-end times / the client's duration: the mean number in flight, by Little's law",
       "GuideLLM 0.3 to 0.8 (request_concurrency.successful); SGLang 0.5 (concurrency)");
const struct ib_formula ib_rate_started = {
	.name = "rate_started",
	.unit = "1/s",
	.definition = "(requests - 1) / first start to last start: the request rate that was achieved",
	.population = IB_POPULATION_ALL,
	.window = "first start to last start of all attempted requests",
	.scalar = started,
};

#define DURATION(var, id, fn, pop, text, who) \
	const struct ib_formula var = {.name = id, .unit = "s", .definition = text, .population = pop, .clients = who, .scalar = fn}

DURATION(ib_duration_client, "duration_client", NULL, IB_POPULATION_ALL, "window that the client states; only a lower bound follows from the records",
	 "vLLM bench serve, SGLang, GuideLLM (duration); genai-bench (run_duration)");
DURATION(ib_duration_all, "duration_all", all_span, IB_POPULATION_ALL, "first start to last end of all attempted requests",
	 "inference-perf 0.7 (benchmark_time_seconds)");
DURATION(ib_duration_ok, "duration_ok", ok_span, IB_POPULATION_OK, "first start to last end of the succeeded requests",
	 "AIPerf 0.10 to 0.13 (benchmark_duration)");

const struct ib_formula ib_claimed_only = {
	.name = "claimed_only",
	.unit = "",
	.definition = "a number that the client states and that its files do not let anybody compute again",
	.population = "as the client says",
};
