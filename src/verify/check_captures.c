/* SPDX-License-Identifier: Apache-2.0 */
/* S10: each capture is named by its own digest, and each that is referred to is there. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void named(const struct ib_check *self, const struct ib_study_file *file, struct ib_findings *f)
{
	const char *name = file->path + strlen("captures/");
	const char *dot = strchr(name, '.');

	if (!dot || dot - name != IB_HEX_LEN - 1 || (strcmp(dot, ".json") != 0 && strcmp(dot, ".xml") != 0))
		ib_check_fail(self, f, IB_E_EXTRA, file->path, "is no capture: captures are named by their digest");
	else if (*file->sha256 && strncmp(file->sha256, name, IB_HEX_LEN - 1) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, file->path, "its bytes do not have the digest that it is named by"), NULL, file->sha256);
}

static void there(const struct ib_check *self, const struct ib_study_view *v, const char *sha256, struct ib_findings *f)
{
	ib_auto_free char *path = ib_asprintf("captures/%s.json", sha256);
	ib_auto_free char *xml = ib_asprintf("captures/%s.xml", sha256);

	if (!*sha256 || ib_study_find_file(v, path) || ib_study_find_file(v, xml) || ib_study_withheld(v, path) || ib_study_withheld(v, xml))
		return;
	ib_check_fail(self, f, IB_E_MISSING, path, "a run refers to this capture, but it is not there");
}

/* Captures of other machines, as a record lists them. */
static void there_nodes(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	const json_t *o;
	size_t i;

	json_array_foreach(r->record.section[IB_SECTION_NODES], i, o) {
		const json_t *capture = json_object_get(o, "capture");

		if (json_is_string(capture) && ib_is_hex(json_string_value(capture), 64))
			there(self, v, json_string_value(capture), f);
		else if (!json_is_null(capture))
			ib_check_fail(self, f, IB_E_SYNTAX, r->doc.path, "'nodes' names a capture that is no digest");
	}
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	ib_check_problems(self, v, f);
	for (size_t i = 0; i < v->n_files; i++)
		if (ib_starts(v->files[i].path, "captures/")) {
			named(self, &v->files[i], f);
			n++;
		}
	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];

		there(self, v, r->start->e.capture, f);
		for (size_t k = 0; r->finish && k < r->finish->e.captures.n; k++)
			there(self, v, r->finish->e.captures.v[k], f);
		if (r->has_record) {
			there(self, v, r->record.capture_node, f);
			there_nodes(self, v, r, f);
		}
	}
	if (!n && f->n == before)
		ib_check_skip(self, f, NULL, "the study has no capture: nothing says on which machine its runs were");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_captures = {.id = "S10", .level = IB_FINDING_E, .title = "the captures have the digests that they are named by", .run = run};
