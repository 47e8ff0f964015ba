/* SPDX-License-Identifier: Apache-2.0 */
/* A14: the rate of requests that was asked for is the one that was achieved, and none waited inside the client for long. */
#include <math.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/load.h"

#define LEAST 0.95  /* share of the rate asked for */
#define CHANCE 2.0  /* standard deviations that random arrivals may be late by */
#define WAIT_S 1.0  /* p99 of the wait inside the client */
#define WAITS_MIN 5 /* samples of it */

/* Of n arrivals with random gaps the achieved rate varies by 1/sqrt(n). */
static double tolerated(double asked, double n)
{
	return asked * fmin(LEAST, 1 - CHANCE / sqrt(fmax(n, 1)));
}

static void say(const struct ib_check *self, const struct ib_result *res, double asked, double got, bool holds, struct ib_findings *f)
{
	struct ib_finding *one;
	char want[48], found[48];

	if (holds)
		one = ib_check_say(self, f, res->file, "%.4g of %.4g requests/s were achieved", got, asked);
	else
		one = ib_check_fail(self, f, IB_OK, res->file, "%.4g requests/s were asked for and %.4g achieved: this is the server's limit or the client's, not "
							       "the load on the label",
				    asked, got);
	snprintf(want, sizeof(want), "%.6g", asked);
	snprintf(found, sizeof(found), "%.6g", got);
	ib_finding_values(one, want, found);
}

static void waits(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	ib_auto_series struct ib_series s = {0};
	double p99;

	ib_queue_client.series(&res->columns, &s);
	if (s.state != IB_STAT_VALUE || s.n < WAITS_MIN)
		return;
	p99 = ib_series_quantile(&s, 99, IB_RULE_LINEAR);
	if (p99 > WAIT_S)
		ib_check_fail(self, f, IB_OK, res->file, "requests waited inside the client (p99 %.3g s), which no latency in the file counts", p99);
}

/* Once for a run: a client that has no time left measures itself. */
static void client(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	struct ib_load_facts load;

	if (!run->run || !run->run->has_record || res != &run->results->v[0])
		return;
	ib_load_facts(&run->run->record, &load);
	if (load.known && load.saturated == 1)
		ib_check_fail(self, f, IB_OK, run->run->doc.path, "the client itself was saturated in %.0f %% of the samples taken while it ran: its times hold its own "
								   "delays, and its rate may be its own limit",
			      100 * load.share);
}

/* The client's own word for it, where nothing else is left: a count over the time that sending took, which the claim is consistent with. */
static double stated_rate(const struct ib_result *res)
{
	for (size_t i = 0; i < res->n_claims; i++)
		if (res->claims[i].formula == &ib_requests_over_sends && res->claims[i].status != IB_CLAIM_DIFFERS)
			return res->claims[i].claimed;
	return NAN;
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	double asked = isnan(res->rate_asked) ? ib_audit_number(run, res, IB_SET_RATE) : res->rate_asked;
	struct ib_stat started = ib_result_scalar(res, &ib_rate_started);
	double over_all = (double)res->requests.attempted / res->duration_s, stated = stated_rate(res);

	if (isnan(asked))
		ib_check_skip(self, f, res->file, "neither the file nor a command line says at which rate requests were to be sent");
	else if (isinf(asked))
		ib_check_say(self, f, res->file, "requests were sent as fast as the cap allowed: no rate was asked for");
	else if (!res->partial && started.state == IB_STAT_VALUE)
		say(self, res, asked, started.value, started.value >= tolerated(asked, (double)res->columns.n), f);
	else if (res->requests.attempted > 0 && over_all >= LEAST * asked)
		say(self, res, asked, over_all, true, f);
	else if (!isnan(stated))
		say(self, res, asked, stated, stated >= LEAST * asked, f);
	else
		ib_check_skip(self, f, res->file, "the file does not say when requests were sent: the rate over the whole duration includes waiting for the last ones");
	if (!isnan(asked) && !isinf(asked))
		waits(self, res, f);
	client(self, run, res, f);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_rate = {
	.id = "A14",
	.level = IB_FINDING_W,
	.title = "the rate that was asked for was achieved",
	.reads = "the rate asked for against (requests - 1) / first start to last start: at least 95 %, less what random arrivals explain (two standard deviations, "
		 "1/sqrt(n) each); the wait inside the client, p99 at most 1 s; and, where the load was sampled, whether a thread of the client used 0.9 of a "
		 "processor or more, or the whole client 0.95 of what it may use, in half of the samples",
	.means = "the load was not the one on the label: requests queued in the client, out of sight of every latency, or the client was what was measured",
	.todo = "label the run with the achieved rate; add the wait inside the client to the latencies, or raise the cap; give a saturated client "
		"more processes or a machine of its own",
	.audit = run,
};
