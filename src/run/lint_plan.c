/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of the plan itself: limits, expectations, gates, workloads, what is said about the study. */
#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/lint.h"

static void look_timeout(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];

		if (!g->timeout_ns && !g->no_progress_ns)
			ib_lint_say(out, g, NULL, "no timeout: a client that hangs holds the plan for ever");
	}
}

const struct ib_lint ib_lint_timeout = {.id = "L15", .title = "every group has a timeout", .look = look_timeout};

static void look_expect(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];
		const struct ib_contract_expect *e = &g->expect;
		bool any = e->attempts != IB_UNSET || !isnan(e->success_rate_min) || e->output_tokens != IB_UNSET || e->output_tokens_min != IB_UNSET ||
			   e->output_files_min != IB_UNSET;

		if (!any)
			ib_lint_say(out, g, NULL, "it expects nothing but an exit status, and clients exit with 0 whatever became of their requests: add attempts and "
						  "success_rate_min");
	}
}

const struct ib_lint ib_lint_expect = {.id = "L16", .title = "every group expects more than an exit status", .look = look_expect};

/* The first group that is no diagnostic is the baseline of the others. */
static void look_gate(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	const struct ib_contract_group *first = NULL;

	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i];

		if (g->diagnostic)
			continue;
		if (first && !g->gate)
			ib_lint_say(out, g, NULL, "no gate: it is run although '%s' may have failed; 'gate: %s' waits for it", first->name, first->name);
		first = first ? first : g;
	}
}

const struct ib_lint ib_lint_gate = {.id = "L17", .title = "later groups wait for a baseline", .look = look_gate};

static void look_diagnostic(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->groups_n; i++) {
		const struct ib_contract_group *g = &v->contract->groups[i], *gate = g->gate ? ib_contract_group(v->contract, g->gate) : NULL;

		if (gate && gate->diagnostic && !g->diagnostic)
			ib_lint_say(out, g, NULL, "its gate '%s' is diagnostic: a headline group is compared with headline runs", gate->name);
	}
}

const struct ib_lint ib_lint_diagnostic = {.id = "L18", .title = "no headline group has a diagnostic one as its gate", .look = look_diagnostic};

static void look_workload(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	for (size_t i = 0; i < v->contract->workloads_n; i++) {
		const struct ib_contract_workload *w = &v->contract->workloads[i];

		if (w->file && !w->sha256)
			ib_lint_say(out, NULL, NULL, "workload '%s' has no sha256: another file under that name would be measured unseen", w->name);
	}
}

const struct ib_lint ib_lint_workload = {.id = "L19", .title = "workload files have digests", .look = look_workload};

static void look_boundary(const struct ib_lint_view *v, struct ib_lint_out *out)
{
	const struct ib_contract *c = v->contract;
	const json_t *limitations = json_object_get(c->json, "limitations");

	if (!c->question || !c->boundary || !c->decision || !json_array_size(limitations))
		ib_lint_say(out, NULL, NULL, "the contract does not say%s%s%s%s: write it down before there are numbers to please", c->question ? "" : " question",
			    c->boundary ? "" : " boundary", c->decision ? "" : " decision", json_array_size(limitations) ? "" : " limitations");
}

const struct ib_lint ib_lint_boundary = {.id = "L21", .title = "question, boundary, decision and limitations are written down", .look = look_boundary};
