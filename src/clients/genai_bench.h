/* SPDX-License-Identifier: Apache-2.0 */
/* Within the reader of genai-bench's results: one file as read, for the part with its claims. */
#ifndef IB_CLIENTS_GENAI_BENCH_H
#define IB_CLIENTS_GENAI_BENCH_H

#include "clients/result.h"
#include "json/stream.h"

struct ib_genai_bench {
	json_t *run;           /* "aggregated_metrics" */
	char *unit;            /* of times: "s" or "ms" */
	struct ib_columns *columns;
	struct ib_reals tpots; /* as each record states it; NaN: null */
	bool tokens;           /* some record has an output token */
};

/* Claims and hints of a result whose columns are whole. */
void ib_genai_bench_claims(const struct ib_genai_bench *f, struct ib_result *r);

#endif
