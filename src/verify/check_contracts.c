/* SPDX-License-Identifier: Apache-2.0 */
/* S09: each registered contract is there, as it was registered, in both of its forms. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

#define FILES_MAX 3000 /* three for each of the 1000 contracts that a ledger may register */

static const struct ib_study_doc *find_doc(const struct ib_study_view *v, const char *path)
{
	for (size_t i = 0; i < v->n_contracts; i++)
		if (strcmp(v->contracts[i].path, path) == 0)
			return &v->contracts[i];
	return NULL;
}

/* The file at path must be there with this digest. */
static bool digest_is(const struct ib_check *self, const struct ib_study_view *v, const char *path, const char *sha256, struct ib_findings *f)
{
	const struct ib_study_file *have = ib_study_find_file(v, path);

	if (!have) {
		ib_check_fail(self, f, IB_E_MISSING, path, "the ledger registers this contract, but it is not there");
		return false;
	}
	if (*have->sha256 && strcmp(have->sha256, sha256) == 0)
		return true;
	if (*have->sha256)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, path, "the contract is not the one that the ledger registers"), sha256, have->sha256);
	return false;
}

static void document(const struct ib_check *self, const struct ib_study_doc *doc, const struct ib_entry *e, struct ib_findings *f)
{
	const char *study, *source;
	struct ib_err err;

	if (!doc->json) {
		ib_check_fail(self, f, doc->code, doc->path, "%s", doc->why);
		return;
	}
	if (ib_get_schema(doc->json, doc->path, "urn:ibtools:contract:v1", &err) < 0 || ib_get_str(doc->json, doc->path, "study", &study, &err) < 0 ||
	    ib_get_hex(doc->json, doc->path, "source_sha256", &source, &err) < 0) {
		ib_check_fail(self, f, err.code, doc->path, "%s", err.text);
		return;
	}
	if (strcmp(source, e->source_sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, doc->path, "was made from another contract.yaml than the ledger registers"), e->source_sha256,
				  source);
	if (!ib_streq(study, e->study))
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, doc->path, "names another study than the ledger"), e->study, study);
}

static void one_contract(const struct ib_check *self, const struct ib_study_view *v, const struct ib_entry *e, struct ib_findings *f)
{
	ib_auto_free char *yaml = ib_asprintf("contracts/%s.yaml", e->source_sha256);
	ib_auto_free char *json = ib_asprintf("contracts/%s.json", e->source_sha256);
	const struct ib_study_doc *doc = find_doc(v, json);

	(void)!digest_is(self, v, yaml, e->source_sha256, f);
	if (!digest_is(self, v, json, e->json_sha256, f))
		return;
	if (doc)
		document(self, doc, e, f);
	else
		ib_check_fail(self, f, IB_E_LIMIT, json, "larger than the limit of 16 MiB");
}

/* contracts/<sha256>.yaml, .json, .tsr of something registered? */
static bool registered_name(const struct ib_study_view *v, const char *path)
{
	const char *name = path + strlen("contracts/");
	const char *dot = strchr(name, '.');

	if (!dot || dot - name != IB_HEX_LEN - 1 || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".json") != 0 && strcmp(dot, ".tsr") != 0))
		return false;
	for (size_t i = 0; i < v->n_registrations; i++)
		if (strncmp(v->registrations[i]->e.source_sha256, name, IB_HEX_LEN - 1) == 0)
			return true;
	return false;
}

static void current(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	const struct ib_study_file *yaml = ib_study_find_file(v, "contract.yaml");

	if (!yaml || !*yaml->sha256)
		return;
	for (size_t i = 0; i < v->n_registrations; i++)
		if (strcmp(v->registrations[i]->e.source_sha256, yaml->sha256) == 0)
			return;
	if (v->n_registrations && *v->registrations[0]->e.source_sha256)
		ib_check_fail(self, f, IB_E_BINDING, "contract.yaml", "the contract was changed after it was registered: it is none of those in the ledger");
	else
		ib_check_fail(self, f, IB_E_BINDING, "contract.yaml", "the ledger knows no contract: these runs were made without one; move this file away");
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n;
	bool ad_hoc = true;

	ib_check_problems(self, v, f);
	if (!v->n_entries) {
		ib_check_skip(self, f, NULL, "no entry of the ledger could be read");
		return;
	}
	for (size_t i = 0; i < v->n_registrations; i++)
		if (*v->registrations[i]->e.source_sha256) {
			one_contract(self, v, &v->registrations[i]->e, f);
			ad_hoc = false;
		}
	for (size_t i = 0, n = 0; i < v->n_files && n <= FILES_MAX; i++) {
		if (!ib_starts(v->files[i].path, "contracts/"))
			continue;
		if (++n > FILES_MAX)
			ib_check_fail(self, f, IB_E_LIMIT, "contracts", "more than the limit of %d files", FILES_MAX);
		else if (!registered_name(v, v->files[i].path))
			ib_check_fail(self, f, IB_E_EXTRA, v->files[i].path, "no entry of the ledger registers this contract");
	}
	current(self, v, f);
	if (ad_hoc && f->n == before)
		ib_check_skip(self, f, NULL, "the study has no contract: nothing was fixed before its runs");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_contracts = {.id = "S09", .level = IB_FINDING_E, .title = "the contracts are those that were registered", .run = run};
