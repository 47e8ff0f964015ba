/* SPDX-License-Identifier: Apache-2.0 */
/* A04: every run that was started is there to see, failed ones too. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* A study's ledger accounts for its runs: the structure's checks went through it. */
static void of_study(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	static const char *const ids[] = {"S01", "S04", "S08"};
	size_t before = f->n, open = 0;

	for (size_t i = 0; i < before; i++)
		for (size_t k = 0; k < IB_LEN(ids); k++)
			open += f->v[i].status != IB_PASS && strcmp(f->v[i].id, ids[k]) == 0;
	if (v->alone || open)
		ib_check_skip(self, f, NULL, v->alone ? "one run by itself: the study's ledger accounts for the others" : "S01, S04 and S08 say what is missing");
	else
		ib_check_say(self, f, "ledger.jsonl", "%zu runs were started, and each has its end and its directory", v->study->n_ledger_runs);
}

/* A folder: a command whose result is not there is all that can be seen. */
static void of_folder(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	for (size_t i = 0; i < v->unanswered.n; i++) {
		const char *client = strrchr(v->unanswered.v[i], ':') + 2;
		ib_auto_free char *dir = ib_strndup(v->unanswered.v[i], (size_t)(client - 2 - v->unanswered.v[i]));

		ib_check_fail_as(self, f, IB_FINDING_W, dir, "a command of %s stands here, and no result of it: nothing was measured, or nothing is left of it", client);
	}
	if (f->n == before)
		ib_check_skip(self, f, NULL, "no ledger: nobody wrote down which runs were started, so that one left out would not show");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (v->study)
		of_study(self, v, f);
	else
		of_folder(self, v, f);
	ib_check_hints(self, v, f);
}

const struct ib_check ib_check_runs = {
	.id = "A04",
	.level = IB_FINDING_E,
	.title = "every run that was started is accounted for",
	.reads = "the ledger of a study; in a folder, commands of known clients without a result beside or below them",
	.means = "a run was started and is not there to see: what is shown may be what was liked",
	.todo = "ask for the missing runs, failed ones too",
	.audit = run,
};
