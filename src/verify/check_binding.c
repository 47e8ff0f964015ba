/* SPDX-License-Identifier: Apache-2.0 */
/* S06: a record says of its run what the ledger says of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

struct compare {
	const struct ib_check *self;
	struct ib_findings *f;
	const char *path;
};

static void text(const struct compare *c, const char *key, const char *expected, const char *found)
{
	struct ib_finding *one;

	if (ib_streq(expected, found))
		return;
	one = ib_check_fail(c->self, c->f, IB_E_BINDING, c->path, "'%s' is not what the ledger says of this run", key);
	if (!one->where)
		one->where = ib_strdup(key);
	ib_finding_values(one, expected ? expected : "null", found ? found : "null");
}

static void number(const struct compare *c, const char *key, int64_t expected, int64_t found)
{
	char want[32], got[32];

	snprintf(want, sizeof(want), "%" PRId64, expected);
	snprintf(got, sizeof(got), "%" PRId64, found);
	text(c, key, want, got);
}

static void one_run(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	ib_auto_free char *path = ib_run_path(r, "record.json");
	const struct compare c = {.self = self, .f = f, .path = path};
	const struct ib_entry *start = &r->start->e, *contract = ib_study_contract_at(v, start->seq, NULL);

	text(&c, "run_id", r->id, r->record.run_id);
	text(&c, "group", start->group, r->record.group);
	text(&c, "cell", start->cell, r->record.cell);
	number(&c, "repeat", start->repeat, r->record.repeat);
	number(&c, "attempt", start->attempt, r->record.attempt);
	if (r->finish)
		text(&c, "state", ib_state_name(r->finish->e.state), ib_state_name(r->record.state));
	if (contract) {
		text(&c, "study", contract->study, r->record.study);
		/* a run that is no plan's (it has no cell) follows no contract; S11 says that it was not planned */
		if (start->cell || *r->record.contract_sha256)
			text(&c, "contract_sha256", contract->json_sha256, r->record.contract_sha256);
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];

		if (r->has_record)
			one_run(self, v, r, f);
		if (r->adopted)
			ib_check_skip(self, f, r->doc.path, "the ledger does not hold this record's end yet: nothing vouches for its bytes");
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_binding = {.id = "S06", .level = IB_FINDING_E, .title = "every record says what the ledger says of its run", .run = run};
