/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks over a study, and what they share. */
#include "verify/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

extern const struct ib_check ib_check_chain, ib_check_entries, ib_check_first, ib_check_accounts, ib_check_records, ib_check_binding, ib_check_files,
	ib_check_dirs, ib_check_contracts, ib_check_captures, ib_check_plan, ib_check_seal, ib_check_withheld, ib_check_head, ib_check_torn,
	ib_check_reread, ib_check_requests, ib_check_claims, ib_check_cache, ib_check_workloads, ib_check_excluded, ib_check_overlap;

const struct ib_check *const ib_study_checks[] = {
	&ib_check_chain,     &ib_check_entries,   &ib_check_first,    &ib_check_accounts,  &ib_check_records,  &ib_check_binding, &ib_check_files, &ib_check_dirs,
	&ib_check_contracts, &ib_check_captures,  &ib_check_plan,     &ib_check_seal,      &ib_check_withheld, &ib_check_head,    &ib_check_torn,  &ib_check_reread,
	&ib_check_requests,  &ib_check_claims,    &ib_check_cache,    &ib_check_workloads, &ib_check_excluded, &ib_check_overlap, NULL,
};

void ib_study_check(const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; ib_study_checks[i]; i++)
		ib_study_checks[i]->run(ib_study_checks[i], v, f);
}

/* Findings of checks stand for classes of evidence: a document of the wrong shape has none of its own. */
static enum ib_code class_of(enum ib_code code)
{
	return code <= IB_E_HASH ? code : IB_OK;
}

static struct ib_finding *add(const struct ib_check *c, struct ib_findings *f, enum ib_code code, enum ib_level_of level, enum ib_status status,
			      const char *file, const char *text)
{
	struct ib_finding *one = ib_findings_add(f, c->id, level, status, "%s", text);

	one->code = class_of(code);
	if (file && !one->file)
		one->file = ib_strdup(file);
	return one;
}

struct ib_finding *ib_check_fail(const struct ib_check *c, struct ib_findings *f, enum ib_code code, const char *file, const char *fmt, ...)
{
	struct ib_finding *one;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	/* what this version cannot read is undecided, not wrong */
	one = add(c, f, code, c->level, code == IB_E_UNSUPPORTED || code == IB_E_IO ? IB_NOT_CHECKABLE : IB_FAIL, file, text);
	if (code == IB_E_IO)
		one->code = IB_E_IO;
	free(text);
	return one;
}

void ib_finding_values(struct ib_finding *one, const char *expected, const char *found)
{
	if (!one->expected)
		one->expected = ib_strdup(expected);
	if (!one->found)
		one->found = ib_strdup(found);
}

void ib_check_skip(const struct ib_check *c, struct ib_findings *f, const char *file, const char *why)
{
	add(c, f, IB_OK, IB_FINDING_I, IB_NOT_CHECKABLE, file, why);
}

void ib_check_problems(const struct ib_check *c, const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_problems; i++)
		if (strcmp(v->problems[i].check, c->id) == 0)
			ib_check_fail(c, f, v->problems[i].code, v->problems[i].path, "%s", v->problems[i].why);
}

void ib_check_pass(const struct ib_check *c, struct ib_findings *f, size_t before)
{
	if (f->n == before)
		add(c, f, IB_OK, c->level, IB_PASS, NULL, c->title);
}

char *ib_run_path(const struct ib_study_run *run, const char *rest)
{
	return ib_asprintf("runs/%s/%s", run->id, rest);
}

bool ib_run_has_output(const struct ib_study_view *v, const struct ib_study_run *run)
{
	for (size_t i = 0; i < run->n_files; i++)
		if (ib_starts(v->files[run->first_file + i].path + strlen("runs/") + strlen(run->id) + 1, "output/"))
			return true;
	return false;
}

bool ib_run_unread(const struct ib_study_view *v, const struct ib_study_run *run)
{
	return run->has_record && run->record.requests.client && !run->results.n && !v->no_clients && ib_run_has_output(v, run);
}

void ib_check_unread(const struct ib_check *c, const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_ledger_runs; i++)
		if (ib_run_unread(v, &v->runs[i]))
			ib_check_skip(c, f, v->runs[i].doc.path, "the client's result was not re-read: too large, withheld or of an unknown version");
}
