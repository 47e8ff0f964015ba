/* SPDX-License-Identifier: Apache-2.0 */
/* Reset, warm-up and conversion of a run, as its contract says. */
#ifndef IB_RUN_HOOKS_H
#define IB_RUN_HOOKS_H

#include "model/contract.h"
#include "run/run.h"

/* Runs hook (its command, or a POST to its URL) as hooks/NAME.{out,err} and adds it to the record. IB_E_STATE: it failed, was too slow, or answered
 * {"success": false}; or interrupted. */
IB_MUST int ib_hook_run(struct ib_run *run, const char *name, const struct ib_contract_hook *hook, struct ib_err *err);

/* A command of a contract as strings (not expanded). */
void ib_hook_argv(const json_t *command, struct ib_strv *ret);

#endif
