/* SPDX-License-Identifier: Apache-2.0 */
/* A20: the workloads are those of the contract, before each run and now; and their prompts are not all the same. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/series.h"

#define UNIQUE_SHARE 0.99

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

static void of_study(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_ledger_runs; i++)
		for (size_t k = 0; v->runs[i].has_record && k < v->runs[i].record.workloads_n; k++)
			one_workload(self, v, &v->runs[i], &v->runs[i].record.workloads[k], f);
	present(self, v, f);
}

static size_t named(const struct ib_study_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++)
		n += v->runs[i].has_record ? v->runs[i].record.workloads_n : 0;
	return n;
}

/* --- the prompts that the results hold --- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The prompts of one result: sorted hashes, allocated; NULL: not recorded. */
static uint64_t *prompts(const struct ib_columns *c, size_t *ret_n)
{
	uint64_t *v;
	size_t n = 0;

	if (!c->prompt_hash || !c->n)
		return NULL;
	v = ib_alloc(c->n * sizeof(*v));
	for (size_t i = 0; i < c->n; i++)
		if (c->prompt_hash[i] && !(c->warmup && c->warmup[i]))
			v[n++] = c->prompt_hash[i];
	if (n > 1)
		qsort(v, n, sizeof(*v), by_value);
	*ret_n = n;
	return v;
}

static size_t unique(const uint64_t *v, size_t n)
{
	size_t k = n ? 1 : 0;

	for (size_t i = 1; i < n; i++)
		k += v[i] != v[i - 1];
	return k;
}

static void one_result(const struct ib_check *self, const struct ib_result *res, const uint64_t *v, size_t n, struct ib_findings *f)
{
	ib_auto_free char *got = NULL;
	size_t u = unique(v, n);

	if (n < 2 || (double)u >= UNIQUE_SHARE * (double)n)
		return;
	got = ib_asprintf("%zu of %zu", u, n);
	ib_finding_values(ib_check_fail_as(self, f, IB_FINDING_W, res->file, "only %zu of %zu prompts are different (%.1f %%): the others can come from the "
			"server's cache", u, n,
					   100.0 * (double)u / (double)n),
			  "at least 99 %", got);
}

/* Of one command: did all runs send the same prompts? With another seed, or none said, they need not. */
static size_t one_series(const struct ib_check *self, const struct ib_members *m, size_t from, size_t to, struct ib_findings *f)
{
	uint64_t *first = NULL;
	size_t n_first = 0, seen = 0;

	for (size_t i = from; i < to; i++) {
		const struct ib_result *res = m->v[i].res;
		size_t n = 0;
		uint64_t *v = prompts(&res->columns, &n);

		if (!v)
			continue;
		seen++;
		one_result(self, res, v, n, f);
		if (!first) {
			first = v;
			n_first = n;
			continue;
		}
		if (n == n_first && memcmp(v, first, n * sizeof(*v)) != 0 && ib_audit_setting(m->v[i].run, res, IB_SET_SEED))
			ib_check_fail_as(self, f, IB_FINDING_W, res->file, "the same command with the same seed sent other prompts than '%s'",
					m->v[from].res->file);
		free(v);
	}
	free(first);
	return seen;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_auto_members struct ib_members m;
	size_t before = f->n, seen = 0;

	if (v->study && !v->alone)
		of_study(self, v->study, f);
	ib_members_gather(v, IB_SAME_COMMAND, &m);
	for (size_t i = 0, to; i < m.n; i = to) {
		to = ib_members_end(&m, i);
		seen += one_series(self, &m, i, to, f);
	}
	ib_check_hints(self, v, f);
	if (!seen && f->n == before && !(v->study && !v->alone && named(v->study)))
		ib_check_skip(self, f, NULL, "which prompts were sent is in no file: neither a workload with a digest nor the prompts themselves");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_workloads = {
	.id = "A20",
	.level = IB_FINDING_E,
	.title = "the workloads are those of the contract, their prompts differ",
	.reads = "digests of the workloads: in the contract, before each run, and now; the prompts in the clients' records. Fewer than 99 % different "
		 "prompts, or other prompts for "
		 "one seed, are a warning",
	.means = "not all runs measured the workload that is named, or many of its prompts are the same, so that a cache answers them",
	.todo = "compare no number of such a run with another's; make prompts that differ, and put the workload with its digest into the evidence",
	.audit = run,
};
