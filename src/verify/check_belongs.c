/* SPDX-License-Identifier: Apache-2.0 */
/* A05: a result was made in the run that it is shown for: the times in it lie inside the run, and no other run has the same bytes. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "verify/check.h"

#define SLACK_S 2.0         /* clients round to seconds, and take the time after the run */
#define ZONE_S 900.0        /* offsets of time zones are multiples of a quarter of an hour, */
#define ZONE_MOST_S 50400.0 /* at most 14 hours */

static void when(double s, char ret[IB_TIME_LEN])
{
	if (s > 0 && s < 9e9)
		ib_time_text((int64_t)s * IB_NS, 0, ret);
	else
		snprintf(ret, IB_TIME_LEN, "%.6g s after 1970", s);
}

/* Is t within from … to, give or take; with an unknown zone, in some zone? */
static bool inside(double t, double from, double to, bool any_zone)
{
	double off = ceil((from - SLACK_S - t) / ZONE_S) * ZONE_S; /* the smallest shift that brings it behind the start */

	if (t >= from - SLACK_S && t <= to + SLACK_S)
		return true;
	return any_zone && fabs(off) <= ZONE_MOST_S && t + off <= to + SLACK_S;
}

static void at(struct ib_finding *one, double expected, double found)
{
	char want[IB_TIME_LEN], got[IB_TIME_LEN];

	when(expected, want);
	when(found, got);
	ib_finding_values(one, want, got);
}

/* ib-run read a clock before and after the command. */
static size_t in_run(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_record *r = run->run && run->run->has_record ? &run->run->record : NULL;
	const double t[2] = {res->began_at, res->ended_at};
	double from, to;

	if (!r || r->time.started_ns == IB_NONE || r->time.finished_ns == IB_NONE || r->state == IB_STATE_IMPORTED)
		return 0;
	from = (double)r->time.started_ns / IB_NS;
	to = (double)r->time.finished_ns / IB_NS;
	for (size_t i = 0; i < 2; i++) {
		if (isnan(t[i]) || inside(t[i], from, to, res->zone_unknown))
			continue;
		at(ib_check_fail(self, f, IB_OK, res->file, "the result says that it %s outside its run: it was not made there, or its times were changed",
				 i ? "ended" : "began"),
		   t[i] < from ? from : to, t[i]);
		return 1;
	}
	return !isnan(t[0]) || !isnan(t[1]);
}

/* The server whose counters stand beside the result was not there yet. */
static size_t after_server(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	double started = run->context->before.file ? run->context->before.v[IB_COUNTER_STARTED_AT] : NAN, ended = res->ended_at;

	if (isnan(started) || isnan(ended))
		return 0;
	if (ended + (res->zone_unknown ? ZONE_MOST_S : 0) + SLACK_S < started)
		at(ib_check_fail(self, f, IB_OK, res->file,
				 "the date in the result lies before the start of the server whose counters stand beside it: it is of another session, or was changed"),
		   started, ended);
	return 1;
}

/* "…-20261130-162440…" in a file's name, as some clients put it there: the same instant as in the file. NaN: there is none. */
static double date_in_name(const char *file)
{
	const char *name = strrchr(file, '/');

	for (name = name ? name + 1 : file; strlen(name) >= 15; name++) {
		static const char form[] = "dddddddd-dddddd";
		ib_auto_free char *utc = NULL;
		size_t k = 0;
		int64_t ns;

		while (k < 15 && (form[k] == 'd' ? isdigit((unsigned char)name[k]) != 0 : name[k] == '-' || name[k] == '_'))
			k++;
		if (k < 15)
			continue;
		utc = ib_asprintf("%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", name, name + 4, name + 6, name + 9, name + 11, name + 13);
		if (ib_time_parse(utc, &ns, NULL) == 0)
			return (double)(ns / IB_NS);
	}
	return NAN;
}

static size_t as_named(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	double named = date_in_name(res->file), t = isnan(res->ended_at) ? res->began_at : res->ended_at;

	if (isnan(named) || isnan(t))
		return 0;
	if (fabs(named - t) > 86400 + ZONE_MOST_S)
		at(ib_check_fail_as(self, f, IB_FINDING_W, res->file, "the date in the result is days from the one in its file's name: one of them was changed"), named, t);
	return 1;
}

/* --- the same file in two runs --- */

struct copy {
	const char *sha256, *file, *run;
};

static int by_digest(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;
	int d = strcmp(x->sha256, y->sha256);

	return d ? d : strcmp(x->file, y->file);
}

static int by_path(const void *key, const void *file)
{
	return strcmp(key, ((const struct ib_audit_file *)file)->path);
}

static const char *digest_of(const struct ib_audit_view *v, const char *path)
{
	const struct ib_study_file *in_study = v->study ? ib_study_find_file(v->study, path) : NULL;
	const struct ib_audit_file *loose = v->n_files ? bsearch(path, v->files, v->n_files, sizeof(*v->files), by_path) : NULL;

	return in_study ? in_study->sha256 : loose && loose->sha256 ? loose->sha256 : "";
}

