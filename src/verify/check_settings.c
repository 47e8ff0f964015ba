/* SPDX-License-Identifier: Apache-2.0 */
/* A32: the server ran with the settings that the contract asks for. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void differs(const struct ib_check *self, const struct ib_study_run *run, const char *key, const char *want, const char *got, struct ib_findings *f)
{
	struct ib_finding *one = ib_check_fail(self, f, IB_OK, run->doc.path, "the contract asks for %s '%s', the server says '%s'", key, want, got);

	if (!one->where)
		one->where = ib_asprintf("/serving/%s", key);
	ib_finding_values(one, want, got);
}

static bool on(const char *word)
{
	return strcasecmp(word, "on") == 0 || strcasecmp(word, "true") == 0 || strcasecmp(word, "enabled") == 0 || strcasecmp(word, "yes") == 0;
}

static bool off(const char *word)
{
	return strcasecmp(word, "off") == 0 || strcasecmp(word, "false") == 0 || strcasecmp(word, "disabled") == 0 || strcasecmp(word, "no") == 0 ||
			strcasecmp(word, "none") == 0;
}

/* Compares what both sides say; returns how many settings that were. */
static size_t one_run(const struct ib_check *self, const json_t *serving, const struct ib_study_run *run, struct ib_findings *f)
{
	const char *policy = json_string_value(json_object_get(serving, "prefix_cache")), *caching = run->context.before.prefix_caching;
	const json_t *length = json_object_get(serving, "context_length");
	size_t n = 0;

	if (policy && caching && (on(policy) || off(policy))) {
		n++;
		if (on(policy) != on(caching))
			differs(self, run, "prefix_cache", policy, caching, f);
	}
	if (json_is_integer(length) && run->before.v[IB_FACT_CONTEXT_LENGTH]) {
		ib_auto_free char *want = ib_asprintf("%" PRId64, (int64_t)json_integer_value(length));

		n++;
		if (strcmp(want, run->before.v[IB_FACT_CONTEXT_LENGTH]) != 0)
			differs(self, run, "context_length", want, run->before.v[IB_FACT_CONTEXT_LENGTH], f);
	}
	return n;
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	const json_t *serving = v->study ? json_object_get(v->study->contract, "serving") : NULL;
	size_t before = f->n, compared = 0;

	for (size_t i = 0; json_is_object(serving) && i < v->n_runs; i++)
		compared += one_run(self, serving, v->runs[i].run, f);
	ib_check_hints(self, v, f);
	if (!v->study)
		ib_check_skip(self, f, NULL, "precision, quantisation, context length and prefix cache of the server are in no file");
	else if (!json_is_object(serving))
		ib_check_skip(self, f, NULL, "the contract does not say how the server is to run");
	else if (!compared && f->n == before)
		ib_check_skip(self, f, NULL, "nothing that the server says of its settings can be compared with the contract: precision, quantisation and "
				"parallelism are not recorded");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_settings = {
	.id = "A32",
	.level = IB_FINDING_W,
	.title = "the server's settings are those that the contract asks for",
	.reads = "the contract's serving (prefix cache, context length); what the server's metrics and its list of models say of them",
	.means = "another configuration was measured than the contract describes",
	.todo = "compare the server's start-up log with the contract; repeat the runs or amend the contract",
	.audit = run,
};
