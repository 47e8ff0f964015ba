/* SPDX-License-Identifier: Apache-2.0 */
/* Series of samples over the requests that succeeded: times to first token, end-to-end times, lengths. */
#include <math.h>

#include "base/str.h"
#include "metrics/formula.h"

static const char none[] = "no request succeeded";
static const char no_ttft[] = "no times to the first token in the file";
static const char no_e2e[] = "no end-to-end times in the file";
static const char no_lengths[] = "no token counts per request in the file";

/* False, and *ret set, when outcomes are missing: then nobody knows which rows to take. */
static bool tell_apart(const struct ib_columns *c, struct ib_series *ret)
{
	for (size_t i = 0; c->outcome && i < c->n; i++)
		if (c->outcome[i] == IB_OUTCOME_UNKNOWN)
			ret->why = "the file does not tell failed requests from succeeded ones";
	return c->n && c->outcome && !ret->why;
}

static void collect(const struct ib_columns *c, ib_row_fn value, ib_row_fn weight, struct ib_series *ret)
{
	double *v = ib_realloc(NULL, c->n, sizeof(*v)), *w = weight ? ib_realloc(NULL, c->n, sizeof(*w)) : NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		double one = ib_columns_counts(c, i) ? value(c, i) : NAN;

		if (isnan(one) || (w && !(weight(c, i) > 0)))
			continue;
		if (w)
			w[n] = weight(c, i);
		v[n++] = one;
	}
	ib_series_own(ret, v, w, n);
	ret->state = n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = n ? NULL : none;
}

/* Starts *ret; false when it has no samples, and *ret says so. */
static bool begin(const struct ib_columns *c, bool recorded, const char *missing, struct ib_series *ret)
{
	*ret = (struct ib_series){.state = IB_STAT_NOT_RECORDED};
	if (recorded && tell_apart(c, ret))
		return true;
	ret->why = ret->why && recorded ? ret->why : missing;
	return false;
}

void ib_series_of_rows(const struct ib_columns *c, ib_row_fn value, ib_row_fn weight, bool recorded, const char *missing, struct ib_series *ret)
{
	if (begin(c, recorded, missing, ret))
		collect(c, value, weight, ret);
}

void ib_series_of_gaps(const struct ib_columns *c, struct ib_series *ret)
{
	if (!begin(c, c->itl_at, "no gaps between chunks in the file", ret))
		return;
	for (size_t i = 0; i < c->n; i++)
		if (ib_columns_counts(c, i))
			ib_series_piece(ret, c->itl_s + c->itl_at[i], c->itl_at[i + 1] - c->itl_at[i]);
	ret->state = ret->n ? IB_STAT_VALUE : IB_STAT_UNDEFINED;
	ret->why = ret->n ? NULL : "no succeeded request had a second chunk";
}

/* --- times --- */

static double row_ttft(const struct ib_columns *c, size_t i)
{
	return c->ttft_s[i];
}

static void ttft(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_ttft, NULL, c->ttft_s, no_ttft, ret);
}

static double row_e2e(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i];
}

static void e2e(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_e2e, NULL, c->e2e_s, no_e2e, ret);
}

static double row_queue(const struct ib_columns *c, size_t i)
{
	return c->queue_s[i];
}

static void queue(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_queue, NULL, c->queue_s, "no queue times in the file", ret);
}

static double row_e2e_queue(const struct ib_columns *c, size_t i)
{
	return c->e2e_s[i] + c->queue_s[i];
}

static void e2e_queue(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_e2e_queue, NULL, c->e2e_s && c->queue_s, "no end-to-end or queue times in the file", ret);
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
	ib_series_of_rows(c, row_gaps, NULL, c->ttft_s && c->itl_at, "no first-token times or gaps in the file", ret);
}

/* --- lengths --- */

static double whole(const int64_t *v, size_t i)
{
	return v[i] < 0 ? NAN : (double)v[i];
}

static double row_input(const struct ib_columns *c, size_t i)
{
	return whole(c->input_tokens, i);
}

static void input(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_input, NULL, c->input_tokens, no_lengths, ret);
}

static double row_output(const struct ib_columns *c, size_t i)
{
	return whole(c->output_tokens, i);
}

static void output(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_output, NULL, c->output_tokens, no_lengths, ret);
}

static double row_total(const struct ib_columns *c, size_t i)
{
	return whole(c->input_tokens, i) + whole(c->output_tokens, i);
}

static void total(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_total, NULL, c->input_tokens && c->output_tokens, no_lengths, ret);
}

static double row_input_server(const struct ib_columns *c, size_t i)
{
	return whole(c->input_server, i);
}

static void input_server(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_input_server, NULL, c->input_server, no_lengths, ret);
}

