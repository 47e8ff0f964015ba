/* SPDX-License-Identifier: Apache-2.0 */
/* S07: a run's directory holds exactly the files that its record lists, byte for byte. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

/* The list must be in strict byte order: what is listed twice could be read twice differently. */
static bool ordered(const struct ib_check *self, const struct ib_study_run *r, struct ib_findings *f)
{
	const struct ib_record *rec = &r->record;

	for (size_t i = 1; i < rec->files_n; i++)
		if (strcmp(rec->files[i - 1].path, rec->files[i].path) >= 0) {
			ib_check_fail(self, f, IB_E_BINDING, r->doc.path, "the list of files is not in byte order: '%s' follows '%s'", rec->files[i].path,
				      rec->files[i - 1].path);
			return false;
		}
	return true;
}

static void missing(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, const struct ib_record_file *want,
		    struct ib_findings *f)
{
	ib_auto_free char *path = ib_run_path(r, want->path);
	const char *declared = ib_study_withheld(v, path);

	if (!declared)
		ib_check_fail(self, f, IB_E_MISSING, path, "the run's record lists this file, but it is not there");
	else if (strcmp(declared, want->sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_HASH, path, "declared as withheld with another digest than the run's record holds"), want->sha256,
				  declared);
}

static void same(const struct ib_check *self, const struct ib_study_file *have, const struct ib_record_file *want, struct ib_findings *f)
{
	char expected[96], found[96];

	if (!*have->sha256) { /* unreadable: said where it was read */
		ib_check_skip(self, f, have->path, "could not be read");
		return;
	}
	if (have->bytes == want->bytes && strcmp(have->sha256, want->sha256) == 0)
		return;
	snprintf(expected, sizeof(expected), "%" PRIu64 " bytes, %s", want->bytes, want->sha256);
	snprintf(found, sizeof(found), "%" PRIu64 " bytes, %s", have->bytes, have->sha256);
	ib_finding_values(ib_check_fail(self, f, IB_E_HASH, have->path, "its bytes are not those that the run's record lists"), expected, found);
}

/* Both lists are sorted by bytes: one pass. */
static void one_run(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	const struct ib_study_file *have = v->files + r->first_file, *end = have + r->n_files;
	const struct ib_record_file *want = r->record.files, *last = want + r->record.files_n;
	size_t prefix = strlen("runs/") + strlen(r->id) + 1;

	while (have < end || want < last) {
		const char *rest = have < end ? have->path + prefix : NULL;
		int d = !rest ? 1 : want == last ? -1 : strcmp(rest, want->path);

		if (rest && d <= 0 && strcmp(rest, "record.json") == 0) {
			have++;
		} else if (d < 0) {
			ib_check_fail(self, f, IB_E_EXTRA, have->path, "not in the run's record: it was added later");
			have++;
		} else if (d > 0) {
			missing(self, v, r, want++, f);
		} else {
			same(self, have++, want++, f);
		}
	}
}

static void command(const struct ib_check *self, const struct ib_study_view *v, const struct ib_study_run *r, struct ib_findings *f)
{
	ib_auto_free char *path = ib_run_path(r, "command.json");
	const struct ib_study_file *have = ib_study_find_file(v, path);

	if (have && *have->sha256 && *r->record.command_sha256 && strcmp(have->sha256, r->record.command_sha256) != 0)
		ib_finding_values(ib_check_fail(self, f, IB_E_BINDING, path, "is not the command whose digest the record holds"), r->record.command_sha256, have->sha256);
}

static void run(const struct ib_check *self, const struct ib_study_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];

		if (!r->has_record || !r->has_dir)
			continue;
		n++;
		if (ordered(self, r, f))
			one_run(self, v, r, f);
		command(self, v, r, f);
	}
	if (!n)
		ib_check_skip(self, f, NULL, "no run has a record that can be relied on");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_files = {.id = "S07", .level = IB_FINDING_E, .title = "each run holds exactly the files of its record", .run = run};
