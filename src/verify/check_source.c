/* SPDX-License-Identifier: Apache-2.0 */
/* A27: from which source the runs were made. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* Says what is wrong or open with one capture's repository; true when something was said. */
static bool judge(const struct ib_check *self, const struct ib_facts *node, const char *file, struct ib_findings *f)
{
	const char *state = node->v[IB_FACT_GIT_STATE], *commit = node->v[IB_FACT_GIT_COMMIT];
	ib_auto_free char *why = NULL;
	bool said = false;

	if (!state || strcmp(state, "none") == 0)
		why = ib_strdup(state ? "the runs were not started in a git repository: their scripts are of no known commit" : "the captures say nothing "
				"of a git repository");
	else if (strcmp(state, "dirty, not digested") == 0)
		said = ib_check_fail(self, f, IB_OK, file, "the source had changes that no digest names: it cannot be found again") != NULL;
	else if (strcmp(state, "dirty") == 0)
		said = ib_check_fail_as(self, f, IB_FINDING_I, file, "the source had changes beyond commit %.12s, named by digest alone", commit ? commit
				: "?") != NULL;
	else if (strcmp(state, "clean") != 0)
		why = ib_asprintf("the repository could not be read (%s)%s%.12s", state, commit ? ": its HEAD is commit " : "", commit ? commit : "");
	if (node->v[IB_FACT_GIT_SUBMODULES])
		said = ib_check_fail(self, f, IB_OK, file, "submodules are not at the commit that the repository names: %s",
				node->v[IB_FACT_GIT_SUBMODULES]) != NULL;
	if (why)
		ib_check_skip(self, f, file, why);
	return said || why;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	ib_check_hints(self, v, f);
	if (!v->study) {
		ib_check_skip(self, f, NULL, "the commit of scripts and server is in no file");
		return;
	}
	for (size_t i = 0; i < v->study->n_captures; i++) {
		ib_auto_free char *file = ib_asprintf("captures/%s.json", v->study->captures[i].sha256);

		judge(self, &v->study->captures[i].facts, file, f);
	}
	if (!v->study->n_captures)
		ib_check_skip(self, f, NULL, "the study has no capture: the commit of its scripts is not recorded");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_source = {
	.id = "A27",
	.level = IB_FINDING_W,
	.title = "the source is a commit, its changes are named by digest",
	.reads = "the git repository in the captures: commit, changes and their digest, submodules, why it could not be read",
	.means = "the source that was measured cannot be found again: changes without a digest, or submodules at another commit",
	.todo = "commit before measuring, or keep the diff in the study; check out the submodules",
	.audit = run,
};
