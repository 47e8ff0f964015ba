/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a server: ready, and idle. */
#ifndef IB_RUN_READY_H
#define IB_RUN_READY_H

#include "model/contract.h"
#include "run/run.h"

/* Asks the contract's URL or command until it says yes; fills record->readiness. 0 also when the contract asks nothing. IB_E_TIMEOUT with what the last
 * attempt said; IB_E_STATE: interrupted. */
IB_MUST int ib_ready_wait(struct ib_run *run, const struct ib_contract *contract, struct ib_err *err);

/* Waits until the server of the evidence has no request under way, at most timeout_ns. 0 also when it has no such gauges. IB_E_TIMEOUT: it is not idle. */
IB_MUST int ib_ready_idle(struct ib_run *run, const struct ib_contract_evidence *evidence, int64_t timeout_ns, struct ib_err *err);

#endif
