/* SPDX-License-Identifier: Apache-2.0 */
/* inference-perf's per_request_lifecycle_metrics.json: times of a monotonic clock, one for each token. Bodies may be in it, or not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/inference_perf.h"
#include "clients/statistic.h"
#include "json/pick.h"

bool ib_inference_perf_is_records(const struct ib_head *h)
{
	struct ib_head first = ib_head_element(h);

	return ib_head_has(&first, "start_time") && ib_head_has(&first, "end_time") &&
	       (ib_head_has(&first, "info") || ib_head_has(&first, "request") || ib_head_has(&first, "error"));
}

struct record {
	double start, end;
	int64_t input, output, server_prompt, server_completion, server_input, server_output, asked;
	uint64_t prompt;
	struct ib_reals tokens, chunks;
	bool failed, timed_out;
};

static void record_clear(struct record *r)
{
	ib_reals_clear(&r->tokens);
	ib_reals_clear(&r->chunks);
}

/* The body of the request, a document within a string: its digest, and how many tokens it asks for. */
static int read_request(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct record *rec = row;
	struct ib_token t;
	struct ib_head body;
	int r = ib_stream_next(s, &t, err);

	(void)key;
	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	if (t.kind != IB_TOKEN_STRING)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "'request' is not a string");
	rec->prompt = t.hash ? t.hash : 1;
	body = (struct ib_head){t.text, t.kept};
	rec->asked = ib_head_count(&body, "max_tokens");
	if (rec->asked < 0)
		rec->asked = ib_head_count(&body, "max_completion_tokens");
	return 0;
}

static int read_error(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct record *rec = row;
	ib_auto_json json_t *e = NULL;
	const char *type;
	int r = ib_pick_tree(s, &e, err);

	(void)key;
	if (r < 0)
		return r;
	type = json_string_value(json_object_get(e, "error_type"));
	rec->failed = !json_is_null(e);
	rec->timed_out = type && (strstr(type, "Timeout") || strstr(type, "timeout"));
	return 0;
}

#define AT(field) offsetof(struct record, field)
#define USAGE "info/response_metrics/server_usage/"

static const struct ib_pick table[] = {
	{.path = "start_time", .kind = IB_PICK_REAL, .at = AT(start), .wanted = true},
	{.path = "end_time", .kind = IB_PICK_REAL, .at = AT(end), .wanted = true},
	{.path = "request", .kind = IB_PICK_CALL, .each = read_request},
	{.path = "info/request_metrics/text/input_tokens", .kind = IB_PICK_INT, .at = AT(input)},
	{.path = "info/response_metrics/output_tokens", .kind = IB_PICK_INT, .at = AT(output)},
	{.path = USAGE "prompt_tokens", .kind = IB_PICK_INT, .at = AT(server_prompt)},
	{.path = USAGE "input_tokens", .kind = IB_PICK_INT, .at = AT(server_input)},
	{.path = USAGE "completion_tokens", .kind = IB_PICK_INT, .at = AT(server_completion)},
	{.path = USAGE "output_tokens", .kind = IB_PICK_INT, .at = AT(server_output)},
	{.path = "info/response_metrics/output_token_times", .kind = IB_PICK_REALS, .at = AT(tokens)},
	{.path = "info/response_metrics/chunk_times", .kind = IB_PICK_REALS, .at = AT(chunks)},
	{.path = "error", .kind = IB_PICK_CALL, .each = read_error},
	{.path = NULL},
};

static int64_t count(int64_t v)
{
	return v >= 0 && v <= INT32_MAX ? v : IB_NOT_IN_FILE;
}

static int64_t either(int64_t a, int64_t b)
{
	return count(a) >= 0 ? a : count(b);
}

/* The client takes the times of tokens only where there are two of them. */
static void put_times(const struct record *rec, struct ib_row *row, struct ib_columns *c)
{
	row->start_s = rec->start;
	row->e2e_s = rec->end - rec->start;
	if (rec->tokens.n < 2)
		return;
	row->ttft_s = rec->tokens.v[0] - rec->start;
	row->last_s = rec->tokens.v[rec->tokens.n - 1] - rec->start;
	for (size_t i = 1; i < rec->tokens.n; i++)
		ib_columns_gap(c, rec->tokens.v[i] - rec->tokens.v[i - 1]);
}

