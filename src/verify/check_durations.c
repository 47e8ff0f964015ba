/* SPDX-License-Identifier: Apache-2.0 */
/* A13: a file has one duration, its rates are counts over it, and its records fit into it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

#define APART 0.02 /* share by which durations may differ */

static void values(struct ib_finding *one, double expected, double found)
{
	char want[48], got[48];

	snprintf(want, sizeof(want), "%.6g s", expected);
	snprintf(got, sizeof(got), "%.6g s", found);
	ib_finding_values(one, want, got);
}

/* A duration of a definition of its own, which the records bear out, is another number and no contradiction. */
static bool derives(const struct ib_result *res, const char *name)
{
	for (size_t i = 0; i < res->n_claims; i++)
		if (ib_starts(res->claims[i].name, name) && res->claims[i].formula != &ib_duration_client)
			return res->claims[i].status == IB_CLAIM_EXACT || res->claims[i].status == IB_CLAIM_WITHIN;
	return false;
}

static void spans(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_span *least = &res->spans[0], *most = &res->spans[0];

	for (size_t i = 1; i < res->n_spans; i++) {
		least = res->spans[i].s < least->s ? &res->spans[i] : least;
		most = res->spans[i].s > most->s ? &res->spans[i] : most;
	}
	if (res->n_spans > 1 && most->s > least->s * (1 + APART))
		values(ib_check_fail_as(self, f, derives(res, least->name) || derives(res, most->name) ? IB_FINDING_I : self->level, res->file,
					"'%s' and '%s' of one run differ by %.1f %%: a rate over one is not comparable with a rate over the other", least->name, most->name,
					100 * (most->s / least->s - 1)),
		       least->s, most->s);
}

/* Requests take place within the duration. */
static void records(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	struct ib_stat all = ib_result_scalar(res, &ib_duration_all);

	if (all.state == IB_STAT_VALUE && !res->partial && all.value > res->duration_s * (1 + APART))
		values(ib_check_fail(self, f, IB_OK, res->file, "its records take longer than the duration that its rates are over"), all.value, res->duration_s);
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	(void)run;
	spans(self, res, f);
	records(self, res, f);
	if (isnan(res->duration_s) && !res->n_spans)
		ib_check_skip(self, f, res->file, "the file states no duration");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_durations = {
	.id = "A13",
	.level = IB_FINDING_W,
	.title = "one duration, and the records lie within it",
	.reads = "all durations that a file states, which may differ by 2 % (more is a note where the records bear out a definition of its own), and first "
		 "start to last end of its records",
	.means = "rates in one file are over different times, or over a shorter one than the requests took",
	.todo = "derive the rate that you need from counts and one named window",
	.audit = run,
};
