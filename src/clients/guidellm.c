/* SPDX-License-Identifier: Apache-2.0 */
/* GuideLLM: recognition, and a whole file, one result a benchmark. */
#include "clients/guidellm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/head.h"
#include "clients/statistic.h"

static const char *const schema_ids[] = {"guidellm/0.8", "guidellm/0.7", "guidellm/0.6", "guidellm/0.3", "guidellm/unknown", NULL};

/* 0.3 says nowhere whose file it is: its benchmarks carry the word. */
static bool recognise(const struct ib_head *h)
{
	const struct ib_head meta = ib_head_inside(h, "metadata"), first = ib_head_first(h, "benchmarks"), config = ib_head_inside(&first, "config");

	return ib_head_has(&meta, "guidellm_version") || ib_head_starts(&first, "type_", "generative_benchmark") ||
	       (ib_head_has(&config, "strategy") && ib_head_has(&config, "constraints")); /* where somebody sorted the keys */
}

struct file {
	char *version;
	int64_t schema;
	json_t *config, *args;
	struct ib_guidellm_benchmark *v;
	size_t n;
};

static void clear(struct file *f)
{
	for (size_t i = 0; i < f->n; i++)
		ib_guidellm_clear(&f->v[i]);
	free(f->v);
	free(f->version);
	json_decref(f->config);
	json_decref(f->args);
}

static int read_benchmark(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct file *f = row;

	(void)key;
	if (f->n >= IB_RESULTS_MAX)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d benchmarks", IB_RESULTS_MAX);
	f->v = ib_realloc(f->v, f->n + 1, sizeof(*f->v));
	return ib_guidellm_read(s, &f->v[f->n++], err); /* what was read is cleared with the rest */
}

static const struct ib_pick table[] = {
	{"metadata/version", IB_PICK_INT, offsetof(struct file, schema), false, NULL},
	{"metadata/guidellm_version", IB_PICK_TEXT, offsetof(struct file, version), false, NULL},
	{"config", IB_PICK_TREE, offsetof(struct file, config), false, NULL},
	{"args", IB_PICK_TREE, offsetof(struct file, args), false, NULL},
	{"benchmarks", IB_PICK_EACH, 0, true, read_benchmark},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* By the client's version: the number of the schema did not change with what the keys mean. */
static const struct release {
	int minor, schema;
	const char *id;
} releases[] = {{4, 1, "guidellm/0.6"}, {5, 1, "guidellm/0.6"}, {6, 1, "guidellm/0.6"}, {7, 2, "guidellm/0.7"}, {8, 2, "guidellm/0.8"}};

static struct ib_guidellm_shape shape_of(const struct file *f, bool flat)
{
	int major = 0, minor = 0, patch = 0, n = f->version ? sscanf(f->version, "%3d.%3d.%3d", &major, &minor, &patch) : 0;
	struct ib_guidellm_shape s = {.id = "guidellm/unknown", .flat = flat};

	if (!f->version && f->schema < 0 && flat)
		return (struct ib_guidellm_shape){.id = "guidellm/0.3", .known = true, .flat = true};
	s.token_span = minor < 7 || (minor == 7 && patch < 4);
	for (size_t i = 0; n >= 2 && !flat && major == 0 && i < IB_LEN(releases); i++)
		if (releases[i].minor == minor && releases[i].schema == f->schema) {
			s.known = true;
			s.id = releases[i].id;
		}
	return s;
}

/* --- one result --- */

/* Requests outside of the window are not measured: those that warm-up and cool-down cut, not those that the end of the run did. */
static void mark_outside(const struct ib_guidellm_benchmark *b, struct ib_columns *c)
{
	for (size_t i = 0; c->warmup && i < c->n; i++) {
		double start = c->start_s ? c->start_s[i] : NAN, end = start + (c->e2e_s ? c->e2e_s[i] : NAN);

		c->warmup[i] = c->outcome[i] != IB_OUTCOME_INCOMPLETE && (end < b->start_s || start > b->end_s);
	}
}

static int64_t rows(const struct ib_columns *c, enum ib_outcome o)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->outcome[i] == o && !(c->warmup && c->warmup[i]);
	return n;
}

