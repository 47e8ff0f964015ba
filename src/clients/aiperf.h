/* SPDX-License-Identifier: Apache-2.0 */
/* AIPerf's two files: the summary (aiperf.c, its claims in aiperf_claims.c, what it was told in aiperf_config.c) and the records
 * (aiperf_records.c). For these files only. */
#ifndef IB_CLIENTS_AIPERF_H
#define IB_CLIENTS_AIPERF_H

#include "clients/clients.h"

#define IB_AIPERF_RECORDS "aiperf/records"

bool ib_aiperf_is_records(const struct ib_head *h);
IB_MUST int ib_aiperf_records(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err);

/* What a summary holds, as small documents. */
struct ib_aiperf_summary {
	const json_t *metrics; /* name -> {"unit", "avg", "p50", …} */
	const char *under;     /* where these stand: "" or "/records" */
	bool sketch;           /* percentiles of pooled gaps come from a sketch */
	bool chunk_usage;      /* the divisor of inter_token_latency follows the server's count per chunk */
	bool by_phase;         /* rates are over r->duration_s, the phase; else over benchmark_duration */
};

/* Adds the claims of a summary. */
void ib_aiperf_claims(const struct ib_aiperf_summary *s, struct ib_result *r);
/* "avg" (or another statistic) of a metric, NaN when it is not there. */
double ib_aiperf_number(const json_t *metrics, const char *metric, const char *statistic);

/* Fills r->settings and what follows from them from "input_config" and "run_info" (either may be NULL). *ret_chunk_usage as above. */
void ib_aiperf_config(const json_t *config, const json_t *run, struct ib_result *r, bool *ret_chunk_usage);

#endif
