/* SPDX-License-Identifier: Apache-2.0 */
/* Quality checks that an ib-run did not end, and whether one is due. */
#ifndef IB_RUN_QUALITY_SWEEP_H
#define IB_RUN_QUALITY_SWEEP_H

#include "run/plan_inside.h"

#define IB_QUALITY_SCHEMA "urn:ibtools:quality:v1"

/* quality.c: a result without cases; files: of the directory. New reference. */
json_t *ib_quality_result(const struct ib_plan *plan, const char *id, const char *when, const char *status, const char *why, const struct ib_record *files);

/* Directories below quality/ that no entry of the ledger knows get a result with the status "abandoned", and an entry. The plan's lock must be held. */
IB_MUST int ib_quality_sweep(struct ib_plan *plan, struct ib_err *err);

/* Has a run ended since the last quality check that was made after the plan? */
IB_MUST int ib_quality_due_after(const struct ib_plan *plan, bool *ret, struct ib_err *err);

#endif
