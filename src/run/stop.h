/* SPDX-License-Identifier: Apache-2.0 */
/* What stops a plan before its end, by the rules of its contract. */
#ifndef IB_RUN_STOP_H
#define IB_RUN_STOP_H

#include <stdbool.h>

#include "base/ctx.h"
#include "model/contract.h"
#include "model/record.h"

/* What one ib-run of a plan has met so far. */
struct ib_stop {
	int64_t began_ns; /* monotonic */
	int64_t failed, refused, contradicted;
};

/* Is the time over that the contract gives one ib-run? Says so and how to go on. */
bool ib_stop_time(const struct ib_ctx *ctx, const struct ib_contract *c, const struct ib_stop *s);
/* Counts a run that has ended; true when it was one too many of its kind. Says which rule it is and how to go on. */
bool ib_stop_run(const struct ib_ctx *ctx, const struct ib_contract *c, const struct ib_record *r, struct ib_stop *s);

#endif
