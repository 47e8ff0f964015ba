/* SPDX-License-Identifier: Apache-2.0 */
/* The five gates. */
#include "verify/gates.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

static bool fails(const struct ib_verdict *v, const char *const *ids)
{
	for (size_t i = 0; i < v->findings.n; i++)
		for (size_t k = 0; ids[k]; k++)
			if (v->findings.v[i].status == IB_FAIL && v->findings.v[i].level != IB_FINDING_I && strcmp(v->findings.v[i].id, ids[k]) == 0)
				return true;
	return false;
}

static bool any_error(const struct ib_verdict *v)
{
	return ib_findings_count(&v->findings, IB_FINDING_E, IB_FAIL) > 0;
}

static struct ib_gate gate(const char *name, enum ib_holds holds, const char *why)
{
	return (struct ib_gate){name, holds, holds == IB_HOLDS_YES ? NULL : why};
}

/* Was there a plan before the runs, and did they keep to it? */
static struct ib_gate contract(const struct ib_verdict *v)
{
	static const char *const ids[] = {"S03", "S09", "S11", "A20", "A34", NULL};

	if (!v->audit.study || !v->audit.study->contract)
		return gate("contract", IB_HOLDS_NOT_CHECKABLE, "no contract");
	return gate("contract", fails(v, ids) ? IB_HOLDS_NO : IB_HOLDS_YES, "not kept");
}

/* Is there one result whose every request is accounted for and whose numbers re-derive? */
static struct ib_gate baseline(const struct ib_verdict *v, const struct ib_comparisons *c)
{
	static const char *const numbers[] = {"A03", "A10", "A28", NULL}, *const requests[] = {"A07", "A08", NULL};

	if (!c->n_cells)
		return gate("baseline", IB_HOLDS_NOT_CHECKABLE, "no result");
	if (fails(v, numbers))
		return gate("baseline", IB_HOLDS_NO, "numbers do not hold");
	if (fails(v, requests))
		return gate("baseline", IB_HOLDS_NO, "failures");
	for (size_t i = 0; i < c->members.n; i++)
		if (c->members.v[i].res->columns.n && c->members.v[i].res->requests.succeeded > 0)
			return gate("baseline", IB_HOLDS_YES, NULL);
	return gate("baseline", IB_HOLDS_NOT_CHECKABLE, "no records");
}

static struct ib_gate comparison(const struct ib_comparisons *c)
{
	size_t apart = 0;

	for (size_t i = 0; i < c->n_cells; i++)
		apart += c->cells[i].n_pools > 1;
	for (size_t i = 0; i < c->n_pairs; i++)
		apart += c->pairs[i].why != 0;
	if (apart)
		return gate("comparison", IB_HOLDS_NO, "apart");
	return gate("comparison", c->n_pairs ? IB_HOLDS_YES : IB_HOLDS_NOT_CHECKABLE, "nothing to compare");
}

/* Do a time and a rate, and what failed, stand beside each other for all that is compared? */
static struct ib_gate trade_off(const struct ib_verdict *v, const struct ib_comparisons *c)
{
	static const char *const ids[] = {"A14", "A16", "A21", "A31", NULL};
	size_t open = 0;

	if (!c->n_cells)
		return gate("trade-off", IB_HOLDS_NOT_CHECKABLE, "no result");
	for (size_t i = 0; i < c->n_cells; i++)
		open += !c->cells[i].p50_s.n || !c->cells[i].rate_hz.n;
	if (fails(v, ids))
		return gate("trade-off", IB_HOLDS_NO, "unequal load or work");
	return gate("trade-off", open ? IB_HOLDS_NOT_CHECKABLE : IB_HOLDS_YES, "no time or no rate");
}

/* Would a stranger find out if it had been changed, and whose it is? */
static struct ib_gate evidence(const struct ib_verdict *v)
{
	if (v->intact == IB_HOLDS_NO || v->consistent == IB_HOLDS_NO || any_error(v))
		return gate("evidence", IB_HOLDS_NO, "does not hold");
	if (v->intact != IB_HOLDS_YES)
		return gate("evidence", IB_HOLDS_NOT_CHECKABLE, "no digests");
	if (v->kind != IB_KIND_PACKET)
		return gate("evidence", IB_HOLDS_NOT_CHECKABLE, "not sealed");
	return gate("evidence", v->trusted == IB_HOLDS_YES ? IB_HOLDS_YES : IB_HOLDS_NOT_CHECKABLE, "no trusted signer");
}

void ib_gates(const struct ib_verdict *v, const struct ib_comparisons *c, struct ib_gate ret[IB_GATES])
{
	ret[IB_GATE_CONTRACT] = contract(v);
	ret[IB_GATE_BASELINE] = baseline(v, c);
	ret[IB_GATE_COMPARISON] = comparison(c);
	ret[IB_GATE_TRADE_OFF] = trade_off(v, c);
	ret[IB_GATE_EVIDENCE] = evidence(v);
}

json_t *ib_gates_json(const struct ib_gate gates[IB_GATES])
{
	json_t *a = ib_json_array();

	for (size_t i = 0; i < IB_GATES; i++) {
		json_t *o = ib_json_object();

		ib_json_set_str(o, "gate", gates[i].name);
		ib_json_set_str(o, "holds", ib_holds_name(gates[i].holds));
		ib_json_set_str(o, "why", gates[i].why);
		ib_json_add(a, o);
	}
	return a;
}
