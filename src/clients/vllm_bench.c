/* SPDX-License-Identifier: Apache-2.0 */
/* vLLM's "vllm bench serve": the JSON of the Python client (0.6 to 0.33) and of the Rust client (0.33), one object or one a line
 * (append mode). Which schema it is shows in the keys: the file names no version. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/vllm.h"
#include "clients/vllm_flags.h"

#define COUNT_MAX ((json_int_t)1 << 53) /* of any total */

static const char *const schema_ids[] = {
	"vllm-bench/python-0.6",  "vllm-bench/python-0.9",  "vllm-bench/python-0.11", "vllm-bench/python-0.15",
	"vllm-bench/python-0.20", "vllm-bench/python-0.32", "vllm-bench/python-0.33", "vllm-bench/rust-0.33",
	NULL,
};

enum schema { PYTHON_0_6, PYTHON_0_9, PYTHON_0_11, PYTHON_0_15, PYTHON_0_20, PYTHON_0_32, PYTHON_0_33, RUST_0_33 };

static bool recognise(const struct ib_head *h)
{
	static const char *const keys[] = {"model_id", "tokenizer_id", "num_prompts", "duration", "completed", "request_throughput", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (!ib_head_has(h, keys[i]))
			return false;
	return true;
}

static bool has(const json_t *o, const char *key)
{
	return json_object_get(o, key) != NULL;
}

/* The newest schema whose mark is there. Without per-request arrays the marks of 0.15 are missing: it then counts as 0.11. */
static enum schema schema_of(const json_t *o)
{
	if (has(o, "steady_state") || has(o, "input_throughput"))
		return RUST_0_33;
	if (has(o, "server_ttfts"))
		return PYTHON_0_33;
	if (has(o, "queue_times"))
		return PYTHON_0_32;
	if (has(o, "rtfx"))
		return PYTHON_0_20;
	if (has(o, "start_times"))
		return PYTHON_0_15;
	if (has(o, "failed"))
		return PYTHON_0_11;
	return has(o, "endpoint_type") ? PYTHON_0_9 : PYTHON_0_6;
}

/* Keys that a schema from some version on always writes; the Rust client too. */
static void note_missing(const json_t *o, enum schema schema, struct ib_strv *ret)
{
	static const struct {
		enum schema since;
		const char *key;
	} keys[] = {
		{PYTHON_0_6, "date"},
		{PYTHON_0_6, "model_id"},
		{PYTHON_0_6, "tokenizer_id"},
		{PYTHON_0_6, "num_prompts"},
		{PYTHON_0_6, "request_rate"},
		{PYTHON_0_9, "max_concurrency"},
		{PYTHON_0_6, "duration"},
		{PYTHON_0_6, "completed"},
		{PYTHON_0_11, "failed"},
		{PYTHON_0_6, "total_input_tokens"},
		{PYTHON_0_6, "total_output_tokens"},
		{PYTHON_0_6, "request_throughput"},
		{PYTHON_0_6, "output_throughput"},
		{PYTHON_0_6, "total_token_throughput"},
		{PYTHON_0_11, "max_output_tokens_per_s"},
		{PYTHON_0_11, "max_concurrent_requests"},
		{RUST_0_33, "steady_state"},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (schema >= keys[i].since && !has(o, keys[i].key))
			ib_strv_add(ret, keys[i].key);
}

/* Without output lengths only a latency above 0 marks success, and that only when their number equals "completed". */
static bool latency_tells(const json_t *o, const struct ib_columns *c)
{
	int64_t n = 0;

	if (!c->e2e_s)
		return false;
	for (size_t i = 0; i < c->n; i++)
		n += c->e2e_s[i] > 0;
	return json_is_integer(json_object_get(o, "completed")) && json_integer_value(json_object_get(o, "completed")) == n;
}

static enum ib_outcome outcome(const struct ib_columns *c, const bool *errors, size_t i)
{
	if (errors && errors[i])
		return IB_OUTCOME_FAILED;
	if (c->output_tokens && c->output_tokens[i] < 0) /* null */
		return IB_OUTCOME_UNKNOWN;
	if (c->output_tokens && c->output_tokens[i] == 0)
		return IB_OUTCOME_FAILED;
	return !c->e2e_s || c->e2e_s[i] > 0 ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
}

/* An empty error does not mean success: an HTTP status without a reason phrase leaves one. The client writes 0 for times that it does
 * not have; they become "not recorded" here. */
static void set_outcomes(const json_t *o, const bool *errors, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	bool known = c->output_tokens || latency_tells(o, c);
	int64_t silent = 0;

	if (!c->n)
		return;
	c->outcome = ib_alloc(c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->outcome[i] = known ? outcome(c, errors, i) : IB_OUTCOME_UNKNOWN;
		silent += c->outcome[i] == IB_OUTCOME_FAILED && errors && !errors[i] && c->output_tokens;
		if (c->outcome[i] == IB_OUTCOME_SUCCEEDED)
			continue;
		if (c->e2e_s && !(c->e2e_s[i] > 0))
			c->e2e_s[i] = NAN;
		if (c->ttft_s && !(c->ttft_s[i] > 0))
			c->ttft_s[i] = NAN;
	}
	ib_result_count(r);
	if (errors && c->output_tokens)
		r->requests.without_output = silent;
}

/* Clients before 0.30 keep no end-to-end times. Of completions they follow from the gaps, of chat they do not. */
static void rebuild_latencies(const json_t *o, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	const char *backend = json_string_value(json_object_get(o, has(o, "backend") ? "backend" : "endpoint_type"));

	if (c->e2e_s || !c->ttft_s || !c->itl_at)
		return;
	if (!backend || (strcmp(backend, "openai") != 0 && strcmp(backend, "vllm") != 0))
		return;
	c->e2e_s = ib_columns_reals(c->n);
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		c->e2e_s[i] = c->ttft_s[i];
		for (size_t k = c->itl_at[i]; k < c->itl_at[i + 1]; k++)
			c->e2e_s[i] += c->itl_s[k];
	}
	r->e2e = &ib_e2e_ttft_plus_gaps;
}

static int64_t count_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= COUNT_MAX ? json_integer_value(v) : IB_NOT_IN_FILE;
}

