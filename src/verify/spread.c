/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges. */
#include "verify/spread.h"

#include <math.h>

#include "metrics/interval.h"

void ib_range_add(struct ib_range *r, double value)
{
	if (isnan(value))
		return;
	if (!r->n || value < r->min)
		r->min = value;
	if (!r->n || value > r->max)
		r->max = value;
	r->n++;
}

bool ib_ranges_overlap(const struct ib_range *a, const struct ib_range *b)
{
	return a->min <= b->max && b->min <= a->max;
}

struct ib_range ib_result_interval(const struct ib_result *r, const struct ib_formula *f, double p)
{
	ib_auto_series struct ib_series s = {0};
	struct ib_interval i;

	if (!f || !f->series)
		return (struct ib_range){NAN, NAN, 0};
	f->series(&r->columns, &s);
	i = ib_series_interval(&s, p);
	return (struct ib_range){i.low, i.high, i.state == IB_STAT_VALUE ? i.n : 0};
}
