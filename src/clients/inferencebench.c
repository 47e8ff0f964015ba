/* SPDX-License-Identifier: Apache-2.0 */
/* InferenceBench 0.1: the signed envelope with its metrics, and the file of samples beside it. The envelope is small and read as a tree: keys of another type
 * than the format has are reported, not refused. Its signature is not looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "json/pick.h"

#define TOLERANCE 1e-9
#define INDEX_MAX ((int64_t)1 << 53)
#define ENVELOPE "inferencebench/envelope-v1"
#define SAMPLES "inferencebench/samples-0.1"

static const char *const schema_ids[] = {ENVELOPE, SAMPLES, NULL};

static bool is_samples(const struct ib_head *h)
{
	return ib_head_has(h, "request_idx") && ib_head_has(h, "ok") && ib_head_has(h, "total_ms") && ib_head_has(h, "tokens_out");
}

static bool recognise(const struct ib_head *h)
{
	return is_samples(h) || (ib_head_has(h, "envelope_version") && ib_head_has(h, "suite_id") && ib_head_has(h, "hardware_fingerprint"));
}

/* --- the envelope --- */

/* The value at a path of keys joined by "/", or NULL. */
static const json_t *at(const json_t *o, const char *path)
{
	while (o && *path) {
		size_t n = strcspn(path, "/");
		ib_auto_free char *key = ib_strndup(path, n);

		o = json_object_get(o, key);
		path += n + (path[n] == '/');
	}
	return o;
}

static bool is_placeholder(const char *s)
{
	static const char *const words[] = {"unknown", "unknown00", "none", "n/a", "todo", NULL};

	if (!*s || s[strspn(s, "0")] == '\0')
		return true;
	for (size_t i = 0; words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return true;
	return false;
}

/* Text that says something, or NULL. */
static const char *said(const json_t *o, const char *path)
{
	const char *s = json_string_value(at(o, path));

	return s && !is_placeholder(s) ? s : NULL;
}

static void check_placeholders(const json_t *o, struct ib_result *r)
{
	static const struct {
		const char *path, *check, *what;
	} rows[] = {
		{"model/revision", "A22", "the model's revision"},
		{"engine/version", "A23", "the engine's version"},
		{"engine/config_hash", "A32", "the hash of the engine's configuration"},
		{"software_provenance/git_commit", "A27", "the commit"},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		const char *s = json_string_value(at(o, rows[i].path));
		ib_auto_free char *key = ib_asprintf("/%s", rows[i].path);

		if (s && is_placeholder(s))
			ib_result_hint(r, rows[i].check, key, "a value", *s ? s : "\"\"", "%s is a placeholder: it was not recorded", rows[i].what);
	}
	if (json_integer_value(at(o, "hardware_fingerprint/memory/channels")) == 1 && json_integer_value(at(o, "hardware_fingerprint/memory/speed_mts")) == 1)
		ib_result_hint(r, "A25", "/hardware_fingerprint/memory", "a measured value", "1 channel, 1 MT/s", "the memory's channels and speed are defaults of the tool");
}

static const char *type_name(const json_t *v)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
		[JSON_REAL] = "a number",    [JSON_TRUE] = "a boolean", [JSON_FALSE] = "a boolean", [JSON_NULL] = "null",
	};

	return names[json_typeof(v)];
}

/* The tool reads what it wrote through a library that turns one type into another, and drops what it does not know: what was signed and what stands in the
 * file are then not the same. */
static void check_types(const json_t *o, struct ib_result *r)
{
	static const struct {
		const char *path, *type;
	} rows[] = {
		{"envelope_version", "a string"}, {"suite_id", "a string"},       {"run_id", "a string"},
		{"timestamp", "a string"},        {"seed", "a number"},           {"metrics", "an object"},
		{"model/id", "a string"},         {"model/revision", "a string"}, {"hardware_fingerprint/memory/channels", "a number"},
		{"dataset/hash", "a string"},     {"warnings", "an array"},       {"hardware_fingerprint/memory/ecc", "a boolean"},
		{"signature/rekor_log_index", "a number"},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		const json_t *v = at(o, rows[i].path);
		ib_auto_free char *key = ib_asprintf("/%s", rows[i].path);

		if (!v)
			ib_strv_add(&r->missing, rows[i].path);
		else if (strcmp(type_name(v), rows[i].type) != 0)
			ib_result_hint(r, "A03", key, rows[i].type, type_name(v), "'%s' is of another type than the tool writes: the file was edited", rows[i].path);
	}
}

