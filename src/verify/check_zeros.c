/* SPDX-License-Identifier: Apache-2.0 */
/* A09: a statistic that nothing was measured for is missing, not zero. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

#define NAMED 4 /* claims named in a message */

static bool of_samples(const struct ib_claim *c)
{
	switch (c->measure) {
	case IB_MEASURE_MEAN:
	case IB_MEASURE_STD:
	case IB_MEASURE_STD_SAMPLE:
	case IB_MEASURE_MIN:
	case IB_MEASURE_MAX:
	case IB_MEASURE_PERCENTILE:
		return true;
	default:
		return false;
	}
}

/* A mean of times is never 0 when there were any: only waiting takes none. */
static bool impossible(const struct ib_claim *c)
{
	return c->measure == IB_MEASURE_MEAN && c->formula && strcmp(c->formula->unit, "s") == 0 && strncmp(c->formula->name, "queue", 5) != 0;
}

static bool for_nothing(const struct ib_result *res, const struct ib_claim *c)
{
	if (c->claimed < 0 || c->claimed > 0 || !of_samples(c))
		return false;
	return res->requests.succeeded == 0 || c->derived.state == IB_STAT_UNDEFINED || impossible(c);
}

/* The spread of one sample. */
static bool of_one(const struct ib_claim *c)
{
	bool std = c->measure == IB_MEASURE_STD || c->measure == IB_MEASURE_STD_SAMPLE;

	return std && !(c->claimed < 0) && !(c->claimed > 0) && c->derived.state == IB_STAT_VALUE && c->derived.n == 1;
}

struct list {
	char names[160];
	size_t n, len;
	const char *key;
};

static void add(struct list *l, const struct ib_claim *c)
{
	if (l->n++ == 0)
		l->key = c->key;
	if (l->n <= NAMED && l->len < sizeof(l->names))
		l->len += (size_t)snprintf(l->names + l->len, sizeof(l->names) - l->len, "%s%.32s", l->n > 1 ? ", " : "", c->name);
	else if (l->n == NAMED + 1 && l->len < sizeof(l->names))
		l->len += (size_t)snprintf(l->names + l->len, sizeof(l->names) - l->len, " ...");
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	struct list nothing = {0}, one = {0};
	struct ib_finding *fail = NULL;

	(void)run;
	for (size_t i = 0; i < res->n_claims; i++) {
		if (for_nothing(res, &res->claims[i]))
			add(&nothing, &res->claims[i]);
		else if (of_one(&res->claims[i]))
			add(&one, &res->claims[i]);
	}
	if (nothing.n)
		fail = ib_check_fail(self, f, IB_OK, res->file, "%zu statistic%s 0 where nothing was measured: %s", nothing.n, nothing.n == 1 ? " is" : "s are",
				     nothing.names);
	if (fail && !fail->where)
		fail->where = ib_strdup(nothing.key);
	fail = one.n ? ib_check_fail(self, f, IB_OK, res->file, "%zu spread%s 0 because there is one sample: "
								"%s", one.n, one.n == 1 ? " is" : "s are", one.names) : NULL;
	if (fail && !fail->where)
		fail->where = ib_strdup(one.key);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, false, one_result);
}

const struct ib_check ib_check_zeros = {
	.id = "A09",
	.level = IB_FINDING_W,
	.title = "no statistic is zero for want of a measurement",
	.reads = "every claimed mean, spread, extreme and percentile that is 0, and how many samples it has",
	.means = "the client writes 0 for 'not measured': read as a number, it is the best result of all",
	.todo = "read these as missing; take no mean over runs that hold such zeros",
	.audit = run,
};
