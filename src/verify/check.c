/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks over a study, and what they share. */
#include "verify/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

extern const struct ib_check ib_check_chain, ib_check_entries, ib_check_first, ib_check_accounts, ib_check_records, ib_check_binding, ib_check_files,
	ib_check_dirs, ib_check_contracts, ib_check_captures, ib_check_plan, ib_check_seal, ib_check_withheld, ib_check_head, ib_check_torn,
	ib_check_reread, ib_check_kept, ib_check_analyses, ib_check_load, ib_check_times;

const struct ib_check *const ib_study_checks[] = {
	&ib_check_chain,     &ib_check_entries,  &ib_check_first, &ib_check_accounts, &ib_check_records,  &ib_check_binding, &ib_check_files,  &ib_check_dirs,
	&ib_check_contracts, &ib_check_captures, &ib_check_plan,  &ib_check_seal,     &ib_check_withheld, &ib_check_head,    &ib_check_torn,   &ib_check_reread,
	&ib_check_kept, &ib_check_analyses, &ib_check_load, &ib_check_times,
	NULL,
};

extern const struct ib_check ib_check_complete, ib_check_signature, ib_check_formats, ib_check_runs, ib_check_belongs, ib_check_exits, ib_check_requests,
	ib_check_success, ib_check_zeros, ib_check_claims, ib_check_samples, ib_check_definitions, ib_check_durations, ib_check_rate, ib_check_cap,
	ib_check_lengths, ib_check_repeats, ib_check_first_request;
extern const struct ib_check ib_check_cache, ib_check_workloads, ib_check_same_work, ib_check_model,
	ib_check_versions, ib_check_build, ib_check_hardware, ib_check_bracketing, ib_check_source, ib_check_clocks, ib_check_portable, ib_check_privacy,
	ib_check_quality, ib_check_settings, ib_check_continuity, ib_check_excluded, ib_check_overlap, ib_check_refusals, ib_check_ceiling;

/* In the order of their numbers. */
const struct ib_check *const ib_audit_checks[] = {
	&ib_check_complete,
	&ib_check_signature,
	&ib_check_formats,
	&ib_check_runs,
	&ib_check_belongs,
	&ib_check_exits,
	&ib_check_requests,
	&ib_check_success,
	&ib_check_zeros,
	&ib_check_claims,
	&ib_check_samples,
	&ib_check_definitions,
	&ib_check_durations,
	&ib_check_rate,
	&ib_check_cap,
	&ib_check_lengths,
	&ib_check_repeats,
	&ib_check_first_request,
	&ib_check_cache,
	&ib_check_workloads,
	&ib_check_same_work,
	&ib_check_model,
	&ib_check_versions,
	&ib_check_build,
	&ib_check_hardware,
	&ib_check_bracketing,
	&ib_check_source,
	&ib_check_clocks,
	&ib_check_portable,
	&ib_check_privacy,
	&ib_check_quality,
	&ib_check_settings,
	&ib_check_continuity,
	&ib_check_excluded,
	&ib_check_overlap,
	&ib_check_refusals,
	&ib_check_ceiling,
	NULL,
};

void ib_audit_check(const struct ib_audit_view *v, struct ib_findings *f)
{
	for (size_t i = 0; ib_audit_checks[i]; i++)
		ib_audit_checks[i]->audit(ib_audit_checks[i], v, f);
}

const struct ib_check *ib_check_find(const char *id)
{
	const struct ib_check *const *const tables[] = {ib_study_checks, ib_audit_checks};

	for (size_t t = 0; t < IB_LEN(tables); t++)
		for (size_t i = 0; tables[t][i]; i++)
			if (strcasecmp(tables[t][i]->id, id) == 0)
				return tables[t][i];
	return NULL;
}

void ib_structure_check(const struct ib_study_view *v, struct ib_findings *f)
{
	for (size_t i = 0; ib_study_checks[i]; i++)
		ib_study_checks[i]->run(ib_study_checks[i], v, f);
}

