/* SPDX-License-Identifier: Apache-2.0 */
/* The servers behind a run: their pages of metrics before and after, and whether each stayed one and the same process. */
#ifndef IB_RUN_IDENTITY_H
#define IB_RUN_IDENTITY_H

#include "model/contract.h"
#include "run/listener.h"
#include "run/run.h"

/* One metrics URL at one moment. */
struct ib_page {
	char *text, *why; /* text NULL: not read, for the reason why */
	struct ib_listener listener;
};

struct ib_endpoints {
	struct ib_page *before, *after; /* n each, or NULL: not asked */
	size_t n;
};

/* Asks every metrics URL of the evidence and keeps the page as endpoint/metrics-before.txt, -before-2.txt …; what cannot be read is a note that names the
 * endpoint by its number. Nothing without evidence. */
void ib_endpoints_before(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *ret);
/* The same after the command; then fills the record's section server_identity. */
void ib_endpoints_after(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *e);
/* All pages one behind the other, allocated; NULL: one was not read, or there are none. */
char *ib_endpoints_join(const struct ib_page *pages, size_t n);
void ib_endpoints_clear(struct ib_endpoints *e);

/* The pages as they are now, kept nowhere (before a reset that must restart). */
void ib_endpoints_look(struct ib_run *run, const struct ib_contract_evidence *evidence, struct ib_endpoints *ret);
/* After such a reset, begun at since_ns (wall clock): is every endpoint another process than in seen? By what its metrics say of its start, else by the process
 * that listens, where that is on this machine. IB_E_STATE: it is not, or that cannot be seen. */
IB_MUST int ib_endpoints_renewed(struct ib_run *run, const struct ib_contract_evidence *evidence, const struct ib_endpoints *seen, int64_t since_ns,
				 struct ib_err *err);

#endif
