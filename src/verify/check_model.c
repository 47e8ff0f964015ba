/* SPDX-License-Identifier: Apache-2.0 */
/* A22: which model it was, down to its weights. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "verify/check.h"

/* Names that mean something else tomorrow. */
static bool floats(const char *revision)
{
	static const char *const names[] = {"main", "master", "latest", "head", "stable", "nightly", "dev"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(revision, names[i]) == 0)
			return true;
	return false;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool has_digest(const json_t *model)
{
	const json_t *files = json_object_get(model, "files");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(files); i++)
		n += json_is_string(json_object_get(json_array_get(files, i), "sha256"));
	return n > 0;
}

/* Does something pin the weights? Adds what speaks against it. */
static bool pinned(const struct ib_check *self, const char *file, const char *where, const char *revision, bool digest, struct ib_findings *f)
{
	struct ib_finding *one;

	if (revision && floats(revision) && !digest) {
		one = ib_check_fail(self, f, IB_OK, file, "the model's revision '%s' is a name that moves: the weights of tomorrow are others", revision);
		if (!one->where)
			one->where = ib_strdup(where);
		ib_finding_values(one, "a commit or a digest of the weights", revision);
		return true; /* said */
	}
	return digest || revision;
}

static bool of_contract(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	const json_t *model = v->study ? json_object_get(v->study->contract, "model") : NULL;

	return model && pinned(self, "contract.yaml", "/model/revision", json_string_value(json_object_get(model, "revision")), has_digest(model), f);
}

/* What the client asked for by name against what the endpoint says that it serves. */
static void one_name(const struct ib_check *self, const struct ib_audit_run *run, const char *asked, struct ib_findings *f)
{
	const char *served = run->run && run->run->before.v[IB_FACT_SERVED_MODEL] ? run->run->before.v[IB_FACT_SERVED_MODEL] : run->context->before.model;

	if (!served || !asked || strcasecmp(base(asked), base(served)) == 0)
		return;
	ib_finding_values(ib_check_fail(self, f, IB_OK, run->results->n ? run->results->v[0].file : run->name, "the client asked for '%s', the endpoint "
			"serves '%s'", asked, served),
			  asked, served);
}

/* Does any result pin its model? */
static bool of_results(const struct ib_check *self, const struct ib_audit_view *v, size_t *ret_n, struct ib_findings *f)
{
	bool any = false;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];

		for (size_t k = 0; k < run->results->n; k++) {
			const char *revision = ib_audit_setting(run, &run->results->v[k], IB_SET_MODEL_REVISION);

			*ret_n += 1;
			any = pinned(self, run->results->v[k].file, NULL, revision, false, f) || any;
			if (k == 0)
				one_name(self, run, ib_audit_setting(run, &run->results->v[k], IB_SET_MODEL), f);
		}
	}
	return any;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;
	bool known = of_contract(self, v, f);

	known = of_results(self, v, &n, f) || known;
	ib_check_hints(self, v, f);
	if (!n)
		ib_check_skip(self, f, NULL, "no run holds a result: of which model is not asked");
	else if (!known)
		ib_check_skip(self, f, NULL, "no file pins the model: neither a revision nor a digest of its weights, and a name alone can mean other "
				"weights tomorrow");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_model = {
	.id = "A22",
	.level = IB_FINDING_W,
	.title = "the model is pinned by a revision or the digest of its weights",
	.reads = "the contract's model (revision, files with digests), the revision in the clients' settings, the model that the endpoint lists and names "
		 "in its metrics",
	.means = "the revision is a name that moves (main, latest), or the endpoint serves another model than the client asked for",
	.todo = "name the commit of the weights or their SHA-256 in the contract; ask the author which weights were loaded",
	.audit = run,
};
