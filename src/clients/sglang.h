/* SPDX-License-Identifier: Apache-2.0 */
/* Within the reader of SGLang's results: one line as read, for the file with its claims. */
#ifndef IB_CLIENTS_SGLANG_H
#define IB_CLIENTS_SGLANG_H

#include "clients/result.h"
#include "json/stream.h"

struct ib_sglang_line {
	char *backend, *dataset, *tag;
	double rate, cap, input_len, output_len, sharegpt_len, length_range, duration_s;
	struct ib_reals input_lens, output_lens, ttfts, gaps;
	size_t *gaps_at; /* where those of each request begin */
	size_t n_gaps, n_texts, n_errors;
	uint64_t *texts; /* digests, 0: an empty one */
	bool *errors;    /* is there one? */
	bool details;    /* per-request arrays are there */
	json_t *slos;    /* thresholds of goodput */
	json_t *numbers; /* all other scalars of the line */
};

/* Adds the claims of the line to its result, whose columns hold what the client computed from, and derives those that must be before the columns lose the
 * client's zeros. */
void ib_sglang_claims(const struct ib_sglang_line *line, struct ib_result *r);
/* What the client's token counts hide: after the columns are put right. */
void ib_sglang_hints(const struct ib_sglang_line *line, struct ib_result *r);

#endif
