/* SPDX-License-Identifier: Apache-2.0 */
/* One benchmark of a GuideLLM file, taken off the stream: its statistics, counters and lists of records, in whatever order. */
#include <math.h>
#include <string.h>

#include "clients/guidellm.h"

const char *const ib_guidellm_metric_names[IB_GUIDELLM_METRICS] = {
	[IB_GUIDELLM_LATENCY] = "request_latency",
	[IB_GUIDELLM_TTFT] = "time_to_first_token_ms",
	[IB_GUIDELLM_TPOT] = "time_per_output_token_ms",
	[IB_GUIDELLM_ITL] = "inter_token_latency_ms",
	[IB_GUIDELLM_PROMPT_TOKENS] = "prompt_token_count",
	[IB_GUIDELLM_OUTPUT_TOKENS] = "output_token_count",
	[IB_GUIDELLM_TOTAL_TOKENS] = "total_token_count",
	[IB_GUIDELLM_REQUEST_RATE] = "requests_per_second",
	[IB_GUIDELLM_PROMPT_RATE] = "prompt_tokens_per_second",
	[IB_GUIDELLM_OUTPUT_RATE] = "output_tokens_per_second",
	[IB_GUIDELLM_TOTAL_RATE] = "tokens_per_second",
	[IB_GUIDELLM_CONCURRENCY] = "request_concurrency",
};

void ib_guidellm_clear(struct ib_guidellm_benchmark *b)
{
	json_decref(b->strategy);
	json_decref(b->old_args);
	json_decref(b->worker);
	json_decref(b->loader);
	ib_columns_clear(&b->columns);
	ib_strv_clear(&b->missing);
	*b = (struct ib_guidellm_benchmark){0};
}

#define NUMBER(status, key, field) {status "/" key, IB_PICK_REAL, offsetof(struct ib_guidellm_metric, field), false, NULL}
#define PERCENTILE(status, which, key, i) NUMBER(status, "percentiles/" key, which.percentiles[i])
#define SUMMARY(status, which)                                                                                                               \
	NUMBER(status, "mean", which.mean), NUMBER(status, "median", which.median), NUMBER(status, "std_dev", which.std_dev),                \
		NUMBER(status, "min", which.min), NUMBER(status, "max", which.max), NUMBER(status, "count", which.count),                    \
		NUMBER(status, "total_sum", which.total_sum), PERCENTILE(status, which, "p001", 0), PERCENTILE(status, which, "p01", 1),     \
		PERCENTILE(status, which, "p05", 2), PERCENTILE(status, which, "p10", 3), PERCENTILE(status, which, "p25", 4),               \
		PERCENTILE(status, which, "p50", 5), PERCENTILE(status, which, "p75", 6), PERCENTILE(status, which, "p90", 7),               \
		PERCENTILE(status, which, "p95", 8), PERCENTILE(status, which, "p99", 9), PERCENTILE(status, which, "p999", 10)

