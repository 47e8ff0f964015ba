/* SPDX-License-Identifier: Apache-2.0 */
/* How far each slot of a plan is, by the ledger; which slots were asked for. */
#ifndef IB_RUN_SLOTS_H
#define IB_RUN_SLOTS_H

#include "ledger/read.h"
#include "model/contract.h"

enum ib_slot_state {
	IB_SLOT_EMPTY,   /* nothing fills it: to be run */
	IB_SLOT_TAKEN,   /* another ib-run is at it */
	IB_SLOT_FAILED,  /* filled, not as expected */
	IB_SLOT_DONE,    /* filled as expected */
};

struct ib_slot {
	enum ib_slot_state state;
	int attempts;  /* made so far, whatever became of them */
	bool selected; /* by --only; without it all are */
};

struct ib_slots {
	const struct ib_contract *contract;
	struct ib_slot *v; /* one for each slot of the contract, in its order */
	/* private */
	const struct ib_contract_slot **by_name; /* sorted */
	struct ib_strv open; /* runs of these slots that have no end yet */
	struct ib_slot **open_at; /* whose they are */
};

/* All slots empty and selected. The contract must live as long. */
void ib_slots_init(struct ib_slots *s, const struct ib_contract *c);
void ib_slots_clear(struct ib_slots *s);
/* Their states by the runs that were made under the contract of that digest. A run that was excluded fills no slot. n log n in slots and runs. */
void ib_slots_update(struct ib_slots *s, const struct ib_ledger_view *view, const char *json_sha256);
/* The same for lines that the ledger has gained since. *ret_n is how many of the n bytes were taken: whole lines. False: the ledger has to be read as a whole
 * again, since a run was excluded or another contract is in force. */
bool ib_slots_follow(struct ib_slots *s, const char *data, size_t n, size_t *ret_n);
/* Slots that are not filled as expected, of one group or (NULL) of all that are selected. */
size_t ib_slots_open(const struct ib_slots *s, const char *group);
/* Selects those of a list "GROUP[.CELL[.rN]],…" and no others. IB_E_USAGE: names that the contract does not have, with the nearest that it has. */
IB_MUST int ib_slots_select(struct ib_slots *s, const char *only, struct ib_err *err);
size_t ib_slots_selected(const struct ib_slots *s);

#endif
