/* SPDX-License-Identifier: Apache-2.0 */
/* SGLang's "bench_serving" (sglang.benchmark.serving): one line a run, appended. Per-request arrays are there with --output-details only, start and end times
 * never. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/sglang.h"
#include "clients/statistic.h"
#include "json/pick.h"

static const char *const schema_ids[] = {"sglang-bench/0.5.23", "sglang-bench/other", NULL};

static bool recognise(const struct ib_head *h)
{
	static const char *const keys[] = {"backend", "dataset_name", "request_rate", "sharegpt_output_len", "random_range_ratio", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (!ib_head_has(h, keys[i]))
			return false;
	return true;
}

/* --- one line --- */

static void line_clear(struct ib_sglang_line *l)
{
	free(l->backend);
	free(l->dataset);
	free(l->tag);
	ib_reals_clear(&l->input_lens);
	ib_reals_clear(&l->output_lens);
	ib_reals_clear(&l->ttfts);
	ib_reals_clear(&l->gaps);
	free(l->gaps_at);
	free(l->texts);
	free(l->errors);
	json_decref(l->slos);
	json_decref(l->numbers);
}

/* Room for element n of v: 64, then twice as many at every power of two. */
static void *grown(void *v, size_t n, size_t size)
{
	if (n != 0 && (n < 64 || (n & (n - 1)) != 0))
		return v;
	return ib_realloc(v, n ? 2 * n : 64, size);
}

static int each_gaps(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_sglang_line *l = row;

	(void)key;
	l->gaps_at = grown(l->gaps_at, l->n_gaps, sizeof(*l->gaps_at));
	l->gaps_at[l->n_gaps++] = l->gaps.n;
	return ib_stream_reals(s, "itls", &l->gaps, NULL, err);
}

/* The next value, a string or null: its digest, 0 for an empty one. */
static int read_text(struct ib_stream *s, const char *where, uint64_t *ret, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (r < 0)
		return r;
	if (t.kind != IB_TOKEN_STRING && t.kind != IB_TOKEN_NULL)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "an element of '%s' is not a string", where);
	*ret = t.kind == IB_TOKEN_NULL || t.bytes == 0 ? 0 : t.hash ? t.hash : 1;
	return 0;
}

static int each_text(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_sglang_line *l = row;

	(void)key;
	l->texts = grown(l->texts, l->n_texts, sizeof(*l->texts));
	return read_text(s, "generated_texts", &l->texts[l->n_texts++], err);
}

static int each_error(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_sglang_line *l = row;
	uint64_t digest = 0;
	int r = read_text(s, "errors", &digest, err);

	(void)key;
	l->errors = grown(l->errors, l->n_errors, sizeof(*l->errors));
	l->errors[l->n_errors++] = digest != 0;
	return r;
}

/* A number, Infinity, or a word such as "trace". */
static int read_rate(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct ib_sglang_line *l = row;
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	(void)key;
	if (r < 0)
		return r;
	if (t.kind == IB_TOKEN_NUMBER)
		l->rate = t.real;
	else if (t.kind != IB_TOKEN_STRING && t.kind != IB_TOKEN_NULL)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "'request_rate' is not a number");
	return 0;
}

#define AT(field) offsetof(struct ib_sglang_line, field)

static const struct ib_pick table[] = {
	{.path = "backend", .kind = IB_PICK_TEXT, .at = AT(backend), .wanted = true},
	{.path = "dataset_name", .kind = IB_PICK_TEXT, .at = AT(dataset), .wanted = true},
	{.path = "tag", .kind = IB_PICK_TEXT, .at = AT(tag)},
	{.path = "request_rate", .kind = IB_PICK_CALL, .wanted = true, .each = read_rate},
	{.path = "max_concurrency", .kind = IB_PICK_REAL, .at = AT(cap)},
	{.path = "random_input_len", .kind = IB_PICK_REAL, .at = AT(input_len)},
	{.path = "random_output_len", .kind = IB_PICK_REAL, .at = AT(output_len)},
	{.path = "sharegpt_output_len", .kind = IB_PICK_REAL, .at = AT(sharegpt_len)},
	{.path = "random_range_ratio", .kind = IB_PICK_REAL, .at = AT(length_range)},
	{.path = "duration", .kind = IB_PICK_REAL, .at = AT(duration_s), .wanted = true},
	{.path = "input_lens", .kind = IB_PICK_REALS, .at = AT(input_lens)},
	{.path = "output_lens", .kind = IB_PICK_REALS, .at = AT(output_lens)},
	{.path = "ttfts", .kind = IB_PICK_REALS, .at = AT(ttfts)},
	{.path = "itls", .kind = IB_PICK_EACH, .each = each_gaps},
	{.path = "generated_texts", .kind = IB_PICK_EACH, .each = each_text},
	{.path = "errors", .kind = IB_PICK_EACH, .each = each_error},
	{.path = "goodput_slos_ms", .kind = IB_PICK_TREE, .at = AT(slos)},
	{.path = "", .kind = IB_PICK_SCALARS, .at = AT(numbers)},
	{.path = NULL},
};

