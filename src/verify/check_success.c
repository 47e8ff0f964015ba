/* SPDX-License-Identifier: Apache-2.0 */
/* A08: what counts as a success made output, and statistics of a run with failures say that they cover the survivors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "metrics/traits.h"
#include "verify/check.h"

/* The client's own count of successes, if it states one. */
static const struct ib_claim *counted(const struct ib_result *res)
{
	for (size_t i = 0; i < res->n_claims; i++)
		if (res->claims[i].formula == &ib_count_succeeded)
			return &res->claims[i];
	return NULL;
}

/* Successes that left no output, or no time of their first token although others have one. */
static void hollow(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_claim *c = counted(res);
	const struct ib_requests *q = &res->requests;
	int64_t n = 0;

	if (c && q->without_output > 0 && q->succeeded >= 0 && c->claimed > (double)q->succeeded)
		ib_check_fail(self, f, IB_OK, res->file, "%" PRId64 " requests without an output token count as successes: %.0f with them, "
								    "%" PRId64 " without", q->without_output,
			      c->claimed, q->succeeded);
	for (size_t i = 0; res->columns.ttft_s && i < res->columns.n; i++)
		n += ib_columns_counts(&res->columns, i) && isnan(res->columns.ttft_s[i]);
	if (n && n < q->succeeded) {
		const struct ib_stat with = ib_trait_ttft_mean_zeros(&res->columns), without = ib_trait_ttft_mean_recorded(&res->columns);

		ib_check_fail_as(self, f, IB_FINDING_W, res->file, "%" PRId64 " of %" PRId64 " successes have no time to first token: its mean is %.4g ms over the "
								     "other %" PRId64 ", %.4g ms with 0 for those", n,
				 q->succeeded, without.value * 1000, q->succeeded - n, with.value * 1000);
	}
}

/* The words for those that did not succeed, by what became of them. */
static void why_not(const struct ib_requests *q, char ret[96])
{
	int n = 0;

	ret[0] = '\0';
	if (q->failed > 0)
		n += snprintf(ret + n, 96 - (size_t)n, "%" PRId64 " failed", q->failed);
	if (q->timed_out > 0)
		n += snprintf(ret + n, 96 - (size_t)n, "%s%" PRId64 " timed out", n ? ", " : "", q->timed_out);
	if (q->incomplete > 0)
		snprintf(ret + n, 96 - (size_t)n, "%s%" PRId64 " were cut off", n ? ", " : "", q->incomplete);
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_requests *q = &res->requests;
	int64_t bad = (q->failed > 0 ? q->failed : 0) + (q->timed_out > 0 ? q->timed_out : 0) + (q->incomplete > 0 ? q->incomplete : 0);
	char words[96];

	(void)run;
	hollow(self, res, f);
	why_not(q, words);
	if (q->succeeded == 0 && bad)
		ib_check_fail_as(self, f, IB_FINDING_W, res->file, "none of %" PRId64 " requests succeeded (%s): there is nothing to state numbers of", bad, words);
	else if (q->succeeded > 0 && bad && !res->within)
		ib_check_fail_as(self, f, IB_FINDING_W, res->file, "%" PRId64 " of %" PRId64 " requests did not succeed (%s): latencies and rates cover the "
											     "survivors only", bad,
				 q->succeeded + bad, words);
	else if (q->succeeded == IB_NOT_IN_FILE)
		ib_check_skip(self, f, res->file, "the file does not say how many requests succeeded");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_success = {
	.id = "A08",
	.level = IB_FINDING_E,
	.title = "what counts as a success made output, and nothing failed beside it",
	.reads = "outcomes, output tokens and times to the first token of the records, and the client's own count of successes. Failures that are shown are a "
		 "warning",
	.means = "requests without output count as successes; or some failed, and the statistics are those of the survivors, which a refusing server makes "
		 "look faster",
	.todo = "state the share of failures beside every number; compare with no run of another share",
	.audit = run,
};
