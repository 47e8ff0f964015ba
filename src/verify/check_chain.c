/* SPDX-License-Identifier: Apache-2.0 */
/* S01: the ledger is one unbroken chain. */
#include <stdio.h>

#include "base/str.h"
#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	struct ib_finding *one;

	if (!v->has_ledger) {
		ib_check_fail(self, f, IB_E_MISSING, "ledger.jsonl", "there is no ledger: nothing says which runs there were");
		return;
	}
	if (v->ledger_problem)
		ib_check_fail(self, f, v->ledger_code, "ledger.jsonl", "the ledger could not be read to its end: %s", v->ledger_problem);
	if (v->chain.why[0]) {
		one = ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "the chain of the ledger is broken: %s", v->chain.why);
		if (!one->where)
			one->where = ib_asprintf("line %llu", (unsigned long long)v->chain.why_line);
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_chain = {.id = "S01", .level = IB_FINDING_E, .title = "the ledger is one unbroken chain", .run = run};
