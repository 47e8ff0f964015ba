/* SPDX-License-Identifier: Apache-2.0 */
/* A19: a run's cache condition is what the server's counters show. */
#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void judge(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, confirmed = 0, unconfirmed = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_record *r = &v->runs[i].record;

		if (!v->runs[i].has_record || r->state == IB_STATE_REFUSED)
			continue;
		if (r->cache.evidence == IB_CONTRADICTED)
			ib_check_fail(self, f, IB_OK, v->runs[i].doc.path, "the cache condition '%s' is contradicted: %s", r->cache.condition,
				      r->cache.why ? r->cache.why : "the counters show another one");
		confirmed += r->cache.evidence == IB_CONFIRMED;
		unconfirmed += r->cache.evidence == IB_UNCONFIRMED;
	}
	if (unconfirmed) {
		ib_auto_free char *why = ib_asprintf("%zu of %zu runs have no evidence for their cache condition", unconfirmed, unconfirmed + confirmed + (f->n - before));

		ib_check_skip(self, f, NULL, why);
	} else if (!confirmed && f->n == before) {
		ib_check_skip(self, f, NULL, "no run was measured");
	}
	ib_check_pass(self, f, before);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (!ib_check_needs_study(self, v, f))
		judge(self, v->study, f);
}

const struct ib_check ib_check_cache = {
	.id = "A19",
	.level = IB_FINDING_W,
	.title = "the cache conditions are confirmed by counters",
	.reads = "the records' cache conditions and what the server's counters show of them",
	.means = "a run is not in the cache condition that its label says",
	.todo = "reset the cache before every run, or label the reuse; never pool the run with confirmed ones",
	.audit = run,
};
