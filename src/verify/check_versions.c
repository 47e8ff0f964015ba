/* SPDX-License-Identifier: Apache-2.0 */
/* A23: with which client and which server it was measured. */
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* A version that moves, or an image named by a tag alone. */
static bool floats(const char *text)
{
	static const char *const names[] = {"latest", "main", "master", "nightly", "dev", "head"};
	const char *tag = strrchr(text, ':');

	if (strstr(text, "@sha256:"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(text, names[i]) == 0 || (tag && strcasecmp(tag + 1, names[i]) == 0))
			return true;
	return false;
}

static void one_text(const struct ib_check *self, const char *where, const char *text, struct ib_findings *f)
{
	struct ib_finding *one;

	if (!text || !floats(text))
		return;
	one = ib_check_fail(self, f, IB_OK, "contract.yaml", "'%s' moves: it does not say which build was measured", text);
	if (!one->where)
		one->where = ib_strdup(where);
	ib_finding_values(one, "a version, a commit or an image's digest", text);
}

static const char *serving(const struct ib_audit_view *v, const char *key)
{
	return v->study ? json_string_value(json_object_get(json_object_get(v->study->contract, "serving"), key)) : NULL;
}

static void of_contract(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	const json_t *s = v->study ? json_object_get(v->study->contract, "serving") : NULL, *argv = json_object_get(s, "command");
	const char *image = json_string_value(json_object_get(json_object_get(s, "options"), "image"));

	one_text(self, "/serving/version", serving(v, "version"), f);
	one_text(self, "/serving/options/image", image, f);
	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		if (word && strchr(word, '/') && strchr(word, ':') && !strstr(word, "://"))
			one_text(self, "/serving/command", word, f);
	}
}

/* The version that the contract names against what the endpoint answered. */
static void one_endpoint(const struct ib_check *self, const struct ib_audit_view *v, const struct ib_study_run *run, struct ib_findings *f)
{
	const char *want = serving(v, "version"), *got = run->before.v[IB_FACT_SERVER_VERSION];

	if (want && got && !floats(want) && strcmp(want, got) != 0 && !strstr(got, want))
		ib_finding_values(ib_check_fail(self, f, IB_OK, run->doc.path, "the server is version '%s', the contract says '%s'", got, want), want, got);
}

struct known {
	size_t results, client; /* results, and those whose client's version is known */
	bool server;
};

static void count(const struct ib_check *self, const struct ib_audit_view *v, struct known *k, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];

		for (size_t r = 0; r < run->results->n; r++) {
			k->results++;
			k->client += run->results->v[r].client_version != NULL;
		}
		if (!run->run)
			continue;
		k->server = k->server || run->run->before.v[IB_FACT_SERVER_VERSION];
		one_endpoint(self, v, run->run, f);
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	struct known k = {.server = serving(v, "version") || serving(v, "commit")};

	of_contract(self, v, f);
	count(self, v, &k, f);
	ib_check_hints(self, v, f);
	if (k.client < k.results) {
		ib_auto_free char *why = ib_asprintf("the client's version is not in %zu of %zu results", k.results - k.client, k.results);

		ib_check_skip(self, f, NULL, why);
	}
	if (!k.server)
		ib_check_skip(self, f, NULL, k.results ? "the server's version is in no file" : "no run holds a result: with what it was measured is not "
				"asked");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_versions = {
	.id = "A23",
	.level = IB_FINDING_W,
	.title = "the versions of client and server are recorded",
	.reads = "the client's version in its result; the contract's serving (version, commit, image, command); the endpoint's /version",
	.means = "a version or image is named by something that moves, or the server was another version than the contract says",
	.todo = "name versions, and images by digest; keep the endpoint's /version beside the result",
	.audit = run,
};
