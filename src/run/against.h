/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a slot, run against a loopback endpoint in place of the server. */
#ifndef IB_RUN_AGAINST_H
#define IB_RUN_AGAINST_H

#include "run/plan_inside.h"

struct ib_against {
	bool record, bodies; /* asked: the endpoint keeps record.jsonl, with the bodies */
	char *dir;           /* a scratch directory; "truth.jsonl" and, where asked, "record.jsonl" are in it */
	int dir_fd;
	struct ib_child_result res;
	char *why;           /* the command did not end well: why, with the last it said; NULL: it did */
	int64_t server_tokens; /* prompt tokens that the server itself counted meanwhile; IB_NONE: it was not asked or did not answer */
};

/* a->record and a->bodies are set by the caller, everything else is 0; cleared with ib_against_clear(). The endpoint takes no time for anything.
 * IB_E_USAGE: the command does not say where its load goes. A command that fails is no error. */
IB_MUST int ib_against(struct ib_plan *plan, const struct ib_contract_slot *slot, struct ib_against *a, struct ib_err *err);
void ib_against_clear(struct ib_against *a);
#define ib_auto_against __attribute__((cleanup(ib_against_clear)))

/* Has another slot before this one the same command (repeats that are alike)? */
bool ib_against_same(const struct ib_contract *c, size_t a, size_t b);

#endif
