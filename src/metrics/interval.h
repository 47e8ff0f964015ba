/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution-free confidence intervals of percentiles, whether two of them are apart, and the spread of repeats. */
#ifndef IB_METRICS_INTERVAL_H
#define IB_METRICS_INTERVAL_H

#include "metrics/stat.h"

#define IB_INTERVAL_LEVEL 0.95

/* An interval between two order statistics; three-valued as statistics are. */
struct ib_interval {
	enum ib_stat_state state;
	double low, high; /* NaN unless state is IB_STAT_VALUE */
	double level;     /* what the two ranks cover exactly, at least what was asked for */
	size_t n;
	const char *why;
};

/* Ranks, 0 the smallest, of the order statistics of n independent samples between which their distribution's percentile p lies with probability level: each
 * tail of the binomial distribution, summed up, is at most (1 - level) / 2. Ties only widen what the interval covers. False: n is too small for both ends. */
bool ib_interval_ranks(size_t n, double p, double level, size_t *ret_low, size_t *ret_high, double *ret_level);
/* Of percentile p of the samples, at IB_INTERVAL_LEVEL. Undefined for too few (below 6 for the median) and for weighted ones. The samples must be independent,
 * which requests are taken to be and gaps within one response are not. */
struct ib_interval ib_series_interval(const struct ib_series *s, double p);

enum ib_apart {
	IB_APART_UNKNOWN, /* one of them is no value */
	IB_APART_NO,      /* they overlap: not separable */
	IB_APART_YES,
};
enum ib_apart ib_intervals_apart(const struct ib_interval *a, const struct ib_interval *b);

/* One number over several runs of the same cell. */
struct ib_repeats {
	size_t n; /* numbers; those that are NaN are not among them */
	double mean, min, max; /* NaN: n is 0 */
	double cv; /* coefficient of variation, standard deviation (ddof 1) / |mean|; NaN below 2 numbers or for a mean of 0 */
};
struct ib_repeats ib_repeats_of(const double *v, size_t n);

#endif
