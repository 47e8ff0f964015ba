/* SPDX-License-Identifier: Apache-2.0 */
/* genai-bench: one file a run, with its statistics and its records, and experiment_metadata.json beside it, of which only what was asked for is taken: it holds
 * the command line with its keys. */
#include "clients/genai_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/statistic.h"
#include "json/pick.h"

static const char *const schema_ids[] = {"genai-bench/0.0.5", "genai-bench/other", "genai-bench/metadata", NULL};

static bool is_metadata(const struct ib_head *h)
{
	return ib_head_has(h, "benchmark_version") && ib_head_has(h, "traffic_scenario") && ib_head_has(h, "experiment_folder_name");
}

static bool recognise(const struct ib_head *h)
{
	return (ib_head_has(h, "aggregated_metrics") && ib_head_has(h, "individual_request_metrics")) || is_metadata(h);
}

/* --- records --- */

struct record {
	double ttft, tpot, e2e;
	int64_t input, output;
	bool failed;
};

#define AT(field) offsetof(struct record, field)

static const struct ib_pick record_table[] = {
	{.path = "ttft", .kind = IB_PICK_REAL, .at = AT(ttft)},
	{.path = "tpot", .kind = IB_PICK_REAL, .at = AT(tpot)},
	{.path = "e2e_latency", .kind = IB_PICK_REAL, .at = AT(e2e)},
	{.path = "num_input_tokens", .kind = IB_PICK_INT, .at = AT(input)},
	{.path = "num_output_tokens", .kind = IB_PICK_INT, .at = AT(output)},
	{.path = "error_code", .kind = IB_PICK_PRESENT, .at = AT(failed)},
	{.path = NULL},
};

static int64_t count(int64_t v)
{
	return v >= 0 && v <= INT32_MAX ? v : IB_NOT_IN_FILE;
}

static int read_record(struct ib_stream *s, const char *key, void *arg, struct ib_err *err)
{
	struct ib_genai_bench *f = arg;
	struct record rec = {.ttft = NAN, .tpot = NAN, .e2e = NAN, .input = -1, .output = -1};
	struct ib_row row = ib_row_empty();
	int r = ib_pick(s, record_table, &rec, NULL, err);

	(void)key;
	if (r == 0)
		r = ib_times_check((const double[]){rec.ttft, rec.e2e}, 2, ib_stream_name(s), "individual_request_metrics", err);
	if (r < 0)
		return r;
	row.ttft_s = rec.ttft;
	row.e2e_s = rec.e2e;
	row.input_tokens = count(rec.input);
	row.output_tokens = count(rec.output);
	row.outcome = rec.failed ? IB_OUTCOME_FAILED : IB_OUTCOME_SUCCEEDED;
	f->tokens = f->tokens || row.output_tokens > 0;
	ib_columns_add(f->columns, &row);
	ib_reals_add(&f->tpots, rec.tpot);
	return 0;
}

/* --- the file --- */

static void file_clear(struct ib_genai_bench *f)
{
	json_decref(f->run);
	free(f->unit);
	ib_reals_clear(&f->tpots);
}

#undef AT
#define AT(field) offsetof(struct ib_genai_bench, field)

static const struct ib_pick file_table[] = {
	{.path = "aggregated_metrics", .kind = IB_PICK_TREE, .at = AT(run), .wanted = true},
	{.path = "individual_request_metrics", .kind = IB_PICK_EACH, .each = read_record},
	{.path = "_time_unit", .kind = IB_PICK_TEXT, .at = AT(unit), .wanted = true},
	{.path = NULL},
};

/* Milliseconds become seconds. */
static void finish_columns(struct ib_genai_bench *f, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	double scale = f->unit && strcmp(f->unit, "ms") == 0 ? 1000 : 1;

	for (size_t i = 0; i < c->n; i++) {
		c->ttft_s[i] /= scale;
		c->e2e_s[i] /= scale;
		f->tpots.v[i] /= scale;
	}
	ib_columns_end(c);
}

/* Success takes an output token; but embeddings and images have none: for them, no error is success. After the claims, which are the client's. */
static void put_right(const struct ib_genai_bench *f, struct ib_result *r)
{
	struct ib_columns *c = &r->columns;
	int64_t silent = 0;

	for (size_t i = 0; f->tokens && i < c->n; i++) {
		if (c->outcome[i] != IB_OUTCOME_SUCCEEDED || c->output_tokens[i] != 0)
			continue;
		c->outcome[i] = IB_OUTCOME_FAILED;
		silent++;
	}
	if (c->n)
		r->requests.without_output = silent;
}

/* "D(64,32)": every request asks for these lengths. */
static void put_scenario(const struct ib_genai_bench *f, struct ib_result *r)
{
	const char *text = json_string_value(json_object_get(f->run, "scenario"));
	struct ib_columns *c = &r->columns;
	int in = 0, out = 0, end = 0;
	ib_auto_free char *input = NULL, *output = NULL;

	if (!text || sscanf(text, "D(%9d,%9d)%n", &in, &out, &end) != 2 || !end || text[end] || in < 1 || out < 1)
		return;
	input = ib_asprintf("%d", in);
	output = ib_asprintf("%d", out);
	ib_setting_put(&r->settings, IB_SET_INPUT_LEN, input, "the file");
	ib_setting_put(&r->settings, IB_SET_OUTPUT_LEN, output, "the file");
	ib_setting_put(&r->settings, IB_SET_LENGTH_RANGE, "0", "the file");
	c->output_asked = ib_columns_ints(c->n);
	for (size_t i = 0; i < c->n; i++)
		c->output_asked[i] = out;
}

