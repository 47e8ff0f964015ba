/* SPDX-License-Identifier: Apache-2.0 */
/* Results of benchmarks of any kind: timings of single runs, without requests and tokens. */
#ifndef IB_CLIENTS_SAMPLES_H
#define IB_CLIENTS_SAMPLES_H

#include "clients/client.h"
#include "json/stream.h"

/* Says of a new result that it holds samples. */
void ib_samples_begin(struct ib_result *r);
/* One run of s seconds; in and out are tokens, or IB_NOT_IN_FILE. */
void ib_samples_add(struct ib_result *r, double s, bool warmup, enum ib_outcome outcome, int64_t in, int64_t out);
/* After the last one: counts, and whether the first run stands out. */
void ib_samples_end(struct ib_result *r);
/* A claim about the samples in the client's unit. p: of a percentile. claimed NaN: none, and NULL. */
struct ib_claim *ib_samples_claim(struct ib_result *r, const char *name, const struct ib_formula *f, enum ib_measure m, double p, double scale, double claimed,
		      double tolerance);
/* A number that the file states and that nothing in it gives again. */
void ib_samples_stated(struct ib_result *r, const char *name, double claimed);

#endif
