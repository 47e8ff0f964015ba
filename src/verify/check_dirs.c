/* SPDX-License-Identifier: Apache-2.0 */
/* S08: the directories below runs/ are the runs of the ledger. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->has_ledger) {
		ib_check_skip(self, f, NULL, "there is no ledger");
		return;
	}
	for (size_t i = 0; i < v->n_files; i++)
		if (ib_starts(v->files[i].path, "runs/") && !strchr(v->files[i].path + 5, '/'))
			ib_check_fail(self, f, IB_E_EXTRA, v->files[i].path, "a file that belongs to no run");
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];
		ib_auto_free char *path = ib_asprintf("runs/%s", r->id);

		if (!r->start)
			ib_check_fail(self, f, IB_E_EXTRA, path, "a run that the ledger does not know");
		else if (r->finish && !r->has_dir)
			ib_check_fail(self, f, IB_E_MISSING, path, "the ledger has this run, but its directory is not there");
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_dirs = {.id = "S08", .level = IB_FINDING_E, .title = "the run directories are the runs of the ledger", .run = run};
