/* SPDX-License-Identifier: Apache-2.0 */
/* LLMPerf (token_benchmark_ray.py): a flat summary and, beside it, an array of responses. Neither holds a duration: it follows from the rate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/statistic.h"
#include "json/pick.h"

#define EXACT 1e-9
#define KNOWN_VERSION "2023-08-31"

static const char *const schema_ids[] = {"llmperf/summary-2023-08-31", "llmperf/summary-other", "llmperf/responses", NULL};

static bool is_responses(const struct ib_head *h)
{
	struct ib_head first = ib_head_element(h);

	return ib_head_has(&first, "error_code") && ib_head_has(&first, "ttft_s") && ib_head_has(&first, "end_to_end_latency_s");
}

static bool recognise(const struct ib_head *h)
{
	return (ib_head_has(h, "num_concurrent_requests") && ib_head_has(h, "results_ttft_s_mean")) || is_responses(h);
}

/* --- responses --- */

struct response {
	double itl, ttft, e2e, speed;
	int64_t input, output;
	bool failed;
};

#define AT(field) offsetof(struct response, field)

static const struct ib_pick response_table[] = {
	{.path = "error_code", .kind = IB_PICK_PRESENT, .at = AT(failed)},
	{.path = "inter_token_latency_s", .kind = IB_PICK_REAL, .at = AT(itl), .wanted = true},
	{.path = "ttft_s", .kind = IB_PICK_REAL, .at = AT(ttft), .wanted = true},
	{.path = "end_to_end_latency_s", .kind = IB_PICK_REAL, .at = AT(e2e), .wanted = true},
	{.path = "request_output_throughput_token_per_s", .kind = IB_PICK_REAL, .at = AT(speed)},
	{.path = "number_input_tokens", .kind = IB_PICK_INT, .at = AT(input), .wanted = true},
	{.path = "number_output_tokens", .kind = IB_PICK_INT, .at = AT(output), .wanted = true},
	{.path = NULL},
};

static int64_t count(int64_t v)
{
	return v >= 0 && v <= INT32_MAX ? v : IB_NOT_IN_FILE;
}

/* The client writes 0 for what it does not have. */
static double time_of(double v)
{
	return v > 0 ? v : NAN;
}

/* The speed of a response is its number of chunks over its time. */
static int64_t chunks_of(const struct response *p)
{
	double n = p->speed * p->e2e;

	return n > 0 && n < INT32_MAX && fabs(n - round(n)) < 1e-6 ? (int64_t)round(n) : IB_NOT_IN_FILE;
}

static int read_response(struct ib_stream *s, struct ib_result *r, struct ib_err *err)
{
	struct response p = {.itl = NAN, .ttft = NAN, .e2e = NAN, .speed = NAN, .input = -1, .output = -1};
	struct ib_row row = ib_row_empty();
	int e = ib_pick_inside(s, response_table, &p, r->columns.n ? NULL : &r->missing, err);

	if (e == 0)
		e = ib_times_check((const double[]){p.itl, p.ttft, p.e2e}, 3, r->file, "times of a response", err);
	if (e < 0)
		return e;
	row.ttft_s = time_of(p.ttft);
	row.e2e_s = time_of(p.e2e);
	row.input_tokens = count(p.input);
	row.output_tokens = count(p.output);
	row.last_s = row.output_tokens > 0 ? time_of(p.itl) * (double)row.output_tokens : NAN;
	row.chunks = chunks_of(&p);
	row.outcome = p.failed || row.output_tokens == 0 ? IB_OUTCOME_FAILED : IB_OUTCOME_SUCCEEDED;
	r->requests.without_output += !p.failed && row.outcome == IB_OUTCOME_FAILED;
	ib_columns_add(&r->columns, &row);
	return 0;
}

static void hint_zeros(struct ib_result *r)
{
	size_t zeros = 0;

	for (size_t i = 0; i < r->columns.n; i++)
		zeros += r->columns.outcome[i] == IB_OUTCOME_SUCCEEDED && isnan(r->columns.ttft_s[i]);
	if (zeros)
		ib_result_hint(r, "A09", "/ttft_s", NULL, "0",
			       "%zu succeeded requests have no first-token time, for which the client writes 0 and takes it into its mean", zeros);
}

