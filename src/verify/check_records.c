/* SPDX-License-Identifier: Apache-2.0 */
/* S05: every finished run has the record whose digest the ledger holds. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void one_run(const struct ib_check *self, const struct ib_study_run *r, struct ib_findings *f)
{
	ib_auto_free char *path = ib_run_path(r, "record.json");
	struct ib_finding *one;

	if (!r->doc.path) {
		if (r->finish && r->has_dir) /* a run without directory is S08's */
			ib_check_fail(self, f, IB_E_MISSING, path, "the ledger has the end of this run, but its record is not there");
		return;
	}
	if (r->has_record)
		return;
	if (!r->doc.why) {
		ib_check_fail(self, f, IB_E_IO, path, "the record cannot be read");
		return;
	}
	one = ib_check_fail(self, f, r->doc.code, path, "the record cannot be relied on: %s", r->doc.why);
	if (r->finish && r->doc.code == IB_E_HASH)
		ib_finding_values(one, r->finish->e.record_sha256, r->doc.sha256);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	for (size_t i = 0; i < v->n_ledger_runs; i++)
		one_run(self, &v->runs[i], f);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_records = {.id = "S05", .level = IB_FINDING_E, .title = "every finished run has the record that the ledger names", .run = run};
