/* SPDX-License-Identifier: Apache-2.0 */
/* A11: percentiles have the samples that they take; else they are the maximum under another name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

/* Samples behind a percentile, or 0: not known. Without records it is one a success, of what has one sample a request. */
static size_t samples(const struct ib_result *res, const struct ib_claim *c)
{
	bool gaps = c->formula && strncmp(c->formula->name, "itl", 3) == 0;

	if (c->derived.state == IB_STAT_VALUE)
		return c->derived.n;
	return res->requests.succeeded > 0 && !gaps ? (size_t)res->requests.succeeded : 0;
}

struct worst {
	const struct ib_claim *claim;
	size_t n, needs, count;
};

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	struct worst w = {0};
	size_t unknown = 0;
	struct ib_finding *one;
	char want[32], got[32];

	(void)run;
	for (size_t i = 0; i < res->n_claims; i++) {
		const struct ib_claim *c = &res->claims[i];
		size_t n, needs;

		if (c->measure != IB_MEASURE_PERCENTILE)
			continue;
		n = samples(res, c);
		needs = ib_percentile_needs(c->p);
		unknown += n == 0 && needs > 1;
		if (n == 0 || n >= needs)
			continue;
		w.count++;
		if (!w.claim || (double)n / (double)needs < (double)w.n / (double)w.needs)
			w = (struct worst){c, n, needs, w.count};
	}
	if (!w.claim && unknown)
		ib_check_open(self, f, res->file, "of how many samples %zu percentiles are is not in the file", unknown);
	if (!w.claim)
		return;
	one = ib_check_fail(self, f, IB_OK, res->file, "%zu percentile%s of too few samples: '%s' of %zu, where p%g takes %zu; it is all but the maximum", w.count,
			    w.count == 1 ? " is" : "s are", w.claim->name, w.n, w.claim->p, w.needs);
	snprintf(want, sizeof(want), "%zu", w.needs);
	snprintf(got, sizeof(got), "%zu", w.n);
	if (!one->where)
		one->where = ib_strdup(w.claim->key);
	ib_finding_values(one, want, got);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, false, one_result);
}

const struct ib_check ib_check_samples = {
	.id = "A11",
	.level = IB_FINDING_W,
	.title = "percentiles are of enough samples",
	.reads = "how many samples each claimed percentile has: p90 takes 10, p95 20, p99 100, p99.9 1000",
	.means = "a percentile of so few samples is the maximum, or close to it, under another name: one slow request decides it",
	.todo = "quote the median, or the maximum as what it is; measure more requests",
	.audit = run,
};
