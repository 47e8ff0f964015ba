/* SPDX-License-Identifier: Apache-2.0 */
/* AIPerf: recognition, and the summary that it writes at the end of a run. */
#include "clients/aiperf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/head.h"
#include "json/pick.h"

/* How each shape of the summary computes. */
static const struct shape {
	const char *version; /* "schema_version" */
	const char *id;
	bool sketch, by_phase;
} shapes[] = {
	{"1.0", "aiperf/summary-1.0", false, false},
	{"1.1", "aiperf/summary-1.1", false, false},
	{"1.3", "aiperf/summary-1.3", true, false},
	{"1.4", "aiperf/summary-1.4", false, true},
};

static const struct shape early = {NULL, "aiperf/summary-early", false, false};
static const struct shape unknown = {NULL, "aiperf/summary-unknown", true, true};

static const char *const schema_ids[] = {"aiperf/summary-1.4", "aiperf/summary-1.3",   "aiperf/summary-1.1",     "aiperf/summary-1.0",
					 "aiperf/summary-early", IB_AIPERF_RECORDS, "aiperf/summary-unknown", NULL};

/* Other files of the same run have some of these keys: server metrics and telemetry no request counts, aggregates over runs their metrics one level down. */
static bool is_summary(const struct ib_head *h)
{
	return ib_head_has(h, "schema_version") && ib_head_has(h, "aiperf_version") &&
	       (ib_head_has(h, "request_latency") || ib_head_has(h, "request_throughput") || ib_head_has(h, "request_count") ||
		ib_head_has(h, "error_request_count") || ib_head_has(h, "request_error_rate"));
}

static bool is_early(const struct ib_head *h)
{
	const struct ib_head records = ib_head_inside(h, "records");
	const struct ib_head count = ib_head_inside(&records, "request_count"), latency = ib_head_inside(&records, "request_latency");

	return ib_head_has(&count, "tag") || ib_head_has(&latency, "tag");
}

static bool recognise(const struct ib_head *h)
{
	return is_summary(h) || is_early(h) || ib_aiperf_is_records(h);
}

