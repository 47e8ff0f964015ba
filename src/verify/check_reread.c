/* SPDX-License-Identifier: Apache-2.0 */
/* S16: the requests that a record counts are those in the client's own files, read again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/runs.h"

/* What the record should hold: the sums over all results, unknown where one of them is. */
struct sums {
	int64_t attempted, succeeded, failed, timed_out, output_tokens, incomplete;
	const char *synthetic; /* why, or NULL */
};

static void add(int64_t *sum, int64_t v)
{
	*sum = v == IB_NOT_IN_FILE || *sum == IB_NONE ? IB_NONE : *sum + v;
}

/* A file that lay there before the command started: the record does not count what it says. */
static bool older(const struct ib_study_run *run, const struct ib_result *r)
{
	const struct ib_record_file *listed = ib_study_listed(run, r->file + strlen("runs/") + strlen(run->id) + 1);

	return listed && listed->older;
}

static struct sums sum_up(const struct ib_study_run *run)
{
	const struct ib_results *all = &run->results;
	struct sums s = {0};

	for (size_t i = 0; i < all->n; i++) {
		const struct ib_result *r = &all->v[i];

		if (r->within || older(run, r))
			continue;
		add(&s.attempted, r->requests.attempted);
		add(&s.succeeded, r->requests.succeeded);
		add(&s.failed, r->requests.failed);
		add(&s.timed_out, r->requests.timed_out);
		add(&s.output_tokens, r->output_tokens);
		add(&s.incomplete, r->requests.incomplete);
		if (r->synthetic)
			s.synthetic = r->synthetic;
	}
	return s;
}

static void number(const struct ib_check *self, const char *path, const char *key, int64_t recorded, int64_t reread, struct ib_findings *f)
{
	struct ib_finding *one;
	char want[32], got[32];

	if (reread == recorded)
		return;
	snprintf(want, sizeof(want), "%" PRId64, reread);
	snprintf(got, sizeof(got), "%" PRId64, recorded);
	one = ib_check_fail(self, f, IB_OK, path, "the record's count of '%s' is not what the client's own files say", key);
	if (!one->where)
		one->where = ib_asprintf("requests.%s", key);
	ib_finding_values(one, reread == IB_NONE ? "null" : want, recorded == IB_NONE ? "null" : got);
}

/* A client that was killed leaves half a file. A record that says so is right, and the run is evidence like any other. */
static bool says_truncated(const struct ib_record *r)
{
	for (size_t i = 0; i < r->reasons.n; i++)
		if (strcmp(r->reasons.v[i], "truncated_output") == 0)
			return r->state != IB_STATE_COMPLETED;
	return false;
}

/* Were outputs left unread (too large, withheld), so that the sums may lack a part? */
static bool partial(const struct ib_study_view *v, const struct ib_study_run *r)
{
	bool missing = r->unread > 0;

	for (size_t i = 0; i < r->record.files_n && !missing; i++) {
		ib_auto_free char *path = ib_run_path(r, r->record.files[i].path);

		missing = ib_starts(r->record.files[i].path, "output/") && !ib_study_find_file(v, path);
	}
	return missing;
}

static bool counts_something(const struct ib_record_requests *q)
{
	return q->attempted != IB_NONE || q->succeeded != IB_NONE || q->failed != IB_NONE || q->timed_out != IB_NONE || q->output_tokens != IB_NONE;
}

static void numbers(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	const struct ib_record_requests *rec = &r->record.requests;
	const struct sums s = sum_up(r);
	const struct {
		const char *key;
		int64_t recorded, reread;
	} rows[] = {
		{"attempted", rec->attempted, s.attempted}, {"succeeded", rec->succeeded, s.succeeded},
		{"failed", rec->failed, s.failed},          {"timed_out", rec->timed_out, s.timed_out},
		{"output_tokens", rec->output_tokens, s.output_tokens},
		{"incomplete", rec->incomplete, rec->incomplete == IB_NONE ? IB_NONE : s.incomplete}, /* records of before had none */
	};
	bool same = true;

	for (size_t i = 0; i < IB_LEN(rows); i++)
		same = same && rows[i].recorded == rows[i].reread;
	if (!same && partial(v, r)) {
		ib_check_skip(self, f, r->doc.path, "not every output could be re-read: some are too large or withheld");
		return;
	}
	for (size_t i = 0; i < IB_LEN(rows); i++)
		number(self, r->doc.path, rows[i].key, rows[i].recorded, rows[i].reread, f);
	if (s.synthetic && r->record.synthetic != 1)
		ib_check_fail(self, f, IB_OK, r->doc.path, "the client's own files say that the data is synthetic (%s), the record does not", s.synthetic);
}

static void one_run(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	const struct ib_record_requests *rec = &r->record.requests;

	for (size_t i = 0; i < r->torn_results.n; i++)
		if (says_truncated(&r->record) && !rec->client)
			ib_check_skip(self, f, r->doc.path, "the client's result is torn, as the record says");
		else
			ib_check_fail(self, f, IB_OK, r->doc.path, "a client's result cannot be read: %s", r->torn_results.v[i]);
	if (!rec->client && counts_something(rec))
		ib_check_fail(self, f, IB_OK, r->doc.path, "the record counts requests and names no client that counted them");
	else if (!rec->client && r->results.n && !r->torn_results.n)
		ib_check_skip(self, f, r->doc.path, "the record does not count the requests of the client's result");
	else if (rec->client && r->results.n == 0 && ib_run_has_output(v, r))
		ib_check_skip(self, f, r->doc.path, "the client's result was not re-read: too large, withheld or of an unknown version");
	else if (rec->client && r->results.n)
		numbers(self, v, r, f);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	if (v->no_clients) {
		ib_check_skip(self, f, NULL, "not asked for");
		return;
	}
	ib_check_problems(self, v, f);
	for (size_t i = 0; i < v->n_ledger_runs; i++)
		if (v->runs[i].has_record) {
			n += v->runs[i].results.n > 0;
			one_run(self, v, &v->runs[i], f);
		}
	if (!n && f->n == before)
		ib_check_skip(self, f, NULL, "no run holds a result of a known client");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_reread = {.id = "S16", .level = IB_FINDING_E, .title = "the records count what the clients' files say", .run = run};
