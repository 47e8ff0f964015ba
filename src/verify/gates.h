/* SPDX-License-Identifier: Apache-2.0 */
/* Five questions that a reader asks in this order, each answered out of the findings and comparisons (ib-audit(7), Gates). */
#ifndef IB_VERIFY_GATES_H
#define IB_VERIFY_GATES_H

#include "verify/compare.h"
#include "verify/verify.h"

enum ib_gate_name { IB_GATE_CONTRACT, IB_GATE_BASELINE, IB_GATE_COMPARISON, IB_GATE_TRADE_OFF, IB_GATE_EVIDENCE, IB_GATES };

struct ib_gate {
	const char *name; /* "contract" … */
	enum ib_holds holds;
	const char *why;  /* where it does not hold, or is open: a few words (static text) */
};

void ib_gates(const struct ib_verdict *v, const struct ib_comparisons *c, struct ib_gate ret[IB_GATES]);
json_t *ib_gates_json(const struct ib_gate gates[IB_GATES]);

#endif
