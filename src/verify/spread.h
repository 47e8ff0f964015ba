/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges over repeats, and the interval of one result's percentile. */
#ifndef IB_VERIFY_SPREAD_H
#define IB_VERIFY_SPREAD_H

#include <stdbool.h>

#include "clients/result.h"

struct ib_range {
	double min, max;
	size_t n; /* values in it; 0: none */
};

void ib_range_add(struct ib_range *r, double value); /* NaN: nothing is added */
bool ib_ranges_overlap(const struct ib_range *a, const struct ib_range *b);
/* Distribution-free 95 % interval of percentile p of a formula over a result (metrics/interval.h); n 0: too few samples, or none. */
struct ib_range ib_result_interval(const struct ib_result *r, const struct ib_formula *f, double p);

#endif