static void copies(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_free struct copy *all = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		room += v->runs[i].results->n;
	all = ib_alloc((room + 1) * sizeof(*all));
	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			if (res->index == 0)
				all[n++] = (struct copy){digest_of(v, res->file), res->file, v->runs[i].name};
		}
	if (n > 1)
		qsort(all, n, sizeof(*all), by_digest);
	for (size_t i = 1; i < n; i++)
		if (*all[i].sha256 && strcmp(all[i].sha256, all[i - 1].sha256) == 0 && strcmp(all[i].run, all[i - 1].run) != 0)
			ib_check_fail(self, f, IB_OK, all[i].file, "the same bytes as '%s': a copy is no second measurement", all[i - 1].file);
}

/* --- the same records in two results: of a folder, where nobody wrote down what each run left --- */

struct records {
	uint64_t hash;
	const struct ib_result *res;
	const struct ib_audit_run *run;
};

static uint64_t hash_reals(uint64_t h, const double *v, size_t n)
{
	const unsigned char *at = (const unsigned char *)v;

	for (size_t i = 0; v && i < n * sizeof(*v); i++)
		h = (h ^ at[i]) * 0x100000001b3u;
	return h;
}

static int by_hash(const void *a, const void *b)
{
	const struct records *x = a, *y = b;
	int d = (x->hash > y->hash) - (x->hash < y->hash);

	if (d)
		return d;
	d = strcmp(x->run->name, y->run->name);
	return d ? d : (x->res > y->res) - (x->res < y->res);
}

static bool same_reals(const double *a, const double *b, size_t n)
{
	return a && b ? memcmp(a, b, n * sizeof(*a)) == 0 : !a && !b;
}

static bool same_records(const struct ib_result *a, const struct ib_result *b)
{
	const struct ib_columns *x = &a->columns, *y = &b->columns;

	return a->client == b->client && x->n == y->n && same_reals(x->ttft_s, y->ttft_s, x->n) && same_reals(x->e2e_s, y->e2e_s, x->n);
}

/* Requests whose times were measured, each of its own: those that a stage and its summary share are one measurement. */
static bool has_times(const struct ib_result *res)
{
	const struct ib_columns *c = &res->columns;
	const double *v = c->ttft_s ? c->ttft_s : c->e2e_s;
	size_t n = 0;

	for (size_t i = 1; v && i < c->n; i++)
		n += v[i] > v[0] || v[i] < v[0];
	return n >= 2 && !res->within && !res->any_benchmark;
}

/* Said already. */
static bool same_bytes(const struct ib_audit_view *v, const struct records *a, const struct records *b)
{
	const char *digest = digest_of(v, a->res->file);

	return a->run != b->run && *digest && strcmp(digest, digest_of(v, b->res->file)) == 0;
}

static void replays(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_free struct records *all = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		room += v->runs[i].results->n;
	all = ib_alloc((room + 1) * sizeof(*all));
	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];
			const struct ib_columns *c = &res->columns;

			if (has_times(res))
				all[n++] = (struct records){hash_reals(hash_reals(0xcbf29ce484222325u, c->ttft_s, c->n), c->e2e_s, c->n), res, &v->runs[i]};
		}
	if (n > 1)
		qsort(all, n, sizeof(*all), by_hash);
	for (size_t i = 1; i < n; i++) {
		const struct ib_result *a = all[i - 1].res, *b = all[i].res;

		if (all[i].hash != all[i - 1].hash || !same_records(a, b) || same_bytes(v, &all[i - 1], &all[i]))
			continue;
		ib_check_fail_as(self, f, all[i].run == all[i - 1].run ? IB_FINDING_W : self->level, b->file,
				 "the times of all %zu requests are those of '%s' (result %zu there): it is no second measurement", b->columns.n, a->file, a->index + 1);
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, seen = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			seen += in_run(self, &v->runs[i], res, f);
			seen += after_server(self, &v->runs[i], res, f);
			seen += as_named(self, res, f);
		}
	copies(self, v, f);
	if (!v->study)
		replays(self, v, f);
	ib_check_hints(self, v, f);
	if (!seen && f->n == before)
		ib_check_skip(self, f, NULL, v->study ? "no result states when it was measured" : "nobody else wrote down when these results were measured");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_belongs = {
	.id = "A05",
	.level = IB_FINDING_E,
	.title = "results were made in the run that they are shown for",
	.reads = "the times in each result against those of its run's record (give or take 2 s; times without a zone may be of any zone), the start of the "
		 "server whose counters stand beside it, and the date in its file's name; the digests of all results, of loose files also the times of "
		 "their requests, which no second run repeats",
	.means = "a result is of another run or session, was copied from another run, or its times were changed",
	.todo = "do not count it as a measurement of this run; ask for the run's own output",
	.audit = run,
};
