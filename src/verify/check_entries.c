/* SPDX-License-Identifier: Apache-2.0 */
/* S02: every entry of the ledger has the shape of its kind. */
#include "base/str.h"
#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	for (size_t i = 0; i < v->n_entries; i++) {
		const struct ib_study_entry *e = &v->entries[i];
		struct ib_finding *one;

		if (!e->why)
			continue;
		one = ib_check_fail(self, f, e->code == IB_E_UNSUPPORTED ? e->code : IB_E_LEDGER, "ledger.jsonl", "%s", e->why);
		if (!one->where)
			one->where = ib_asprintf("line %zu", i + 1);
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_entries = {.id = "S02", .level = IB_FINDING_E, .title = "every entry of the ledger has the shape of its kind", .run = run};
