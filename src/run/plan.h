/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out the plan of a contract: registration, resuming, gates, stopping. */
#ifndef IB_RUN_PLAN_H
#define IB_RUN_PLAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/err.h"

struct ib_plan_options {
	const char *contract; /* path of the YAML file */
	const char *study;    /* directory; NULL: that of the contract */
	const char *reason;   /* of an amendment, or NULL */
	const char *results_known; /* "yes" or "no" of an amendment; NULL: as the ledger tells */
	const char *only;     /* "GROUP[.CELL[.rN]],…", or NULL: all slots */
	bool amend;           /* accept a contract that changed after results */
	bool dry_run;         /* only list the commands */
	bool check;           /* only look whether the plan can be carried out */
	bool no_capture, no_sample;
	bool record_workload; /* only record what the clients send (run/recording.h); record_bodies: with the bodies */
	bool record_bodies;
	bool ceiling;         /* only measure the clients (run/ceiling.h) */
};

/* Carries out what is left of the plan, in order; the study directory becomes the working directory of the process. *ret_exit: 0 every slot was filled by a
 * completed run, 1 some not. With dry_run nothing is written; listing gets every command in order. Errors: IB_E_USAGE for whatever is wrong
 * with the contract or its use, others when the study cannot be read or written. */
IB_MUST int ib_plan(const struct ib_ctx *ctx, const struct ib_plan_options *options, struct ib_buf *listing, int *ret_exit, struct ib_err *err);

#endif
