/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of an open ledger, shared by append.c and sweep.c. */
#ifndef IB_LEDGER_LEDGER_H
#define IB_LEDGER_LEDGER_H

#include <stdbool.h>
#include <sys/types.h>

#include "ledger/append.h"

struct ib_ledger {
	const struct ib_ctx *ctx;
	int fd, study_fd;
	char *boot;
	bool any_abandoned; /* seen by the last ib_ledger_mark_abandoned() */
};

IB_MUST int ib_ledger_size(struct ib_ledger *l, off_t *ret, struct ib_err *err);
IB_MUST int ib_ledger_lock(struct ib_ledger *l, struct ib_err *err);
void ib_ledger_unlock(struct ib_ledger *l);
/* ib_ledger_append() under a lock that is held already; with only_first nothing is added to a ledger that has a line. */
IB_MUST int ib_ledger_append_locked(struct ib_ledger *l, struct ib_entry *e, bool only_first, bool *ret_done, struct ib_err *err);

/* sweep.c: the text behind "key":" in a line, up to the next quote: run IDs, kinds and our files' names hold no escapes. NULL: there is none. Allocated. */
char *ib_ledger_value_of(const char *line, size_t n, const char *key);

#endif
