/* SPDX-License-Identifier: Apache-2.0 */
/* S14: the ledger ends where somebody outside it says that it ends. */
#include <string.h>

#include "verify/check.h"

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->has_ledger || v->chain.why[0] || v->ledger_problem) {
		ib_check_skip(self, f, "ledger.jsonl", "the chain of the ledger does not hold");
		return;
	}
	if (!v->expect_head && !v->signed_head) {
		ib_check_skip(self, f, "ledger.jsonl",
			      "not anchored: entries cut from the ledger's end would not be seen; --expect-head checks it against a digest that was kept elsewhere");
		return;
	}
	if (v->expect_head && strcmp(v->expect_head, v->chain.head) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl",
						"the ledger does not end with the expected entry: entries were cut, changed or added"),
				  v->expect_head, v->chain.head);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_head = {.id = "S14", .level = IB_FINDING_E, .title = "the ledger's end is anchored outside it", .run = run};
