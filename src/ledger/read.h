/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a ledger: entries in order, and the accounting of runs that follows from them. Writes nothing. The chain of
 * digests itself is checked in ledger/chain.h. */
#ifndef IB_LEDGER_READ_H
#define IB_LEDGER_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/entry.h"

/* Calls each(arg, entry) for every line of n bytes; a non-zero return of each stops and is returned. Every line must be one strict JSON object
 * and end with LF, seq must count from 1; else an error naming the line. */
IB_MUST int ib_ledger_each(const char *data, size_t n, int (*each)(void *arg, const struct ib_entry *e, struct ib_err *err), void *arg, struct ib_err *err);

/* One run as the ledger tells it. */
struct ib_ledger_run {
	char *id, *group, *cell; /* group and cell may be NULL */
	int64_t repeat, attempt;
	int64_t started_ns, finished_ns;   /* wall clock of the entries; finished_ns IB_NONE: no finish */
	int64_t started_seq, finished_seq; /* 0: none */
	enum ib_state state;      /* IB_STATE_ABANDONED also when it has no finish (see open) */
	bool open;                /* neither finish nor abandoned entry */
	bool excluded;
	char *exclusion_reason;
	char record_sha256[IB_HEX_LEN]; /* "" without a finish */
	char capture[IB_HEX_LEN];
	size_t contract;          /* index of the contract or amendment that was in force */
};

struct ib_ledger_contract {
	int64_t seq, wall_ns;
	char source_sha256[IB_HEX_LEN], json_sha256[IB_HEX_LEN]; /* "" for ad hoc */
	char *reason; /* of an amendment, else NULL */
	bool results_known;
};

/* The whole ledger digested: runs in order of their start, contracts in order. */
struct ib_ledger_view {
	char *study;
	struct ib_ledger_run *runs;
	size_t runs_n;
	struct ib_ledger_contract *contracts;
	size_t contracts_n;
	int64_t length;           /* entries */
	int64_t torn;             /* torn entries */
	char head[IB_HEX_LEN];    /* SHA-256 of the last line; "" for an empty ledger */
	int64_t sealed_seq;       /* of the last entry when it is a seal, else 0 */
	struct ib_run_counts seal_runs; /* of the last seal */
	char seal_tree[IB_HEX_LEN];
	int64_t seal_wall_ns;
	struct ib_run_counts counts; /* derived; planned = started here (the caller knows the plan) */
};

/* Also an error (IB_E_LEDGER): a first entry that is no contract, a finish without start, two finishes, a start of a known run, an
 * exclusion of an unknown run. Runs without finish count as abandoned. */
IB_MUST int ib_ledger_view_load(const char *data, size_t n, struct ib_ledger_view *ret, struct ib_err *err);
void ib_ledger_view_clear(struct ib_ledger_view *v);
#define ib_auto_ledger_view __attribute__((cleanup(ib_ledger_view_clear)))
/* The run with this ID, or NULL. */
const struct ib_ledger_run *ib_ledger_view_find(const struct ib_ledger_view *v, const char *run_id);

#endif