void ib_study_check(const struct ib_study_view *v, struct ib_findings *f)
{
	ib_auto_audit struct ib_audit_view audit;

	ib_structure_check(v, f);
	ib_audit_of_study(v, NULL, &audit);
	ib_audit_check(&audit, f);
}

bool ib_check_needs_study(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (!v->study)
		ib_check_skip(c, f, NULL, "needs what ib-run records in a study: a ledger, records and captures");
	return !v->study;
}

bool ib_check_needs_all_runs(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f)
{
	if (ib_check_needs_study(c, v, f))
		return true;
	if (v->alone)
		ib_check_skip(c, f, NULL, "needs all runs of the study: verify the study or its packet");
	return v->alone;
}

size_t ib_check_hints(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *r = &v->runs[i].results->v[k];

			for (size_t h = 0; h < r->n_hints; h++) {
				const struct ib_hint *hint = &r->hints[h];
				struct ib_finding *one;

				if (strcmp(hint->check, c->id) != 0)
					continue;
				one = ib_check_fail(c, f, IB_OK, r->file, "%s", hint->message);
				if (!one->where)
					one->where = ib_strdup(hint->key);
				ib_finding_values(one, hint->expected, hint->found);
				n++;
			}
		}
	return n;
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

__attribute__((format(printf, 6, 0))) static struct ib_finding *add_text(const struct ib_check *c, struct ib_findings *f, enum ib_level_of level,
									  enum ib_status status, const char *file, const char *fmt, va_list ap)
{
	struct ib_finding *one;
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	one = add(c, f, IB_OK, level, status, file, text);
	free(text);
	return one;
}

struct ib_finding *ib_check_fail_as(const struct ib_check *c, struct ib_findings *f, enum ib_level_of level, const char *file, const char *fmt, ...)
{
	struct ib_finding *one;
	va_list ap;

	va_start(ap, fmt);
	one = add_text(c, f, level, IB_FAIL, file, fmt, ap);
	va_end(ap);
	return one;
}

struct ib_finding *ib_check_say(const struct ib_check *c, struct ib_findings *f, const char *file, const char *fmt, ...)
{
	struct ib_finding *one;
	va_list ap;

	va_start(ap, fmt);
	one = add_text(c, f, c->level, IB_PASS, file, fmt, ap);
	va_end(ap);
	return one;
}

void ib_check_open(const struct ib_check *c, struct ib_findings *f, const char *file, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_text(c, f, IB_FINDING_I, IB_NOT_CHECKABLE, file, fmt, ap);
	va_end(ap);
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

void ib_check_results(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f, bool llm, ib_check_one one)
{
	size_t before = f->n, n = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			if (res->unknown_version || (llm && res->any_benchmark))
				continue;
			n++;
			one(c, &v->runs[i], res, f);
		}
	ib_check_hints(c, v, f);
	ib_check_unread(c, v, f);
	if (!n && f->n == before)
		ib_check_skip(c, f, NULL, llm ? "no run holds a result of LLM requests" : "no run holds a result of a known client");
	ib_check_pass(c, f, before);
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

void ib_check_unread(const struct ib_check *c, const struct ib_audit_view *v, struct ib_findings *f)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		const struct ib_audit_run *run = &v->runs[i];

		if (run->run && ib_run_unread(v->study, run->run))
			ib_check_skip(c, f, run->run->doc.path, "the client's result was not re-read: withheld, torn or of an unknown version");
		if (run->torn.n || run->unsupported.n)
			ib_check_skip(c, f, run->name, "not all of its result files could be read: A03 says why");
		for (size_t k = 0; k < run->results->n; k++)
			if (run->results->v[k].unknown_version)
				ib_check_skip(c, f, run->results->v[k].file, "of a version of its client that is not known here: nothing of it can be judged");
	}
}
