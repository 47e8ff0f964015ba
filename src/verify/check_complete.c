/* SPDX-License-Identifier: Apache-2.0 */
/* A01: all files that belong to it are there and unchanged, and no others. What lists them is a packet's manifest, or the records of a study. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

/* Did a check of the study's structure find a file missing, changed or added? */
static bool about_files(const struct ib_finding *one)
{
	return one->status == IB_FAIL && ib_starts(one->id, "S") && (one->code == IB_E_HASH || one->code == IB_E_MISSING || one->code == IB_E_EXTRA);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->study) {
		ib_check_skip(self, f, NULL, v->single ? "one file by itself: what else belongs to it is not known"
						       : "no manifest: nobody wrote down which files belong to it, and with which digests");
		return;
	}
	if (v->alone) {
		ib_check_skip(self, f, NULL, "one run by itself: S07 compares its files with its record");
		return;
	}
	for (size_t i = 0; i < before; i++)
		if (about_files(&f->v[i])) {
			ib_check_skip(self, f, NULL, "files are missing, changed or were added: the findings before this one name them");
			return;
		}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_complete = {
	.id = "A01",
	.level = IB_FINDING_E,
	.title = "complete: all its files and no others",
	.reads = "a packet's manifest; of a study the records, against the files that are there",
	.means = "files are missing, changed or were added since the manifest or the records were written",
	.todo = "ask for the packet, or for the study as it was sealed",
	.audit = run,
};
