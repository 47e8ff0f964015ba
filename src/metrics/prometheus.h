/* SPDX-License-Identifier: Apache-2.0 */
/* The few things needed of Prometheus' text format: sums over the samples of one name. */
#ifndef IB_METRICS_PROMETHEUS_H
#define IB_METRICS_PROMETHEUS_H

#include <stdbool.h>

/* Sum of all samples called name (exactly; any labels). NAN when there is none, or one is not a finite number. */
double ib_prometheus_sum(const char *text, const char *name);

/* The largest of them; NAN when there is none, or one is not a finite number. */
double ib_prometheus_max(const char *text, const char *name);

/* Calls use(arg, value of the label, sample) for each sample of name that has the label, in the order of the text. Values with escapes are left out. */
void ib_prometheus_each(const char *text, const char *name, const char *label, void (*use)(void *arg, const char *value, double sample), void *arg);

#endif
