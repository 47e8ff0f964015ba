/* SPDX-License-Identifier: Apache-2.0 */
/* A18: the first request is measured like the others: it does not pay for what only happens once. */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "verify/check.h"

#define TIMES 2.0 /* of the median */
#define LEAST 5   /* requests */

/* Index of the request that began first, among those measured; columns.n: none. */
static size_t first_of(const struct ib_columns *c)
{
	size_t first = c->n;

	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (first == c->n || (c->start_s && c->start_s[i] < c->start_s[first]))
			first = i;
	}
	return first;
}

static double over_median(const struct ib_result *res, const struct ib_formula *formula, double value)
{
	struct ib_stat median = ib_result_percentile(res, formula, 50);

	return median.state == IB_STAT_VALUE && median.n >= LEAST && median.value > 0 ? value / median.value : NAN;
}

/* The first request's time over the median, or NaN: cannot be told. */
static double first_over(const struct ib_result *res, const struct ib_formula *formula, const double *column, size_t first)
{
	return column && formula && formula->series ? over_median(res, formula, column[first]) : NAN;
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	const struct ib_columns *c = &res->columns;
	size_t first = res->partial ? c->n : first_of(c);
	double whole = first < c->n ? first_over(res, res->e2e, c->e2e_s, first) : NAN, token = first < c->n ? first_over(res, res->ttft, c->ttft_s, first) : NAN;

	(void)run;
	if (isnan(whole) && isnan(token))
		ib_check_skip(self, f, res->file, "the file does not hold the times of single requests, or too few of them");
	else if (whole > TIMES)
		ib_check_fail(self, f, IB_OK, res->file, "the first request took %.1f times the median: it warmed up what the others found warm", whole);
	else if (isnan(whole) && token > TIMES)
		ib_check_fail(self, f, IB_OK, res->file, "the first token of the first request took %.1f times the median: it warmed up what the others found warm", token);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, false, one_result);
}

const struct ib_check ib_check_first_request = {
	.id = "A18",
	.level = IB_FINDING_W,
	.title = "the first request is like the others",
	.reads = "the time of the first measured request or sample against the median: at most twice, of 5 or more",
	.means = "a warm-up (compilation, caches, a connection) is part of the measurement",
	.todo = "warm up before measuring, with other prompts than the measured ones; leave the first request out of means",
	.audit = run,
};
