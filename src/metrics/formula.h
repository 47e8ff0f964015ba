/* SPDX-License-Identifier: Apache-2.0 */
/* The named formulas. Two numbers may stand in one column or be compared only when their formulas have the same name. */
#ifndef IB_METRICS_FORMULA_H
#define IB_METRICS_FORMULA_H

#include "metrics/columns.h"
#include "metrics/stat.h"

/* Thresholds of goodput, in seconds, inclusive; NaN: none for it. */
struct ib_slo {
	double ttft_s, tpot_s, e2e_s;
};

/* What an energy counter moved by during the measurement. */
struct ib_energy {
	double joules;
	const char *source; /* the counter: "NVML total energy of GPU 0" */
	const char *scope;  /* what it covers: "GPU 0 alone; no CPU, no fans" */
};

/* What a formula reads. */
struct ib_measured {
	const struct ib_columns *columns;
	double duration_s; /* the client's own window; NaN: not recorded */
	const struct ib_slo *slo;       /* NULL: not known */
	const struct ib_energy *energy; /* NULL: no counter was read */
};

/* Either series (one sample a request or a gap, in .unit) or scalar (one number) is set, or neither: a name for a number
 * that cannot be derived from a file. All texts are one sentence or less, for readers; NULL where there is nothing to say. */
struct ib_formula {
	const char *name; /* stable: stands in documents */
	const char *unit; /* "s", "1/s", "tokens/s", "requests", "tokens", "J/token", "1" (a share) */
	const char *definition; /* one sentence */
	const char *population; /* which requests it covers */
	const char *samples;    /* of a series: what one sample is, and its weight */
	const char *window;     /* of a rate: the time that it is divided by */
	const char *clients;    /* who computes it so, with versions, and under which name */
	void (*series)(const struct ib_columns *c, struct ib_series *ret);
	struct ib_stat (*scalar)(const struct ib_measured *m);
};

/* Time to first token, by what the first one is (series.c). */
extern const struct ib_formula ib_ttft_first_chunk, ib_ttft_first_text, ib_ttft_first_content, ib_ttft_excl_connect;
/* End to end, by where the end is; waits (series.c). */
extern const struct ib_formula ib_e2e_last_token, ib_e2e_last_content, ib_e2e_last_chunk, ib_e2e_processed, ib_e2e_closed, ib_e2e_closed_excl_connect,
	ib_e2e_ttft_plus_gaps, ib_queue_client, ib_e2e_incl_queue;
/* Lengths, one sample a request (series.c). */
extern const struct ib_formula ib_input_length, ib_output_length, ib_total_length, ib_input_length_server, ib_output_length_server;
/* Time per token, gaps, speeds of one request (per_token.c). */
extern const struct ib_formula ib_tpot_excl_first, ib_tpot_incl_first, ib_tpot_decode_over_all, ib_tpot_decode, ib_tpot_e2e_over_all, ib_itl_decode_weighted,
	ib_itl_all_gaps, ib_itl_text_gaps, ib_itl_content_gaps, ib_itl_token_gaps, ib_gap_second_chunk, ib_time_decode, ib_speed_decode, ib_speed_e2e,
	ib_speed_prefill;
/* Counts and sums (count.c). */
extern const struct ib_formula ib_count_attempted, ib_count_warmups, ib_count_succeeded, ib_count_failed, ib_count_errored, ib_count_timed_out,
	ib_count_incomplete, ib_count_ended, ib_share_failed, ib_sum_input_tokens, ib_sum_output_tokens, ib_sum_total_tokens, ib_sum_input_server,
	ib_sum_output_server, ib_sum_output_all;
/* Rates: a numerator over a window (rate.c). */
extern const struct ib_formula ib_requests_over_duration, ib_input_tokens_over_duration, ib_output_tokens_over_duration, ib_total_tokens_over_duration,
	ib_requests_over_phase, ib_input_tokens_over_phase, ib_output_tokens_over_phase, ib_total_tokens_over_phase, ib_requests_over_all,
	ib_input_tokens_over_all, ib_output_tokens_over_all, ib_total_tokens_over_all, ib_requests_over_ok, ib_input_tokens_over_ok, ib_output_tokens_over_ok,
	ib_total_tokens_over_ok, ib_input_tokens_over_first_tokens, ib_output_tokens_over_tokens, ib_total_tokens_over_tokens, ib_rate_started,
	ib_concurrency_mean, ib_duration_client, ib_duration_all, ib_duration_ok, ib_goodput_client, ib_energy_per_output_token;
/* Peaks (peak.c). */
extern const struct ib_formula ib_peak_chunks_bucket, ib_peak_requests_bucket, ib_peak_in_flight;
/* What only AIPerf computes (formulas_aiperf.c). */
extern const struct ib_formula ib_e2e_failed_never, ib_ttft_failed_never, ib_tpot_failed_never, ib_time_decode_failed_never, ib_queue_all,
	ib_count_length_missed;
/* Over all attempted requests (formulas_inferencebench.c); timings of benchmarks of any kind (formulas_samples.c). */
extern const struct ib_formula ib_share_succeeded, ib_output_tokens_per_attempt, ib_sample_time, ib_sample_speed;
/* inference-perf, genai-bench, LLMPerf (formulas_*.c). */
extern const struct ib_formula ib_output_length_reported, ib_duration_sends, ib_requests_over_sends, ib_tpot_excl_first_1ms, ib_speed_decode_1ms,
	ib_tpot_last_over_all, ib_speed_chunks_e2e;
/* A number that a client states and that no formula here covers. */
extern const struct ib_formula ib_claimed_only;

/* Formula by its name, or NULL. ib_formulas ends with NULL. */
extern const struct ib_formula *const ib_formulas[];
const struct ib_formula *ib_formula_find(const char *name);

/* Thresholds from text as vllm takes them, in ms: "ttft:200 tpot:50 e2el:3000". False when a word is not one of these or none is there. */
bool ib_slo_parse(const char *text, struct ib_slo *ret);

/* --- for the files that define formulas --- */

#define IB_POPULATION_OK "succeeded requests, warm-ups excluded"
#define IB_POPULATION_ALL "attempted requests, warm-ups excluded"
#define IB_SAMPLE_REQUEST "one a request, all of equal weight"
#define IB_SAMPLE_GAP "one a gap, those of all requests in one pool"

/* Value of row i, or NaN when the row has no such sample. */
typedef double (*ib_row_fn)(const struct ib_columns *c, size_t i);
/* One sample a succeeded row, with the weight that weight() gives it (NULL: all equal). recorded false: the columns that value() reads are not there, and
 * missing (static text) says so. */
void ib_series_of_rows(const struct ib_columns *c, ib_row_fn value, ib_row_fn weight, bool recorded, const char *missing, struct ib_series *ret);
/* The gaps themselves: the series points into the columns. */
void ib_series_of_gaps(const struct ib_columns *c, struct ib_series *ret);

/* What stands above the line of a rate, over the succeeded requests. */
enum ib_numerator { IB_OF_REQUESTS, IB_OF_INPUT_TOKENS, IB_OF_OUTPUT_TOKENS, IB_OF_TOTAL_TOKENS };
struct ib_stat ib_numerator(const struct ib_columns *c, enum ib_numerator what);
/* over / window; the state of whichever is no value. */
struct ib_stat ib_rate(struct ib_stat over, struct ib_stat window);

#endif
