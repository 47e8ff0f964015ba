/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's client says about its requests, and whether that is what was expected. */
#ifndef IB_RUN_EXPECT_H
#define IB_RUN_EXPECT_H

#include "model/contract.h"
#include "run/run.h"

/* Reads the results in the run's output directory into record->requests and record->synthetic (outcome.c), and gives the input tokens of all successful
 * requests (IB_NONE: not known) and the number of files that the run has put there: one that is older than the start of the command is none, and what it
 * says is not counted. Reasons it may set: "truncated_output" (a result that does not parse, or says of itself that it was cut off), "no_output" (nothing
 * but files that are empty, or older). Notes say what is odd: requests that did not succeed, missing times, a log full of errors beside good results. */
IB_MUST int ib_expect_read(struct ib_run *run, int64_t *ret_input_tokens, int64_t *ret_files, struct ib_err *err);

/* Compares: one row in record->expectations for each key that is set, a reason "expectation:<key>" for each that is not met or cannot be checked
 * (but for exit_status, whose reason the run sets). files: in the output directory. */
void ib_expect_judge(const struct ib_contract_expect *expect, int64_t files, struct ib_record *record);

/* Requests that failed, timed out or are unaccounted for behind an exit status of 0, where nobody said what share may: reason "errors_with_status_0". */
void ib_expect_honest_status(struct ib_record *record);

/* The outcome step of a run without a contract. */
IB_MUST int ib_expect_step(void *arg, struct ib_run *run, struct ib_err *err);

#endif
