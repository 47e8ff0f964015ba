/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the clients of a plan are by themselves: against a loopback endpoint that takes no time. */
#ifndef IB_RUN_CEILING_H
#define IB_RUN_CEILING_H

#include "run/plan_inside.h"

#define IB_CEILING_SCHEMA "urn:ibtools:ceiling:v1"

/* Runs each distinct command of the selected slots so, and keeps requests and output tokens a second by the endpoint's own log in ceiling/<id>.json, entered
 * into the ledger. *ret_exit: 1 when a command did not end well. */
IB_MUST int ib_ceiling(struct ib_plan *plan, int *ret_exit, struct ib_err *err);

/* What n bytes of a truth log say. */
struct ib_truth_sum {
	int64_t requests, succeeded, output_tokens;
	int64_t window_ns; /* from the first arrival to the last end; IB_NONE: nothing succeeded */
};
IB_MUST int ib_truth_sum(const char *data, size_t n, struct ib_truth_sum *ret, struct ib_err *err);

#endif
