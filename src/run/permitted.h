/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody's server gets load by mistake: right before a run, every address that its requests can go to is this machine's or on a private network, unless the
 * contract says who allowed it. */
#ifndef IB_RUN_PERMITTED_H
#define IB_RUN_PERMITTED_H

#include "model/contract.h"
#include "run/run.h"

/* Judges the URLs of the contract and of its group and those in the command line, with all placeholders replaced and all names resolved. IB_E_STATE: an
 * address is public, or a name cannot be resolved; IB_E_USAGE: a placeholder. 0 without asking where contract->permission is set. */
IB_MUST int ib_permitted(const struct ib_run *run, const struct ib_contract *contract, const struct ib_contract_group *group, struct ib_err *err);

#endif
