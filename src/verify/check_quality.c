/* SPDX-License-Identifier: Apache-2.0 */
/* A31: where model, precision or engine varies, something besides speed was looked at. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "verify/check.h"

/* Does a variable of this name change what the model answers? */
static bool changes_answers(const char *name)
{
	static const char *const words[] = {"model", "precision", "dtype", "quant", "engine", "server", "backend", "kv_cache", "kv-cache", "weights",
			"speculative"};

	for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* The variable of a group that does, or NULL. */
static const char *of_group(const json_t *group)
{
	const json_t *varies = json_object_get(group, "varies");
	json_t *matrix = json_object_get(group, "matrix"), *values;
	const char *name;
	size_t i;
	json_t *one;

	json_object_foreach(matrix, name, values)
		if (changes_answers(name) && json_array_size(values) > 1)
			return name;
	json_array_foreach(varies, i, one)
		if (changes_answers(json_string_value(one)))
			return json_string_value(one);
	return NULL;
}

static const char *status_of(const json_t *j)
{
	const char *status = json_string_value(json_object_get(j, "status"));

	return status ? status : "?";
}

/* Quality checks of the ledger that passed. */
static size_t passed(const struct ib_study_view *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_quality; i++)
		n += strcmp(status_of(s->quality[i].json), "passed") == 0;
	return n;
}

/* What a quality check found wrong is said whatever the study varies; one that was abandoned or interrupted was made again, or says nothing. */
static void failures(const struct ib_check *self, const struct ib_study_view *s, struct ib_findings *f)
{
	for (size_t i = 0; i < s->n_quality; i++) {
		const json_t *cases = json_object_get(s->quality[i].json, "cases");
		size_t bad = 0;

		if (strcmp(status_of(s->quality[i].json), "failed") != 0)
			continue;
		for (size_t k = 0; k < json_array_size(cases); k++)
			bad += strcmp(status_of(json_array_get(cases, k)), "passed") != 0;
		ib_check_fail(self, f, IB_OK, s->quality[i].path, "the quality check failed: %zu of %zu cases did not pass", bad, json_array_size(cases));
	}
}

static void of_study(const struct ib_check *self, const struct ib_study_view *s, struct ib_findings *f)
{
	const json_t *groups = json_object_get(s->contract, "groups"), *quality = json_object_get(s->contract, "quality");
	size_t i;
	json_t *g;

	json_array_foreach(groups, i, g) {
		const char *name = of_group(g), *group = json_string_value(json_object_get(g, "name"));
		struct ib_finding *one;

		if (!name || (json_is_object(quality) && passed(s)))
			continue;
		one = ib_check_fail(self, f, IB_OK, "contract.yaml", json_is_object(quality) ? "group '%s' varies '%s', and no quality check of the "
				"ledger passed"
											     : "group '%s' varies '%s', and there is no quality check: a "
													"faster answer may be a worse one",
				    group ? group : "?", name);
		if (!one->where)
			one->where = ib_strdup("/quality");
	}
}

static void whole_study(const struct ib_check *self, const struct ib_study_view *s, struct ib_findings *f)
{
	size_t before = f->n, n = passed(s);

	of_study(self, s, f);
	failures(self, s, f);
	if (n && f->n == before)
		ib_check_say(self, f, s->quality[0].path, "%zu of %zu quality checks passed", n, s->n_quality);
}

/* The models that a folder's results name. */
static size_t models(const struct ib_audit_view *v)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < v->n_runs && n < 2; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const char *model = ib_audit_setting(&v->runs[i], &v->runs[i].results->v[k], IB_SET_MODEL);

			if (model && (!first || strcmp(first, model) != 0)) {
				first = model;
				n++;
			}
		}
	return n;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;

	if (v->study && !v->study->contract)
		ib_check_skip(self, f, NULL, "the study has no contract: what it varies is not said");
	else if (v->study)
		whole_study(self, v->study, f);
	else if (models(v) > 1)
		ib_check_skip(self, f, NULL, "results of several models: whether their answers are as good is in no file");
	else
		ib_check_skip(self, f, NULL, "whether precision or engine vary, and what the answers were worth, is in no file");
	ib_check_hints(self, v, f);
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_quality = {
	.id = "A31",
	.level = IB_FINDING_W,
	.title = "a quality check stands beside whatever varies model, precision or engine",
	.reads = "the contract: what each group varies (model, precision, quantisation, engine, speculation ...), and quality; the results of "
		 "quality checks that the ledger holds",
	.means = "speeds are compared whose answers may not be worth the same",
	.todo = "add a quality check to the contract, apart from the performance workload, and run it for each cell",
	.audit = run,
};
