/* SPDX-License-Identifier: Apache-2.0 */
/* How far a percentile could be off, without an assumption about how times are distributed; ranges over repeats. */
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

/* 95 % interval of percentile p (0 < p < 100) of a formula over a result: two order statistics of its n samples, between which the percentile of what
 * the samples are drawn from lies with that probability at least, whatever its distribution (binomial; for more than 10,000 samples its normal approximation).
 * n 0: there are too few samples, or none. n is the number of samples else. */
struct ib_range ib_result_interval(const struct ib_result *r, const struct ib_formula *f, double p);

#endif
