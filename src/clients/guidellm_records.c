/* SPDX-License-Identifier: Apache-2.0 */
/* GuideLLM's records of single requests: two shapes, told apart by where their times stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/guidellm.h"

#define SLACK_S 1e-6

struct record {
	double resolve_start, start, first, last, end, resolve_end, targeted; /* seconds since 1970 */
	double old_start, old_first, old_last, old_end;                       /* of 0.3 */
	double latency_s, ttft_ms, itl_ms;                                    /* as the client derived them from these */
	int64_t iterations, input_total, output_total, input, output;
	char *args, *error, *old_error;
	uint64_t prompt, text;
};

#define FIELD(p, k, f) {p, k, offsetof(struct record, f), false, NULL}

static const struct ib_pick table[] = {
	FIELD("info/timings/resolve_start", IB_PICK_REAL, resolve_start),
	FIELD("info/timings/request_start", IB_PICK_REAL, start),
	FIELD("info/timings/first_token_iteration", IB_PICK_REAL, first),
	FIELD("info/timings/last_token_iteration", IB_PICK_REAL, last),
	FIELD("info/timings/request_end", IB_PICK_REAL, end),
	FIELD("info/timings/resolve_end", IB_PICK_REAL, resolve_end),
	FIELD("info/timings/targeted_start", IB_PICK_REAL, targeted),
	FIELD("info/timings/token_iterations", IB_PICK_INT, iterations),
	FIELD("info/error", IB_PICK_TEXT, error),
	FIELD("input_metrics/total_tokens", IB_PICK_INT, input_total),
	FIELD("output_metrics/total_tokens", IB_PICK_INT, output_total),
	FIELD("prompt_tokens", IB_PICK_INT, input),
	FIELD("output_tokens", IB_PICK_INT, output),
	FIELD("request_args", IB_PICK_TEXT, args),
	FIELD("output", IB_PICK_HASH, text),
	FIELD("prompt", IB_PICK_HASH, prompt),
	FIELD("start_time", IB_PICK_REAL, old_start),
	FIELD("first_token_time", IB_PICK_REAL, old_first),
	FIELD("last_token_time", IB_PICK_REAL, old_last),
	FIELD("end_time", IB_PICK_REAL, old_end),
	FIELD("error", IB_PICK_TEXT, old_error),
	FIELD("request_latency", IB_PICK_REAL, latency_s),
	FIELD("time_to_first_token_ms", IB_PICK_REAL, ttft_ms),
	FIELD("inter_token_latency_ms", IB_PICK_REAL, itl_ms),
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static struct record empty(void)
{
	return (struct record){
		.resolve_start = NAN,
		.start = NAN,
		.first = NAN,
		.last = NAN,
		.end = NAN,
		.resolve_end = NAN,
		.targeted = NAN,
		.old_start = NAN,
		.old_first = NAN,
		.old_last = NAN,
		.old_end = NAN,
		.latency_s = NAN,
		.ttft_ms = NAN,
		.itl_ms = NAN,
		.iterations = IB_NOT_IN_FILE,
		.input_total = IB_NOT_IN_FILE,
		.output_total = IB_NOT_IN_FILE,
		.input = IB_NOT_IN_FILE,
		.output = IB_NOT_IN_FILE,
	};
}

static uint64_t mix(uint64_t hash, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

/* Every string in j, in order, to tell equal prompts. */
static uint64_t hash_strings(json_t *j, uint64_t hash)
{
	const char *key;
	size_t i;
	json_t *v;

	if (json_is_string(j))
		return mix(hash, json_string_value(j), json_string_length(j) + 1);
	json_array_foreach(j, i, v)
		hash = hash_strings(v, hash);
	json_object_foreach(j, key, v)
		hash = hash_strings(v, hash);
	return hash;
}

/* What was sent stands as a JSON document inside of a string. One that cannot be read says nothing. */
static void read_args(const char *args, struct ib_row *row)
{
	static const char *const lengths[] = {"max_tokens", "max_completion_tokens", "max_output_tokens"};
	static const char *const prompts[] = {"messages", "prompt", "input"};
	ib_auto_json json_t *j = NULL;
	const json_t *body;
	uint64_t hash = 14695981039346656037u;

	if (!args || ib_json_load_foreign(args, strlen(args), "request_args", &j, NULL) < 0)
		return;
	body = json_object_get(j, "body");
	for (size_t i = 0; i < IB_LEN(lengths); i++) {
		const json_t *n = json_object_get(body, lengths[i]);

		if (json_is_integer(n) && json_integer_value(n) > 0)
			row->output_asked = json_integer_value(n);
	}
	for (size_t i = 0; i < IB_LEN(prompts); i++) {
		json_t *prompt = json_object_get(body, prompts[i]);

		if (prompt && row->prompt_hash == 0)
			row->prompt_hash = hash_strings(prompt, hash) | 1;
	}
}

/* Times that contradict each other are no times. */
static bool possible(const struct ib_row *row)
{
	return !(row->start_s < 0) && !(row->ttft_s < 0) && !(row->last_s < 0) && !(row->e2e_s < 0) && !(row->ttft_s > row->e2e_s + SLACK_S) &&
	       !(row->last_s > row->e2e_s + SLACK_S) && !(row->ttft_s > row->last_s + SLACK_S);
}

static void times(const struct record *a, struct ib_row *row)
{
	double end = isnan(a->end) ? a->resolve_end : a->end;

	row->start_s = isnan(a->start) ? a->resolve_start : a->start;
	row->ttft_s = a->first - a->start;
	row->last_s = (isnan(a->last) ? end : a->last) - a->start; /* as the client takes it */
	row->e2e_s = end - row->start_s;
	if (a->start >= a->targeted)
		row->queue_s = a->start - a->targeted;
}

static void old_times(const struct record *a, struct ib_row *row)
{
	row->start_s = a->old_start;
	row->ttft_s = a->old_first - a->old_start;
	row->last_s = a->old_last - a->old_start;
	row->e2e_s = a->old_end - a->old_start;
}

static void drop_times(struct ib_row *row)
{
	row->ttft_s = row->last_s = row->e2e_s = row->queue_s = NAN;
	if (row->start_s < 0)
		row->start_s = NAN;
}

static int64_t positive(int64_t a, int64_t b, int64_t c)
{
	return a > 0 ? a : b > 0 ? b : c > 0 ? c : IB_NOT_IN_FILE;
}

/* In this client's list of successes a request may stand that answered nothing. Of the others 0 tokens are none that were counted. */
static void outcome(const struct record *a, enum ib_outcome list, struct ib_row *row)
{
	const char *error = a->error ? a->error : a->old_error;

	row->outcome = list;
	if (list == IB_OUTCOME_FAILED && error && strcasestr(error, "timeout"))
		row->outcome = IB_OUTCOME_TIMED_OUT;
	if (list == IB_OUTCOME_SUCCEEDED && row->output_tokens < 1) {
		row->outcome = IB_OUTCOME_FAILED;
		row->output_tokens = 0;
	}
}

static bool off(double own, double derived)
{
	return fabs(own - derived) > 1e-9 * fmax(fabs(own), fabs(derived)) + 1e-9;
}

/* Are the record's own statistics those of its times and length? */
static bool even(const struct record *a, const struct ib_row *row)
{
	double itl = row->output_tokens > 1 ? 1e3 * (row->last_s - row->ttft_s) / (double)(row->output_tokens - 1) : NAN;

	return !off(a->latency_s, row->e2e_s) && !off(a->ttft_ms, 1e3 * row->ttft_s) && !off(a->itl_ms, itl);
}

static void add(struct ib_guidellm_benchmark *b, const struct record *a)
{
	struct ib_row row = ib_row_empty();

	b->flat = !isnan(a->old_start);
	if (b->flat)
		old_times(a, &row);
	else
		times(a, &row);
	if (!possible(&row)) {
		drop_times(&row);
		if (b->impossible++ == 0)
			b->first_impossible = b->columns.n + 1;
	}
	row.input_tokens = positive(a->input, a->input_total, 0);
	row.output_tokens = positive(a->output, a->output_total, a->iterations);
	row.chunks = a->iterations > 0 ? a->iterations : IB_NOT_IN_FILE;
	row.output_hash = a->text;
	row.prompt_hash = a->prompt;
	read_args(a->args, &row);
	outcome(a, b->list, &row);
	if (row.outcome == IB_OUTCOME_SUCCEEDED && !even(a, &row) && b->uneven++ == 0)
		b->first_uneven = b->columns.n + 1;
	ib_columns_add(&b->columns, &row);
}

int ib_guidellm_record(struct ib_stream *s, struct ib_guidellm_benchmark *b, struct ib_err *err)
{
	struct record a = empty();
	int r = ib_pick(s, table, &a, NULL, err);

	if (r == 0)
		add(b, &a);
	free(a.args);
	free(a.error);
	free(a.old_error);
	return r;
}
