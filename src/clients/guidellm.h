/* SPDX-License-Identifier: Apache-2.0 */
/* GuideLLM's benchmarks.json: recognition and the file (guidellm.c), one benchmark of it (guidellm_benchmark.c), its records (guidellm_records.c), what it was
 * told (guidellm_config.c) and what it states (guidellm_claims.c). For these files only. */
#ifndef IB_CLIENTS_GUIDELLM_H
#define IB_CLIENTS_GUIDELLM_H

#include "clients/clients.h"
#include "json/pick.h"

/* How the versions differ in what equal keys mean. */
struct ib_guidellm_shape {
	const char *id;
	bool known;
	bool flat;        /* 0.3: other records; TPOT without the first token; sums over distinct values */
	bool token_span;  /* 0.4 to 0.7.3: token rates over the span of the tokens, not over the duration */
};

#define IB_GUIDELLM_PERCENTILES 11

/* One status of a metric. */
struct ib_guidellm_summary {
	double mean, median, std_dev, min, max, count, total_sum, percentiles[IB_GUIDELLM_PERCENTILES];
};

struct ib_guidellm_metric {
	bool there;
	struct ib_guidellm_summary ok, total;
};

enum ib_guidellm_metric_id {
	IB_GUIDELLM_LATENCY,
	IB_GUIDELLM_TTFT,
	IB_GUIDELLM_TPOT,
	IB_GUIDELLM_ITL,
	IB_GUIDELLM_PROMPT_TOKENS,
	IB_GUIDELLM_OUTPUT_TOKENS,
	IB_GUIDELLM_TOTAL_TOKENS,
	IB_GUIDELLM_REQUEST_RATE,
	IB_GUIDELLM_PROMPT_RATE,
	IB_GUIDELLM_OUTPUT_RATE,
	IB_GUIDELLM_TOTAL_RATE,
	IB_GUIDELLM_CONCURRENCY,
	IB_GUIDELLM_METRICS,
};
extern const char *const ib_guidellm_metric_names[IB_GUIDELLM_METRICS];

/* Counters by how a request ended. */
struct ib_guidellm_counts {
	int64_t successful, errored, incomplete, total;
};

/* One benchmark as read. */
struct ib_guidellm_benchmark {
	json_t *strategy, *old_args, *worker, *loader; /* or NULL */
	double start_s, end_s, duration_s, warmup_s, cooldown_s, run_start_s, run_end_s;
	int64_t sample_size, created, processed, successful, errored, cancelled;
	struct ib_guidellm_counts totals; /* of the requests within the window */
	struct ib_guidellm_metric metrics[IB_GUIDELLM_METRICS];
	struct ib_columns columns; /* start_s since 1970; queue_s from the moment that was planned */
	uint64_t impossible, first_impossible; /* records with times that cannot be; the number of the first, from 1 */
	uint64_t uneven, first_uneven; /* records whose own statistics are not those of their times */
	bool flat;                 /* of the shape of 0.3 */
	enum ib_outcome list;      /* that is being read */
	struct ib_strv missing;
};

void ib_guidellm_clear(struct ib_guidellm_benchmark *b);
/* An element of "benchmarks" that comes next. */
IB_MUST int ib_guidellm_read(struct ib_stream *s, struct ib_guidellm_benchmark *b, struct ib_err *err);
/* An element of one of the lists of requests: the callback of ib_pick_each. */
IB_MUST int ib_guidellm_record(struct ib_stream *s, struct ib_guidellm_benchmark *b, struct ib_err *err);

/* Settings and label from the file's top ("config" or "args", may be NULL) and from the benchmark. */
void ib_guidellm_config(const json_t *top, const struct ib_guidellm_benchmark *b, struct ib_result *r);
/* After the columns stand in r. */
void ib_guidellm_claims(const struct ib_guidellm_shape *shape, const struct ib_guidellm_benchmark *b, struct ib_result *r);

#endif