/* What the records did not give comes from the client's own totals. */
static void fill_totals(const json_t *o, struct ib_result *r)
{
	struct ib_requests *q = &r->requests;

	q->asked = count_of(o, "num_prompts");
	if (q->succeeded < 0) {
		q->succeeded = count_of(o, "completed");
		q->failed = count_of(o, "failed");
	}
	if (q->attempted < 0)
		q->attempted = q->succeeded >= 0 && q->failed >= 0 ? q->succeeded + q->failed : q->asked;
	if (r->input_tokens < 0)
		r->input_tokens = count_of(o, "total_input_tokens");
	if (r->output_tokens < 0)
		r->output_tokens = count_of(o, "total_output_tokens");
}

/* When the result was written, at the end of the run: the Python client's local time without a zone, the Rust client's in UTC. */
static void read_date(const json_t *o, struct ib_result *r)
{
	const char *text = json_string_value(json_object_get(o, "date"));
	ib_auto_free char *utc = NULL;
	int64_t ns;

	if (!text)
		return;
	r->zone_unknown = strlen(text) == strlen("20260101-000000") && text[8] == '-';
	utc = r->zone_unknown ? ib_asprintf("%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", text, text + 4, text + 6, text + 9, text + 11, text + 13) : ib_strdup(text);
	if (ib_time_parse(utc, &ns, NULL) == 0)
		r->ended_at = (double)(ns / IB_NS);
}

static void read_setting(const json_t *o, struct ib_result *r)
{
	const json_t *rate = json_object_get(o, "request_rate"), *d = json_object_get(o, "duration");

	if (json_is_number(d))
		r->duration_s = json_number_value(d);
	r->window = "first request due to last request done, warm-ups excluded";
	r->concurrency_asked = count_of(o, "max_concurrency");
	if (json_is_number(rate))
		r->rate_asked = json_number_value(rate);
	else if (json_is_string(rate) && strcmp(json_string_value(rate), "inf") == 0)
		r->rate_asked = INFINITY;
}

/* A first-token time of 0 in a succeeded row is "no value", too. The claims are derived before this, as the client computes them. */
static void drop_zero_ttfts(struct ib_columns *c)
{
	for (size_t i = 0; c->ttft_s && i < c->n; i++)
		if (!(c->ttft_s[i] > 0))
			c->ttft_s[i] = NAN;
}

static void put_settings(const json_t *o, struct ib_result *r)
{
	struct ib_settings *s = &r->settings;
	ib_auto_free char *asked = r->requests.asked >= 0 ? ib_asprintf("%lld", (long long)r->requests.asked) : NULL;

	ib_setting_put(s, IB_SET_MODEL, json_string_value(json_object_get(o, "model_id")), "the file");
	ib_setting_put(s, IB_SET_TOKENIZER, json_string_value(json_object_get(o, "tokenizer_id")), "the file");
	ib_setting_put(s, IB_SET_BACKEND, json_string_value(json_object_get(o, has(o, "backend") ? "backend" : "endpoint_type")), "the file");
	ib_setting_put(s, IB_SET_REQUESTS, asked, "the file");
}

static int read_object(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_vllm struct ib_vllm_object file = {0};
	const json_t *o;
	struct ib_result *r;
	enum schema schema;
	int e = ib_vllm_read(s, &file, err);

	if (e < 0)
		return e;
	o = file.scalars;
	if (!has(o, "completed") || !has(o, "num_prompts"))
		return ib_stream_fail(s, err, IB_E_SYNTAX, "an object that is no result of vllm bench serve");
	if (ret->n == IB_RESULTS_MAX)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more than %d results", name, IB_RESULTS_MAX);
	schema = schema_of(o);
	r = ib_results_add(ret, &ib_client_vllm_bench, name);
	r->schema_id = schema_ids[schema];
	r->columns = file.columns;
	file.columns = (struct ib_columns){0};
	note_missing(o, schema, &r->missing);
	read_setting(o, r);
	read_date(o, r);
	set_outcomes(o, file.errors, r);
	rebuild_latencies(o, r);
	fill_totals(o, r);
	put_settings(o, r);
	e = ib_vllm_claims(file.scalars, r, err);
	drop_zero_ttfts(&r->columns);
	return e;
}

/* One object, or one after the other (append mode). */
static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.literals = true, .sequence = true, .hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);

	for (;;) {
		struct ib_token t;
		bool more;
		int r = ib_stream_document(s, &more, err);

		if (r == 0 && !more)
			return 0;
		if (r == 0)
			r = read_object(s, name, ret, err);
		if (r == 0)
			r = ib_stream_next(s, &t, err); /* the end of the document */
		if (r < 0)
			return r;
		ib_result_notes(&ret->v[ret->n - 1], ib_stream_notes(s));
	}
}

const struct ib_client ib_client_vllm_bench = {
	.name = "vllm-bench",
	.title = "vllm bench serve (Python and Rust client)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = ib_vllm_serve_command,
	.flags = ib_vllm_serve_flags,
	.fixed_output = ib_vllm_fixed_output,
};
