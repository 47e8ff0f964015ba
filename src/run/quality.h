/* SPDX-License-Identifier: Apache-2.0 */
/* The quality check of a contract: answers with known outputs and a command with a metric, apart from the performance runs. */
#ifndef IB_RUN_QUALITY_H
#define IB_RUN_QUALITY_H

#include "run/plan_inside.h"

/* Makes the check that is due before the plan's slots are run ("before") or after the last ("after"), if the contract asks for one then:
 * quality/<id>/ with result.json and all outputs, and an entry in the ledger. *ret_go false: it did not pass. What an earlier ib-run left unfinished is
 * recorded first, as abandoned. */
IB_MUST int ib_quality(struct ib_plan *plan, const char *when, bool *ret_go, struct ib_err *err);

/* The number that the output of a quality command gives for metric (NULL: none asked): the output, or its last line, is a JSON object with that key, or a
 * number. NAN: there is none. */
double ib_quality_metric(const char *output, size_t n, const char *metric);

#endif
