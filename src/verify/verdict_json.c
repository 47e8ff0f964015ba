/* SPDX-License-Identifier: Apache-2.0 */
/* The findings document. */
#include <string.h>

#include "base/auto.h"
#include "base/exit.h"
#include "verify/ask.h"
#include "verify/coverage.h"
#include "verify/gates.h"
#include "verify/verify.h"

static json_t *subject(const struct ib_verdict *v)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "path", v->path);
	ib_json_set_str(o, "kind", ib_kind_name(v->kind));
	ib_json_set_str(o, "sha256", v->sha256);
	return o;
}

json_t *ib_verdicts_json(const struct ib_verdict *v)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "intact", ib_holds_name(v->intact));
	ib_json_set_str(o, "signed", ib_holds_name(v->is_signed));
	ib_json_set_str(o, "trusted", ib_holds_name(v->trusted));
	ib_json_set_str(o, "time_stamped", ib_holds_name(v->time_stamped));
	ib_json_set_str(o, "consistent", ib_holds_name(v->consistent));
	return o;
}

static json_t *signers(const struct ib_verdict *v)
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < v->n_signers; i++) {
		json_t *o = ib_json_object();

		ib_json_set_str(o, "fingerprint", v->signers[i].fingerprint);
		ib_json_set_str(o, "key_type", v->signers[i].key_type);
		ib_json_set_bool(o, "trusted", v->signers[i].trusted);
		ib_json_set_str(o, "principal", v->signers[i].principal);
		ib_json_set_bool(o, "dsse", v->signers[i].dsse);
		ib_json_set_bool(o, "ssh", v->signers[i].ssh);
		ib_json_add(a, o);
	}
	return a;
}

static json_t *results(const struct ib_verdict *v)
{
	json_t *a = ib_json_array();

	bool loose = v->kind == IB_KIND_FOLDER || v->kind == IB_KIND_FILE;

	for (size_t i = 0; loose && i < v->audit.n_runs; i++)
		for (size_t k = 0; k < v->audit.runs[i].results->n; k++)
			ib_json_add(a, ib_result_json(&v->audit.runs[i].results->v[k], NULL));
	for (size_t i = 0; v->intact == IB_HOLDS_YES && i < v->study.n_runs; i++)
		for (size_t k = 0; k < v->study.runs[i].results.n; k++)
			ib_json_add(a, ib_result_json(&v->study.runs[i].results.v[k], v->study.runs[i].id));
	return a;
}

static json_t *study(const struct ib_verdict *v)
{
	const struct ib_study_view *s = &v->study;
	json_t *o;

	if (!s->n_registrations || v->intact == IB_HOLDS_NO)
		return NULL;
	o = ib_json_object();
	ib_json_set_str(o, "name", s->registrations[0]->e.study);
	ib_json_set_str(o, "question", json_string_value(json_object_get(s->contract, "question")));
	ib_json_set(o, "runs", v->kind == IB_KIND_RUN ? NULL : ib_run_counts_json(&v->counts)); /* of one run: nobody counted */
	ib_json_set_str(o, "ledger_head", s->chain.head);
	ib_json_set_int(o, "ledger_length", (int64_t)s->chain.length);
	ib_json_set_bool(o, "sealed", s->seal != NULL);
	return o;
}

static json_t *asked(const struct ib_verdict *v)
{
	const char *wanted[64];
	size_t n = ib_ask(&v->findings, wanted, IB_LEN(wanted));
	json_t *a = ib_json_array();

	for (size_t i = 0; i < n; i++)
		ib_json_add_str(a, wanted[i]);
	return a;
}

/* Gates, comparisons and coverage: numbers, so only of bytes that are intact, or that nobody vouches for. */
static void add_analysis(const struct ib_verdict *v, json_t *o)
{
	bool loose = v->kind == IB_KIND_FOLDER || v->kind == IB_KIND_FILE;
	ib_auto_comparisons struct ib_comparisons compared = {0};
	ib_auto_coverage struct ib_coverage coverage = {0};
	struct ib_gate gates[IB_GATES];

	if (v->intact == IB_HOLDS_YES || (loose && v->exit != IB_EXIT_REFUSED)) {
		ib_compare(&v->audit, &compared);
		ib_coverage(&v->audit, &coverage);
	}
	ib_gates(v, &compared, gates);
	ib_json_set(o, "gates", ib_gates_json(gates));
	ib_json_set(o, "cells", ib_compared_json(&compared));
	ib_json_set(o, "comparisons", ib_pairs_json(&compared));
	ib_json_set(o, "coverage", v->intact == IB_HOLDS_YES ? ib_coverage_json(&v->audit, &coverage) : NULL);
	ib_json_set(o, "planned", v->intact == IB_HOLDS_YES ? ib_planned_json(&v->audit, &coverage) : NULL);
	ib_json_set(o, "ask", asked(v));
}

json_t *ib_verdict_json(const struct ib_verdict *v)
{
	json_t *o = ib_json_object(), *tool = ib_json_object();

	ib_json_set_str(o, "schema", "urn:ibtools:findings:v1");
	ib_json_set_str(tool, "version", PACKAGE_VERSION);
	ib_json_set_str(tool, "commit", IB_COMMIT[0] ? IB_COMMIT : NULL);
	ib_json_set_str(tool, "sandbox", v->sandbox.level[0] ? v->sandbox.level : NULL);
	ib_json_set_str(tool, "sandbox_missing", v->sandbox.missing[0] ? v->sandbox.missing : NULL);
	ib_json_set(o, "tool", tool);
	ib_json_set(o, "subject", subject(v));
	ib_json_set(o, "verdicts", ib_verdicts_json(v));
	ib_json_set(o, "signers", signers(v));
	ib_json_set(o, "study", study(v));
	ib_json_set(o, "results", results(v));
	add_analysis(v, o);
	ib_json_set(o, "rules", ib_rules_json(v->rules));
	ib_json_set(o, "findings", ib_findings_json(&v->findings));
	ib_json_set(o, "tally", ib_findings_tally(&v->findings));
	ib_json_set_int(o, "exit", v->exit);
	return o;
}