static void check_spelling(const json_t *o, struct ib_result *r)
{
	const char *id = json_string_value(at(o, "model/id")), *time = json_string_value(at(o, "timestamp"));
	const json_t *signature = at(o, "signature");
	size_t n = id ? strlen(id) : 0;

	if (n && (id[0] == ' ' || id[n - 1] == ' '))
		ib_result_hint(r, "A03", "/model/id", NULL, id, "the model's name has blanks around it, which the tool does not write: the file was edited");
	if (time && !ib_ends(time, "Z"))
		ib_result_hint(r, "A03", "/timestamp", "an instant that ends with Z", time, "the time is not written as the tool writes it: the file was edited");
	if (json_object_size(signature) > 4)
		ib_result_hint(r, "A03", "/signature", "4 members", NULL, "the block of the signature holds more than the tool writes: nothing signs what was added");
}

/* The metrics are numbers, two of them texts. A literal NaN arrives as null. */
static void check_metrics(json_t *metrics, struct ib_result *r)
{
	const char *key;
	json_t *v;

	json_object_foreach(metrics, key, v) {
		ib_auto_free char *where = ib_asprintf("/metrics/%.100s", key);

		if (json_is_null(v))
			ib_result_hint(r, "A03", where, "a number", r->literals ? "NaN or null" : "null", "'%.100s' holds no number", key);
		else if (!json_is_number(v) && !ib_starts(key, "slo_"))
			ib_result_hint(r, "A03", where, "a number", type_name(v), "'%.100s' is of another type than the tool writes: the file was edited", key);
	}
}

