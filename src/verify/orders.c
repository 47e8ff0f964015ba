/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that no set of samples can have: percentiles that fall, a mean beyond the extremes, a mean and a median further apart than one standard
 * deviation. */
#include "verify/orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "json/json.h"

#define FAULTS_MAX 5     /* of one result */
#define ROUNDING 1e-6    /* relative: some clients print few digits */
#define RANK_MIN (-1.0)
#define RANK_MAX 101.0
#define RANK_MEAN 102.0  /* apart from the order */
#define RANK_STD 103.0

struct stated {
	const struct ib_claim *claim;
	double rank;
	size_t parent; /* bytes of the key that name the object it stands in */
};

static double rank_of(const struct ib_claim *c)
{
	switch (c->measure) {
	case IB_MEASURE_MIN:
		return RANK_MIN;
	case IB_MEASURE_PERCENTILE:
		return c->p;
	case IB_MEASURE_MAX:
		return RANK_MAX;
	case IB_MEASURE_MEAN:
		return RANK_MEAN;
	case IB_MEASURE_STD:
	case IB_MEASURE_STD_SAMPLE:
		return RANK_STD;
	default:
		return NAN;
	}
}

/* Of one series: one formula in one unit, stated in one object. */
static int by_series(const void *a, const void *b)
{
	const struct stated *x = a, *y = b;
	int d = strcmp(x->claim->formula->name, y->claim->formula->name);

	if (d == 0)
		d = (x->claim->scale > y->claim->scale) - (x->claim->scale < y->claim->scale);
	if (d == 0)
		d = (x->parent > y->parent) - (x->parent < y->parent);
	return d ? d : strncmp(x->claim->key, y->claim->key, x->parent);
}

static int by_rank(const void *a, const void *b)
{
	const struct stated *x = a, *y = b;
	int d = by_series(a, b);

	return d ? d : (x->rank > y->rank) - (x->rank < y->rank);
}

static bool above(double a, double b)
{
	return a > b + ROUNDING * fmax(fabs(a), fabs(b));
}

/* Only what the records do not decide already. */
static bool open_pair(const struct ib_claim *a, const struct ib_claim *b)
{
	return a->status != IB_CLAIM_DIFFERS && b->status != IB_CLAIM_DIFFERS &&
	       (a->status == IB_CLAIM_NOT_DERIVABLE || b->status == IB_CLAIM_NOT_DERIVABLE);
}

static bool say(const struct ib_check *self, const struct ib_result *res, const struct ib_claim *a, const struct ib_claim *b, const char *why,
		struct ib_findings *f)
{
	struct ib_finding *one;
	char x[32], y[32];

	ib_json_double(a->claimed, x);
	ib_json_double(b->claimed, y);
	one = ib_check_fail(self, f, IB_OK, res->file, "'%s' is %s and '%s' is %s: %s", a->name, x, b->name, y, why);
	if (!one->where)
		one->where = ib_strdup(a->key);
	return true;
}

/* The order of one series: its members from v to end, by rank. */
static bool falls(const struct ib_check *self, const struct ib_result *res, const struct stated *v, const struct stated *end, struct ib_findings *f)
{
	for (const struct stated *s = v + 1; s < end && s->rank <= RANK_MAX; s++) {
		const struct ib_claim *low = s[-1].claim, *high = s->claim;
		bool same = !(s[-1].rank < s->rank);

		if (open_pair(low, high) && (above(low->claimed, high->claimed) || (same && above(high->claimed, low->claimed))))
			return say(self, res, low, high, same ? "they are one number" : "no times have both", f);
	}
	return false;
}

/* The claims of one series that bound each other; NULL: not stated. */
struct bounds {
	const struct ib_claim *mean, *std, *min, *max, *median;
};

static struct bounds bounds_of(const struct stated *v, const struct stated *end)
{
	struct bounds b = {0};

	for (const struct stated *s = v; s < end; s++) {
		if (s->rank <= RANK_MIN)
			b.min = s->claim;
		if (s->claim->measure == IB_MEASURE_PERCENTILE && fabs(s->rank - 50) < 1e-9)
			b.median = s->claim;
		if (s->claim->measure == IB_MEASURE_MAX)
			b.max = s->claim;
		if (s->claim->measure == IB_MEASURE_MEAN)
			b.mean = s->claim;
		if (s->rank >= RANK_STD)
			b.std = s->claim;
	}
	return b;
}

/* Are mean and median further apart than the standard deviation? A deviation of 0 stands for "not measured" too often. */
static bool too_far(const struct bounds *b)
{
	return b->std && b->median && b->std->claimed > 0 && open_pair(b->mean, b->median) &&
	       above(fabs(b->mean->claimed - b->median->claimed), b->std->claimed);
}

static bool contradicts(const struct ib_check *self, const struct ib_result *res, const struct stated *v, const struct stated *end, struct ib_findings *f)
{
	const struct bounds b = bounds_of(v, end);

	if (b.std && b.std->status == IB_CLAIM_NOT_DERIVABLE && b.std->claimed < 0)
		return say(self, res, b.std, b.std, "a spread cannot be negative", f);
	if (!b.mean)
		return false;
	if (b.min && open_pair(b.min, b.mean) && above(b.min->claimed, b.mean->claimed))
		return say(self, res, b.min, b.mean, "a mean is not below the minimum", f);
	if (b.max && open_pair(b.mean, b.max) && above(b.mean->claimed, b.max->claimed))
		return say(self, res, b.mean, b.max, "a mean is not above the maximum", f);
	if (too_far(&b))
		return say(self, res, b.mean, b.median, "mean and median are never further apart than one standard deviation, which is stated as less", f);
	return false;
}

void ib_claims_orders(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	ib_auto_free struct stated *all = ib_alloc((res->n_claims + 1) * sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < res->n_claims; i++) {
		const struct ib_claim *c = &res->claims[i];
		const char *slash = c->key ? strrchr(c->key, '/') : NULL;
		double rank = rank_of(c);

		if (c->formula && slash && !isnan(rank))
			all[n++] = (struct stated){c, rank, (size_t)(slash - c->key)};
	}
	if (n > 1)
		qsort(all, n, sizeof(*all), by_rank);
	for (size_t i = 0, to, faults = 0; i < n && faults < FAULTS_MAX; i = to) {
		for (to = i + 1; to < n && by_series(&all[i], &all[to]) == 0;)
			to++;
		faults += falls(self, res, all + i, all + to, f) || contradicts(self, res, all + i, all + to, f);
	}
}
