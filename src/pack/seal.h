/* SPDX-License-Identifier: Apache-2.0 */
/* From a study to a sealed study: runs accounted for, withheld.json written, the seal at the ledger's end. */
#ifndef IB_PACK_SEAL_H
#define IB_PACK_SEAL_H

#include "base/ctx.h"
#include "ledger/read.h"
#include "pack/tree.h"

/* A study being packed. */
struct ib_pack_study {
	int fd;
	char *name; /* of the directory, for messages */
	struct ib_tree tree;
	struct ib_ledger_view ledger; /* as it stands in the tree */
	bool has_contract;
	struct ib_contract contract;  /* the version in force */
	char *question;               /* of contract.yaml as it stands, or NULL */
	bool sealed_now;
	uint64_t sealed_at; /* seconds since 1970 */
};

/* Reads the ledger and accounts for abandoned runs (entries are appended where the study can be written). IB_E_STATE: a run is still going on. */
IB_MUST int ib_pack_account(const struct ib_ctx *ctx, struct ib_pack_study *s, struct ib_err *err);
/* Reads the contract in force, walks the study and writes withheld.json where it is not right already. */
IB_MUST int ib_pack_gather(const struct ib_ctx *ctx, struct ib_pack_study *s, dev_t key_dev, ino_t key_ino, struct ib_err *err);
/* Appends a seal unless the last entry is one of this tree, and takes in the ledger as it stands then. */
IB_MUST int ib_pack_seal(const struct ib_ctx *ctx, struct ib_pack_study *s, const struct ib_run_counts *counts, struct ib_err *err);
void ib_pack_study_clear(struct ib_pack_study *s);

#endif
