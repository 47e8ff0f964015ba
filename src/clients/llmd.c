/* SPDX-License-Identifier: Apache-2.0 */
/* The Benchmark Report of llm-d, 0.2 and 0.2.1, as YAML or JSON: what some client measured, put into one form. It holds aggregates only, so nothing of it can
 * be derived. Known from its published schema. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/plain_yaml.h"
#include "clients/statistic.h"
#include "json/pick.h"

#define DEPTH 16
#define AGGREGATE "results/request_performance/aggregate/"

static const char *const schema_ids[] = {"llm-d/benchmark-report-0.2.1", "llm-d/benchmark-report-0.2", "llm-d/benchmark-report-other", NULL};

/* Without its scenario, the YAML form is the partial report that a client leaves beside its own files. */
static bool is_yaml(const struct ib_head *h)
{
	return ib_plain_yaml_line(h, "version: ") && ib_plain_yaml_line(h, "run:\n") && ib_plain_yaml_line(h, "scenario:\n") &&
	       ib_plain_yaml_line(h, "results:\n");
}

static bool recognise(const struct ib_head *h)
{
	struct ib_head results = ib_head_inside(h, "results");

	if (h->data[0] != '{')
		return is_yaml(h);
	return ib_head_has(h, "version") && ib_head_has(h, "run") && ib_head_has(&results, "request_performance");
}

/* --- numbers --- */

struct report {
	struct ib_result *r;
	double total, failures, incomplete;
	bool full; /* of claims */
};

static bool statistic(const char *word)
{
	static const char *const words[] = {"mean", "stddev", "min", "max", "mode", "p0p1", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99p9"};

	for (size_t i = 0; i < IB_LEN(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static void take_statistic(struct report *p, const char *path, double v)
{
	const char *word = strrchr(path, '/') + 1, *name = path + strlen(AGGREGATE);
	struct ib_claim *c;

	if (!statistic(word) || isnan(v))
		return;
	p->full = p->full || p->r->n_claims >= IB_CLAIMS_MAX;
	if (p->full)
		return;
	ib_result_claim(p->r, path, &ib_claimed_only, v, ib_stat_not_recorded("aggregates only"), 0, NULL);
	c = &p->r->claims[p->r->n_claims - 1];
	c->headline = (ib_starts(name, "latency/") || ib_starts(name, "throughput/")) &&
		      (strcmp(word, "mean") == 0 || strcmp(word, "p50") == 0 || strcmp(word, "p95") == 0 || strcmp(word, "p99") == 0);
}

static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	return *text && strspn(text, "+-.0123456789eE") == strlen(text) && !*end && isfinite(v) ? v : NAN;
}

static double time_of(const char *text)
{
	struct ib_err err = {0};
	int64_t ns;

	return ib_time_parse(text, &ns, &err) == 0 ? (double)ns / 1e9 : NAN;
}

static void take(const char *path, const char *value, bool item, void *arg)
{
	static const struct {
		const char *path;
		enum ib_setting_key key;
	} texts[] = {{"scenario/load/standardized/tool", IB_SET_BACKEND},
		     {"scenario/load/standardized/concurrency", IB_SET_CONCURRENCY},
		     {"scenario/load/standardized/rate_qps", IB_SET_RATE},
		     {"scenario/load/standardized/input_seq_len/value", IB_SET_INPUT_LEN},
		     {"scenario/load/standardized/output_seq_len/value", IB_SET_OUTPUT_LEN},
		     {"scenario/load/standardized/source", IB_SET_DATASET}};
	struct report *p = arg;
	const struct {
		const char *path;
		double *to;
	} counts[] = {{AGGREGATE "requests/total", &p->total},
		      {AGGREGATE "requests/failures", &p->failures},
		      {AGGREGATE "requests/incomplete", &p->incomplete}};

	(void)item;
	for (size_t i = 0; i < IB_LEN(texts); i++)
		if (strcmp(path, texts[i].path) == 0)
			ib_setting_put(&p->r->settings, texts[i].key, value, "the file");
	for (size_t i = 0; i < IB_LEN(counts); i++)
		if (strcmp(path, counts[i].path) == 0)
			*counts[i].to = number(value);
	if (strcmp(path, "version") == 0 && !p->r->client_version)
		p->r->client_version = ib_strdup(value);
	else if (strcmp(path, "run/time/start") == 0)
		p->r->began_at = time_of(value);
	else if (strcmp(path, "run/time/end") == 0)
		p->r->ended_at = time_of(value);
	else if (ib_starts(path, AGGREGATE))
		take_statistic(p, path, number(value));
}

/* --- JSON, in the same words --- */

static void flatten(json_t *o, const char *path, int depth, struct report *p)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v) {
		ib_auto_free char *at = *path ? ib_asprintf("%s/%s", path, key) : ib_strdup(key);
		ib_auto_free char *text = json_is_number(v) ? ib_asprintf("%.17g", json_number_value(v)) : ib_strdup(json_string_value(v));

		if (json_is_object(v) && depth < DEPTH)
			flatten(v, at, depth + 1, p);
		else if (text)
			take(at, text, false, p);
	}
}

static int read_json(const struct ib_source *in, const char *name, struct report *p, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	ib_auto_json json_t *o = NULL;
	struct ib_token end;
	bool more;
	int e = ib_stream_document(s, &more, err);

	if (e == 0)
		e = ib_pick_tree(s, &o, err);
	if (e == 0)
		e = ib_stream_next(s, &end, err);
	if (e == 0)
		e = ib_stream_document(s, &more, err);
	if (e < 0)
		return e;
	flatten(o, "", 0, p);
	ib_result_notes(p->r, ib_stream_notes(s));
	return 0;
}

static int read_yaml(const struct ib_source *in, const char *name, struct report *p, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4u << 20);
	int e = ib_client_slurp(in, name, &b, err);

	if (e == 0)
		ib_plain_yaml(ib_buf_str(&b), take, p);
	return e;
}