static void put_run(const struct ib_genai_bench *f, struct ib_result *r)
{
	const char *type = json_string_value(json_object_get(f->run, "iteration_type"));
	double duration = ib_statistic_number(f->run, "run_duration");

	r->ttft = &ib_ttft_first_content;
	r->tpot = &ib_tpot_excl_first_1ms;
	r->itl = NULL;
	r->e2e = &ib_e2e_last_chunk;
	r->duration_s = duration > 0 ? duration : NAN; /* 0: the run ended before it was set */
	r->window = "the client's own clock around the run, the end of its scheduler too";
	ib_result_span(r, "run_duration", r->duration_s);
	if (!type || strcmp(type, "num_concurrency") == 0)
		r->concurrency_asked = ib_statistic_count(f->run, "num_concurrency");
	if (type && r->concurrency_asked >= 0)
		r->label = ib_asprintf("concurrency %lld", (long long)r->concurrency_asked);
}

static void put_counts(const struct ib_genai_bench *f, struct ib_result *r)
{
	if (r->columns.n) {
		ib_result_count(r);
		return;
	}
	r->requests.attempted = ib_statistic_count(f->run, "num_requests");
	r->requests.succeeded = ib_statistic_count(f->run, "num_completed_requests");
	r->requests.failed = ib_statistic_count(f->run, "num_error_requests");
}

/* --- what stands beside it --- */

static void put_text(struct ib_settings *s, enum ib_setting_key key, const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);
	ib_auto_free char *number = json_is_number(v) ? ib_asprintf("%.17g", json_number_value(v)) : NULL;
	const char *text = number ? number : json_string_value(v);

	if (text && strcmp(text, "None") != 0)
		ib_setting_put(s, key, text, "the configuration");
}

static void take_metadata(const json_t *o, struct ib_result *r)
{
	r->schema_id = schema_ids[2];
	r->part = IB_PART_CONFIG;
	r->client_version = ib_strdup(json_string_value(json_object_get(o, "benchmark_version")));
	put_text(&r->settings, IB_SET_MODEL, o, "api_model_name");
	put_text(&r->settings, IB_SET_TOKENIZER, o, "server_model_tokenizer");
	put_text(&r->settings, IB_SET_BACKEND, o, "api_backend");
	put_text(&r->settings, IB_SET_DATASET, o, "dataset_path");
	put_text(&r->settings, IB_SET_REQUESTS, o, "max_requests_per_run");
	put_text(&r->settings, IB_SET_DURATION, o, "max_time_per_run_s");
}

/* --- reading --- */

static int read_results(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_genai_bench, name);
	__attribute__((cleanup(file_clear))) struct ib_genai_bench f = {.columns = &r->columns};
	int e = ib_pick(s, file_table, &f, &r->missing, err);

	if (e < 0)
		return e;
	if (!json_is_object(f.run))
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': 'aggregated_metrics' is not an object", name);
	if (f.unit && strcmp(f.unit, "s") != 0 && strcmp(f.unit, "ms") != 0)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s': times in '%s' are not known, only in 's' and 'ms'", name, f.unit);
	r->unknown_version = !f.unit || !json_object_get(json_object_get(f.run, "stats"), "num_reasoning_tokens");
	r->schema_id = schema_ids[r->unknown_version];
	finish_columns(&f, r);
	put_run(&f, r);
	put_scenario(&f, r);
	ib_genai_bench_claims(&f, r);
	put_right(&f, r);
	put_counts(&f, r);
	return 0;
}

static int read_document(struct ib_stream *s, bool metadata, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_json json_t *o = NULL;
	int e;

	if (!metadata)
		return read_results(s, name, ret, err);
	e = ib_pick_tree(s, &o, err);
	if (e == 0)
		take_metadata(o, ib_results_add(ret, &ib_client_genai_bench, name));
	return e;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	ib_auto_stream struct ib_stream *s = NULL;
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
	e = ib_stream_document(s, &more, err);
	if (e == 0)
		e = read_document(s, is_metadata(&head), name, ret, err);
	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e == 0)
		e = ib_stream_document(s, &more, err);
	if (e == 0)
		ib_result_notes(&ret->v[ret->n - 1], ib_stream_notes(s));
	return e;
}

static const char *const command[] = {"genai-bench|genai_bench", "benchmark", NULL};

static const struct ib_client_flag flags[] = {
	{"--api-model-name", IB_SET_MODEL},
	{"--model-tokenizer", IB_SET_TOKENIZER},
	{"--api-base", IB_SET_ENDPOINT},
	{"--api-backend", IB_SET_BACKEND},
	{"--dataset-path", IB_SET_DATASET},
	{"--num-concurrency", IB_SET_CONCURRENCY},
	{"--max-requests-per-run", IB_SET_REQUESTS},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_genai_bench = {
	.name = "genai-bench",
	.title = "genai-bench (0.0.5)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
