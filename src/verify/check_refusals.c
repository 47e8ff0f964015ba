/* SPDX-License-Identifier: Apache-2.0 */
/* A36: the logs of a run tell of no more refused requests than its client's results do. */
#include <inttypes.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* What the results of a run say together. */
struct told {
	int64_t succeeded, not_succeeded;
};

static int64_t known(int64_t n)
{
	return n > 0 ? n : 0;
}

/* False: how many requests succeeded is in no result. A request that is in no group has not been called a success. */
static bool sum(const struct ib_audit_run *run, struct told *ret)
{
	bool any = false;

	*ret = (struct told){0};
	for (size_t k = 0; k < run->results->n; k++) {
		const struct ib_requests *q = &run->results->v[k].requests;
		int64_t bad = known(q->failed) + known(q->timed_out) + known(q->incomplete);
		int64_t all = known(q->asked) > known(q->attempted) ? q->asked : known(q->attempted);

		if (run->results->v[k].within || q->succeeded == IB_NOT_IN_FILE)
			continue;
		any = true;
		ret->succeeded += q->succeeded;
		ret->not_succeeded += all - q->succeeded > bad ? all - q->succeeded : bad;
	}
	return any;
}

static void one_run(const struct ib_check *self, const struct ib_audit_run *run, const struct told *told, struct ib_findings *f)
{
	const struct ib_context *c = run->context;

	for (size_t i = 0; i < c->n_logs; i++) {
		const struct ib_log_count *log = &c->logs[i];
		char want[64], got[32];

		if (log->refusals <= told->not_succeeded)
			continue;
		snprintf(want, sizeof(want), "at most %" PRId64, told->not_succeeded);
		snprintf(got, sizeof(got), "%" PRId64, log->refusals);
		ib_finding_values(ib_check_fail(self, f, IB_OK, log->file,
						"%" PRId64 " lines tell of an answer with status 429 or 5xx, the results of %" PRId64
						" requests that did not succeed and %" PRId64 " that did%s",
						log->refusals, told->not_succeeded, told->succeeded,
						log->refusals >= told->succeeded ? ": refusals may have been counted as successes" : ""),
				  want, got);
	}
	if (c->logs_left)
		ib_check_open(self, f, c->logs_left, "this log was not read: it is larger than 16 MiB, or one of too many");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, results = 0, logs = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		struct told told;

		if (!sum(&v->runs[i], &told))
			continue;
		results++;
		logs += v->runs[i].context->n_logs;
		one_run(self, &v->runs[i], &told, f);
	}
	if (!results)
		ib_check_skip(self, f, NULL, "no result says how many requests succeeded");
	else if (!logs && f->n == before)
		ib_check_skip(self, f, NULL, "no log of the client or the server lies beside the results");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_refusals = {
	.id = "A36",
	.level = IB_FINDING_W,
	.title = "logs tell of no more refused requests than the results",
	.reads = "lines of the client's and the server's logs (the server's part of a run: 'server_logs' of the contract) that tell of an answer with status 429 or "
		 "500 to 504, but to no GET, beside the counts of the results",
	.means = "the client counted refused requests as successes, or tried them again without saying so; a server that refuses answers fast",
	.todo = "look into the log at the lines named; read the client's rule for a success; do not quote numbers of the run before that is settled",
	.audit = run,
};
