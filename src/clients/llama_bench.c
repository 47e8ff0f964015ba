/* SPDX-License-Identifier: Apache-2.0 */
/* llama-bench: JSON (an array) and JSON Lines. One result a test, with the times of its repetitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/samples.h"
#include "json/pick.h"

#define DEVIATION 0.01   /* its deviations suffer from cancellation */
#define DECIMALS 1e-6    /* averages of speeds are printed with six */
#define SPEED_DIGITS 1e-5 /* single speeds with six digits */

static const char *const schema_ids[] = {"llama-bench/json", "llama-bench/jsonl", NULL};

static bool is_test(const struct ib_head *h)
{
	return ib_head_has(h, "build_commit") && ib_head_has(h, "model_filename") && ib_head_has(h, "n_prompt") && ib_head_has(h, "n_gen");
}

static bool recognise(const struct ib_head *h)
{
	const struct ib_head first = ib_head_element(h);

	return is_test(h) || is_test(&first);
}

struct test {
	char *commit, *model, *backends, *time;
	int64_t build, n_prompt, n_gen, n_depth;
	double avg_ns, stddev_ns, avg_ts, stddev_ts;
	struct ib_reals ns, ts;
};

static const struct ib_pick fields[] = {
	{"build_commit", IB_PICK_TEXT, offsetof(struct test, commit), true, NULL},
	{"build_number", IB_PICK_INT, offsetof(struct test, build), true, NULL},
	{"model_filename", IB_PICK_TEXT, offsetof(struct test, model), true, NULL},
	{"backends", IB_PICK_TEXT, offsetof(struct test, backends), false, NULL},
	{"test_time", IB_PICK_TEXT, offsetof(struct test, time), true, NULL},
	{"n_prompt", IB_PICK_INT, offsetof(struct test, n_prompt), true, NULL},
	{"n_gen", IB_PICK_INT, offsetof(struct test, n_gen), true, NULL},
	{"n_depth", IB_PICK_INT, offsetof(struct test, n_depth), false, NULL},
	{"avg_ns", IB_PICK_REAL, offsetof(struct test, avg_ns), true, NULL},
	{"stddev_ns", IB_PICK_REAL, offsetof(struct test, stddev_ns), true, NULL},
	{"avg_ts", IB_PICK_REAL, offsetof(struct test, avg_ts), true, NULL},
	{"stddev_ts", IB_PICK_REAL, offsetof(struct test, stddev_ts), true, NULL},
	{"samples_ns", IB_PICK_REALS, offsetof(struct test, ns), true, NULL},
	{"samples_ts", IB_PICK_REALS, offsetof(struct test, ts), true, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* "pp512", "tg128", "pp512+tg128 @ d4096": as its table calls them. */
static char *label(const struct test *t)
{
	ib_auto_free char *depth = t->n_depth > 0 ? ib_asprintf(" @ d%lld", (long long)t->n_depth) : ib_strdup("");

	if (t->n_prompt > 0 && t->n_gen > 0)
		return ib_asprintf("pp%lld+tg%lld%s", (long long)t->n_prompt, (long long)t->n_gen, depth);
	return t->n_gen > 0 ? ib_asprintf("tg%lld%s", (long long)t->n_gen, depth) : ib_asprintf("pp%lld%s", (long long)t->n_prompt, depth);
}

static void describe(struct ib_result *r, const struct test *t)
{
	static const char file[] = "the file";
	int64_t ns;

	ib_samples_begin(r);
	r->label = label(t);
	r->client_version = !t->commit ? NULL : t->build >= 0 ? ib_asprintf("%.40s (build %lld)", t->commit, (long long)t->build) : ib_asprintf("%.40s", t->commit);
	ib_setting_put(&r->settings, IB_SET_MODEL, t->model, file);
	ib_setting_put(&r->settings, IB_SET_BACKEND, t->backends, file);
	if (t->time && ib_time_parse(t->time, &ns, NULL) == 0)
		r->began_at = (double)ns / IB_NS;
}

static void claim(struct ib_result *r, const char *name, const struct ib_formula *f, enum ib_measure m, double claimed, double tolerance)
{
	bool time = f == &ib_sample_time;
	struct ib_claim *c = ib_samples_claim(r, name, f, m, 0, time ? IB_NS : 1, claimed, tolerance);

	if (c)
		c->step = time ? 1 : DECIMALS; /* times are cut to whole nanoseconds */
}

static void claims(struct ib_result *r, const struct test *t)
{
	claim(r, "avg_ns", &ib_sample_time, IB_MEASURE_MEAN, t->avg_ns, IB_CLAIM_TOLERANCE);
	claim(r, "avg_ts", &ib_sample_speed, IB_MEASURE_MEAN, t->avg_ts, 1e-9);
	if (t->ns.n > 1) {
		claim(r, "stddev_ns", &ib_sample_time, IB_MEASURE_STD_SAMPLE, t->stddev_ns, DEVIATION);
		claim(r, "stddev_ts", &ib_sample_speed, IB_MEASURE_STD_SAMPLE, t->stddev_ts, DEVIATION);
	} else if (fabs(t->stddev_ns) <= 0 || fabs(t->stddev_ts) <= 0) {
		ib_result_hint(r, "A09", "/stddev_ns", "null", "0", "a deviation of 0 stands beside %zu repetition: one has none", t->ns.n);
	}
}

static void check_speeds(struct ib_result *r, const struct test *t)
{
	size_t off = 0;

	for (size_t i = 0; i < t->ts.n && i < t->ns.n; i++) {
		double speed = ((double)t->n_prompt + (double)t->n_gen) * IB_NS / t->ns.v[i];

		off += !(fabs(t->ts.v[i] - speed) <= SPEED_DIGITS * fabs(speed));
	}
	if (off)
		ib_result_hint(r, "A10", "/samples_ts", NULL, NULL, "%zu of %zu speeds do not follow from their times and token counts", off, t->ts.n);
}

static void fill(struct ib_result *r, const struct test *t)
{
	describe(r, t);
	for (size_t i = 0; i < t->ns.n; i++)
		ib_samples_add(r, t->ns.v[i] / IB_NS, false, IB_OUTCOME_SUCCEEDED, t->n_prompt, t->n_gen);
	ib_samples_end(r);
	claims(r, t);
	check_speeds(r, t);
}

static int read_test(struct ib_stream *s, const char *schema, struct ib_results *ret, struct ib_err *err)
{
	struct test t = {.build = -1, .n_prompt = -1, .n_gen = -1, .n_depth = -1, .avg_ns = NAN, .stddev_ns = NAN, .avg_ts = NAN, .stddev_ts = NAN};
	struct ib_result *r;
	int e;

	if (ret->n == IB_RESULTS_MAX)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d results", IB_RESULTS_MAX);
	r = ib_results_add(ret, &ib_client_llama_bench, ib_stream_name(s));
	r->schema_id = schema;
	e = ib_pick(s, fields, &t, &r->missing, err);
	if (e == 0 && t.ts.n && t.ts.n != t.ns.n)
		e = ib_stream_fail(s, err, IB_E_SYNTAX, "%zu times and %zu speeds", t.ns.n, t.ts.n);
	if (e == 0)
		fill(r, &t);
	free(t.commit);
	free(t.model);
	free(t.backends);
	free(t.time);
	ib_reals_clear(&t.ns);
	ib_reals_clear(&t.ts);
	return e;
}

static int read_array(struct ib_stream *s, struct ib_results *ret, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err); /* the bracket */

	while (r == 0) {
		r = ib_stream_peek(s, &t, err);
		if (r < 0 || t.kind == IB_TOKEN_ARRAY_END)
			break;
		r = read_test(s, schema_ids[0], ret, err);
	}
	return r < 0 ? r : ib_stream_next(s, &t, err);
}

static int read_all(struct ib_stream *s, bool array, struct ib_results *ret, struct ib_err *err)
{
	struct ib_token end;
	bool more = true;
	int r = 0;

	while (r == 0) {
		r = ib_stream_document(s, &more, err);
		if (r < 0 || !more)
			break;
		r = array ? read_array(s, ret, err) : read_test(s, schema_ids[1], ret, err);
		if (r == 0)
			r = ib_stream_next(s, &end, err);
	}
	return r;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_free char *start = ib_alloc(IB_HEAD_MAX);
	struct ib_peeked peeked;
	struct ib_source all;
	int r = ib_client_peek(in, start, IB_HEAD_MAX, &peeked, &all, err);
	const struct ib_head head = ib_head_of(start, peeked.head.n);
	const struct ib_stream_opts opts = {.literals = true, .lines = is_test(&head)};
	ib_auto_stream struct ib_stream *s = ib_stream_new(&all, name, &opts);

	if (r == 0)
		r = read_all(s, !opts.lines, ret, err);
	for (size_t i = 0; r == 0 && i < ret->n; i++)
		ib_result_notes(&ret->v[i], ib_stream_notes(s));
	return r;
}

static const char *const command[] = {"llama-bench", NULL};

static const struct ib_client_flag flags[] = {
	{"--model", IB_SET_MODEL},
	{"-m", IB_SET_MODEL},
	{"--repetitions", IB_SET_REQUESTS},
	{"-r", IB_SET_REQUESTS},
	{NULL, IB_SET_NOTHING},
};

const struct ib_client ib_client_llama_bench = {
	.name = "llama-bench",
	.title = "llama-bench of llama.cpp: JSON and JSON Lines",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
	.command = command,
	.flags = flags,
};
