/* SPDX-License-Identifier: Apache-2.0 */
/* S12: a sealed study is the tree that was sealed, with the accounting of its seal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"
#include "verify/tree.h"

static void counts(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	const struct ib_run_counts *s = &v->seal->e.runs;
	struct ib_run_counts c;

	ib_study_count(v, &c);
	const struct {
		const char *name;
		int64_t sealed, counted;
	} rows[] = {
		{"planned", s->planned, c.planned},       {"started", s->started, c.started},       {"completed", s->completed, c.completed},
		{"failed", s->failed, c.failed},          {"timed_out", s->timed_out, c.timed_out}, {"interrupted", s->interrupted, c.interrupted},
		{"abandoned", s->abandoned, c.abandoned}, {"refused", s->refused, c.refused},       {"excluded", s->excluded, c.excluded},
		{"imported", s->imported, c.imported},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[32], got[32];

		if (rows[i].sealed == rows[i].counted)
			continue;
		snprintf(want, sizeof(want), "%" PRId64, rows[i].counted);
		snprintf(got, sizeof(got), "%" PRId64, rows[i].sealed);
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, "ledger.jsonl", "the seal's number of %s runs is not what the ledger's own entries add up to",
						rows[i].name),
				  want, got);
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	char tree[IB_HEX_LEN];

	if (!v->seal && v->anchored) {
		ib_check_fail(self, f, IB_E_LEDGER, "ledger.jsonl", "the ledger does not end with a seal: the packet was not made from a sealed study");
		return;
	}
	if (!v->seal) {
		ib_check_skip(self, f, "ledger.jsonl", "the study is not sealed: files outside its runs are in no digest yet");
		return;
	}
	if (!ib_study_tree(v, tree)) {
		ib_check_skip(self, f, NULL, "a file could not be read");
		return;
	}
	if (strcmp(tree, v->seal->e.tree_sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, NULL, "the files of the study are not those that were sealed"), v->seal->e.tree_sha256, tree);
	counts(self, v, f);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_seal = {.id = "S12", .level = IB_FINDING_E, .title = "the study is the one that was sealed", .run = run};