/* Everything but these is a metric, when it is an object with a unit. */
static bool left_out(const char *key)
{
	static const char *const keys[] = {"telemetry_data", "server_metrics", "branch_stats", "warmup_metrics"};

	for (size_t i = 0; i < IB_LEN(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The members of the object that comes next, without the large ones. */
static int read_members(struct ib_stream *s, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *o = ib_json_object();
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (r == 0 && t.kind != IB_TOKEN_OBJECT)
		r = ib_stream_fail(s, err, IB_E_SYNTAX, "the file is not an object");
	while (r == 0) {
		ib_auto_free char *key = NULL;
		json_t *v = NULL;

		r = ib_stream_next(s, &t, err);
		if (r < 0 || t.kind != IB_TOKEN_KEY)
			break;
		key = ib_strndup(t.text, t.kept);
		if (left_out(key)) {
			r = ib_stream_skip(s, err);
			continue;
		}
		r = ib_pick_tree(s, &v, err);
		if (r == 0)
			ib_json_set(o, key, v);
	}
	if (r == 0)
		r = ib_stream_next(s, &t, err); /* the end */
	if (r < 0)
		return r;
	*ret = ib_steal(&o);
	return 0;
}

/* "2026-11-30T16:17:24.802411": written without a zone, taken as UTC. NaN: no such time. */
static double instant(const json_t *o, const char *key, int64_t *ret_ns)
{
	const char *text = json_string_value(json_object_get(o, key));
	ib_auto_free char *zoned = NULL;

	*ret_ns = 0;
	if (!text)
		return NAN;
	zoned = ib_ends(text, "Z") ? ib_strdup(text) : ib_ends(text, "+00:00") ? ib_asprintf("%.*sZ", (int)strlen(text) - 6, text) : ib_asprintf("%sZ", text);
	if (ib_time_parse(zoned, ret_ns, NULL) < 0)
		return NAN;
	return (double)*ret_ns / 1e9;
}

static void read_window(const json_t *o, const struct ib_aiperf_summary *s, struct ib_result *r)
{
	const char *text = json_string_value(json_object_get(o, "end_time"));
	double ok = ib_aiperf_number(s->metrics, "benchmark_duration", "avg"), phase;
	int64_t from, to;

	r->began_at = instant(o, "start_time", &from);
	r->ended_at = instant(o, "end_time", &to);
	r->zone_unknown = text && !isnan(r->ended_at) && !ib_ends(text, "Z") && !ib_ends(text, "+00:00");
	phase = isnan(r->began_at) || isnan(r->ended_at) ? NAN : (double)(to - from) / 1e9;
	if (phase < 0)
		ib_result_hint(r, "A28", "/end_time", NULL, text, "the run ends before it starts");
	ib_result_span(r, "start_time to end_time", phase);
	ib_result_span(r, "benchmark_duration", ok);
	r->duration_s = s->by_phase ? phase : ok;
	r->window = s->by_phase ? "start to end of the measured phase (start_time to end_time)"
				: "first start to last end of the succeeded requests (benchmark_duration)";
}

static int64_t count(double v)
{
	return v >= 0 && v < 9e15 ? (int64_t)v : IB_NOT_IN_FILE;
}

/* The client counts only successes under request_count, and no errors at all when there were none. */
static void read_counts(const struct ib_aiperf_summary *s, struct ib_result *r)
{
	double ok = ib_aiperf_number(s->metrics, "request_count", "avg"), bad = ib_aiperf_number(s->metrics, "error_request_count", "avg");
	double all = ib_aiperf_number(s->metrics, "completed_request_count", "avg");

	if (isnan(bad) && !isnan(ok))
		bad = isnan(all) ? 0 : all - ok;
	if (isnan(ok) && !isnan(bad) && !isnan(all))
		ok = all - bad;
	r->requests.succeeded = count(ok);
	r->requests.failed = count(bad);
	r->requests.attempted = count(isnan(all) ? ok + bad : all);
	r->input_tokens = count(ib_aiperf_number(s->metrics, "total_isl", "avg"));
	r->output_tokens = count(ib_aiperf_number(s->metrics, "total_osl", "avg"));
	if (all < ok + bad || all > ok + bad) {
		ib_auto_free char *key = ib_asprintf("%s/completed_request_count/avg", s->under), *found = ib_asprintf("%.0f", all);
		ib_auto_free char *should = ib_asprintf("%.0f", ok + bad);

		ib_result_hint(r, "A07", key, should, found, "completed_request_count is not request_count plus error_request_count");
	}
}

/* What the client says of the run's end. */
static void read_end(const json_t *o, struct ib_result *r)
{
	const char *reason = json_string_value(json_object_get(o, "incomplete_reason"));
	bool cancelled = json_is_true(json_object_get(o, "was_cancelled"));

	if (!cancelled && !json_is_false(json_object_get(o, "is_complete")))
		return;
	r->cut = ib_asprintf("%s%s%.200s; requests that were under way then are in no file of this client",
			     cancelled ? "the run was cancelled" : "the run is not complete", reason ? ": " : "", reason ? reason : "");
}

/* The sum over its kinds is the number of errors; the number of kinds is not. */
static void check_errors(const json_t *o, const struct ib_aiperf_summary *s, struct ib_result *r)
{
	const json_t *kinds = json_object_get(o, "error_summary");
	double sum = 0, stated = ib_aiperf_number(s->metrics, "error_request_count", "avg");
	ib_auto_free char *should = NULL, *found = NULL;
	size_t i;
	json_t *k;

	json_array_foreach(kinds, i, k) {
		const json_t *n = json_object_get(k, "count");

		sum += json_is_number(n) ? json_number_value(n) : NAN;
	}
	if (!json_is_array(kinds) || isnan(sum) || (isnan(stated) && !(sum > 0)))
		return;
	if (isnan(stated))
		stated = 0;
	if (!(sum < stated) && !(sum > stated))
		return;
	should = ib_asprintf("%.0f", sum);
	found = ib_asprintf("%.0f", stated);
	ib_result_hint(r, "A07", "/error_summary", should, found, "the errors listed by kind are not as many as error_request_count says");
}

static const struct shape *shape_of(const json_t *o, bool *ret_known)
{
	const char *version = json_string_value(json_object_get(o, "schema_version"));

	*ret_known = true;
	if (!version && json_is_object(json_object_get(o, "records")))
		return &early;
	for (size_t i = 0; version && i < IB_LEN(shapes); i++)
		if (strcmp(shapes[i].version, version) == 0)
			return &shapes[i];
	*ret_known = false;
	return &unknown;
}

static void note_missing(const json_t *o, const struct ib_aiperf_summary *s, struct ib_result *r)
{
	static const char *const keys[] = {"input_config", "was_cancelled", "start_time", "end_time"};
	static const char *const metrics[] = {"request_latency", "request_count", "request_throughput", "benchmark_duration"};

	for (size_t i = 0; i < IB_LEN(keys); i++)
		if (!json_object_get(o, keys[i]))
			ib_strv_add(&r->missing, keys[i]);
	for (size_t i = 0; i < IB_LEN(metrics); i++)
		if (!json_object_get(s->metrics, metrics[i]))
			ib_strv_add(&r->missing, metrics[i]);
}

static int read_summary(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *stream = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_aiperf, name);
	ib_auto_json json_t *o = NULL;
	struct ib_aiperf_summary s = {.under = ""};
	const struct shape *shape;
	bool more = false, known;
	int e = ib_stream_document(stream, &more, err);

	if (e == 0)
		e = read_members(stream, &o, err);
	if (e == 0)
		e = ib_stream_document(stream, &more, err); /* nothing may follow */
	if (e < 0)
		return e;
	shape = shape_of(o, &known);
	s.metrics = shape == &early ? json_object_get(o, "records") : o;
	s.under = shape == &early ? "/records" : "";
	s.sketch = shape->sketch;
	s.by_phase = shape->by_phase && !json_is_true(json_object_get(o, "was_cancelled"));
	r->schema_id = shape->id;
	r->unknown_version = !known;
	r->part = IB_PART_SUMMARY;
	r->client_version = ib_strdup(json_string_value(json_object_get(o, "aiperf_version")));
	r->ttft = &ib_ttft_first_content;
	r->itl = &ib_itl_content_gaps;
	r->e2e = &ib_e2e_last_content;
	ib_aiperf_config(json_object_get(o, "input_config"), json_object_get(o, "run_info"), r, &s.chunk_usage);
	read_window(o, &s, r);
	read_counts(&s, r);
	read_end(o, r);
	check_errors(o, &s, r);
	note_missing(o, &s, r);
	ib_result_notes(r, ib_stream_notes(stream));
	ib_aiperf_claims(&s, r);
	return 0;
}

/* Which of two shapes a file has shows in its first bytes, before a stream is opened on them. */
struct ahead {
	char *data;
	size_t n, at;
	const struct ib_source *rest;
};

static int read_ahead(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ahead *a = arg;
	size_t k = a->n - a->at < n ? a->n - a->at : n, more = 0;
	int r = 0;

	memcpy(data, a->data + a->at, k);
	a->at += k;
	if (k < n)
		r = a->rest->read(a->rest->arg, (char *)data + k, n - k, &more, err);
	*ret_n = k + more;
	return r;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	struct ahead a = {.data = data, .rest = in};
	const struct ib_source all = {.read = read_ahead, .arg = &a};
	size_t mark;
	int r = in->read(in->arg, data, IB_HEAD_MAX, &a.n, err);

	if (r < 0)
		return r;
	mark = a.n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	if (ib_aiperf_is_records(&(struct ib_head){data + mark, a.n - mark}))
		return ib_aiperf_records(&all, name, ret, err);
	return read_summary(&all, name, ret, err);
}

/* The run's start is in both: in the summary without a zone, so that it may be whole quarters of an hour away. */
static bool same(const struct ib_result *summary, const struct ib_result *records)
{
	double off = summary->began_at - records->began_at;
	bool counts = summary->requests.succeeded == records->requests.succeeded || summary->requests.attempted == records->requests.attempted;

	if (isnan(off))
		return counts;
	return counts && fabs(off - 900 * round(off / 900)) < 60;
}

static const char *const command[] = {"aiperf", "profile", NULL};

static const struct ib_client_flag flags[] = {
	{"-m", IB_SET_MODEL},
	{"--model", IB_SET_MODEL},
	{"--model-names", IB_SET_MODEL},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--url", IB_SET_ENDPOINT},
	{"-u", IB_SET_ENDPOINT},
	{"--endpoint-type", IB_SET_BACKEND},
	{"--random-seed", IB_SET_SEED},
	{"--request-count", IB_SET_REQUESTS},
	{"--num-requests", IB_SET_REQUESTS},
	{"--warmup-request-count", IB_SET_WARMUPS},
	{"--num-warmup-requests", IB_SET_WARMUPS},
	{"--concurrency", IB_SET_CONCURRENCY},
	{"--request-rate", IB_SET_RATE},
	{"--benchmark-duration", IB_SET_DURATION},
	{"--prompt-input-tokens-mean", IB_SET_INPUT_LEN},
	{"--synthetic-input-tokens-mean", IB_SET_INPUT_LEN},
	{"--isl", IB_SET_INPUT_LEN},
	{"--prompt-output-tokens-mean", IB_SET_OUTPUT_LEN},
	{"--output-tokens-mean", IB_SET_OUTPUT_LEN},
	{"--osl", IB_SET_OUTPUT_LEN},
	{"--input-file", IB_SET_DATASET},
	{"--public-dataset", IB_SET_DATASET},
	{"--goodput", IB_SET_GOODPUT},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_aiperf = {
	.name = "aiperf",
	.title = "AIPerf 0.5 to 0.13, and its early schema: the summary (profile_export_aiperf.json) with the records beside it (profile_export.jsonl)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.same = same,
	.command = command,
	.flags = flags,
};