static int add_row(const struct record *rec, const char *name, struct ib_result *r, struct ib_err *err)
{
	struct ib_row row = ib_row_empty();
	const double ends[] = {rec->start, rec->end};
	int e = ib_times_check(ends, 2, name, "start_time, end_time", err);

	if (e == 0)
		e = ib_times_check(rec->tokens.v, rec->tokens.n, name, "output_token_times", err);
	for (size_t i = 0; e == 0 && i < rec->tokens.n; i++)
		if (isnan(rec->tokens.v[i]))
			e = ib_fail_at(err, IB_E_SYNTAX, name, "'%s': a time in 'output_token_times' is missing", name);
	if (e < 0)
		return e;
	put_times(rec, &row, &r->columns);
	row.input_tokens = count(rec->input);
	row.output_tokens = count(rec->output);
	row.input_server = either(rec->server_prompt, rec->server_input);
	row.output_server = either(rec->server_completion, rec->server_output);
	row.output_asked = count(rec->asked);
	row.chunks = rec->chunks.n ? (int64_t)rec->chunks.n : IB_NOT_IN_FILE;
	row.prompt_hash = rec->prompt;
	if (rec->failed)
		row.outcome = rec->timed_out ? IB_OUTCOME_TIMED_OUT : IB_OUTCOME_FAILED;
	else
		row.outcome = row.output_tokens == 0 && row.output_server <= 0 ? IB_OUTCOME_FAILED : IB_OUTCOME_SUCCEEDED;
	if (!rec->failed && row.outcome == IB_OUTCOME_FAILED)
		r->requests.without_output++;
	r->requests.timed_out += row.outcome == IB_OUTCOME_TIMED_OUT;
	ib_columns_add(&r->columns, &row);
	return 0;
}

static int read_record(struct ib_stream *s, const char *name, struct ib_result *r, struct ib_err *err)
{
	__attribute__((cleanup(record_clear))) struct record rec = {.start = NAN,
								    .end = NAN,
								    .input = -1,
								    .output = -1,
								    .server_prompt = -1,
								    .server_completion = -1,
								    .server_input = -1,
								    .server_output = -1,
								    .asked = -1};
	int e = ib_pick_inside(s, table, &rec, r->columns.n ? NULL : &r->missing, err); /* the first speaks for all */

	return e < 0 ? e : add_row(&rec, name, r, err);
}

static int read_array(struct ib_stream *s, const char *name, struct ib_result *r, struct ib_err *err)
{
	struct ib_token t;
	bool more;
	int e = ib_stream_document(s, &more, err);

	if (e == 0)
		e = ib_stream_next(s, &t, err);
	if (e == 0 && t.kind != IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "an array of records is expected");
	while (e == 0) {
		e = ib_stream_next(s, &t, err);
		if (e < 0 || t.kind == IB_TOKEN_ARRAY_END)
			break;
		if (t.kind != IB_TOKEN_OBJECT)
			return ib_stream_fail(s, err, IB_E_SYNTAX, "a record is not an object");
		e = read_record(s, name, r, err);
	}
	if (e == 0)
		e = ib_stream_next(s, &t, err);
	return e == 0 ? ib_stream_document(s, &more, err) : e;
}

int ib_inference_perf_records(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true, .hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_inference_perf, name);
	int e;

	r->schema_id = ib_inference_perf_schemas[IB_INFERENCE_PERF_RECORDS];
	r->part = IB_PART_RECORDS;
	r->ttft = &ib_ttft_first_text;
	r->tpot = &ib_tpot_decode;
	r->itl = &ib_itl_token_gaps;
	r->e2e = &ib_e2e_processed;
	r->requests.without_output = 0;
	r->requests.timed_out = 0;
	e = read_array(s, name, r, err);
	if (e < 0)
		return e;
	ib_columns_end(&r->columns);
	ib_result_count(r);
	ib_result_notes(r, ib_stream_notes(s));
	return 0;
}
