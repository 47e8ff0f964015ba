/* SPDX-License-Identifier: Apache-2.0 */
/* S04: every run that was started has one end; without one it is abandoned, never forgotten. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

/* A run ID names a directory on every file system and stands in commands: nothing but these characters. */
static bool safe_id(const char *id)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t n = strlen(id);

	return n > 0 && n <= 160 && id[0] != '.' && id[0] != '-' && strspn(id, allowed) == n;
}

/* Each seal, also one that more entries follow, counts the runs that were started before it: a run taken out since shows here. */
static void earlier_seals(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	int64_t started = 0;

	for (size_t i = 0; i < v->n_entries && !v->entries[i].why; i++) {
		const struct ib_entry *e = &v->entries[i].e;

		started += e->kind == IB_ENTRY_START;
		if (e->kind == IB_ENTRY_SEAL && e->runs.started != started)
			ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %lld: this seal counts %lld started runs, and the ledger before it %lld",
				      (long long)e->seq, (long long)e->runs.started, (long long)started);
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	ib_check_problems(self, v, f);
	earlier_seals(self, v, f);
	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];

		if (!safe_id(r->id))
			ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "line %lld: '%s' is no run ID", (long long)r->start->e.seq, r->id);
		if (v->seal && !r->ends)
			ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "the study was sealed while run '%s' had no end", r->id);
		else if (r->running)
			ib_check_skip(self, f, "ledger.jsonl", "a run is still going on: its end is not in the ledger yet");
	}
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_accounts = {.id = "S04", .level = IB_FINDING_E, .title = "every run that was started is accounted for", .run = run};
