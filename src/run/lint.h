/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of a plan: what makes its numbers weaker than they look, seen before anything is run. One const struct a lint, pointed to by one table. A lint warns
 * and stops nothing. */
#ifndef IB_RUN_LINT_H
#define IB_RUN_LINT_H

#include "clients/client.h"
#include "model/contract.h"

/* One cell of the plan, with what its command tells of the client. */
struct ib_lint_cell {
	const struct ib_contract_group *group;
	const struct ib_contract_slot *slot; /* of its first repeat */
	const struct ib_client *client;      /* NULL: the command is of none that is known */
	struct ib_settings settings;         /* what the command says */
	struct ib_strv words;                /* of the client's own command: that of "sh -c TEXT" where it stands there */
	size_t commands;                     /* commands of known clients in it */
};

struct ib_lint_view {
	const struct ib_contract *contract;
	struct ib_lint_cell *cells;
	size_t n;
	int study_fd; /* of the study, or -1 */
};

struct ib_lint;

struct ib_lint_out {
	const struct ib_lint *lint; /* that is looking */
	size_t said;                /* by it */
	struct ib_strv lines;
};

struct ib_lint {
	const char *id;    /* "L05": stable */
	const char *title; /* what a clean plan does, for the manual and for people */
	void (*look)(const struct ib_lint_view *v, struct ib_lint_out *out);
};

/* Ends with NULL. */
extern const struct ib_lint *const ib_lints[];

/* All lints over a contract: lines of one sentence each, "L05 GROUP.CELL: …". study: directory whose earlier runs are looked at, or NULL.
 * ret is cleared by the caller. */
void ib_lint(const struct ib_contract *c, const char *study, struct ib_strv *ret);

/* The same in parts: the cells of a contract as lints (and checks) see them, and all lints over these. */
void ib_lint_view_init(struct ib_lint_view *v, const struct ib_contract *c, const char *study);
void ib_lint_view_clear(struct ib_lint_view *v);
void ib_lint_view(const struct ib_lint_view *v, struct ib_strv *ret);

/* --- for lints --- */

/* Says something of a cell, of a group where slot is NULL, of the plan where both are. */
void ib_lint_say(struct ib_lint_out *out, const struct ib_contract_group *g, const struct ib_contract_slot *s, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The word behind the last of these flags ("--output-file|-o"; dashes and underscores are the same), "" for one without; NULL: not given. */
const char *ib_lint_flag(const struct ib_lint_cell *c, const char *names);
/* Does a text hold a placeholder that makes it another one in each run? */
bool ib_lint_own(const char *text);
/* Median end-to-end time in seconds of an earlier run of the group, or else of its gate; NAN: there is none. *ret_run is allocated: whose. */
double ib_lint_e2e(const struct ib_lint_view *v, const struct ib_contract_group *g, char **ret_run);

extern const struct ib_lint ib_lint_varies, ib_lint_unused, ib_lint_setup, ib_lint_settings;                                        /* lint_matrix.c */
extern const struct ib_lint ib_lint_cap, ib_lint_samples, ib_lint_repeats;                                                          /* lint_load.c */
extern const struct ib_lint ib_lint_seed, ib_lint_warmups, ib_lint_evidence;                                                        /* lint_cache.c */
extern const struct ib_lint ib_lint_results, ib_lint_output_dir, ib_lint_shared_file, ib_lint_many_results, ib_lint_client;         /* lint_client.c */
extern const struct ib_lint ib_lint_timeout, ib_lint_expect, ib_lint_gate, ib_lint_diagnostic, ib_lint_workload, ib_lint_boundary;  /* lint_plan.c */

#endif