static int read_responses(struct ib_stream *s, struct ib_result *r, struct ib_err *err)
{
	struct ib_token t;
	int e = ib_stream_next(s, &t, err);

	r->schema_id = schema_ids[2];
	r->part = IB_PART_RECORDS;
	r->requests.without_output = 0;
	if (e == 0 && t.kind != IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "an array of responses is expected");
	while (e == 0) {
		e = ib_stream_next(s, &t, err);
		if (e < 0 || t.kind == IB_TOKEN_ARRAY_END)
			break;
		e = t.kind == IB_TOKEN_OBJECT ? read_response(s, r, err) : ib_stream_fail(s, err, IB_E_SYNTAX, "a response is not an object");
	}
	if (e < 0)
		return e;
	hint_zeros(r);
	ib_columns_end(&r->columns);
	ib_result_count(r);
	return 0;
}

/* --- the summary --- */

/* Some versions write whole numbers as text. */
static double number(const json_t *v)
{
	const char *text = json_string_value(v);
	char *end;
	double d;

	if (json_is_number(v))
		return json_number_value(v);
	if (!text || !*text || strspn(text, "0123456789.-") != strlen(text))
		return NAN;
	d = strtod(text, &end);
	return *end ? NAN : d;
}

static const struct {
	const char *word;
	const struct ib_formula *formula;
	bool headline;
} distributions[] = {{"results_inter_token_latency_s_", &ib_tpot_last_over_all, true},
		     {"results_ttft_s_", &ib_ttft_first_content, true},
		     {"results_end_to_end_latency_s_", &ib_e2e_closed, true},
		     {"results_request_output_throughput_token_per_s_", &ib_speed_chunks_e2e, false},
		     {"results_number_input_tokens_", &ib_input_length, false},
		     {"results_number_output_tokens_", &ib_output_length, false}};

/* "results_ttft_s_quantiles_p25", "results_ttft_s_stddev": that of pandas, over n - 1. */
static void claim_statistic(struct ib_result *r, const char *key, double claimed)
{
	for (size_t i = 0; i < IB_LEN(distributions); i++) {
		size_t n = strlen(distributions[i].word);
		ib_auto_free char *at = NULL;
		struct ib_statistic s;
		struct ib_claim *c;

		if (!ib_starts(key, distributions[i].word) || !ib_statistic_parse(key + n, strlen(key + n), &s))
			continue;
		at = ib_asprintf("/%s", key);
		c = ib_result_expect(r, key, at, distributions[i].formula, s.measure == IB_MEASURE_STD ? IB_MEASURE_STD_SAMPLE : s.measure, 1, claimed,
				     EXACT);
		if (!c)
			return;
		c->p = s.p;
		c->headline = distributions[i].headline && ib_statistic_quoted(&s);
		return;
	}
}

static void claim_total(struct ib_result *r, const json_t *o, const char *key, const struct ib_formula *f, double tolerance)
{
	ib_auto_free char *at = ib_asprintf("/%s", key);
	struct ib_claim *c = ib_result_expect(r, key, at, f, IB_MEASURE_SCALAR, 1, number(json_object_get(o, key)), tolerance);

	if (c)
		c->headline = true;
}

static void claims(struct ib_result *r, json_t *o)
{
	double per_min = number(json_object_get(o, "results_num_completed_requests_per_min"));
	const char *key;
	json_t *v;

	claim_total(r, o, "results_num_requests_started", &ib_count_attempted, 0);
	claim_total(r, o, "results_num_completed_requests", &ib_count_succeeded, 0);
	claim_total(r, o, "results_number_errors", &ib_count_errored, 0);
	claim_total(r, o, "results_error_rate", &ib_share_failed, EXACT);
	claim_total(r, o, "results_mean_output_throughput_token_per_s", &ib_output_tokens_over_duration, EXACT);
	if (!isnan(per_min))
		ib_result_claim(r, "results_num_completed_requests_per_min", &ib_requests_over_duration, per_min,
				ib_stat_not_recorded("the file holds no duration: it is taken from this number"), 0, NULL);
	json_object_foreach(o, key, v) {
		double claimed = number(v);

		if (!isnan(claimed))
			claim_statistic(r, key, claimed);
	}
}

static int64_t whole(const json_t *o, const char *key)
{
	return ib_count_of_real(number(json_object_get(o, key)));
}

