/* SPDX-License-Identifier: Apache-2.0 */
/* vLLM's "vllm bench serve": the JSON of the Python client (0.6 to 0.33) and of the Rust client (0.33), one object or one a line
 * (append mode). Which schema it is shows in the keys: the file names no version. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/lines.h"
#include "clients/vllm.h"
#include "clients/vllm_flags.h"

#define SECONDS_MAX 1e12                 /* of any time, either way: arithmetic on them stays finite */
#define COUNT_MAX ((json_int_t)1 << 53) /* of any total */
#define RESULTS_MAX 1000                 /* in one file of append mode */

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

/* Array called key; NULL when absent. All arrays must have the same number of elements. */
static int get_array(const json_t *o, const char *name, const char *key, size_t *n, const json_t **ret, struct ib_err *err)
{
	const json_t *a = json_object_get(o, key);

	*ret = NULL;
	if (!a || json_is_null(a))
		return 0;
	if (!json_is_array(a))
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': key '%s' is not an array", name, key);
	if (*n != SIZE_MAX && json_array_size(a) != *n)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': array '%s' has %zu elements, another one has %zu", name, key, json_array_size(a), *n);
	*n = json_array_size(a);
	*ret = a;
	return 0;
}

static bool is_time(const json_t *v)
{
	return json_is_number(v) && fabs(json_number_value(v)) <= SECONDS_MAX;
}

static int get_reals(const json_t *o, const char *name, const char *key, size_t *n, double **ret, struct ib_err *err)
{
	const json_t *a;
	int r = get_array(o, name, key, n, &a, err);

	if (r < 0 || !a)
		return r;
	*ret = ib_columns_reals(*n);
	for (size_t i = 0; i < *n; i++) {
		const json_t *v = json_array_get(a, i);

		if (is_time(v))
			(*ret)[i] = json_number_value(v);
		else if (!json_is_null(v))
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': element %zu of '%s' is not a time in seconds", name, i, key);
	}
	return 0;
}

static int get_counts(const json_t *o, const char *name, const char *key, size_t *n, int64_t **ret, struct ib_err *err)
{
	const json_t *a;
	int r = get_array(o, name, key, n, &a, err);

	if (r < 0 || !a)
		return r;
	*ret = ib_columns_ints(*n);
	for (size_t i = 0; i < *n; i++) {
		const json_t *v = json_array_get(a, i);

		if (json_is_null(v))
			continue;
		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX)
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': element %zu of '%s' is not a count", name, i, key);
		(*ret)[i] = json_integer_value(v);
	}
	return 0;
}

static int get_gaps(const json_t *o, const char *name, size_t *n, struct ib_columns *c, struct ib_err *err)
{
	const json_t *a;
	size_t total = 0, at = 0;
	int r = get_array(o, name, "itls", n, &a, err);

	if (r < 0 || !a || !*n)
		return r;
	for (size_t i = 0; i < *n; i++)
		total += json_array_size(json_array_get(a, i));
	c->itl_at = ib_realloc(NULL, *n + 1, sizeof(*c->itl_at));
	c->itl_s = ib_columns_reals(total);
	c->itl_n = total;
	for (size_t i = 0; i < *n; i++) {
		const json_t *gaps = json_array_get(a, i);

		if (!json_is_array(gaps))
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': element %zu of 'itls' is not an array", name, i);
		c->itl_at[i] = at;
		for (size_t k = 0; k < json_array_size(gaps); k++) {
			const json_t *v = json_array_get(gaps, k);

			if (!is_time(v))
				return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': gap %zu of request %zu in 'itls' is not a time in seconds", name, k, i);
			c->itl_s[at++] = json_number_value(v);
		}
	}
	c->itl_at[*n] = at;
	return 0;
}

static int get_columns(const json_t *o, const char *name, struct ib_columns *c, const json_t **ret_errors, struct ib_err *err)
{
	size_t n = SIZE_MAX;
	int r = get_counts(o, name, "input_lens", &n, &c->input_tokens, err);

	if (r == 0)
		r = get_counts(o, name, "output_lens", &n, &c->output_tokens, err);
	if (r == 0)
		r = get_reals(o, name, "ttfts", &n, &c->ttft_s, err);
	if (r == 0)
		r = get_reals(o, name, "latencies", &n, &c->e2e_s, err);
	if (r == 0)
		r = get_reals(o, name, "start_times", &n, &c->start_s, err);
	if (r == 0)
		r = get_reals(o, name, "queue_times", &n, &c->queue_s, err);
	if (r == 0)
		r = get_gaps(o, name, &n, c, err);
	if (r == 0)
		r = get_array(o, name, "errors", &n, ret_errors, err);
	c->n = n == SIZE_MAX ? 0 : n;
	return r;
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

/* Length and not text: a string may begin with a byte 0. */
static bool has_error(const json_t *errors, size_t i)
{
	const json_t *e = errors ? json_array_get(errors, i) : NULL;

	return e && (json_is_string(e) ? json_string_length(e) > 0 : !json_is_null(e));
}

static enum ib_outcome outcome(const struct ib_columns *c, const json_t *errors, size_t i)
{
	if (has_error(errors, i))
		return IB_OUTCOME_FAILED;
	if (c->output_tokens && c->output_tokens[i] < 0) /* null */
		return IB_OUTCOME_UNKNOWN;
	if (c->output_tokens && c->output_tokens[i] == 0)
		return IB_OUTCOME_FAILED;
	return !c->e2e_s || c->e2e_s[i] > 0 ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
}

/* An empty error does not mean success: an HTTP status without a reason phrase leaves one. The client writes 0 for times that it does
 * not have; they become "not recorded" here. */
static void set_outcomes(const json_t *o, const json_t *errors, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	bool known = c->output_tokens || latency_tells(o, c);
	int64_t silent = 0;

	if (!c->n)
		return;
	c->outcome = ib_alloc(c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->outcome[i] = known ? outcome(c, errors, i) : IB_OUTCOME_UNKNOWN;
		silent += c->outcome[i] == IB_OUTCOME_FAILED && errors && !has_error(errors, i) && c->output_tokens;
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

static int read_object(json_t *o, const char *name, void *arg, struct ib_err *err)
{
	struct ib_results *ret = arg;
	struct ib_result *r;
	const json_t *errors = NULL;
	enum schema schema;
	int e;

	if (!json_is_object(o) || !has(o, "completed") || !has(o, "num_prompts"))
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' holds a line that is no result of vllm bench serve", name);
	if (ret->n == RESULTS_MAX)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more than %d results", name, RESULTS_MAX);
	schema = schema_of(o);
	r = ib_results_add(ret, &ib_client_vllm_bench, name);
	r->schema_id = schema_ids[schema];
	note_missing(o, schema, &r->missing);
	read_setting(o, r);
	e = get_columns(o, name, &r->columns, &errors, err);
	if (e < 0)
		return e;
	set_outcomes(o, errors, r);
	rebuild_latencies(o, r);
	fill_totals(o, r);
	e = ib_vllm_claims(o, r, err);
	drop_zero_ttfts(&r->columns);
	return e;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	int r = ib_client_slurp(in, name, &b, err);

	return r < 0 ? r : ib_lines_or_document(ib_buf_str(&b), b.len, name, read_object, ret, err);
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
