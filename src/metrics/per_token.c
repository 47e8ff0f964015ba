/* SPDX-License-Identifier: Apache-2.0 */
/* Time per output token, gaps and speeds of single requests. Clients disagree on every part of these: each variant has a name. */
#include <math.h>

#include "metrics/formula.h"

static const char no_decode[] = "no first-token times, end-to-end times or output lengths in the file";
static const char no_last[] = "no first-token times, last-token times or output lengths in the file";

static double row_n(const struct ib_columns *c, size_t i)
{
	return c->output_tokens[i] < 1 ? NAN : (double)c->output_tokens[i];
}

/* Tokens after the first; NaN below one. */
static double row_n_after(const struct ib_columns *c, size_t i)
{
	return c->output_tokens[i] < 2 ? NAN : (double)(c->output_tokens[i] - 1);
}

static double row_decode(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i] - c->ttft_s[i];
}

static void decode(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_decode, NULL, c->e2e_s && c->ttft_s, "no first-token or end-to-end times in the file", ret);
}

/* --- per output token --- */

static double row_excl_first(const struct ib_columns *c, size_t i)
{
	return row_decode(c, i) / row_n_after(c, i);
}

static void excl_first(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_excl_first, NULL, c->e2e_s && c->ttft_s && c->output_tokens, no_decode, ret);
}

static double row_incl_first(const struct ib_columns *c, size_t i)
{
	return c->last_s[i] / row_n(c, i);
}

static void incl_first(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_incl_first, row_n, c->last_s && c->output_tokens, no_last, ret);
}

static double row_last_first_over_n(const struct ib_columns *c, size_t i)
{
	return (c->last_s[i] - c->ttft_s[i]) / row_n(c, i);
}

static void last_first_over_n(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_last_first_over_n, NULL, c->last_s && c->ttft_s && c->output_tokens, no_last, ret);
}

static double row_last_first(const struct ib_columns *c, size_t i)
{
	return (c->last_s[i] - c->ttft_s[i]) / row_n_after(c, i);
}

static void last_first(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_last_first, NULL, c->last_s && c->ttft_s && c->output_tokens, no_last, ret);
}

static void last_first_weighted(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_last_first, row_n_after, c->last_s && c->ttft_s && c->output_tokens, no_last, ret);
}

static double row_e2e_over_n(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i] / row_n(c, i);
}

static void e2e_over_n(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_e2e_over_n, NULL, c->e2e_s && c->output_tokens, "no end-to-end times or output lengths in the file", ret);
}

/* --- gaps --- */

static double row_second(const struct ib_columns *c, size_t i)
{
	return c->itl_at[i] < c->itl_at[i + 1] ? c->itl_s[c->itl_at[i]] : NAN;
}

static void second(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_second, NULL, c->itl_at, "no gaps between chunks in the file", ret);
}

/* --- speeds --- */

static double finite_only(double v)
{
	return isfinite(v) ? v : NAN;
}

static double row_speed_decode(const struct ib_columns *c, size_t i)
{
	return finite_only(1 / row_excl_first(c, i));
}

static void speed_decode(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_speed_decode, NULL, c->e2e_s && c->ttft_s && c->output_tokens, no_decode, ret);
}

static double row_speed_e2e(const struct ib_columns *c, size_t i)
{
	return finite_only(row_n(c, i) / c->e2e_s[i]);
}

static void speed_e2e(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_speed_e2e, NULL, c->e2e_s && c->output_tokens, "no end-to-end times or output lengths in the file", ret);
}

static double row_speed_prefill(const struct ib_columns *c, size_t i)
{
	return c->input_tokens[i] < 0 ? NAN : finite_only((double)c->input_tokens[i] / c->ttft_s[i]);
}

static void speed_prefill(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_speed_prefill, NULL, c->ttft_s && c->input_tokens, "no first-token times or input lengths in the file", ret);
}

#define SERIES(var, id, u, one, fn, text, who)                                                                                                    \
	const struct ib_formula var = {.name = id, .unit = u, .definition = text, .population = IB_POPULATION_OK, .samples = one, .clients = who, .series = fn}