static void put_settings(struct ib_result *r, const json_t *o)
{
	static const struct {
		const char *key;
		enum ib_setting_key sets;
	} keys[] = {{"model", IB_SET_MODEL}, {"num_concurrent_requests", IB_SET_CONCURRENCY}, {"mean_input_tokens", IB_SET_INPUT_LEN},
		    {"mean_output_tokens", IB_SET_OUTPUT_LEN}, {"framework", IB_SET_BACKEND}};
	double spread = number(json_object_get(o, "stddev_output_tokens")) + number(json_object_get(o, "stddev_input_tokens"));

	for (size_t i = 0; i < IB_LEN(keys); i++) {
		const json_t *v = json_object_get(o, keys[i].key);
		ib_auto_free char *text = json_is_number(v) ? ib_asprintf("%.17g", json_number_value(v)) : ib_strdup(json_string_value(v));

		ib_setting_put(&r->settings, keys[i].sets, text, "the file");
	}
	if (!(spread > 0) && !(spread < 0) && !isnan(spread))
		ib_setting_put(&r->settings, IB_SET_LENGTH_RANGE, "0", "the file");
	r->concurrency_asked = whole(o, "num_concurrent_requests");
}

static int read_summary(struct ib_stream *s, struct ib_result *r, struct ib_err *err)
{
	static const char *const wanted[] = {"version", "results_num_requests_started", "results_num_completed_requests", "results_number_errors",
					     "results_num_completed_requests_per_min"};
	ib_auto_json json_t *o = NULL;
	double completed;
	int e = ib_pick_tree(s, &o, err);

	if (e < 0)
		return e;
	if (!json_is_object(o))
		return ib_stream_fail(s, err, IB_E_SYNTAX, "a summary is no object");
	for (size_t i = 0; i < IB_LEN(wanted); i++)
		if (!json_object_get(o, wanted[i]))
			ib_strv_add(&r->missing, wanted[i]);
	r->client_version = ib_strdup(json_string_value(json_object_get(o, "version")));
	r->unknown_version = !r->client_version || strcmp(r->client_version, KNOWN_VERSION) != 0;
	r->schema_id = schema_ids[r->unknown_version];
	r->part = IB_PART_SUMMARY;
	r->requests.attempted = whole(o, "results_num_requests_started");
	r->requests.succeeded = whole(o, "results_num_completed_requests");
	r->requests.failed = whole(o, "results_number_errors");
	completed = number(json_object_get(o, "results_num_completed_requests"));
	r->duration_s = 60 * completed / number(json_object_get(o, "results_num_completed_requests_per_min"));
	r->duration_s = r->duration_s > 0 && isfinite(r->duration_s) ? r->duration_s : NAN;
	r->window = "what the client divided its requests by, as its rate implies: the file does not state it";
	r->ended_at = number(json_object_get(o, "timestamp"));
	put_settings(r, o);
	claims(r, o);
	return 0;
}

/* The two files of a run differ in their last words. Where names do not tell, counts do. */
static bool same(const struct ib_result *summary, const struct ib_result *records)
{
	const char *slash = strrchr(summary->file, '/'), *word = strstr(slash ? slash : summary->file, "summary");

	if (word)
		return strncmp(summary->file, records->file, (size_t)(word - summary->file)) == 0;
	return summary->requests.attempted == (int64_t)records->columns.n;
}

/* --- reading --- */

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	ib_auto_stream struct ib_stream *s = NULL;
	struct ib_result *r = ib_results_add(ret, &ib_client_llmperf, name);
	struct ib_peeked p;
	struct ib_source all;
	struct ib_head head;
	struct ib_token end;
	bool more;
	int e = ib_client_peek(in, data, IB_HEAD_MAX, &p, &all, err);

	if (e < 0)
		return e;
	head = ib_head_of(data, p.head.n);
	s = ib_stream_new(&all, name, &opts);
	r->ttft = &ib_ttft_first_content;
	r->tpot = &ib_tpot_last_over_all;
	r->itl = NULL;
	r->e2e = &ib_e2e_closed;
	e = ib_stream_document(s, &more, err);
	if (e == 0)
		e = is_responses(&head) ? read_responses(s, r, err) : read_summary(s, r, err);
	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e == 0)
		e = ib_stream_document(s, &more, err);
	if (e == 0)
		ib_result_notes(r, ib_stream_notes(s));
	return e;
}

static const char *const command[] = {"token_benchmark_ray.py", NULL};

static const struct ib_client_flag flags[] = {
	{"--model", IB_SET_MODEL},
	{"--llm-api", IB_SET_BACKEND},
	{"--num-concurrent-requests", IB_SET_CONCURRENCY},
	{"--max-num-completed-requests", IB_SET_REQUESTS},
	{"--mean-input-tokens", IB_SET_INPUT_LEN},
	{"--mean-output-tokens", IB_SET_OUTPUT_LEN},
	{"--timeout", IB_SET_DURATION},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_llmperf = {
	.name = "llmperf",
	.title = "LLMPerf (version 2023-08-31)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.same = same,
	.command = command,
	.flags = flags,
};
