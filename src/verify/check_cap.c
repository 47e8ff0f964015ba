/* SPDX-License-Identifier: Apache-2.0 */
/* A15: a cap on concurrency is named only where it was reached. By Little's law the mean number of requests in flight is the sum of their times over the
 * duration; the peak is counted from starts and ends. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "verify/check.h"

#define UNUSED 0.7 /* mean in flight over the cap: less, and the cap was not what limited the run */
#define BEYOND 1.05 /* more than this is not possible */

/* The client's own mean of a formula, in seconds; NaN: it states none. */
static double stated(const struct ib_result *res, const struct ib_formula *formula)
{
	for (size_t i = 0; formula && i < res->n_claims; i++) {
		const struct ib_claim *c = &res->claims[i];

		if (c->measure == IB_MEASURE_MEAN && c->formula == formula && c->scale > 0)
			return c->claimed / c->scale;
	}
	return NAN;
}

/* Mean number in flight: from the records; or from the client's own means and its success count, the time of a request being its mean latency, or the mean
 * times to the first token and of the tokens after it. NaN: cannot be told. */
static double in_flight(const struct ib_result *res)
{
	struct ib_stat st = ib_result_scalar(res, &ib_concurrency_mean);
	double n = (double)res->requests.succeeded, whole = stated(res, res->e2e);

	if (st.state == IB_STAT_VALUE && !res->partial)
		return st.value;
	if (isnan(whole) && res->output_tokens > 0)
		whole = stated(res, res->ttft) + stated(res, res->tpot) * ((double)res->output_tokens / n - 1);
	return n > 0 && res->duration_s > 0 ? whole * n / res->duration_s : NAN;
}

static void values(struct ib_finding *one, double cap, double mean)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%.0f", cap);
	snprintf(got, sizeof(got), "%.3g", mean);
	ib_finding_values(one, want, got);
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	double cap = res->concurrency_asked > 0 ? (double)res->concurrency_asked : ib_audit_number(run, res, IB_SET_CONCURRENCY), mean = in_flight(res);
	struct ib_stat peak = ib_result_scalar(res, &ib_peak_in_flight);
	bool counted = peak.state == IB_STAT_VALUE && !res->partial;

	if (res->requests.succeeded == 0)
		ib_check_skip(self, f, res->file, "no request succeeded");
	else if (!(cap > 0))
		ib_check_skip(self, f, res->file, "no cap on concurrency is known");
	else if (isnan(mean))
		ib_check_skip(self, f, res->file, "the file does not hold the times of its requests: how many were in flight cannot be told");
	else if (counted && peak.value > cap)
		values(ib_check_fail(self, f, IB_OK, res->file, "%.0f requests were in flight at once where the cap is %.0f", peak.value, cap), cap, peak.value);
	else if (mean > BEYOND * cap)
		values(ib_check_fail(self, f, IB_OK, res->file, "by Little's law %.3g requests were in flight on average, more than the cap of %.0f: times or "
								"duration are wrong",
				     mean, cap),
		       cap, mean);
	else if (mean < UNUSED * cap && counted)
		values(ib_check_fail(self, f, IB_OK, res->file, "the cap of %.0f was not used: %.3g requests in flight on average, %.2f of it, and %.0f at most", cap, mean,
				     mean / cap, peak.value),
		       cap, mean);
	else if (mean < UNUSED * cap)
		values(ib_check_fail(self, f, IB_OK, res->file, "the cap of %.0f was not used: %.3g requests in flight on average, %.2f of it", cap, mean, mean / cap), cap,
		       mean);
	else
		values(ib_check_say(self, f, res->file, "%.3g requests in flight on average, of a cap of %.0f", mean, cap), cap, mean);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_cap = {
	.id = "A15",
	.level = IB_FINDING_W,
	.title = "the cap on concurrency was used, and held",
	.reads = "the cap against the mean number of requests in flight (sum of request times / duration; 0.7 to 1.05 of the cap) and their peak counted "
		 "from starts and "
		 "ends; a client's own peak counter is not taken",
	.means = "something else than the cap limited the run (the rate, the client, a long tail), or times or duration are wrong",
	.todo = "label the run with the concurrency that was reached; raise the rate or the number of requests",
	.audit = run,
};
