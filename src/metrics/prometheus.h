/* SPDX-License-Identifier: Apache-2.0 */
/* The few things needed of Prometheus' text format: sums over the samples of one name. */
#ifndef IB_METRICS_PROMETHEUS_H
#define IB_METRICS_PROMETHEUS_H

#include <stdbool.h>

/* Sum of all samples called name (exactly; any labels). NAN when there is none, or one is not a finite number. */
double ib_prometheus_sum(const char *text, const char *name);

/* The largest of them; NAN when there is none, or one is not a finite number. */
double ib_prometheus_max(const char *text, const char *name);

/* Is there a sample of name, whatever its value? */
bool ib_prometheus_has(const char *text, const char *name);

/* Is one of its series (the same labels, in whatever order) there more than once, so that a sum counts it twice? */
bool ib_prometheus_twice(const char *text, const char *name);

/* Is a series of name lower in after than in before, or gone? The sum of all may still have grown. */
bool ib_prometheus_fell(const char *before, const char *after, const char *name);

/* Calls use(arg, value of the label, sample) for each sample of name that has the label, in the order of the text. Values with escapes are left out. */
void ib_prometheus_each(const char *text, const char *name, const char *label, void (*use)(void *arg, const char *value, double sample), void *arg);

#endif