static void finish(struct report *p)
{
	struct ib_result *r = p->r;
	struct ib_requests *q = &r->requests;
	const char *version = r->client_version ? r->client_version : "";

	q->attempted = ib_count_of_real(p->total);
	q->failed = ib_count_of_real(p->failures);
	q->incomplete = ib_count_of_real(p->incomplete);
	if (q->attempted >= 0 && q->failed >= 0)
		q->succeeded = q->attempted - q->failed - (q->incomplete > 0 ? q->incomplete : 0);
	q->succeeded = q->succeeded < 0 ? IB_NOT_IN_FILE : q->succeeded;
	r->schema_id = schema_ids[strcmp(version, "0.2.1") == 0 ? 0 : strcmp(version, "0.2") == 0 ? 1 : 2];
	r->unknown_version = r->schema_id == schema_ids[2];
	r->concurrency_asked = ib_count_of_real(ib_setting_number(&r->settings, IB_SET_CONCURRENCY));
	r->rate_asked = ib_setting_number(&r->settings, IB_SET_RATE);
	if (r->ended_at > r->began_at)
		ib_result_span(r, "run/time", r->ended_at - r->began_at);
	r->tpot = r->itl = NULL;
	if (isnan(p->total))
		ib_strv_add(&r->missing, AGGREGATE "requests/total");
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_free char *data = ib_alloc(IB_HEAD_MAX);
	struct report p = {.r = ib_results_add(ret, &ib_client_llmd, name), .total = NAN, .failures = NAN, .incomplete = NAN};
	struct ib_peeked peeked;
	struct ib_source all;
	struct ib_head head;
	int e = ib_client_peek(in, data, IB_HEAD_MAX, &peeked, &all, err);

	if (e < 0)
		return e;
	head = ib_head_of(data, peeked.head.n);
	e = head.n && head.data[0] == '{' ? read_json(&all, name, &p, err) : read_yaml(&all, name, &p, err);
	if (e < 0)
		return e;
	if (p.full)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more than %d statistics", name, IB_CLAIMS_MAX);
	finish(&p);
	return 0;
}

const struct ib_client ib_client_llmd = {
	.name = "llm-d-report",
	.title = "llm-d Benchmark Report (0.2, 0.2.1), aggregates only",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