static double metric(const json_t *metrics, const char *key)
{
	const json_t *v = json_object_get(metrics, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void claim(struct ib_result *r, const json_t *metrics, const char *key, const struct ib_formula *f, enum ib_measure m, double scale, double p)
{
	ib_auto_free char *where = ib_asprintf("/metrics/%s", key);
	struct ib_claim *c = ib_result_expect(r, key, where, f, m, scale, metric(metrics, key), TOLERANCE);

	if (!c)
		return;
	c->p = p;
	c->headline = true;
}

static void claim_metrics(struct ib_result *r, const json_t *m)
{
	double rate = metric(m, "req_per_s_all"), joules = metric(m, "joules_per_token");

	claim(r, m, "ttft_p50_ms", r->ttft, IB_MEASURE_PERCENTILE, 1000, 50);
	claim(r, m, "ttft_p99_ms", r->ttft, IB_MEASURE_PERCENTILE, 1000, 99);
	claim(r, m, "tpot_p50_ms", r->tpot, IB_MEASURE_PERCENTILE, 1000, 50);
	claim(r, m, "tpot_p99_ms", r->tpot, IB_MEASURE_PERCENTILE, 1000, 99);
	claim(r, m, "total_p50_ms", r->e2e, IB_MEASURE_PERCENTILE, 1000, 50);
	claim(r, m, "total_p99_ms", r->e2e, IB_MEASURE_PERCENTILE, 1000, 99);
	claim(r, m, "ok_rate", &ib_share_succeeded, IB_MEASURE_SCALAR, 1, 0);
	if (rate > 0)
		claim(r, m, "throughput_tok_per_s", &ib_output_tokens_per_attempt, IB_MEASURE_SCALAR, rate, 0);
	claim(r, m, "req_per_s_all", &ib_claimed_only, IB_MEASURE_SCALAR, 1, 0);
	claim(r, m, "req_per_s_passing", &ib_claimed_only, IB_MEASURE_SCALAR, 1, 0);
	claim(r, m, "compliance_rate", &ib_claimed_only, IB_MEASURE_SCALAR, 1, 0);
	if (joules > 0)
		claim(r, m, "joules_per_token", &ib_claimed_only, IB_MEASURE_SCALAR, 1, 0);
	else if (!isnan(joules))
		ib_result_hint(r, "A09", "/metrics/joules_per_token", "null", "0.0", "an energy of 0 per token stands for one that was not measured");
}

/* Tokens a request, once from the rates and once from the times: they may differ with the mix of lengths, but not by much. */
static void check_rates(struct ib_result *r, const json_t *m)
{
	double ok = metric(m, "ok_rate"), by_rate = metric(m, "throughput_tok_per_s") / metric(m, "req_per_s_all") / ok;
	double by_time = (metric(m, "total_p50_ms") - metric(m, "ttft_p50_ms")) / metric(m, "tpot_p50_ms") + 1;
	ib_auto_free char *found = ib_asprintf("%.4g", by_rate), *expected = ib_asprintf("about %.4g", by_time);

	if (by_rate > 3 * by_time || by_time > 3 * by_rate)
		ib_result_hint(r, "A13", "/metrics/throughput_tok_per_s", expected, found,
			       "the throughput stands for %s tokens a request, the times for %s: one of the numbers was changed or measured something else", found, expected);
}

/* Whose signature it is cannot be said from the file: the key that it is checked with stands in it, too. */
static void claim_signature(struct ib_result *r, const json_t *o)
{
	const json_t *index = at(o, "signature/rekor_log_index");
	struct ib_claim *c = json_is_integer(index) ? ib_result_expect(r, "rekor_log_index", "/signature/rekor_log_index", &ib_claimed_only, IB_MEASURE_SCALAR, 1,
									(double)json_integer_value(index), 0)
						    : NULL;

	if (c)
		c->why = ib_strdup("the signature is not verified here: its key stands in the same file, and anybody can sign an edited file with another one");
}

static void check_empty(struct ib_result *r, const json_t *m)
{
	if (!isnan(metric(m, "total_p50_ms")) || metric(m, "ok_rate") > 0)
		return;
	ib_result_hint(r, "A09", "/metrics/ok_rate", "null", "0.0",
		       "no request is recorded and nothing can be derived: a share of successes of 0 is no measurement, but the absence of one");
}

static void describe(struct ib_result *r, const json_t *o)
{
	static const char file[] = "the file";
	const json_t *seed = at(o, "seed");
	ib_auto_free char *number = json_is_integer(seed) ? ib_asprintf("%" JSON_INTEGER_FORMAT, json_integer_value(seed)) : NULL;
	const char *version = json_string_value(at(o, "envelope_version")), *time = json_string_value(at(o, "timestamp"));
	int64_t ns;

	r->schema_id = ENVELOPE;
	r->part = IB_PART_SUMMARY;
	r->unknown_version = !version || strcmp(version, "v1") != 0;
	r->ttft = &ib_ttft_first_chunk;
	r->itl = NULL;
	r->e2e = &ib_e2e_processed;
	r->window = "start to end of the run, warm-ups included; its length is not in the file";
	ib_setting_put(&r->settings, IB_SET_MODEL, said(o, "model/id"), file);
	ib_setting_put(&r->settings, IB_SET_MODEL_REVISION, said(o, "model/revision"), file);
	ib_setting_put(&r->settings, IB_SET_DATASET, said(o, "dataset/id"), file);
	ib_setting_put(&r->settings, IB_SET_BACKEND, said(o, "engine/name"), file);
	ib_setting_put(&r->settings, IB_SET_SEED, number, file);
	if (time && ib_time_parse(time, &ns, NULL) == 0)
		r->ended_at = (double)ns / IB_NS;
}

static int read_envelope(struct ib_stream *s, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_inferencebench, ib_stream_name(s));
	ib_auto_json json_t *o = NULL;
	json_t *metrics;
	struct ib_token end;
	bool more;
	int e = ib_stream_document(s, &more, err);

	if (e == 0)
		e = ib_pick_tree(s, &o, err);
	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e == 0)
		e = ib_stream_document(s, &more, err); /* nothing else may follow */
	if (e < 0)
		return e;
	ib_result_notes(r, ib_stream_notes(s));
	describe(r, o);
	metrics = json_object_get(o, "metrics");
	check_types(o, r);
	check_spelling(o, r);
	check_metrics(metrics, r);
	check_placeholders(o, r);
	claim_metrics(r, metrics);
	claim_signature(r, o);
	check_rates(r, metrics);
	check_empty(r, metrics);
	return 0;
}