/* --- columns --- */

/* All arrays that are there have the same number of elements. */
static int check_sizes(const struct ib_sglang_line *l, const char *name, size_t *ret, struct ib_err *err)
{
	const struct {
		const char *what;
		size_t n;
	} sizes[] = {{"input_lens", l->input_lens.n}, {"output_lens", l->output_lens.n}, {"ttfts", l->ttfts.n},
		     {"itls", l->n_gaps},             {"generated_texts", l->n_texts},   {"errors", l->n_errors}};

	*ret = 0;
	for (size_t i = 0; i < IB_LEN(sizes); i++) {
		if (*ret && sizes[i].n && sizes[i].n != *ret)
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': array '%s' has %zu elements, another one has %zu", name, sizes[i].what, sizes[i].n,
					  *ret);
		*ret = sizes[i].n ? sizes[i].n : *ret;
	}
	return 0;
}

static int move_gaps(struct ib_sglang_line *l, const char *name, struct ib_columns *c, struct ib_err *err)
{
	if (!l->n_gaps)
		return 0;
	for (size_t i = 0; i < l->gaps.n; i++)
		if (!isfinite(l->gaps.v[i]))
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': gap %zu in 'itls' is not a time in seconds", name, i);
	c->itl_at = ib_realloc(ib_steal(&l->gaps_at), l->n_gaps + 1, sizeof(*c->itl_at));
	c->itl_n = l->gaps.n;
	c->itl_at[l->n_gaps] = c->itl_n;
	c->itl_s = ib_steal(&l->gaps.v);
	return ib_times_check(c->itl_s, c->itl_n, name, "itls", err);
}

/* The client's own idea of success, which it does not save. It writes 0 as the output length of a failed request, and leaves the error empty where the status
 * line had no reason phrase: a request with neither error nor output is a success to it only if its total says so. */
static void set_outcomes(const struct ib_sglang_line *l, struct ib_columns *c)
{
	int64_t quiet = 0;
	bool empty_ok;

	for (size_t i = 0; i < c->n; i++)
		quiet += l->errors && !l->errors[i];
	empty_ok = quiet == ib_statistic_count(l->numbers, "completed");
	for (size_t i = 0; i < c->n; i++) {
		int64_t n = c->output_tokens ? c->output_tokens[i] : IB_NOT_IN_FILE;

		c->outcome[i] = l->errors && l->errors[i] ? IB_OUTCOME_FAILED
				: n == 0		  ? (empty_ok ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED)
				: n > 0 || l->errors	  ? IB_OUTCOME_SUCCEEDED
							  : IB_OUTCOME_UNKNOWN;
	}
}

/* First token plus gaps: all that the file tells of the end. */
static void rebuild_ends(struct ib_columns *c)
{
	if (!c->ttft_s || !c->itl_at)
		return;
	c->e2e_s = ib_columns_reals(c->n);
	for (size_t i = 0; i < c->n; i++) {
		c->e2e_s[i] = c->ttft_s[i];
		for (size_t k = c->itl_at[i]; k < c->itl_at[i + 1]; k++)
			c->e2e_s[i] += c->itl_s[k];
	}
}

static int take_columns(struct ib_sglang_line *l, const char *name, struct ib_columns *c, struct ib_err *err)
{
	size_t n;
	int r = check_sizes(l, name, &n, err);

	if (r < 0 || !n)
		return r;
	if (l->input_lens.n)
		r = ib_counts_of_reals(l->input_lens.v, n, name, "input_lens", &c->input_tokens, err);
	if (r == 0 && l->output_lens.n)
		r = ib_counts_of_reals(l->output_lens.v, n, name, "output_lens", &c->output_tokens, err);
	if (r == 0)
		r = ib_times_check(l->ttfts.v, l->ttfts.n, name, "ttfts", err);
	if (r == 0)
		r = move_gaps(l, name, c, err);
	if (r < 0)
		return r;
	l->details = true;
	c->n = n;
	c->ttft_s = l->ttfts.n ? ib_steal(&l->ttfts.v) : NULL;
	c->outcome = ib_alloc(n);
	set_outcomes(l, c);
	rebuild_ends(c);
	return 0;
}

/* No error, and yet nothing came: no first token, no gap, no text. The client counts the tokens that it asked for. */
static bool nothing_came(const struct ib_sglang_line *l, const struct ib_columns *c, size_t i)
{
	if (c->output_tokens && c->output_tokens[i] == 0)
		return true;
	if (l->texts && l->texts[i])
		return false;
	return c->ttft_s && !(c->ttft_s[i] > 0) && (!c->itl_at || c->itl_at[i] == c->itl_at[i + 1]);
}

