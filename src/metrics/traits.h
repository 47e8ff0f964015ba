/* SPDX-License-Identifier: Apache-2.0 */
/* What the records of one result show beyond the statistics that clients print: each a number, or why there is none. Nothing is judged here. All of them cost
 * O(n log n) at most. Shares are 0 to 1; n is the number of requests (or gaps) looked at. */
#ifndef IB_METRICS_TRAITS_H
#define IB_METRICS_TRAITS_H

#include "metrics/columns.h"
#include "metrics/stat.h"

/* --- load (traits_load.c); see also the formulas peak_in_flight and rate_started --- */

/* Sum of the recorded end-to-end times of all measured requests, failed ones too, / window_s: the mean number in flight (Little's law). */
struct ib_stat ib_trait_in_flight_mean(const struct ib_columns *c, double window_s);
/* The same / cap: near 1 the cap was always used, above 1 the numbers contradict each other. */
struct ib_stat ib_trait_cap_used(const struct ib_columns *c, double window_s, int64_t cap);
/* 1 - cap_used: the share of its time in which each of the client's slots did nothing. */
struct ib_stat ib_trait_idle(const struct ib_columns *c, double window_s, int64_t cap);
/* Achieved request rate, from the starts, / the rate asked for; undefined for an infinite one. */
struct ib_stat ib_trait_rate_share(const struct ib_columns *c, double asked_per_s);
/* Mean wait inside the client / mean end-to-end time, of the succeeded. */
struct ib_stat ib_trait_queue_over_e2e(const struct ib_columns *c);
/* Measured requests that start before the one above them in the file. */
struct ib_stat ib_trait_starts_unordered(const struct ib_columns *c);
/* Measured requests that end more than window_s after the first start. */
struct ib_stat ib_trait_ends_after(const struct ib_columns *c, double window_s);
/* Measured requests with a negative, infinite or longer time than window_s (NaN: length is not looked at) among TTFT, last token, end to end, queue, gaps. */
struct ib_stat ib_trait_absurd_times(const struct ib_columns *c, double window_s);

/* --- first tokens (traits_load.c) --- */

/* TTFT of the request that started first / median of the others'; undefined below 3 requests. */
struct ib_stat ib_trait_first_ttft_over_median(const struct ib_columns *c);
/* Share of the succeeded whose TTFT is 0 or missing, where others have one. */
struct ib_stat ib_trait_ttft_missing(const struct ib_columns *c);
/* Mean TTFT of the succeeded with a missing one taken as 0, as some clients do; and of those that have one. */
struct ib_stat ib_trait_ttft_mean_zeros(const struct ib_columns *c);
struct ib_stat ib_trait_ttft_mean_recorded(const struct ib_columns *c);

/* --- chunks and gaps (traits_chunks.c) --- */

/* Share of the gaps below 0.1 ms: the client or the transport delivered several chunks at once. */
struct ib_stat ib_trait_tiny_gaps(const struct ib_columns *c);
/* Median / mean of the gaps: far below 1, coalesced. */
struct ib_stat ib_trait_gap_median_over_mean(const struct ib_columns *c);
/* Mean gap / mean TPOT (first token excluded): well above 1, several tokens a chunk (chunked or speculative). */
struct ib_stat ib_trait_gap_over_tpot(const struct ib_columns *c);
/* Output tokens / chunks, over the succeeded that have both. */
struct ib_stat ib_trait_tokens_per_chunk(const struct ib_columns *c);
/* Share of the succeeded with gaps whose first gap repeats their TTFT exactly. */
struct ib_stat ib_trait_ttft_in_gaps(const struct ib_columns *c);
/* Largest |end to end - (TTFT + sum of gaps)| / end to end among the succeeded. */
struct ib_stat ib_trait_e2e_against_gaps(const struct ib_columns *c);
/* Share of the succeeded whose number of chunks (gaps + 1) is not that of their output tokens; and of those with more chunks than tokens + 1. */
struct ib_stat ib_trait_chunks_not_tokens(const struct ib_columns *c);
struct ib_stat ib_trait_chunks_beyond_tokens(const struct ib_columns *c);

/* --- lengths and texts (traits_work.c); asked_all is the length asked of all, where the file does not say it of each, or IB_NOT_IN_FILE --- */

/* Mean of output / asked, and the share with fewer tokens than asked, over the succeeded for whom both are known. */
struct ib_stat ib_trait_output_over_asked(const struct ib_columns *c, int64_t asked_all);
struct ib_stat ib_trait_output_short(const struct ib_columns *c, int64_t asked_all);
/* Share whose output is exactly as long as asked: 1 is what a client reports that counts what it asked for. */
struct ib_stat ib_trait_output_as_asked(const struct ib_columns *c, int64_t asked_all);
struct ib_stat ib_trait_input_over_asked(const struct ib_columns *c, int64_t asked_all);
/* 1 when all succeeded have the same output length, else 0; undefined below 2. */
struct ib_stat ib_trait_output_constant(const struct ib_columns *c);
/* Succeeded requests with 0 output tokens. */
struct ib_stat ib_trait_without_output(const struct ib_columns *c);
/* Largest |server's output count - the client's| of one succeeded request, in tokens. */
struct ib_stat ib_trait_server_count_off(const struct ib_columns *c);
/* Share of the measured requests whose prompt another one before them had too. */
struct ib_stat ib_trait_prompts_repeated(const struct ib_columns *c);
/* Share of the rows that succeeded in both results and whose prompts are equal (where recorded) with equal outputs too. */
struct ib_stat ib_trait_outputs_equal(const struct ib_columns *a, const struct ib_columns *b);

/* --- percentiles (traits_work.c) --- */

/* Does a percentile above the median that rests on n samples (too few for it) equal their maximum, within a relative 1e-9 or as printed with `decimals`
 * decimals (below 0: not printed)? */
bool ib_trait_percentile_is_max(double value, double p, double max, size_t n, int decimals);

#endif
