/* SPDX-License-Identifier: Apache-2.0 */
/* What is carried out beside the runs of a plan, with the same placeholders, environment and hooks: quality checks, recordings, ceilings. */
#ifndef IB_RUN_ASIDE_H
#define IB_RUN_ASIDE_H

#include "model/entry.h"
#include "run/plan_inside.h"
#include "run/runid.h"

struct ib_aside {
	struct ib_run run;       /* to be given to steps, hooks and answers; its record is a scratch one */
	struct ib_run_spec spec;
	struct ib_record record;
	struct ib_strv env;
	struct ib_var *variables;
	char *dir, *output_dir;
};

/* a->run for the directory dir_fd (absolute path dir; not taken over), whose "output" is made. slot gives group, cell, repeat and variables; NULL: none. id
 * must live as long. Cleared with ib_aside_clear(). */
IB_MUST int ib_aside_begin(struct ib_plan *plan, const char *id, int dir_fd, const char *dir, const struct ib_contract_slot *slot, struct ib_aside *a,
			   struct ib_err *err);
void ib_aside_clear(struct ib_aside *a);

/* "20261130T160102Z-<what>-9f3a1c7e". */
IB_MUST int ib_aside_id(const struct ib_plan *plan, const char *what, char ret[IB_RUN_ID_MAX], struct ib_err *err);

/* Writes a document, past the last gate, as path below the study (a new file, read-only) and enters it into the ledger. */
IB_MUST int ib_aside_keep(struct ib_plan *plan, enum ib_entry_kind kind, const char *path, const json_t *document, struct ib_err *err);
/* The same for bytes. */
IB_MUST int ib_aside_keep_bytes(struct ib_plan *plan, enum ib_entry_kind kind, const char *path, const struct ib_buf *b, struct ib_err *err);

#endif
