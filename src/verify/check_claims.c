/* SPDX-License-Identifier: Apache-2.0 */
/* A10: the numbers that a client printed come out of its own raw records. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "json/json.h"
#include "verify/orders.h"

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

/* What most of the claims that do not derive lack. */
static const char *commonest(const struct ib_result *res)
{
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < res->n_claims; i++) {
		const char *why = res->claims[i].why;
		size_t n = 0;

		if (res->claims[i].status != IB_CLAIM_NOT_DERIVABLE || !why || ib_streq(why, best))
			continue;
		for (size_t k = i; k < res->n_claims; k++)
			n += res->claims[k].status == IB_CLAIM_NOT_DERIVABLE && ib_streq(why, res->claims[k].why);
		if (n > most) {
			most = n;
			best = why;
		}
	}
	return best ? best : "the file does not hold what it takes";
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	size_t open = 0, headlines = 0;

	for (size_t i = 0; i < res->n_claims; i++) {
		const struct ib_claim *c = &res->claims[i];

		if (!ib_audit_whole(run) && of_a_whole_run(c))
			continue;
		if (c->status == IB_CLAIM_DIFFERS)
			one_claim(self, res, c, f);
		open += c->status == IB_CLAIM_NOT_DERIVABLE;
		headlines += c->status == IB_CLAIM_NOT_DERIVABLE && c->headline;
	}
	ib_claims_orders(self, res, f);
	if (!res->n_claims)
		ib_check_skip(self, f, res->file, "the file states no number that could be derived");
	else if (headlines || open == res->n_claims)
		ib_check_open(self, f, res->file, "%zu of %zu numbers, %zu of them headlines, do not derive: %s", open, res->n_claims, headlines, commonest(res));
	else if (open)
		ib_check_say(self, f, res->file, "%zu of %zu numbers derive, all headlines among them; of the others: "
						 "%s", res->n_claims - open, res->n_claims, commonest(res));
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, false, one_result);
}

const struct ib_check ib_check_claims = {
	.id = "A10",
	.level = IB_FINDING_E,
	.title = "the clients' numbers re-derive from their raw records",
	.reads = "each number that a client states against the same number derived from its records by the client's own formula, within the stated tolerance; "
		 "where there are no records, whether any records could give the stated minimum, percentiles, maximum, mean and spread",
	.means = "the file was edited, or its numbers are not those of its records",
	.todo = "quote only the derived numbers, and ask where the stated ones come from",
	.audit = run,
};
