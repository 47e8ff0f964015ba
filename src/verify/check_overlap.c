/* SPDX-License-Identifier: Apache-2.0 */
/* A35: no two runs of the study were measured at the same time. */
#include <stdlib.h>

#include "base/str.h"
#include "verify/check.h"

static int by_start(const void *a, const void *b)
{
	const struct ib_record *x = &(*(const struct ib_study_run *const *)a)->record, *y = &(*(const struct ib_study_run *const *)b)->record;

	return (x->time.started_ns > y->time.started_ns) - (x->time.started_ns < y->time.started_ns);
}

static void judge(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	const struct ib_study_run **runs = ib_alloc((v->n_ledger_runs + 1) * sizeof(*runs)), *longest = NULL;
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++)
		if (v->runs[i].has_record && v->runs[i].record.time.started_ns != IB_NONE && v->runs[i].record.time.finished_ns != IB_NONE)
			runs[n++] = &v->runs[i];
	if (n > 1)
		qsort(runs, n, sizeof(*runs), by_start);
	for (size_t i = 0; i < n; i++) {
		if (longest && runs[i]->record.time.started_ns < longest->record.time.finished_ns)
			ib_check_fail(self, f, IB_OK, runs[i]->doc.path, "was measured while run '%s' was", longest->id);
		if (!longest || runs[i]->record.time.finished_ns > longest->record.time.finished_ns)
			longest = runs[i];
	}
	if (n < 2)
		ib_check_skip(self, f, NULL, "fewer than two runs say when they were measured");
	ib_check_pass(self, f, before);
	free(runs);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (!ib_check_needs_all_runs(self, v, f))
		judge(self, v->study, f);
}

const struct ib_check ib_check_overlap = {
	.id = "A35",
	.level = IB_FINDING_W,
	.title = "no two runs were measured at the same time",
	.reads = "when each run's command began and ended, by its record",
	.means = "runs that were measured at the same time compete for the same machine; A35 runs are never pooled",
	.todo = "measure one after the other; runs on separate machines belong into separate studies",
	.audit = run,
};
