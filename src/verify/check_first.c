/* SPDX-License-Identifier: Apache-2.0 */
/* S03: the ledger begins with the contract, once, and names one study. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	const char *study = NULL;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	if (v->entries[0].why || v->entries[0].e.kind != IB_ENTRY_CONTRACT)
		ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "the first entry does not register a contract");
	for (size_t i = 0; i < v->n_registrations; i++) {
		const struct ib_entry *e = &v->registrations[i]->e;

		if (e->kind == IB_ENTRY_CONTRACT && e->seq != 1)
			ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %lld: a second contract; a change is an amendment with a reason", (long long)e->seq);
		if (!study)
			study = e->study;
		else if (!ib_streq(study, e->study))
			ib_finding_values(ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %lld: names another study", (long long)e->seq), study, e->study);
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_first = {.id = "S03", .level = IB_FINDING_E, .title = "the ledger begins with the contract", .run = run};