static const struct ib_pick metric_table[] = {
	SUMMARY("successful", ok),
	SUMMARY("total", total),
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static const struct ib_pick totals_table[] = {
	{"successful", IB_PICK_INT, offsetof(struct ib_guidellm_counts, successful), false, NULL},
	{"errored", IB_PICK_INT, offsetof(struct ib_guidellm_counts, errored), false, NULL},
	{"incomplete", IB_PICK_INT, offsetof(struct ib_guidellm_counts, incomplete), false, NULL},
	{"total", IB_PICK_INT, offsetof(struct ib_guidellm_counts, total), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* The object that comes next, or null: then row stays as it is and *ret_there becomes false. */
static int object_or_null(struct ib_stream *s, const char *key, const struct ib_pick *table, void *row, bool *ret_there, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	*ret_there = false;
	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	if (t.kind != IB_TOKEN_OBJECT)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "'metrics/%s' is not an object", key);
	*ret_there = true;
	return ib_pick_inside(s, table, row, NULL, err);
}

static int read_metric(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_guidellm_benchmark *b = row;
	bool there;

	if (!key)
		return ib_stream_skip(s, err);
	if (strcmp(key, "request_totals") == 0)
		return object_or_null(s, key, totals_table, &b->totals, &there, err);
	for (size_t i = 0; i < IB_GUIDELLM_METRICS; i++)
		if (strcmp(key, ib_guidellm_metric_names[i]) == 0)
			return object_or_null(s, key, metric_table, &b->metrics[i], &b->metrics[i].there, err);
	return ib_stream_skip(s, err);
}

static int read_old_totals(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_guidellm_benchmark *b = row;
	bool there;

	return object_or_null(s, key ? key : "", totals_table, &b->totals, &there, err);
}

static int read_successful(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_guidellm_benchmark *b = row;

	(void)key;
	b->list = IB_OUTCOME_SUCCEEDED;
	return ib_guidellm_record(s, b, err);
}

static int read_errored(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_guidellm_benchmark *b = row;

	(void)key;
	b->list = IB_OUTCOME_FAILED;
	return ib_guidellm_record(s, b, err);
}

static int read_incomplete(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_guidellm_benchmark *b = row;

	(void)key;
	b->list = IB_OUTCOME_INCOMPLETE;
	return ib_guidellm_record(s, b, err);
}

#define FIELD(p, k, f, w) {p, k, offsetof(struct ib_guidellm_benchmark, f), w, NULL}

static const struct ib_pick table[] = {
	FIELD("config/strategy", IB_PICK_TREE, strategy, false),
	FIELD("config/sample_size", IB_PICK_INT, sample_size, false),
	FIELD("config/sample_requests", IB_PICK_INT, sample_size, false),
	FIELD("args", IB_PICK_TREE, old_args, false),
	FIELD("worker", IB_PICK_TREE, worker, false),
	FIELD("request_loader", IB_PICK_TREE, loader, false),
	FIELD("scheduler_state/created_requests", IB_PICK_INT, created, false),
	FIELD("scheduler_state/processed_requests", IB_PICK_INT, processed, false),
	FIELD("scheduler_state/successful_requests", IB_PICK_INT, successful, false),
	FIELD("scheduler_state/errored_requests", IB_PICK_INT, errored, false),
	FIELD("scheduler_state/cancelled_requests", IB_PICK_INT, cancelled, false),
	FIELD("scheduler_state/start_time", IB_PICK_REAL, run_start_s, false),
	FIELD("scheduler_state/end_time", IB_PICK_REAL, run_end_s, false),
	FIELD("run_stats/start_time", IB_PICK_REAL, run_start_s, false),
	FIELD("run_stats/end_time", IB_PICK_REAL, run_end_s, false),
	FIELD("start_time", IB_PICK_REAL, start_s, true),
	FIELD("end_time", IB_PICK_REAL, end_s, true),
	FIELD("duration", IB_PICK_REAL, duration_s, true),
	FIELD("warmup_duration", IB_PICK_REAL, warmup_s, false),
	FIELD("cooldown_duration", IB_PICK_REAL, cooldown_s, false),
	{"metrics", IB_PICK_EACH, 0, true, read_metric},
	{"request_totals", IB_PICK_CALL, 0, false, read_old_totals},
	{"requests/successful", IB_PICK_EACH, 0, true, read_successful},
	{"requests/errored", IB_PICK_EACH, 0, true, read_errored},
	{"requests/incomplete", IB_PICK_EACH, 0, true, read_incomplete},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static void nothing(struct ib_guidellm_summary *s)
{
	s->mean = s->median = s->std_dev = s->min = s->max = s->count = s->total_sum = NAN;
	for (size_t i = 0; i < IB_GUIDELLM_PERCENTILES; i++)
		s->percentiles[i] = NAN;
}

int ib_guidellm_read(struct ib_stream *s, struct ib_guidellm_benchmark *b, struct ib_err *err)
{
	*b = (struct ib_guidellm_benchmark){
		.start_s = NAN,
		.end_s = NAN,
		.duration_s = NAN,
		.warmup_s = NAN,
		.cooldown_s = NAN,
		.run_start_s = NAN,
		.run_end_s = NAN,
		.sample_size = IB_NOT_IN_FILE,
		.created = IB_NOT_IN_FILE,
		.processed = IB_NOT_IN_FILE,
		.successful = IB_NOT_IN_FILE,
		.errored = IB_NOT_IN_FILE,
		.cancelled = IB_NOT_IN_FILE,
		.totals = {IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE},
	};
	for (size_t i = 0; i < IB_GUIDELLM_METRICS; i++) {
		nothing(&b->metrics[i].ok);
		nothing(&b->metrics[i].total);
	}
	return ib_pick(s, table, b, &b->missing, err);
}
