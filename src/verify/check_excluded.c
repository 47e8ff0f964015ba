/* SPDX-License-Identifier: Apache-2.0 */
/* A34: nothing was excluded after its result existed. */
#include "base/str.h"
#include "verify/check.h"

static void judge(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];

		if (r->exclusion && r->finish && r->exclusion->e.seq > r->finish->e.seq)
			ib_check_fail(self, f, IB_OK, "ledger.jsonl", "run '%s' was excluded after its result existed: %s", r->id, r->exclusion->e.reason);
	}
	ib_check_pass(self, f, before);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (!ib_check_needs_all_runs(self, v, f))
		judge(self, v->study, f);
}

const struct ib_check ib_check_excluded = {
	.id = "A34",
	.level = IB_FINDING_W,
	.title = "no run was excluded after its result existed",
	.reads = "the ledger's exclusion and finish entries",
	.means = "a run was set aside after its result was there to see: what remains may be what was liked",
	.todo = "look at the excluded run beside the others (--show RUN) and at the reason given; exclude by rules written down before",
	.audit = run,
};
