/* SPDX-License-Identifier: Apache-2.0 */
/* Inside plan mode: one slot, the study's registration, the listing. */
#ifndef IB_RUN_PLAN_INSIDE_H
#define IB_RUN_PLAN_INSIDE_H

#include <sys/types.h>

#include "ledger/read.h"
#include "model/contract.h"
#include "run/plan.h"
#include "run/run.h"
#include "run/slots.h"

struct ib_plan {
	const struct ib_ctx *ctx;
	const struct ib_plan_options *options;
	struct ib_buf source; /* the YAML file's bytes */
	struct ib_contract contract;
	struct ib_buf json; /* its typed form */
	char json_sha256[IB_HEX_LEN];
	struct ib_study study;
	struct ib_signals signals;
	off_t view_bytes; /* of the ledger, which slots is up to date with; 0: none */
	struct ib_slots slots;
	json_t *nodes;    /* captures of other nodes, as ib_nodes_capture() gives them; NULL: none, or not asked yet */
	bool nodes_asked;
	struct ib_progress progress;
	int lock_fd; /* of contracts/, locked: one plan at a time in a study */
};

/* plan_register.c: writes contracts/<sha>.{yaml,json}, opens the study (plan->study), and makes sure that this contract is the one in force: first entry,
 * amendment, or IB_E_USAGE that tells what to do. */
IB_MUST int ib_plan_register(struct ib_plan *plan, struct ib_err *err);
/* The ledger as it is now. */
IB_MUST int ib_plan_ledger(const struct ib_plan *plan, struct ib_ledger_view *ret, struct ib_err *err);

/* plan_slot.c: makes the run of one slot. */
IB_MUST int ib_plan_slot(struct ib_plan *plan, const struct ib_contract_slot *slot, int attempt, struct ib_record *ret_record, struct ib_err *err);

/* plan_list.c: every command of the selected slots in order, quoted for a shell, with comments. */
void ib_plan_list(const struct ib_contract *c, const struct ib_slots *slots, struct ib_buf *ret);
/* Lints of the plan, one comment line each; study: directory that may hold earlier runs. */
void ib_plan_lint(const struct ib_contract *c, const char *study, struct ib_buf *ret);
/* plan_env.c: IB_E_USAGE when a command or URL of the contract names a variable that is not set. */
IB_MUST int ib_plan_env(const struct ib_ctx *ctx, const struct ib_contract *c, struct ib_err *err);
/* plan_register.c: the study's directory by the options; allocated. */
char *ib_plan_study(const struct ib_plan_options *o);

#endif
