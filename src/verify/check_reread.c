/* SPDX-License-Identifier: Apache-2.0 */
/* S16: the requests that a record counts are those in the client's own files, read again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"


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

/* A sum is unknown once a part of it is. */
static void add(int64_t *sum, int64_t part)
{
	if (part == IB_NOT_IN_FILE || *sum == IB_NONE)
		*sum = IB_NONE;
	else
		*sum += part;
}

static void compare(const struct ib_check *self, const struct ib_study_run *r, struct ib_findings *f)
{
	const struct ib_record_requests *rec = &r->record.requests;
	struct ib_record_requests sum = {0};

	for (size_t i = 0; i < r->results.n; i++) {
		const struct ib_result *res = &r->results.v[i];

		add(&sum.attempted, res->requests.attempted);
		add(&sum.succeeded, res->requests.succeeded);
		add(&sum.failed, res->requests.failed);
		add(&sum.timed_out, res->requests.timed_out);
		add(&sum.output_tokens, res->output_tokens);
	}
	number(self, r->doc.path, "attempted", rec->attempted, sum.attempted, f);
	number(self, r->doc.path, "succeeded", rec->succeeded, sum.succeeded, f);
	number(self, r->doc.path, "failed", rec->failed, sum.failed, f);
	number(self, r->doc.path, "timed_out", rec->timed_out, sum.timed_out, f);
	number(self, r->doc.path, "output_tokens", rec->output_tokens, sum.output_tokens, f);
}

static bool has_output(const struct ib_study_view *v, const struct ib_study_run *r)
{
	for (size_t i = 0; i < r->n_files; i++)
		if (ib_starts(v->files[r->first_file + i].path + 5 + strlen(r->id) + 1, "output/"))
			return true;
	return false;
}

/* A client that was killed leaves half a file. A record that says so is right, and the run is evidence like any other. */
static bool says_truncated(const struct ib_record *r)
{
	for (size_t i = 0; i < r->reasons.n; i++)
		if (strcmp(r->reasons.v[i], "truncated_output") == 0)
			return r->state != IB_STATE_COMPLETED;
	return false;
}

static void torn(const struct ib_check *self, const struct ib_study_run *r, struct ib_findings *f)
{
	for (size_t i = 0; i < r->torn_results.n; i++)
		if (says_truncated(&r->record) && !r->record.requests.client)
			ib_check_skip(self, f, r->doc.path, "the client's result is torn, as the record says");
		else
			ib_check_fail(self, f, IB_OK, r->doc.path, "a client's result cannot be read: %s", r->torn_results.v[i]);
}

static void one_run(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	torn(self, r, f);
	if (r->results.n && r->record.requests.client)
		compare(self, r, f);
	else if (r->record.requests.client && has_output(v, r))
		ib_check_skip(self, f, r->doc.path, "the client's result was not re-read: too large, withheld or of an unknown version");
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	if (v->no_clients) {
		ib_check_skip(self, f, NULL, "not asked for");
		return;
	}
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
