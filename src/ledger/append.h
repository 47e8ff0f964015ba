/* SPDX-License-Identifier: Apache-2.0 */
/* Appending to a study's ledger: under a lock, one write, synced, without reading more than its last line. */
#ifndef IB_LEDGER_APPEND_H
#define IB_LEDGER_APPEND_H

#include <stdbool.h>

#include "base/ctx.h"
#include "base/err.h"
#include "model/entry.h"

struct ib_ledger; /* an open ledger; several processes may append to one */

/* Opens ledger.jsonl below study_fd, creating it when absent (create). boot is the pseudonym of the boot id, or NULL. */
IB_MUST int ib_ledger_open(const struct ib_ctx *ctx, int study_fd, const char *boot, bool create, struct ib_ledger **ret, struct ib_err *err);
void ib_ledger_free(struct ib_ledger **l);
#define ib_auto_ledger __attribute__((cleanup(ib_ledger_free)))

/* True when it holds no line yet. Under no lock: only a hint. */
IB_MUST int ib_ledger_is_empty(struct ib_ledger *l, bool *ret, struct ib_err *err);

/* Appends e (its seq, wall_ns, monotonic_ns, boot and prev are set here). A torn last line is first kept in ledger.torn/<seq>,
 * cut and recorded. locked(arg) is called after the entry is on disk and before the lock is given up; it may be NULL. On an
 * error nothing is left of the entry, unless the sync failed. */
IB_MUST int ib_ledger_append(struct ib_ledger *l, struct ib_entry *e, int (*locked)(void *arg, struct ib_err *err), void *arg, struct ib_err *err);
/* Appends the first entry of a study if, under the lock, the ledger is still empty; otherwise does nothing. *ret says which. */
IB_MUST int ib_ledger_append_first(struct ib_ledger *l, struct ib_entry *e, bool *ret_done, struct ib_err *err);

/* Calls held(arg) while nobody appends or looks for what did not end. */
IB_MUST int ib_ledger_hold(struct ib_ledger *l, int (*held)(void *arg, struct ib_err *err), void *arg, struct ib_err *err);

/* Keeps room on the disk for a few more entries (best effort on file systems without it; IB_E_IO when the disk is full). */
IB_MUST int ib_ledger_reserve(struct ib_ledger *l, struct ib_err *err);

/* Every run that has a start, no finish and no abandoned entry, and whose directory is not locked: adopted (a finish is appended) when
 * it holds a valid record, else recorded as abandoned. Gives how many were adopted and abandoned. */
IB_MUST int ib_ledger_mark_abandoned(struct ib_ledger *l, size_t *ret_adopted, size_t *ret_abandoned, struct ib_err *err);
/* True when the last ib_ledger_mark_abandoned() saw or made an abandoned run. */
bool ib_ledger_any_abandoned(const struct ib_ledger *l);
/* Every analysis that has begun, has no entry, and whose directory is not locked: adopted when it holds a whole analysis.json, else entered
 * with its begun.json. An empty directory is removed: nothing was begun in it. */
IB_MUST int ib_ledger_mark_analyses(struct ib_ledger *l, size_t *ret_adopted, size_t *ret_abandoned, struct ib_err *err);

#endif