static int64_t without_output(const struct ib_columns *c)
{
	int64_t n = 0;

	for (size_t i = 0; c->output_tokens && i < c->n; i++)
		n += c->outcome[i] == IB_OUTCOME_FAILED && c->output_tokens[i] == 0 && !(c->warmup && c->warmup[i]);
	return n;
}

static void count_rows(const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	const struct ib_columns *c = &r->columns;

	ib_result_count(r);
	if (!c->n) {
		r->requests.attempted = r->requests.succeeded = r->requests.failed = 0;
	}
	r->requests.timed_out = rows(c, IB_OUTCOME_TIMED_OUT);
	r->requests.incomplete = rows(c, IB_OUTCOME_INCOMPLETE);
	r->requests.without_output = without_output(c);
	r->requests.asked = b->created;
}

/* A sample of the records says nothing about the others: then the client's counters have to do. */
static void count_totals(const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	r->requests.attempted = b->totals.total;
	r->requests.succeeded = b->totals.successful;
	r->requests.failed = b->totals.errored;
	r->requests.incomplete = b->totals.incomplete;
	r->requests.asked = b->created;
	r->requests.timed_out = r->requests.without_output = r->requests.short_output = IB_NOT_IN_FILE;
	r->input_tokens = ib_count_of_real(b->metrics[IB_GUIDELLM_PROMPT_TOKENS].ok.total_sum);
	r->output_tokens = ib_count_of_real(b->metrics[IB_GUIDELLM_OUTPUT_TOKENS].ok.total_sum);
	if (b->sample_size > 0)
		r->partial = ib_asprintf("the client kept a sample of the records (sample_size=%lld): %zu of %lld", (long long)b->sample_size, r->columns.n,
					 (long long)b->totals.total);
	else
		r->partial = ib_asprintf("the file holds %zu of %lld records", r->columns.n, (long long)b->totals.total);
	if (b->sample_size <= 0)
		ib_result_hint(r, "A07", "/requests", NULL, NULL, "the file holds %zu records of the %lld requests that its counters name", r->columns.n,
			       (long long)b->totals.total);
}

static void check_scheduler(const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	ib_auto_free char *should = NULL, *found = NULL;
	int64_t sum = b->successful + b->errored + b->cancelled;

	if (b->successful < 0 || b->errored < 0 || b->cancelled < 0 || b->processed < 0 || sum == b->processed)
		return;
	should = ib_asprintf("%lld", (long long)sum);
	found = ib_asprintf("%lld", (long long)b->processed);
	ib_result_hint(r, "A07", "/scheduler_state/processed_requests", should, found,
		       "the client's counters of successful, failed and cancelled requests do not add up to those processed");
}

/* Waiting for a planned moment has a meaning where there is a plan; others are started as soon as may be. */
static void keep_queue(const struct ib_guidellm_benchmark *b, struct ib_columns *c)
{
	const char *kind = json_string_value(json_object_get(b->strategy, "type_"));

	if (kind && (strcmp(kind, "constant") == 0 || strcmp(kind, "poisson") == 0 || strcmp(kind, "async") == 0 || strcmp(kind, "trace") == 0))
		return;
	free(c->queue_s);
	c->queue_s = NULL;
}

static void set_formulas(const struct ib_guidellm_shape *shape, struct ib_result *r)
{
	r->ttft = &ib_ttft_excl_connect;
	r->tpot = shape->flat ? &ib_tpot_decode_over_all : &ib_tpot_incl_first;
	r->itl = &ib_itl_decode_weighted;
	r->e2e = &ib_e2e_closed_excl_connect;
}

static void check_window(const struct ib_guidellm_benchmark *b, struct ib_result *r)
{
	double span = b->end_s - b->start_s;
	ib_auto_free char *should = ib_asprintf("%.6f", span), *found = ib_asprintf("%.6f", b->duration_s);

	if (fabs(span - b->duration_s) > 1e-6)
		ib_result_hint(r, "A13", "/duration", should, found, "duration is not end_time less start_time");
}

