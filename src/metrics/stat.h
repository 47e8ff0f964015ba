/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics with three states: a value, undefined (and why), or not recorded. Percentiles name their rule and refuse too few samples. */
#ifndef IB_METRICS_STAT_H
#define IB_METRICS_STAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum ib_stat_state {
	IB_STAT_NOT_RECORDED, /* the file lacks what it takes */
	IB_STAT_UNDEFINED,    /* recorded, but the statistic has no value here */
	IB_STAT_VALUE,
};

enum ib_rule {
	IB_RULE_NONE,         /* not a percentile */
	IB_RULE_LINEAR,       /* between the two nearest order statistics, at (n - 1) p: numpy's default */
	IB_RULE_NEAREST_RANK, /* smallest sample with at least n p samples at or below it */
	IB_RULE_NEAREST,      /* the order statistic nearest to (n - 1) p, the even one of two equally near */
};

struct ib_stat {
	enum ib_stat_state state;
	double value;    /* NaN unless state is IB_STAT_VALUE */
	size_t n;        /* samples behind it */
	enum ib_rule rule;
	double max;      /* of a percentile refused for too few samples: the largest sample; else NaN */
	const char *why; /* not a value: one short sentence (static text); else NULL */
};

/* Samples of one formula. v and w are owned. */
struct ib_series {
	enum ib_stat_state state;
	double *v;
	double *w; /* weight of each; NULL: all equal */
	size_t n;
	bool sorted;
	const char *why;
};

struct ib_stat ib_stat_value(double value, size_t n);
struct ib_stat ib_stat_undefined(const char *why);
struct ib_stat ib_stat_not_recorded(const char *why);
/* over / under, a duration; over itself when it is no value; undefined when no finite number comes out. */
struct ib_stat ib_stat_ratio(struct ib_stat over, double under);

void ib_series_clear(struct ib_series *s);
#define ib_auto_series __attribute__((cleanup(ib_series_clear)))

struct ib_stat ib_series_mean(const struct ib_series *s);
/* Population form (ddof 0); of one sample it is undefined, whatever a client prints. */
struct ib_stat ib_series_std(const struct ib_series *s);
struct ib_stat ib_series_max(const struct ib_series *s);
/* Ascending, once. */
void ib_series_sort(struct ib_series *s);
/* p in percent, 0 to 100, by rule. Sorts s. Undefined when n < ib_percentile_needs(p). */
struct ib_stat ib_series_percentile(struct ib_series *s, double p, enum ib_rule rule);

/* The number itself, for samples in ascending order, n > 0; no refusal: for the comparison with a client's own number. */
double ib_percentile(const double *sorted, size_t n, double p, enum ib_rule rule);
/* Fewest samples that carry percentile p: 1 up to p50, then 100 / (100 - p): 10 for p90, 20 for p95, 100 for p99, 1000 for p99.9. */
size_t ib_percentile_needs(double p);

const char *ib_rule_name(enum ib_rule rule); /* "linear", "nearest_rank", "nearest"; NULL for IB_RULE_NONE */
const char *ib_stat_state_name(enum ib_stat_state state); /* "value", "undefined", "not_recorded" */

#endif
