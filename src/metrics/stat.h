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
	IB_RULE_NEAREST,      /* order statistic nearest to (n - 1) p, halves to the even one: numpy's "nearest" */
	IB_RULE_INVERSE_CDF,  /* smallest sample at which the running sum of weight / all weights, in doubles, reaches p: GuideLLM's; the only rule for weights */
};

struct ib_stat {
	enum ib_stat_state state;
	double value;    /* NaN unless state is IB_STAT_VALUE */
	size_t n;        /* samples behind it */
	enum ib_rule rule;
	double max;      /* of a percentile refused for too few samples: the largest sample; else NaN */
	const char *why; /* not a value: one short sentence (static text); else NULL */
};

struct ib_stat ib_stat_value(double value, size_t n);
struct ib_stat ib_stat_undefined(const char *why);
struct ib_stat ib_stat_not_recorded(const char *why);
/* over / under, a duration; over itself when it is no value; undefined when no finite number comes out. */
struct ib_stat ib_stat_ratio(struct ib_stat over, double under);

/* Samples that stand together, in somebody's memory. */
struct ib_piece {
	const double *v;
	size_t n;
};

/* Samples of one formula: pieces of columns, which must stay as long as the series, or values of its own. No sample is NaN. */
struct ib_series {
	enum ib_stat_state state;
	const char *why; /* no value: static text; else NULL */
	size_t n;        /* samples in all pieces */
	struct ib_piece *pieces;
	size_t n_pieces;
	double *v; /* owned values, the one piece then; or NULL */
	double *w; /* their weights; NULL: all equal */
};

/* Takes over v and w (may be NULL), n long. */
void ib_series_own(struct ib_series *s, double *v, double *w, size_t n);
/* Appends the samples at v that are no NaN. */
void ib_series_piece(struct ib_series *s, const double *v, size_t n);
void ib_series_clear(struct ib_series *s);
#define ib_auto_series __attribute__((cleanup(ib_series_clear)))

/* The moments of a series in two passes; NaN, and n 0, when it has no samples. By weight where it has weights: then count is their sum. */
struct ib_moments {
	double count, mean, min, max, std; /* std: population form (ddof 0); of one sample 0 */
	size_t n;
};
struct ib_moments ib_series_moments(const struct ib_series *s);

struct ib_stat ib_series_mean(const struct ib_series *s);
/* Population form (ddof 0); of one sample it is undefined, whatever a client prints. */
struct ib_stat ib_series_std(const struct ib_series *s);
struct ib_stat ib_series_max(const struct ib_series *s);
/* p in percent, 0 to 100, by rule. Undefined when n < ib_percentile_needs(p). */
struct ib_stat ib_series_percentile(const struct ib_series *s, double p, enum ib_rule rule);

/* One percentile of several. */
struct ib_quantile {
	double p; /* percent */
	enum ib_rule rule;
	double value; /* out */
};
/* The numbers themselves, without refusal, for the comparison with a client's own: each exact, in a few passes for all of them together, and without
 * a copy of the samples (but for IB_RULE_INVERSE_CDF). NaN for no samples. */
void ib_series_quantiles(const struct ib_series *s, struct ib_quantile *q, size_t n);
double ib_series_quantile(const struct ib_series *s, double p, enum ib_rule rule);
/* The order statistics of the given ranks, 0 the smallest; each rank < s->n. */
void ib_series_select(const struct ib_series *s, const size_t *ranks, double *ret_values, size_t n);

/* Percentile of samples in ascending order, n > 0; no refusal. */
double ib_percentile(const double *sorted, size_t n, double p, enum ib_rule rule);
/* Fewest samples that carry percentile p: 1 up to p50, then 100 / (100 - p): 10 for p90, 20 for p95, 100 for p99, 1000 for p99.9. */
size_t ib_percentile_needs(double p);

const char *ib_rule_name(enum ib_rule rule); /* "linear", "nearest_rank", "nearest", "inverse_cdf"; NULL for IB_RULE_NONE */
const char *ib_stat_state_name(enum ib_stat_state state); /* "value", "undefined", "not_recorded" */

#endif
