/* SPDX-License-Identifier: Apache-2.0 */
/* An answer of a contract (ib-contract(5), "Answers"): an output that is asked for, and what it must be. */
#ifndef IB_RUN_ANSWER_H
#define IB_RUN_ANSWER_H

#include "json/json.h"
#include "run/run.h"

#define IB_ANSWER_MAX (1u << 20)  /* bytes of an output that is judged */
#define IB_ANSWER_SHOWN 200       /* bytes of what was found that are kept beside what was expected */

/* Compares an output of n bytes with what answer (typed form) expects, and appends one {"kind","expected","found","status"} to conditions for each
 * thing expected; texts are redacted. True when all are met. */
bool ib_run_answer_judge(const json_t *answer, const char *output, size_t n, const struct ib_redactor *redactor, json_t *conditions);

/* Asks for the output (a command, or a POST of the body) and judges it. The output is kept as DIR/NAME.out and .err below run->dir_fd (dir "": there
 * itself). *ret: {"name","status","why","how","exit_status","duration_ns","output","conditions"}, status one of passed, failed, not_judged
 * (no output was to be had). An error means that a signal came or that nothing could be kept. */
IB_MUST int ib_run_answer_ask(struct ib_run *run, const char *dir, const char *name, const json_t *answer, json_t **ret, struct ib_err *err);

/* One line about an outcome of ib_run_answer_ask() that is not "passed". Allocated. */
char *ib_run_answer_why(const json_t *outcome);

/* The output check of a run: asks, puts the outcome into the record; IB_E_STATE: it did not pass. */
IB_MUST int ib_run_answer_check(struct ib_run *run, const json_t *answer, struct ib_err *err);

#endif
