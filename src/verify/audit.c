/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's view of a study, and the questions that checks ask of any view. */
#include "verify/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const json_t *group_of(const json_t *contract, const char *name)
{
	const json_t *groups = json_object_get(contract, "groups");
	size_t i;
	json_t *g;

	json_array_foreach(groups, i, g)
		if (name && ib_streq(json_string_value(json_object_get(g, "name")), name))
			return g;
	return NULL;
}

static const json_t *slot_of(const json_t *contract, const struct ib_entry *start)
{
	const json_t *plan = json_object_get(contract, "plan");
	size_t i;
	json_t *s;

	json_array_foreach(plan, i, s)
		if (ib_streq(json_string_value(json_object_get(s, "group")), start->group) &&
		    ib_streq(json_string_value(json_object_get(s, "cell")), start->cell) &&
		    json_integer_value(json_object_get(s, "repeat")) == start->repeat)
			return s;
	return NULL;
}

void ib_audit_of_study(const struct ib_study_view *study, const struct ib_study_run *only, struct ib_audit_view *ret)
{
	*ret = (struct ib_audit_view){.study = study, .alone = only != NULL, .packet = study->anchored, .intact = true, .no_clients = study->no_clients};
	ret->runs = ib_alloc((study->n_ledger_runs + 1) * sizeof(*ret->runs));
	for (size_t i = 0; i < study->n_ledger_runs; i++) {
		const struct ib_study_run *run = &study->runs[i];
		struct ib_audit_run *a = &ret->runs[ret->n_runs];
		const json_t *contract = NULL;

		if (only && only != run)
			continue;
		ret->n_runs++;
		*a = (struct ib_audit_run){.name = ib_strdup(run->id), .run = run, .results = &run->results, .context = &run->context};
		if (!run->start)
			continue;
		(void)ib_study_contract_at(study, run->start->e.seq, &contract);
		a->group = group_of(contract, run->start->e.group);
		a->slot = slot_of(contract, &run->start->e);
	}
}

void ib_audit_run_clear(struct ib_audit_run *run)
{
	free(run->name);
	ib_results_clear(&run->own);
	ib_context_clear(&run->own_context);
	ib_strv_clear(&run->torn);
	ib_strv_clear(&run->unsupported);
}

void ib_audit_view_clear(struct ib_audit_view *v)
{
	for (size_t i = 0; i < v->n_runs; i++)
		ib_audit_run_clear(&v->runs[i]);
	free(v->runs);
	ib_strv_clear(&v->records);
	ib_strv_clear(&v->unanswered);
	ib_strv_clear(&v->unread);
	ib_strv_clear(&v->unknown);
	ib_strv_clear(&v->passed_over);
	for (size_t i = 0; i < v->n_files; i++) {
		free(v->files[i].path);
		free(v->files[i].sha256);
	}
	free(v->files);
	ib_privacy_clear(&v->privacy);
	*v = (struct ib_audit_view){0};
}

const char *ib_audit_setting(const struct ib_audit_run *run, const struct ib_result *res, enum ib_setting_key k)
{
	if (res && res->settings.v[k])
		return res->settings.v[k];
	return run->context->settings.v[k];
}

double ib_audit_number(const struct ib_audit_run *run, const struct ib_result *res, enum ib_setting_key k)
{
	if (res && res->settings.v[k])
		return ib_setting_number(&res->settings, k);
	return ib_setting_number(&run->context->settings, k);
}

bool ib_audit_whole(const struct ib_audit_run *run)
{
	if (run->run)
		return run->run->state == IB_STATE_COMPLETED;
	for (size_t i = 0; i < run->results->n; i++)
		if (run->results->v[i].cut)
			return false;
	return true;
}

const char *ib_audit_where(const struct ib_audit_run *run, const struct ib_result *res)
{
	return res ? res->file : run->run ? run->run->doc.path : run->name;
}