static double row_output_server(const struct ib_columns *c, size_t i)
{
	return whole(c->output_server, i);
}

static void output_server(const struct ib_columns *c, struct ib_series *ret)
{
	ib_series_of_rows(c, row_output_server, NULL, c->output_server, no_lengths, ret);
}

#define ROWS(var, id, u, fn, text, who)                                                                                                          \
	const struct ib_formula var = {                                                                                                          \
		.name = id, .unit = u, .definition = text, .population = IB_POPULATION_OK, .samples = IB_SAMPLE_REQUEST, .clients = who, .series = fn}

ROWS(ib_ttft_first_chunk, "ttft_first_chunk", "s", ttft, "time from sending a request to the first chunk of its response",
     "vLLM bench serve 0.6 to 0.33, completions (ttft)");
ROWS(ib_ttft_first_text, "ttft_first_text", "s", ttft, "time from sending a request to the first chunk of its response that holds text",
     "vLLM bench serve, chat; SGLang 0.5 (ttft); inference-perf 0.7 (time_to_first_token)");
ROWS(ib_ttft_first_content, "ttft_first_content", "s", ttft,
     "time from sending a request to the first chunk of its response that holds content; a chunk with nothing but the role is skipped, reasoning counts",
     "AIPerf 0.10 to 0.13 (time_to_first_token); genai-bench 0.0 (ttft); LLMPerf (ttft_s)");
ROWS(ib_ttft_excl_connect, "ttft_excl_connect", "s", ttft,
     "time from writing a request's header, when the connection stands, to the first streamed line that carries a token",
     "GuideLLM 0.3 to 0.8 (time_to_first_token_ms)");

ROWS(ib_e2e_last_token, "e2e_last_token", "s", e2e, "time from sending a request to its last chunk with a token",
     "vLLM bench serve 0.6 to 0.33 (e2el)");
ROWS(ib_e2e_last_content, "e2e_last_content", "s", e2e,
     "time from sending a request to its last chunk with content; the chunk with the usage and the end mark are not waited for",
     "AIPerf 0.10 to 0.13 (request_latency)");
ROWS(ib_e2e_last_chunk, "e2e_last_chunk", "s", e2e, "time from sending a request to its last chunk, that with the usage included",
     "genai-bench 0.0 (e2e_latency)");
ROWS(ib_e2e_processed, "e2e_processed", "s", e2e, "time from sending a request until the client has processed its whole response",
     "inference-perf 0.7 (request_latency)");
ROWS(ib_e2e_closed, "e2e_closed", "s", e2e, "time from sending a request to the end of its stream, the end mark included",
     "SGLang 0.5 (e2e_latency); LLMPerf (end_to_end_latency_s)");
ROWS(ib_e2e_closed_excl_connect, "e2e_closed_excl_connect", "s", e2e,
     "time from writing a request's header, when the connection stands, to the end of its stream, the end mark included",
     "GuideLLM 0.3 to 0.8 (request_latency)");
ROWS(ib_e2e_ttft_plus_gaps, "e2e_ttft_plus_gaps", "s", ttft_plus_gaps, "time to first token + all gaps, where the file keeps no end-to-end time",
     "files of vLLM bench serve and SGLang without end-to-end times");
ROWS(ib_queue_client, "queue_client", "s", queue, "wait inside the client between the moment a request was due and its sending",
     "vLLM bench serve 0.30 to 0.33 (client_queue_time)");
ROWS(ib_e2e_incl_queue, "e2e_incl_queue", "s", e2e_queue, "end to end + wait inside the client",
     "vLLM bench serve 0.30 to 0.33 (e2el_including_client_queue)");

ROWS(ib_input_length, "input_length", "tokens", input, "input tokens of a request, as the client counts them",
     "GuideLLM (prompt_token_count); AIPerf (input_sequence_length); genai-bench (num_input_tokens); inference-perf (prompt_len); LLMPerf "
     "(number_input_tokens)");
ROWS(ib_output_length, "output_length", "tokens", output, "output tokens of a request, as the client counts them",
     "GuideLLM (output_token_count); AIPerf (output_sequence_length); genai-bench (num_output_tokens); inference-perf (output_len); LLMPerf "
     "(number_output_tokens)");
ROWS(ib_total_length, "total_length", "tokens", total, "input + output tokens of a request, as the client counts them",
     "GuideLLM (total_token_count); genai-bench (total_tokens)");
ROWS(ib_input_length_server, "input_length_server", "tokens", input_server, "input tokens of a request, as the server counts them",
     "AIPerf (usage_prompt_tokens); inference-perf (prompt_tokens)");
ROWS(ib_output_length_server, "output_length_server", "tokens", output_server, "output tokens of a request, as the server counts them",
     "AIPerf (usage_completion_tokens); inference-perf (output_tokens)");
