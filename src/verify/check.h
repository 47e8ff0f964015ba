/* SPDX-License-Identifier: Apache-2.0 */
/* One check: a const struct in its own file, pointed to by one table (check.c). Those over a study's structure look at the study, the audit's at the audit
 * view, which a folder of loose files has too. See docs/adding-a-check.md. */
#ifndef IB_VERIFY_CHECK_H
#define IB_VERIFY_CHECK_H

#include "verify/audit.h"
#include "verify/study.h"

struct ib_check {
	const char *id;    /* for ever: S01 … the study's structure, A01 … the audit */
	enum ib_level_of level;
	const char *title; /* what holds when it passes, in a few words */
	/* What --explain and the manual say: what it reads, with its thresholds; what a failure means; what to do about one. Sentences without the full
	 * stop of the last. */
	const char *reads, *means, *todo;
	/* One of the two. Adds at least one finding: fail for each fault, or one pass, or not_checkable with the reason. */
	void (*run)(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f);
	void (*audit)(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f);
};

/* All checks, end with NULL: of a study's structure, S00 …; of the audit, A01 …. */
extern const struct ib_check *const ib_study_checks[];
extern const struct ib_check *const ib_audit_checks[];
/* Runs the checks of its structure over an ended study; the audit's over a view. */
void ib_structure_check(const struct ib_study_view *v, struct ib_findings *f);
void ib_audit_check(const struct ib_audit_view *v, struct ib_findings *f);
/* The check of that id, in any case of letters, or NULL. */
const struct ib_check *ib_check_find(const char *id);
/* A check that needs a study says so of anything else, and returns true. */
bool ib_check_needs_study(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f);
/* The same for one that needs all runs of a study. */
bool ib_check_needs_all_runs(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f);
/* Calls one for every result of a known version (llm: of LLM requests only), then reports hints and what was not read, and ends with a pass where nothing was
 * added, or says that there is no such result. one adds findings, or nothing where all is well. */
typedef void (*ib_check_one)(const struct ib_check *c, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f);
void ib_check_results(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f, bool llm, ib_check_one one);
/* Reports the hints of all results for this check; returns how many. */
size_t ib_check_hints(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f);

/* A failing finding of a check with its error class; file may be NULL. Returned to set where, expected and found. */
struct ib_finding *ib_check_fail(const struct ib_check *c, struct ib_findings *f, enum ib_code code, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The same at another level than the check's own, of no class. */
struct ib_finding *ib_check_fail_as(const struct ib_check *c, struct ib_findings *f, enum ib_level_of level, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* A passing finding with a number worth reading; a check that says one needs no other pass. */
struct ib_finding *ib_check_say(const struct ib_check *c, struct ib_findings *f, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Not checkable for one result, with the reason by format. */
void ib_check_open(const struct ib_check *c, struct ib_findings *f, const char *file, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Sets expected and found (copied; each may be NULL). */
void ib_finding_values(struct ib_finding *one, const char *expected, const char *found);
/* Not checkable, with the reason; level I: it changes no exit status. */
void ib_check_skip(const struct ib_check *c, struct ib_findings *f, const char *file, const char *why);
/* Reports what the sink noted for this check. */
void ib_check_problems(const struct ib_check *c, const struct ib_study_view *v, struct ib_findings *f);
/* The last line of a check: pass, unless it added findings since "before" (f->n at its start). */
void ib_check_pass(const struct ib_check *c, struct ib_findings *f, size_t before);
/* Is there a file below output/ of the run? */
bool ib_run_has_output(const struct ib_study_view *v, const struct ib_study_run *run);
/* Did the run's client leave a result that is not among its results? */
bool ib_run_unread(const struct ib_study_view *v, const struct ib_study_run *run);
/* Says so of each such run, and of files that are torn or of an unknown version: what did not read them passes nothing. */
void ib_check_unread(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f);
/* "runs/<id>/<rest>" allocated. */
char *ib_run_path(const struct ib_study_run *run, const char *rest);

#endif
