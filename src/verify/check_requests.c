/* SPDX-License-Identifier: Apache-2.0 */
/* A07: every request that was attempted succeeded, failed, timed out or was cut off. */
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "verify/check.h"

static int64_t known(int64_t n)
{
	return n == IB_NOT_IN_FILE ? 0 : n;
}

/* completed: the run says that it went to its end. Of another, the client may have been cut off in the middle, as its state tells. */
static void one_result(const struct ib_check *self, const struct ib_result *res, bool completed, struct ib_findings *f)
{
	const struct ib_requests *q = &res->requests;
	int64_t asked = q->asked == IB_NOT_IN_FILE ? q->attempted : q->asked;
	int64_t sum = known(q->succeeded) + known(q->failed) + known(q->timed_out) + known(q->incomplete);
	char want[32], got[32];

	if (asked == IB_NOT_IN_FILE || q->succeeded == IB_NOT_IN_FILE) {
		ib_check_skip(self, f, res->file, "the file does not say how many requests were asked for or succeeded");
		return;
	}
	if (sum == asked)
		return;
	if (!completed) {
		ib_check_skip(self, f, res->file, "the run was not completed: its client may have been cut off");
		return;
	}
	snprintf(want, sizeof(want), "%" PRId64, asked);
	snprintf(got, sizeof(got), "%" PRId64, sum);
	ib_finding_values(ib_check_fail(self, f, IB_OK, res->file, "%" PRId64 " of %" PRId64 " requests are unaccounted for", asked - sum, asked), want, got);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			n++;
			if (!res->unknown_version && !res->any_benchmark)
				one_result(self, res, ib_audit_whole(&v->runs[i]), f);
		}
	ib_check_hints(self, v, f);
	ib_check_unread(self, v, f);
	if (!n && f->n == before)
		ib_check_skip(self, f, NULL, "no run holds a result of a known client");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_requests = {
	.id = "A07",
	.level = IB_FINDING_E,
	.title = "every request is accounted for",
	.reads = "the counts in the results, their records, and how many requests the client was told to send",
	.means = "requests that were sent or asked for are neither among the successes nor among the failures: the numbers cover another set than they say",
	.todo = "find the lost requests in the server's log or counters; quote no rate or success share until they are accounted for",
	.audit = run,
};
