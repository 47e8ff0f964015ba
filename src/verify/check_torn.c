/* SPDX-License-Identifier: Apache-2.0 */
/* S15: torn lines of the ledger are kept, and recorded. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

static void one_entry(const struct ib_check *self, const struct ib_study_view *v, const struct ib_entry *e, struct ib_findings *f)
{
	const struct ib_study_file *have = ib_study_find_file(v, e->file);

	if (!ib_starts(e->file, "ledger.torn/"))
		ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %lld: a torn line is kept outside ledger.torn/", (long long)e->seq);
	else if (!have)
		ib_check_fail(self, f, IB_E_MISSING, e->file, "the ledger refers to this torn line, but it is not there");
	else if (*have->sha256 && ((int64_t)have->bytes != e->bytes || strcmp(have->sha256, e->sha256) != 0))
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, e->file, "its bytes are not those that the ledger refers to"), e->sha256, have->sha256);
}

static bool recorded(const struct ib_study_view *v, const char *path)
{
	for (size_t i = 0; i < v->n_entries; i++)
		if (!v->entries[i].why && v->entries[i].e.kind == IB_ENTRY_TORN && strcmp(v->entries[i].e.file, path) == 0)
			return true;
	return false;
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, files = 0;

	for (size_t i = 0; i < v->n_entries; i++)
		if (!v->entries[i].why && v->entries[i].e.kind == IB_ENTRY_TORN)
			one_entry(self, v, &v->entries[i].e, f);
	for (size_t i = 0; i < v->n_files && files < 1000; i++)
		if (ib_starts(v->files[i].path, "ledger.torn/")) {
			files++;
			if (!recorded(v, v->files[i].path))
				ib_check_fail(self, f, IB_E_EXTRA, v->files[i].path, "no entry of the ledger refers to this torn line");
		}
	if (files == 1000)
		ib_check_fail(self, f, IB_E_LIMIT, "ledger.torn", "more than 1000 torn lines");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_torn = {.id = "S15", .level = IB_FINDING_E, .title = "torn lines are kept and recorded", .run = run};
