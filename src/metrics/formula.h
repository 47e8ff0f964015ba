/* SPDX-License-Identifier: Apache-2.0 */
/* The named formulas. Two numbers may stand in one column or be compared only when their formulas have the same name. */
#ifndef IB_METRICS_FORMULA_H
#define IB_METRICS_FORMULA_H

#include "metrics/columns.h"
#include "metrics/stat.h"

/* What a formula reads. */
struct ib_measured {
	const struct ib_columns *columns;
	double duration_s; /* the client's own window; NaN: not recorded */
};

/* Either series (one sample a request or a gap, in seconds) or scalar (one number) is set, or neither: a name for a number
 * that cannot be derived from a file. */
struct ib_formula {
	const char *name; /* stable: stands in documents */
	const char *unit; /* "s", "1/s", "requests", "tokens" */
	const char *definition; /* one sentence */
	const char *population; /* which requests it covers */
	void (*series)(const struct ib_columns *c, struct ib_series *ret);
	struct ib_stat (*scalar)(const struct ib_measured *m);
};

extern const struct ib_formula ib_ttft_first_chunk, ib_ttft_first_text, ib_tpot_excl_first, ib_itl_all_gaps, ib_itl_text_gaps,
	ib_e2e_last_token, ib_e2e_ttft_plus_gaps, ib_queue_client, ib_e2e_incl_queue, ib_count_attempted, ib_count_warmups,
	ib_count_succeeded, ib_count_failed, ib_sum_input_tokens, ib_sum_output_tokens, ib_requests_over_duration,
	ib_input_tokens_over_duration, ib_output_tokens_over_duration, ib_total_tokens_over_duration, ib_peak_chunks_bucket,
	ib_peak_requests_bucket, ib_peak_in_flight, ib_duration_client, ib_goodput_client;

/* Formula by its name, or NULL. ib_formulas ends with NULL. */
extern const struct ib_formula *const ib_formulas[];
const struct ib_formula *ib_formula_find(const char *name);

#endif
