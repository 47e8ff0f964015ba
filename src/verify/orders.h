/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that no set of samples can have, told without the samples. */
#ifndef IB_VERIFY_ORDERS_H
#define IB_VERIFY_ORDERS_H

#include "verify/check.h"

/* A failing finding for each series of the result (up to a few) whose stated minimum, percentiles, maximum, mean and spread contradict each other. Numbers that
 * were compared with the records already are not looked at again. */
void ib_claims_orders(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f);

#endif