/* Success takes an output token; a first-token time of 0 is none. The claims are derived before this, as the client computes them. */
static void put_right(const struct ib_sglang_line *l, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	int64_t silent = 0, zeros = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->outcome[i] == IB_OUTCOME_SUCCEEDED && nothing_came(l, c, i)) {
			c->outcome[i] = IB_OUTCOME_FAILED;
			silent++;
		}
		zeros += c->outcome[i] == IB_OUTCOME_SUCCEEDED && c->ttft_s && !(c->ttft_s[i] > 0);
		if (c->e2e_s && (c->outcome[i] != IB_OUTCOME_SUCCEEDED || !(c->ttft_s[i] > 0)))
			c->e2e_s[i] = NAN;
		if (c->ttft_s && !(c->ttft_s[i] > 0))
			c->ttft_s[i] = NAN;
	}
	if (c->n && l->errors)
		r->requests.without_output = silent;
	if (zeros)
		ib_result_hint(r, "A09", "/ttfts", NULL, "0.0", "%lld succeeded requests have a first-token time of 0.0, which is no time, and the client's mean holds it",
			       (long long)zeros);
}

/* --- settings --- */

/* The one length that all requests were asked for, or -1. With a data set of random lengths they vary between the share and the whole of it. */
static int64_t asked(const struct ib_sglang_line *l, double len)
{
	if (!l->dataset || !ib_starts(l->dataset, "random") || !(l->length_range >= 1) || !(len >= 1))
		return IB_NOT_IN_FILE;
	return ib_count_of_real(len);
}

static void fill_asked(const struct ib_sglang_line *l, struct ib_columns *c)
{
	int64_t in = asked(l, l->input_len), out = asked(l, l->output_len);

	if (l->dataset && strcmp(l->dataset, "sharegpt") == 0 && l->sharegpt_len >= 1)
		out = ib_count_of_real(l->sharegpt_len);
	c->input_asked = in > 0 ? ib_columns_ints(c->n) : NULL;
	c->output_asked = out > 0 ? ib_columns_ints(c->n) : NULL;
	for (size_t i = 0; i < c->n; i++) {
		if (c->input_asked)
			c->input_asked[i] = in;
		if (c->output_asked)
			c->output_asked[i] = out;
	}
}

static void put_number(struct ib_settings *s, enum ib_setting_key key, double v)
{
	ib_auto_free char *text = isnan(v) ? NULL : isinf(v) ? ib_strdup("inf") : ib_asprintf("%.17g", v);

	ib_setting_put(s, key, text, "the file");
}

/* {"ttft": 500, "e2el": 2000} as on the command line. */
static void put_slos(const json_t *slos, struct ib_settings *s)
{
	static const char *const words[] = {"ttft", "tpot", "e2el"};
	ib_auto_buf struct ib_buf b = IB_BUF(256);

	for (size_t i = 0; i < IB_LEN(words); i++) {
		double v = ib_statistic_number(slos, words[i]);

		if (!isnan(v))
			ib_buf_addf(&b, "%s%s:%.17g", b.len ? " " : "", words[i], v);
	}
	if (b.len)
		ib_setting_put(s, IB_SET_GOODPUT, ib_buf_str(&b), "the file");
}

static void put_settings(const struct ib_sglang_line *l, struct ib_result *r)
{
	struct ib_settings *s = &r->settings;

	ib_setting_put(s, IB_SET_BACKEND, l->backend, "the file");
	ib_setting_put(s, IB_SET_DATASET, l->dataset, "the file");
	put_number(s, IB_SET_RATE, l->rate);
	put_number(s, IB_SET_CONCURRENCY, l->cap);
	if (l->dataset && ib_starts(l->dataset, "random")) {
		put_number(s, IB_SET_INPUT_LEN, l->input_len);
		put_number(s, IB_SET_OUTPUT_LEN, l->output_len);
		put_number(s, IB_SET_LENGTH_RANGE, 1 - l->length_range);
	}
	put_slos(l->slos, s);
	r->duration_s = l->duration_s;
	r->window = "before the first request until all are done and the server's state is asked for";
	ib_result_span(r, "duration", l->duration_s);
	r->rate_asked = l->rate;
	r->concurrency_asked = ib_count_of_real(l->cap);
	r->label = ib_strdup(l->tag);
}

/* --- one result --- */

/* What the records did not give comes from the client's totals: how many were attempted is in none of them. */
static void fill_counts(const struct ib_sglang_line *l, struct ib_result *r)
{
	if (l->details)
		ib_result_count(r);
	if (r->requests.succeeded < 0)
		r->requests.succeeded = ib_statistic_count(l->numbers, "completed");
	if (r->input_tokens < 0)
		r->input_tokens = ib_statistic_count(l->numbers, "total_input_tokens");
	if (r->output_tokens < 0)
		r->output_tokens = ib_statistic_count(l->numbers, "total_output_tokens");
}

