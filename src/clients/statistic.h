/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics by the words that clients use for them: "mean", "p99.9", "quantiles_p25". */
#ifndef IB_CLIENTS_STATISTIC_H
#define IB_CLIENTS_STATISTIC_H

#include "clients/result.h"

/* One number of a distribution. */
struct ib_statistic {
	enum ib_measure measure;
	double p; /* of a percentile, in percent */
};

/* The statistic that the n bytes of word name, the whole of them; false: of no known statistic. "median" is a percentile; "std", "stddev" and "std_dev" are
 * IB_MEASURE_STD. */
bool ib_statistic_parse(const char *word, size_t n, struct ib_statistic *ret);
/* Is it one of those that people quote: the mean, the median, p95, p99? */
bool ib_statistic_quoted(const struct ib_statistic *s);

/* How a client states the numbers of one distribution. */
struct ib_statistics {
	const struct ib_formula *formula;
	const char *name; /* the client's word; the claims are "name.mean" … */
	const char *at;   /* JSON pointer of the object that holds them */
	double scale, tolerance;
	enum ib_measure std; /* what its deviation is: IB_MEASURE_STD or IB_MEASURE_STD_SAMPLE */
	bool headline;       /* its mean, median, p95 and p99 are quoted */
};
/* One claim for each number of the object o that names a statistic; the rest, null too, is passed over. o may be NULL or anything. */
void ib_statistics_expect(struct ib_result *r, json_t *o, const struct ib_statistics *what);

/* The number of key in o, or NaN. o may be NULL or anything. */
double ib_statistic_number(const json_t *o, const char *key);
/* The same as a count, or IB_NOT_IN_FILE: also for what is no whole number from 0 to 2^53. */
int64_t ib_statistic_count(const json_t *o, const char *key);
int64_t ib_count_of_real(double v);
/* Numbers of an array as counts: NaN is IB_NOT_IN_FILE. NULL for none. IB_E_SYNTAX: one that is no count up to 2^31, naming what. */
IB_MUST int ib_counts_of_reals(const double *v, size_t n, const char *file, const char *what, int64_t **ret, struct ib_err *err);
/* IB_E_SYNTAX, naming what, for a time beyond 10^12 s either way: arithmetic on the others stays finite. */
IB_MUST int ib_times_check(const double *v, size_t n, const char *file, const char *what, struct ib_err *err);

#endif
