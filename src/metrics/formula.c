/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formulas: per-request series (series.c) and single numbers (scalar.c). */
#include "metrics/formula.h"

#include <string.h>

const struct ib_formula *const ib_formulas[] = {
	&ib_ttft_first_chunk,
	&ib_ttft_first_text,
	&ib_tpot_excl_first,
	&ib_itl_all_gaps,
	&ib_itl_text_gaps,
	&ib_e2e_last_token,
	&ib_e2e_ttft_plus_gaps,
	&ib_queue_client,
	&ib_e2e_incl_queue,
	&ib_count_attempted,
	&ib_count_warmups,
	&ib_count_succeeded,
	&ib_count_failed,
	&ib_sum_input_tokens,
	&ib_sum_output_tokens,
	&ib_requests_over_duration,
	&ib_input_tokens_over_duration,
	&ib_output_tokens_over_duration,
	&ib_total_tokens_over_duration,
	&ib_peak_chunks_bucket,
	&ib_peak_requests_bucket,
	&ib_peak_in_flight,
	&ib_duration_client,
	&ib_goodput_client,
	NULL,
};

const struct ib_formula *ib_formula_find(const char *name)
{
	for (size_t i = 0; ib_formulas[i]; i++)
		if (strcmp(ib_formulas[i]->name, name) == 0)
			return ib_formulas[i];
	return NULL;
}