static int add_result(struct ib_sglang_line *l, const char *name, struct ib_strv *missing, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r;
	int e;

	if (ib_statistic_count(l->numbers, "completed") < 0)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' holds a line that is no result of SGLang's benchmark", name);
	if (ret->n == IB_RESULTS_MAX)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more than %d results", name, IB_RESULTS_MAX);
	r = ib_results_add(ret, &ib_client_sglang, name);
	r->unknown_version = !json_object_get(l->numbers, "max_concurrent_requests") || !json_object_get(l->numbers, "p95_tpot_ms");
	r->schema_id = schema_ids[r->unknown_version];
	r->missing = *missing;
	*missing = (struct ib_strv){0};
	r->ttft = &ib_ttft_first_text;
	r->itl = &ib_itl_text_gaps;
	e = take_columns(l, name, &r->columns, err);
	if (e < 0)
		return e;
	r->e2e = l->details ? &ib_e2e_ttft_plus_gaps : &ib_e2e_closed;
	put_settings(l, r);
	ib_sglang_claims(l, r);
	put_right(l, r);
	fill_asked(l, &r->columns);
	fill_counts(l, r);
	if (l->texts) {
		l->texts = ib_realloc(l->texts, r->columns.n, sizeof(*l->texts));
		r->columns.output_hash = ib_steal(&l->texts);
	}
	ib_sglang_hints(l, r);
	return 0;
}

static int read_line(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err)
{
	__attribute__((cleanup(line_clear))) struct ib_sglang_line l = {
		.rate = NAN, .cap = NAN, .input_len = NAN, .output_len = NAN, .sharegpt_len = NAN, .length_range = NAN, .duration_s = NAN};
	ib_auto_strv struct ib_strv missing = {0};
	int e = ib_pick(s, table, &l, &missing, err);

	return e < 0 ? e : add_result(&l, name, &missing, ret, err);
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true, .lines = true, .hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	bool more = true;
	int r = 0;

	while (r == 0) {
		struct ib_token end;

		r = ib_stream_document(s, &more, err);
		if (r < 0 || !more)
			break;
		r = read_line(s, name, ret, err);
		if (r == 0)
			r = ib_stream_next(s, &end, err);
	}
	if (r == 0 && ret->n)
		ib_result_notes(&ret->v[0], ib_stream_notes(s));
	return r;
}

static const char *const command[] = {"sglang.bench_serving|sglang.benchmark.serving|bench_serving.py|bench_serving|sglang/benchmark/serving.py", NULL};

static const struct ib_client_flag flags[] = {
	{"--model", IB_SET_MODEL},
	{"--tokenizer", IB_SET_TOKENIZER},
	{"--base-url", IB_SET_ENDPOINT},
	{"--dataset-name", IB_SET_DATASET},
	{"--seed", IB_SET_SEED},
	{"--num-prompts", IB_SET_REQUESTS},
	{"--num-prompt", IB_SET_REQUESTS},
	{"--warmup-requests", IB_SET_WARMUPS},
	{"--max-concurrency", IB_SET_CONCURRENCY},
	{"--request-rate", IB_SET_RATE},
	{"--random-input-len", IB_SET_INPUT_LEN},
	{"--random-input", IB_SET_INPUT_LEN},
	{"--random-output-len", IB_SET_OUTPUT_LEN},
	{"--random-output", IB_SET_OUTPUT_LEN},
	{"--sharegpt-output-len", IB_SET_OUTPUT_LEN},
	{"--temperature", IB_SET_TEMPERATURE},
	{"--goodput", IB_SET_GOODPUT},
	{"--backend", IB_SET_BACKEND},
	{"--host", IB_SET_NOTHING},
	{"--port", IB_SET_NOTHING},
	{"--dataset-path", IB_SET_NOTHING},
	{"--random-range-ratio", IB_SET_NOTHING},
	{"--output-file", IB_SET_NOTHING},
	{"--output-details", IB_SET_NOTHING},
	{"--disable-ignore-eos", IB_SET_NOTHING},
	{"--apply-chat-template", IB_SET_NOTHING},
	{"sharegpt_context_len", IB_SET_NOTHING},
	{"flush_cache", IB_SET_NOTHING},
	{"lora_name", IB_SET_NOTHING},
	{"prompt_suffix", IB_SET_NOTHING},
	{"pd_separated", IB_SET_NOTHING},
	{"gsp_num_groups", IB_SET_NOTHING},
	{"tokenize_prompt", IB_SET_NOTHING},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_sglang = {
	.name = "sglang-bench",
	.title = "SGLang bench_serving (0.5)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