/* --- the samples --- */

struct sample {
	int64_t index, in, out;
	int8_t ok;
	double ttft, total, tpot;
	char *finish, *error;
};

static const struct ib_pick sample_fields[] = {
	{"request_idx", IB_PICK_INT, offsetof(struct sample, index), true, NULL},
	{"ok", IB_PICK_BOOL, offsetof(struct sample, ok), true, NULL},
	{"ttft_ms", IB_PICK_REAL, offsetof(struct sample, ttft), false, NULL},
	{"total_ms", IB_PICK_REAL, offsetof(struct sample, total), false, NULL},
	{"tpot_ms", IB_PICK_REAL, offsetof(struct sample, tpot), false, NULL},
	{"tokens_in", IB_PICK_INT, offsetof(struct sample, in), true, NULL},
	{"tokens_out", IB_PICK_INT, offsetof(struct sample, out), true, NULL},
	{"finish_reason", IB_PICK_TEXT, offsetof(struct sample, finish), false, NULL},
	{"error", IB_PICK_TEXT, offsetof(struct sample, error), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* What is seen over all samples. */
struct survey {
	int64_t n, indexed, first, last, silent, tpot_off, at_limit, shortest, longest;
	bool secret;
};

static int64_t lesser(bool any, int64_t a, int64_t b)
{
	return any && a < b ? a : b;
}

static int64_t greater(bool any, int64_t a, int64_t b)
{
	return any && a > b ? a : b;
}

/* Does a sample's own time per output token follow from its other times? */
static bool tpot_off(const struct sample *s, const struct ib_row *row)
{
	double tpot = (s->total - s->ttft) / ((double)s->out - 1);

	return row->outcome == IB_OUTCOME_SUCCEEDED && s->out > 1 && fabs(s->tpot - tpot) > TOLERANCE * fabs(tpot);
}

static void look(struct survey *v, const struct sample *s, const struct ib_row *row)
{
	v->n++;
	if (s->index >= 0 && s->index < INDEX_MAX) {
		v->first = lesser(v->indexed > 0, v->first, s->index);
		v->last = greater(v->indexed > 0, v->last, s->index);
		v->indexed++;
	}
	v->silent += s->ok == 1 && s->out == 0;
	v->tpot_off += tpot_off(s, row);
	v->secret = v->secret || (s->error && (strcasestr(s->error, "authorization:") || strcasestr(s->error, "bearer ")));
	if (row->outcome != IB_OUTCOME_SUCCEEDED || !ib_streq(s->finish, "length"))
		return;
	v->shortest = lesser(v->at_limit > 0, v->shortest, s->out);
	v->longest = greater(v->at_limit > 0, v->longest, s->out);
	v->at_limit++;
}

static void report(const struct survey *v, struct ib_result *r)
{
	long long n = (long long)v->n, lost = v->indexed ? (long long)(v->last - v->first + 1 - v->indexed) : 0;

	if (v->first > 0)
		ib_result_hint(r, "A18", "/request_idx", "0", NULL,
			       "the records begin with request %lld: those before it were sent as warm-up and left out, their time stays in the window", (long long)v->first);
	if (lost > 0)
		ib_result_hint(r, "A07", "/request_idx", NULL, NULL, "%lld of %lld requests between the first and the last record have none", lost, lost + n);
	if (lost < 0)
		ib_result_hint(r, "A07", "/request_idx", NULL, NULL, "some requests have more than one record");
	if (v->silent)
		ib_result_hint(r, "A08", "/ok", NULL, NULL, "%lld of %lld requests are called ok without an output token", (long long)v->silent, n);
	if (v->tpot_off)
		ib_result_hint(r, "A10", "/tpot_ms", NULL, NULL, "the time per output token of %lld of %lld requests does not follow from their own times",
			       (long long)v->tpot_off, n);
	if (v->at_limit > 1 && v->longest > v->shortest)
		ib_result_hint(r, "A16", "/tokens_out", "one length", NULL,
			       "%lld responses ended at their length limit, yet %lld to %lld tokens were counted: with another tokenizer than the server's",
			       (long long)v->at_limit, (long long)v->shortest, (long long)v->longest);
	if (v->secret)
		ib_result_hint(r, "A30", "/error", NULL, NULL, "an error text repeats an authorization header: look at it before the file is passed on");
}

static int64_t count_or_none(int64_t n, bool recorded)
{
	return recorded && n >= 0 && n <= INT32_MAX ? n : IB_NOT_IN_FILE;
}

static int read_sample(struct ib_stream *s, struct sample *one, struct survey *v, struct ib_result *r, struct ib_err *err)
{
	struct ib_row row = ib_row_empty();
	struct ib_token end;
	int e = ib_pick(s, sample_fields, one, v->n ? NULL : &r->missing, err);

	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e < 0)
		return e;
	row.outcome = one->ok < 0 ? IB_OUTCOME_UNKNOWN : one->ok && one->out > 0 ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
	row.ttft_s = one->ttft / 1000;
	row.e2e_s = one->total / 1000;
	row.input_tokens = count_or_none(one->in, one->ok == 1); /* a failed one has 0 for not recorded */
	row.output_tokens = count_or_none(one->out, one->ok == 1);
	ib_columns_add(&r->columns, &row);
	look(v, one, &row);
	return 0;
}

static int read_samples(struct ib_stream *s, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_inferencebench, ib_stream_name(s));
	struct survey v = {0};
	bool more = true;
	int e = 0;

	r->schema_id = SAMPLES;
	r->part = IB_PART_RECORDS;
	r->itl = NULL;
	r->e2e = &ib_e2e_processed;
	while (e == 0) {
		struct sample one = {.index = -1, .in = -1, .out = -1, .ok = -1, .ttft = NAN, .total = NAN, .tpot = NAN};

		e = ib_stream_document(s, &more, err);
		if (e < 0 || !more)
			break;
		e = read_sample(s, &one, &v, r, err);
		free(one.finish);
		free(one.error);
	}
	if (e < 0)
		return e;
	ib_result_notes(r, ib_stream_notes(s));
	ib_columns_end(&r->columns);
	ib_result_count(r);
	r->requests.without_output = v.silent;
	report(&v, r);
	return 0;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_free char *start = ib_alloc(IB_HEAD_MAX);
	struct ib_peeked peeked;
	struct ib_source all;
	int r = ib_client_peek(in, start, IB_HEAD_MAX, &peeked, &all, err);
	const struct ib_head head = {start, peeked.head.n};
	const struct ib_stream_opts opts = {.literals = true, .lines = is_samples(&head)};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&all, name, &opts);

	if (r < 0)
		return r;
	return opts.lines ? read_samples(s, ret, err) : read_envelope(s, ret, err);
}

static const char *const command[] = {"bench", "run", NULL};

static const struct ib_client_flag flags[] = {
	{"--model", IB_SET_MODEL},
	{"--base-url", IB_SET_ENDPOINT},
	{"--concurrency", IB_SET_CONCURRENCY},
	{"--duration", IB_SET_DURATION},
	{"--engine", IB_SET_BACKEND},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_inferencebench = {
	.name = "inferencebench",
	.title = "InferenceBench 0.1: envelope and samples",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
