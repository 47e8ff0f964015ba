/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and exit status out of one list of findings, so that they cannot say different things. */
#include "verify/settle.h"

#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/str.h"

/* The exit status that one finding asks for by itself. */
static int exit_of(const struct ib_finding *one, bool strict)
{
	int status;

	if (one->level == IB_FINDING_W)
		return strict && one->status == IB_FAIL ? IB_EXIT_FAILS : IB_EXIT_OK;
	if (one->level != IB_FINDING_E || one->status == IB_PASS)
		return IB_EXIT_OK;
	if (one->status == IB_NOT_CHECKABLE) /* with a class it stands for something required */
		return one->code ? IB_EXIT_UNDECIDED : IB_EXIT_OK;
	status = one->code ? ib_code_exit(one->code) : IB_EXIT_FAILS;
	return status == IB_EXIT_USAGE ? IB_EXIT_FAILS : status;
}

/* Refused before fails before undecided. */
static int worse(int a, int b)
{
	static const int order[] = {IB_EXIT_REFUSED, IB_EXIT_FAILS, IB_EXIT_UNDECIDED};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return IB_EXIT_OK;
}

static enum ib_holds and(enum ib_holds a, enum ib_holds b)
{
	if (a == IB_HOLDS_NO || b == IB_HOLDS_NO)
		return IB_HOLDS_NO;
	return a == IB_HOLDS_YES && b == IB_HOLDS_YES ? IB_HOLDS_YES : IB_HOLDS_NOT_CHECKABLE;
}

/* Does this finding speak of bytes (their digests, the chain, the form they come in), rather than of what they say? */
static bool about_bytes(const struct ib_finding *one)
{
	return one->code && one->code != IB_E_BINDING && one->code != IB_E_TRUST && one->code != IB_E_UNSUPPORTED && one->code != IB_E_SIG &&
	       one->code != IB_E_KEY;
}

/* Whose a packet is and what of its signatures could be read says nothing of its study. */
static bool of_signatures(const struct ib_finding *one)
{
	return one->code == IB_E_TRUST || (one->code == IB_E_UNSUPPORTED && ib_starts(one->id, "E_"));
}

static void judge(struct ib_verdict *v)
{
	enum ib_holds intact = IB_HOLDS_YES, consistent = IB_HOLDS_YES;

	for (size_t i = 0; i < v->findings.n; i++) {
		const struct ib_finding *one = &v->findings.v[i];
		enum ib_holds h = one->status == IB_FAIL ? IB_HOLDS_NO : IB_HOLDS_NOT_CHECKABLE;

		if (one->level != IB_FINDING_E || one->status == IB_PASS || of_signatures(one) || (one->status == IB_NOT_CHECKABLE && !one->code))
			continue;
		consistent = and(consistent, h);
		if (about_bytes(one) && (v->kind != IB_KIND_PACKET || ib_starts(one->id, "E_"))) /* a packet's bytes are its reader's to judge */
			intact = and(intact, h);
	}
	v->intact = and(v->intact, intact);
	if (v->consistent == IB_HOLDS_YES) /* else what the study says was not looked at */
		v->consistent = consistent;
}

/* What the caller asked for and the subject cannot give. */
static bool required_holds(const struct ib_verdict *v, const struct ib_verify_opts *opts)
{
	bool anchor = opts->n_trust || opts->n_fingerprints;

	if (v->kind == IB_KIND_FOLDER || v->kind == IB_KIND_FILE) /* nothing vouches for the bytes: what they say is all there is */
		return v->consistent == IB_HOLDS_YES && !anchor;
	if (v->intact != IB_HOLDS_YES || v->consistent != IB_HOLDS_YES)
		return false;
	if (v->kind == IB_KIND_PACKET && !opts->unsigned_ok)
		return v->is_signed == IB_HOLDS_YES && v->trusted == IB_HOLDS_YES;
	return !anchor || v->trusted == IB_HOLDS_YES;
}

void ib_verdict_settle(struct ib_verdict *v, const struct ib_verify_opts *opts)
{
	int status = IB_EXIT_OK;

	v->rules = opts->rules;
	v->rules_change = ib_rules_apply(opts->rules, &v->findings);
	judge(v);
	for (size_t i = 0; i < v->findings.n; i++)
		status = worse(status, exit_of(&v->findings.v[i], opts->strict));
	if (!required_holds(v, opts))
		status = worse(status, IB_EXIT_UNDECIDED);
	v->exit = status;
}
