/* SPDX-License-Identifier: Apache-2.0 */
/* Looking whether a plan can be carried out, without running any of it: --check. One const struct a check, pointed to by one table; each says one line for
 * everything it looks at: ok, FAIL or not checkable. Nothing is started but known clients asked for their version and help, nothing is reset. */
#ifndef IB_RUN_CHECK_H
#define IB_RUN_CHECK_H

#include "run/lint.h"
#include "run/plan_inside.h"

enum ib_checked { IB_CHECKED_OK, IB_CHECKED_FAIL, IB_CHECKED_NOT, IB_CHECKED_KINDS };

struct ib_preflight_job; /* a client that is being asked (check_jobs.c) */

struct ib_preflight {
	const struct ib_ctx *ctx;
	const struct ib_contract *contract;
	const struct ib_lint_view *view; /* the cells, with what their commands tell; its study_fd may be -1 */
	const char *study;               /* directory; it may not be there yet */
	size_t slots_open;               /* slots that are to be run */
	struct ib_buf *out;
	size_t n[IB_CHECKED_KINDS];
	const struct ib_plan_check *check; /* that is looking */
	struct ib_preflight_job *jobs;
	size_t jobs_n;
};

struct ib_plan_check {
	const char *name;  /* stands in the output */
	const char *title; /* what it looks at, for people */
	void (*look)(struct ib_preflight *p);
};

/* Ends with NULL. */
extern const struct ib_plan_check *const ib_plan_checks[];

/* Runs all checks, then the lints (which change nothing); out gets the lines. *ret_failed: some check failed. */
void ib_preflight(struct ib_preflight *p, bool *ret_failed);

/* --- for checks --- */

void ib_preflight_say(struct ib_preflight *p, enum ib_checked how, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Path of a program as a command of the contract would find it: on PATH, or below the study where it has a slash; NULL: there is none. Allocated. */
char *ib_preflight_program(const struct ib_preflight *p, const char *name);
/* GETs url, or POSTs body to it where that is not NULL. *ret_status is the answer's; ret its body where that is 2xx. An error: no answer, or no URL that is
 * the same in every run. */
IB_MUST int ib_preflight_ask(const struct ib_preflight *p, const char *url, const char *body, struct ib_buf *ret, int *ret_status, struct ib_err *err);
/* Scheme, host and port of a URL. Allocated. */
char *ib_preflight_origin(const char *url);
/* Where the contract says requests go; else where its first command does; NULL: nobody says. */
const char *ib_preflight_endpoint(const struct ib_preflight *p);

/* --- check_jobs.c: known clients asked for their version and their help, all at once --- */
struct ib_preflight_job {
	const struct ib_lint_cell *cell;
	bool help;         /* else: version */
	struct ib_strv argv;
	int pid, fd;       /* of the child that asks */
	int status;        /* its exit status; -1: not in time */
	struct ib_buf out;
};
/* Starts them; at most 16. */
void ib_preflight_start(struct ib_preflight *p);
/* The answer for the client of that cell, waited for. NULL: it is not asked. */
const struct ib_preflight_job *ib_preflight_answer(struct ib_preflight *p, const struct ib_lint_cell *c, bool help);
void ib_preflight_stop(struct ib_preflight *p);

extern const struct ib_plan_check ib_plan_check_address, ib_plan_check_environment, ib_plan_check_workloads, ib_plan_check_disk, ib_plan_check_health,
	ib_plan_check_programs, ib_plan_check_client, ib_plan_check_flags, ib_plan_check_ready, ib_plan_check_model, ib_plan_check_tokenizer,
	ib_plan_check_reset, ib_plan_check_metrics;

#endif
