/* SPDX-License-Identifier: Apache-2.0 */
/* A03: files of known formats are whole. That a literal, a foreign line or a byte-order mark stands in one is noted: other readers may stumble over it. */
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/check.h"

static void files(const struct ib_check *self, const struct ib_strv *list, const char *what, enum ib_code code, struct ib_findings *f)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *why = strstr(list->v[i], ": "); /* "path: why" */
		ib_auto_free char *file = ib_strndup(list->v[i], why ? (size_t)(why - list->v[i]) : strlen(list->v[i]));

		ib_check_fail(self, f, code, file, "%s: %s", what, why ? why + 2 : "");
	}
}

/* A run that says itself that it was cut off may have left half a file. */
static bool says_truncated(const struct ib_study_run *run)
{
	bool said = false;

	for (size_t i = 0; run->has_record && i < run->record.reasons.n; i++)
		said = said || strcmp(run->record.reasons.v[i], "truncated_output") == 0;
	return said && run->state != IB_STATE_COMPLETED;
}

static void one_run(const struct ib_check *self, const struct ib_audit_run *run, struct ib_findings *f)
{
	static const char broken[] = "the file is torn or malformed";

	files(self, &run->torn, broken, IB_OK, f);
	files(self, &run->unsupported, "cannot be read here", IB_E_UNSUPPORTED, f);
	if (!run->run)
		return;
	for (size_t i = 0; i < run->run->compressed.n; i++)
		ib_check_skip(self, f, run->run->compressed.v[i], "compressed: outputs of a run are read as they are, so that nothing in it is counted or judged");
	if (run->run->torn_results.n && says_truncated(run->run))
		ib_check_skip(self, f, run->run->doc.path, "the client's result is torn, as the record says");
	else
		files(self, &run->run->torn_results, broken, IB_OK, f);
}

static void note(const struct ib_check *self, const struct ib_result *res, uint64_t n, const char *what, struct ib_findings *f)
{
	if (n && res->index == 0)
		ib_check_fail_as(self, f, IB_FINDING_I, res->file, "%" PRIu64 " %s in it", n, what);
}

static void notes(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	note(self, res, res->literals, "NaN or Infinity, which are not JSON,", f);
	note(self, res, res->foreign_lines, "lines that are no records", f);
	if (res->bom)
		note(self, res, 1, "byte-order mark", f);
}

/* Of loose files all that is known is what they say: one whose numbers cannot be judged leaves the verdict open, else a changed version would hide a changed
 * number. What vouches for a study's bytes is not this. */
static void unknown_versions(const struct ib_check *self, const struct ib_audit_run *run, struct ib_findings *f)
{
	for (size_t k = 0; !run->run && k < run->results->n; k++) {
		const struct ib_result *res = &run->results->v[k];

		if (res->unknown_version && (k == 0 || !ib_streq(res->file, res[-1].file)))
			ib_check_fail(self, f, IB_E_UNSUPPORTED, res->file,
				      "cannot be judged here: it is of a version of %s that is not known, or lacks what marks its version", res->client->name);
	}
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_runs; i++) {
		n += v->runs[i].results->n;
		one_run(self, &v->runs[i], f);
		unknown_versions(self, &v->runs[i], f);
	}
	ib_check_hints(self, v, f);
	if (!n && f->n == before)
		ib_check_skip(self, f, NULL, "no run holds a result of a known client");
	ib_check_pass(self, f, before);
	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++)
			notes(self, &v->runs[i].results->v[k], f);
}

const struct ib_check ib_check_formats = {
	.id = "A03",
	.level = IB_FINDING_E,
	.title = "result files are whole",
	.reads = "every file that a known client wrote, to its end; notes NaN and Infinity, foreign lines and byte-order marks",
	.means = "a file is torn, malformed or of a form that no version of its client writes: what stands in it is not all that was measured",
	.todo = "ask for the whole file, or for the run that wrote it to be repeated; a copy made while the client still wrote is the usual cause",
	.audit = run,
};
