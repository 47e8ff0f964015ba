/* SPDX-License-Identifier: Apache-2.0 */
/* A20: the workloads are those of the contract, before each run and now. */
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

/* The digest that a contract gives the workload called name, or NULL. */
static const char *contracted(const json_t *contract, const char *name)
{
	const json_t *list = json_object_get(contract, "workloads");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *known = json_string_value(json_object_get(one, "name"));

		if (known && strcmp(known, name) == 0)
			return json_string_value(json_object_get(one, "sha256"));
	}
	return NULL;
}

static void one_workload(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, const struct ib_record_workload *w,
			 struct ib_findings *f)
{
	bool measured = r->record.state != IB_STATE_REFUSED;
	const json_t *contract = NULL;
	const char *want;

	(void)ib_study_contract_at(v, r->start->e.seq, &contract);
	want = contracted(contract, w->name);
	if (want && *w->expected_sha256 && strcmp(want, w->expected_sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, r->doc.path, "workload '%s' is not held against the contract's digest", w->name), want,
				  w->expected_sha256);
	if (measured && *w->expected_sha256 && strcmp(w->expected_sha256, w->sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, r->doc.path, "the run was measured with another workload '%s' than the contract names",
						w->name),
				  w->expected_sha256, *w->sha256 ? w->sha256 : "null");
}

/* The workload files that lie in the study. */
static void present(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	const json_t *list = json_object_get(v->contract, "workloads");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *path = json_string_value(json_object_get(one, "file"));
		const char *want = json_string_value(json_object_get(one, "sha256"));
		const struct ib_study_file *have = path ? ib_study_find_file(v, path) : NULL;

		if (have && want && *have->sha256 && strcmp(want, have->sha256) != 0)
			ib_finding_values(ib_check_fail(self, f, IB_E_HASH, path, "is not the workload of the contract"), want, have->sha256);
	}
}

static void judge(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++)
		for (size_t k = 0; v->runs[i].has_record && k < v->runs[i].record.workloads_n; k++, n++)
			one_workload(self, v, &v->runs[i], &v->runs[i].record.workloads[k], f);
	present(self, v, f);
	if (!n && f->n == before)
		ib_check_skip(self, f, NULL, "no run names a workload");
	ib_check_pass(self, f, before);
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (!ib_check_needs_all_runs(self, v, f))
		judge(self, v->study, f);
}

const struct ib_check ib_check_workloads = {
	.id = "A20",
	.level = IB_FINDING_E,
	.title = "the workloads are those of the contract",
	.reads = "digests of the workloads: in the contract, before each run, and now",
	.means = "the runs did not all measure the workload of the contract",
	.todo = "compare no number of such a run with another's",
	.audit = run,
};
