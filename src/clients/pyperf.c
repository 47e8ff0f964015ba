/* SPDX-License-Identifier: Apache-2.0 */
/* pyperf's JSON: benchmarks of runs of values. It holds no statistics; warm-ups and the runs that only calibrate are kept apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/samples.h"
#include "json/pick.h"

static const char *const schema_ids[] = {"pyperf/1.0", NULL};

static bool recognise(const struct ib_head *h)
{
	const struct ib_head first = ib_head_first(h, "benchmarks"), run = ib_head_first(&first, "runs");

	return ib_head_has(&run, "metadata") && (ib_head_has(&run, "values") || ib_head_has(&run, "warmups"));
}

/* One file while it is read. */
struct file {
	struct ib_results *ret;
	struct ib_result *r; /* the benchmark that is read */
	char *version, *perf_version, *name, *unit;
};

struct benchmark {
	struct file *f;
	char *name, *unit;
};

struct run {
	struct ib_result *r;
	struct ib_reals values, pair;
	char *date;
};

/* "[loops, value]" */
static int read_warmup(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct run *run = row;
	int r;

	(void)key;
	run->pair.n = 0;
	r = ib_stream_reals(s, "warmups", &run->pair, NULL, err);
	if (r < 0)
		return r;
	if (run->pair.n != 2)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "a warm-up is not a pair of loops and value");
	ib_samples_add(run->r, run->pair.v[1], true, IB_OUTCOME_SUCCEEDED, IB_NOT_IN_FILE, IB_NOT_IN_FILE);
	return 0;
}

static const struct ib_pick run_fields[] = {
	{"warmups", IB_PICK_EACH, 0, false, read_warmup},
	{"values", IB_PICK_REALS, offsetof(struct run, values), false, NULL}, /* none in a run that calibrates */
	{"metadata/date", IB_PICK_TEXT, offsetof(struct run, date), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* "2026-11-30 22:15:10.654913", without a zone. */
static void note_date(struct ib_result *r, const char *date)
{
	ib_auto_free char *text = date && strlen(date) < 30 ? ib_asprintf("%sZ", date) : NULL;
	int64_t ns;
	double at;

	if (!text || strlen(text) < 20 || text[10] != ' ')
		return;
	text[10] = 'T';
	if (ib_time_parse(text, &ns, NULL) < 0)
		return;
	at = (double)ns / IB_NS;
	r->began_at = fmin(r->began_at, at);
	r->ended_at = fmax(r->ended_at, at);
	r->zone_unknown = true;
}

static int read_run(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct benchmark *b = row;
	struct run run = {.r = b->f->r};
	int r = ib_pick(s, run_fields, &run, NULL, err);

	(void)key;
	for (size_t i = 0; r == 0 && i < run.values.n; i++)
		ib_samples_add(run.r, run.values.v[i], false, IB_OUTCOME_SUCCEEDED, IB_NOT_IN_FILE, IB_NOT_IN_FILE);
	if (r == 0)
		note_date(run.r, run.date);
	ib_reals_clear(&run.values);
	ib_reals_clear(&run.pair);
	free(run.date);
	return r;
}

static const struct ib_pick benchmark_fields[] = {
	{"runs", IB_PICK_EACH, 0, true, read_run},
	{"metadata/name", IB_PICK_TEXT, offsetof(struct benchmark, name), false, NULL},
	{"metadata/unit", IB_PICK_TEXT, offsetof(struct benchmark, unit), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

static int read_benchmark(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	struct benchmark b = {.f = row};
	int r;

	(void)key;
	if (b.f->ret->n == IB_RESULTS_MAX)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d results", IB_RESULTS_MAX);
	b.f->r = ib_results_add(b.f->ret, &ib_client_pyperf, ib_stream_name(s));
	b.f->r->schema_id = schema_ids[0];
	ib_samples_begin(b.f->r);
	r = ib_pick(s, benchmark_fields, &b, &b.f->r->missing, err);
	b.f->r->label = b.name ? ib_asprintf("%.200s", b.name) : NULL;
	if (b.unit && strcmp(b.unit, "second") != 0)
		b.f->r->partial = ib_asprintf("its values are no times but of unit '%.40s'", b.unit);
	free(b.name);
	free(b.unit);
	return r;
}

static const struct ib_pick top[] = {
	{"benchmarks", IB_PICK_EACH, 0, true, read_benchmark},
	{"version", IB_PICK_TEXT, offsetof(struct file, version), true, NULL},
	{"metadata/perf_version", IB_PICK_TEXT, offsetof(struct file, perf_version), false, NULL},
	{"metadata/name", IB_PICK_TEXT, offsetof(struct file, name), false, NULL},
	{"metadata/unit", IB_PICK_TEXT, offsetof(struct file, unit), false, NULL},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

/* What all benchmarks of the file have in common stands behind them. */
static void finish(const struct file *f, struct ib_result *r)
{
	r->unknown_version = !f->version || strcmp(f->version, "1.0") != 0;
	r->client_version = ib_strdup(f->perf_version);
	if (!r->label && f->name)
		r->label = ib_asprintf("%.200s", f->name);
	if (!r->partial && f->unit && strcmp(f->unit, "second") != 0)
		r->partial = ib_asprintf("its values are no times but of unit '%.40s'", f->unit);
	ib_samples_end(r);
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	const struct ib_stream_opts opts = {.literals = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct file f = {.ret = ret};
	int r = ib_client_one_object(s, top, &f, NULL, err);

	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		finish(&f, &ret->v[i]);
		ib_result_notes(&ret->v[i], ib_stream_notes(s));
	}
	free(f.version);
	free(f.perf_version);
	free(f.name);
	free(f.unit);
	return r;
}

const struct ib_client ib_client_pyperf = {
	.name = "pyperf",
	.title = "pyperf 2 (format 1.0)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
