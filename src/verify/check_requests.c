/* SPDX-License-Identifier: Apache-2.0 */
/* A07: every request that was asked for or sent succeeded, failed, timed out or was cut off. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "verify/check.h"

static int64_t known(int64_t n)
{
	return n == IB_NOT_IN_FILE ? 0 : n;
}

/* How many requests the client was told to send, or IB_NOT_IN_FILE. Of several results of one command it is said of all together. */
static int64_t asked_of(const struct ib_audit_run *run, const struct ib_result *res)
{
	double n = run->results->n == 1 ? ib_audit_number(run, res, IB_SET_REQUESTS) : ib_setting_number(&res->settings, IB_SET_REQUESTS);

	if (res->requests.asked != IB_NOT_IN_FILE)
		return res->requests.asked;
	return n >= 0 && n < 9e15 && !res->within ? (int64_t)n : IB_NOT_IN_FILE;
}

static void values(struct ib_finding *one, int64_t expected, int64_t found)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%" PRId64, expected);
	snprintf(got, sizeof(got), "%" PRId64, found);
	ib_finding_values(one, want, got);
}

/* Fewer than were asked for. A study's run that did not complete says so; a client's file may say so, too. */
static void too_few(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, int64_t asked, int64_t sum, struct ib_findings *f)
{
	if (run->run && run->run->state != IB_STATE_COMPLETED)
		ib_check_skip(self, f, res->file, "the run was not completed: its client may have been cut off");
	else if (res->cut)
		values(ib_check_fail_as(self, f, IB_FINDING_W, res->file, "%" PRId64 " of %" PRId64 " requests are missing, and the file says why: %s", asked - sum, asked,
					res->cut),
		       asked, sum);
	else if (!isnan(ib_audit_number(run, res, IB_SET_DURATION)))
		ib_check_open(self, f, res->file, "%" PRId64 " of %" PRId64 " requests: the run had a time limit, and which of the others were begun is not in the file", sum,
			      asked);
	else
		values(ib_check_fail(self, f, IB_OK, res->file, "%" PRId64 " of %" PRId64 " requests are unaccounted for: neither succeeded nor failed", asked - sum, asked),
		       asked, sum);
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_requests *q = &res->requests;
	int64_t asked = asked_of(run, res), sum = known(q->succeeded) + known(q->failed) + known(q->timed_out) + known(q->incomplete);

	if (q->succeeded == IB_NOT_IN_FILE || (asked == IB_NOT_IN_FILE && q->attempted == IB_NOT_IN_FILE)) {
		ib_check_skip(self, f, res->file, "neither the file nor a command line says how many requests were asked for, or how many succeeded");
	} else if (q->attempted != IB_NOT_IN_FILE && q->failed != IB_NOT_IN_FILE && q->attempted != sum && q->attempted != asked) {
		values(ib_check_fail(self, f, IB_OK, res->file, "%" PRId64 " of the %" PRId64 " requests that were sent are unaccounted "
											      "for", q->attempted - sum, q->attempted),
		       q->attempted, sum);
	} else if (asked != IB_NOT_IN_FILE && sum > asked) {
		values(ib_check_fail_as(self, f, IB_FINDING_W, res->file, "%" PRId64 " requests were sent where %" PRId64 " were asked for", sum, asked), asked, sum);
	} else if (asked != IB_NOT_IN_FILE && sum < asked) {
		too_few(self, run, res, asked, sum, f);
	} else if (asked == IB_NOT_IN_FILE && q->failed == IB_NOT_IN_FILE) {
		ib_check_skip(self, f, res->file, "the file counts no failures, and how many requests were asked for is not known: whether any failed cannot be told");
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_requests = {
	.id = "A07",
	.level = IB_FINDING_E,
	.title = "every request is accounted for",
	.reads = "the counts in the results, their records, and how many requests the client was told to send: by its file, its command line or its printed "
		 "configuration. More requests than asked for, or fewer in a file that says that it was cut off, are warnings",
	.means = "requests that were sent or asked for are neither among the successes nor among the failures: the numbers cover another set than they say",
	.todo = "find the lost requests in the server's log or counters; quote no rate or success share until they are accounted for",
	.audit = run,
};
