/* SPDX-License-Identifier: Apache-2.0 */
/* A view of the audit made in memory: up to four runs with one result each, of a folder or of a study. */
#ifndef IB_TESTS_AUDIT_WORLD_H
#define IB_TESTS_AUDIT_WORLD_H

#include "verify/check.h"

#define WORLD_RUNS 4

extern char world_group[], world_cell[], world_other[]; /* "g", "c", "other" */

struct world {
	struct ib_audit_view v;
	struct ib_study_view s;
	struct ib_audit_run runs[WORLD_RUNS];
	struct ib_study_run study_runs[WORLD_RUNS];
	struct ib_study_entry starts[WORLD_RUNS];
	struct ib_findings f;
};

/* n runs of 20 succeeded requests each, 10 tokens in and 5 out, first tokens at 10 ms, 10.1 ms …; settings: one command. */
void world_begin(struct world *w, size_t n, bool study);
void world_end(struct world *w);
struct ib_result *world_result(struct world *w, size_t i);
struct ib_context *world_context(struct world *w, size_t i);
/* Pages of vllm's metrics around run i: what they count from and how much they move. */
void world_pages(struct world *w, size_t i, double from, double prompt, double hits, double made, double done);
void world_setting(struct world *w, size_t i, enum ib_setting_key k, const char *text);
/* Runs the check of that id; the status of its most telling finding (fail before pass before not checkable), and that finding. */
enum ib_status world_check(struct world *w, const char *id);
/* A failing finding of the last check holds text. */
bool world_says(const struct world *w, const char *text);

#endif