SERIES(ib_tpot_excl_first, "tpot_excl_first", "s", IB_SAMPLE_REQUEST, excl_first,
       "(end to end - time to first token) / (output tokens - 1), for more than one output token",
       "vLLM bench serve 0.6 to 0.33 (tpot); SGLang 0.5 (tpot); AIPerf 0.10 to 0.13 (inter_token_latency); genai-bench 0.0 (tpot)");
SERIES(ib_tpot_incl_first, "tpot_incl_first", "s", "one a request, weighted by its output tokens", incl_first,
       "(last token - start) / output tokens: the time to first token is in it", "GuideLLM 0.6 to 0.8 (time_per_output_token_ms)");
SERIES(ib_tpot_decode_over_all, "tpot_decode_over_all", "s", IB_SAMPLE_REQUEST, last_first_over_n,
       "(last token - first token) / output tokens: one gap fewer than it is divided by", "GuideLLM 0.3 (time_per_output_token_ms)");
SERIES(ib_tpot_decode, "tpot_decode", "s", IB_SAMPLE_REQUEST, last_first,
       "(last token - first token) / (output tokens - 1), for more than one output token",
       "inference-perf 0.7 (time_per_output_token); GuideLLM 0.3 (inter_token_latency_ms)");
SERIES(ib_tpot_e2e_over_all, "tpot_e2e_over_all", "s", IB_SAMPLE_REQUEST, e2e_over_n, "end to end / output tokens: the time to first token is in it",
       "inference-perf 0.7 (normalized_time_per_output_token)");
SERIES(ib_itl_decode_weighted, "itl_decode_weighted", "s", "one a request, weighted by its output tokens - 1", last_first_weighted,
       "(last token - first token) / (output tokens - 1), for more than one output token", "GuideLLM 0.6 to 0.8 (inter_token_latency_ms)");

SERIES(ib_itl_all_gaps, "itl_all_gaps", "s", IB_SAMPLE_GAP, ib_series_of_gaps,
       "gaps between the chunks of a response, those of all requests in one pool; a chunk is not a token", "vLLM bench serve 0.6 to 0.33, completions (itl)");
SERIES(ib_itl_text_gaps, "itl_text_gaps", "s", IB_SAMPLE_GAP, ib_series_of_gaps,
       "gaps between the chunks with text of a response, those of all requests in one pool; a chunk is not a token",
       "vLLM bench serve, chat; SGLang 0.5 (itl)");
SERIES(ib_itl_content_gaps, "itl_content_gaps", "s", IB_SAMPLE_GAP, ib_series_of_gaps,
       "gaps between the chunks with content of a response, reasoning included, those of all requests in one pool; a chunk is not a token",
       "AIPerf 0.10 to 0.13 (inter_chunk_latency)");
SERIES(ib_itl_token_gaps, "itl_token_gaps", "s", IB_SAMPLE_GAP, ib_series_of_gaps,
       "gaps between the tokens of a response, those of all requests in one pool; the tokens of one chunk share its time: gaps of 0",
       "inference-perf 0.7 (inter_token_latency)");
SERIES(ib_gap_second_chunk, "gap_second_chunk", "s", IB_SAMPLE_REQUEST, second, "time from the first to the second chunk of a response",
       "AIPerf 0.10 to 0.13 (time_to_second_token)");
SERIES(ib_time_decode, "time_decode", "s", IB_SAMPLE_REQUEST, decode, "end to end - time to first token",
       "AIPerf 0.13 (decode_duration); genai-bench 0.0 (output_latency)");

SERIES(ib_speed_decode, "speed_decode", "tokens/s", IB_SAMPLE_REQUEST, speed_decode,
       "(output tokens - 1) / (end to end - time to first token) of one request, for more than one output token",
       "AIPerf 0.10 to 0.13 (output_token_throughput_per_user); genai-bench 0.0 (output_throughput)");
SERIES(ib_speed_e2e, "speed_e2e", "tokens/s", IB_SAMPLE_REQUEST, speed_e2e, "output tokens / end to end of one request",
       "AIPerf 0.13 (e2e_output_token_throughput)");
SERIES(ib_speed_prefill, "speed_prefill", "tokens/s", IB_SAMPLE_REQUEST, speed_prefill, "input tokens / time to first token of one request",
       "AIPerf 0.13 (prefill_throughput_per_user); genai-bench 0.0 (input_throughput)");
