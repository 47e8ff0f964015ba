/* SPDX-License-Identifier: Apache-2.0 */
/* hyperfine --export-json: one result a command, with the times and exit codes of its runs. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/samples.h"
#include "json/pick.h"

#define DEVIATION 1e-9 /* its deviation is a sum in another order */

static const char *const schema_ids[] = {"hyperfine/1", NULL};

static bool recognise(const struct ib_head *h)
{
	const struct ib_head first = ib_head_first(h, "results");

	return ib_head_has(&first, "command") && ib_head_has(&first, "mean") && ib_head_has(&first, "user") && ib_head_has(&first, "system");
}

struct entry {
	char *command;
	double mean, stddev, median, user, kernel, min, max;
	struct ib_reals times, codes;
};

static const struct ib_pick fields[] = {
	{"command", IB_PICK_TEXT, offsetof(struct entry, command), true, NULL},
	{"mean", IB_PICK_REAL, offsetof(struct entry, mean), true, NULL},
	{"stddev", IB_PICK_REAL, offsetof(struct entry, stddev), false, NULL}, /* null for a single run */
	{"median", IB_PICK_REAL, offsetof(struct entry, median), true, NULL},
	{"user", IB_PICK_REAL, offsetof(struct entry, user), true, NULL},
	{"system", IB_PICK_REAL, offsetof(struct entry, kernel), true, NULL},
	{"min", IB_PICK_REAL, offsetof(struct entry, min), true, NULL},
	{"max", IB_PICK_REAL, offsetof(struct entry, max), true, NULL},
	{"times", IB_PICK_REALS, offsetof(struct entry, times), true, NULL},
	{"exit_codes", IB_PICK_REALS, offsetof(struct entry, codes), true, NULL}, /* null: ended by a signal */
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

struct file {
	struct ib_results *ret;
};

static enum ib_outcome outcome(const struct entry *e, size_t i)
{
	if (!e->codes.n)
		return IB_OUTCOME_UNKNOWN;
	return fabs(e->codes.v[i]) <= 0 ? IB_OUTCOME_SUCCEEDED : IB_OUTCOME_FAILED;
}

static void fill(struct ib_result *r, const struct entry *e)
{
	size_t failed = 0;

	ib_samples_begin(r);
	r->schema_id = schema_ids[0];
	r->label = e->command ? ib_asprintf("%.200s", e->command) : NULL;
	for (size_t i = 0; i < e->times.n; i++) {
		ib_samples_add(r, e->times.v[i], false, outcome(e, i), IB_NOT_IN_FILE, IB_NOT_IN_FILE);
		failed += outcome(e, i) == IB_OUTCOME_FAILED;
	}
	ib_samples_end(r);
	ib_samples_claim(r, "mean", &ib_sample_time, IB_MEASURE_MEAN, 0, 1, e->mean, IB_CLAIM_TOLERANCE);
	ib_samples_claim(r, "stddev", &ib_sample_time, IB_MEASURE_STD_SAMPLE, 0, 1, e->stddev, DEVIATION);
	ib_samples_claim(r, "median", &ib_sample_time, IB_MEASURE_PERCENTILE, 50, 1, e->median, IB_CLAIM_TOLERANCE);
	ib_samples_claim(r, "min", &ib_sample_time, IB_MEASURE_MIN, 0, 1, e->min, IB_CLAIM_TOLERANCE);
	ib_samples_claim(r, "max", &ib_sample_time, IB_MEASURE_MAX, 0, 1, e->max, IB_CLAIM_TOLERANCE);
	ib_samples_stated(r, "user", e->user);
	ib_samples_stated(r, "system", e->kernel);
	if (failed)
		ib_result_hint(r, "A08", "/exit_codes", "0", NULL, "%zu of %zu runs did not end with status 0, and their times are in the statistics", failed, e->times.n);
}

static int read_entry(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct file *f = row;
	struct entry e = {.mean = NAN, .stddev = NAN, .median = NAN, .user = NAN, .kernel = NAN, .min = NAN, .max = NAN};
	struct ib_result *r;
	int c = 0;

	(void)key;
	if (f->ret->n == IB_RESULTS_MAX)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d results", IB_RESULTS_MAX);
	r = ib_results_add(f->ret, &ib_client_hyperfine, ib_stream_name(s));
	c = ib_pick(s, fields, &e, &r->missing, err);
	if (c == 0 && e.codes.n && e.codes.n != e.times.n)
		c = ib_stream_fail(s, err, IB_E_SYNTAX, "%zu times and %zu exit codes", e.times.n, e.codes.n);
	if (c == 0)
		fill(r, &e);
	free(e.command);
	ib_reals_clear(&e.times);
	ib_reals_clear(&e.codes);
	return c;
}

static const struct ib_pick top[] = {
	{"results", IB_PICK_EACH, 0, true, read_entry},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct file f = {ret};
	int r = ib_client_one_object(s, top, &f, NULL, err);

	for (size_t i = 0; r == 0 && i < ret->n; i++)
		ib_result_notes(&ret->v[i], ib_stream_notes(s));
	return r;
}

const struct ib_client ib_client_hyperfine = {
	.name = "hyperfine",
	.title = "hyperfine 1: --export-json",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
