/* SPDX-License-Identifier: Apache-2.0 */
/* A10: the numbers that a client printed come out of its own raw records. */
#include <stdio.h>

#include "base/str.h"
#include "json/json.h"
#include "verify/check.h"

static void one_claim(const struct ib_check *self, const struct ib_result *res, const struct ib_claim *claim, struct ib_findings *f)
{
	struct ib_finding *one;
	char want[32], got[32];

	ib_json_double(claim->derived.value, want);
	ib_json_double(claim->claimed, got);
	one = ib_check_fail(self, f, IB_OK, res->file, "the claim '%s' does not come out of the client's own records", claim->name);
	if (!one->where)
		one->where = ib_strdup(claim->key);
	ib_finding_values(one, want, got);
}

/* How many requests were asked for is no claim about a run that was cut off: A07 says what became of them. */
static bool of_a_whole_run(const struct ib_claim *claim)
{
	return claim->formula == &ib_count_attempted || claim->formula == &ib_count_warmups;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, derived = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			for (size_t c = 0; c < res->n_claims && !res->unknown_version; c++) {
				if (!ib_audit_whole(&v->runs[i]) && of_a_whole_run(&res->claims[c]))
					continue;
				derived += res->claims[c].status != IB_CLAIM_NOT_DERIVABLE;
				if (res->claims[c].status == IB_CLAIM_DIFFERS)
					one_claim(self, res, &res->claims[c], f);
			}
		}
	ib_check_hints(self, v, f);
	ib_check_unread(self, v, f);
	if (!derived && f->n == before)
		ib_check_skip(self, f, NULL, "no client's claim could be derived from raw records");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_claims = {
	.id = "A10",
	.level = IB_FINDING_E,
	.title = "the clients' numbers re-derive from their raw records",
	.reads = "each number that a client states against the same number derived from its records by the client's own formula, within the stated tolerance",
	.means = "the file was edited, or its numbers are not those of its records",
	.todo = "quote only the derived numbers, and ask where the stated ones come from",
	.audit = run,
};