static void finish(const struct file *f, struct ib_guidellm_benchmark *b, const char *name, struct ib_results *ret)
{
	const struct ib_guidellm_shape shape = shape_of(f, b->flat || (b->old_args && !b->strategy));
	struct ib_result *r = ib_results_add(ret, &ib_client_guidellm, name);

	r->schema_id = shape.id;
	r->unknown_version = !shape.known;
	r->client_version = ib_strdup(f->version);
	r->missing = b->missing;
	b->missing = (struct ib_strv){0};
	r->epoch = true;
	set_formulas(&shape, r);
	ib_guidellm_config(f->config ? f->config : f->args, b, r);
	mark_outside(b, &b->columns);
	ib_columns_end(&b->columns);
	keep_queue(b, &b->columns);
	r->columns = b->columns;
	b->columns = (struct ib_columns){0};
	r->began_at = b->start_s;
	r->ended_at = b->end_s;
	r->duration_s = b->duration_s;
	r->window = "first start to last end, or to the run's limit, without warm-up and cool-down (duration)";
	ib_result_span(r, "duration", b->duration_s);
	ib_result_span(r, "start_time to end_time", b->end_s - b->start_s);
	count_rows(b, r);
	if (b->created < 0) { /* 0.3 */
		double asked = ib_setting_number(&r->settings, IB_SET_REQUESTS);

		r->requests.asked = asked >= 0 && asked < 9e15 ? (int64_t)asked : IB_NOT_IN_FILE;
	}
	if (b->totals.total > (int64_t)r->columns.n)
		count_totals(b, r);
	check_scheduler(b, r);
	check_window(b, r);
	if (b->impossible)
		ib_result_hint(r, "A28", "/requests", NULL, NULL, "%llu records hold times that cannot be (the first is record %llu): these times are left out",
			       (unsigned long long)b->impossible, (unsigned long long)b->first_impossible);
	if (b->uneven)
		ib_result_hint(r, "A10", "/requests/successful", NULL, NULL,
			       "%llu records hold a latency, a time to first token or an inter-token latency that their own times do not give (the first is record %llu)",
			       (unsigned long long)b->uneven, (unsigned long long)b->first_uneven);
	ib_guidellm_claims(&shape, b, r);
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true, .hash = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	__attribute__((cleanup(clear))) struct file f = {.schema = IB_NOT_IN_FILE};
	struct ib_token end;
	bool more = false;
	int r = ib_stream_document(s, &more, err);

	if (r == 0)
		r = ib_pick(s, table, &f, NULL, err);
	if (r == 0)
		r = ib_stream_next(s, &end, err);
	if (r == 0)
		r = ib_stream_document(s, &more, err); /* nothing may follow */
	for (size_t i = 0; r == 0 && i < f.n; i++) {
		finish(&f, &f.v[i], name, ret);
		ib_result_notes(&ret->v[ret->n - 1], ib_stream_notes(s));
	}
	return r;
}

/* Before 0.7 "guidellm benchmark run"; the kinds and their values stand in one word since. */
static const char *const command[] = {"guidellm", "benchmark", "", "guidellm", "run", NULL};

static const struct ib_client_flag flags[] = {
	{"--target", IB_SET_ENDPOINT},
	{"--backend/target", IB_SET_ENDPOINT},
	{"--model", IB_SET_MODEL},
	{"--backend/model", IB_SET_MODEL},
	{"--backend/request_format", IB_SET_BACKEND},
	{"--backend/kind", IB_SET_BACKEND},
	{"--backend-type", IB_SET_BACKEND},
	{"--tokenizer/model", IB_SET_TOKENIZER},
	{"--processor", IB_SET_TOKENIZER},
	{"--data/kind", IB_SET_DATASET},
	{"--data/prompt_tokens", IB_SET_INPUT_LEN},
	{"--data/output_tokens", IB_SET_OUTPUT_LEN},
	{"--profile/streams", IB_SET_CONCURRENCY},
	{"--profile/rate", IB_SET_RATE},
	{"--random-seed", IB_SET_SEED},
	{"--seed/value", IB_SET_SEED},
	{"--constraint/count", IB_SET_REQUESTS},
	{"--max-requests", IB_SET_REQUESTS},
	{"--constraint/seconds", IB_SET_DURATION},
	{"--max-seconds", IB_SET_DURATION},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_guidellm = {
	.name = "guidellm",
	.title = "GuideLLM 0.3 to 0.8 (benchmarks.json): each of its benchmarks is a result, with its records",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
