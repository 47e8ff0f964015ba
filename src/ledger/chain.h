/* SPDX-License-Identifier: Apache-2.0 */
/* The hash chain of a ledger, checked over its raw bytes as they stream by: one JSON object a line, "seq" counting from 1, "prev" null and then
 * the SHA-256 of the previous line without its newline. Knows nothing of what the entries say. */
#ifndef IB_LEDGER_CHAIN_H
#define IB_LEDGER_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "json/json.h"

#define IB_LEDGER_LINE_MAX (64u << 10) /* bytes of one line without its newline */

struct ib_chain {
	uint64_t length;       /* lines so far */
	char head[IB_HEX_LEN]; /* SHA-256 of the last line; "" when there is none */
	char why[256];         /* the first fault, "line 3: …"; "" while the chain holds */
	uint64_t why_line;     /* its line, or 0 */
	/* Called for every line up to the first fault: the bytes (n without newline, NUL behind them) and the parsed object,
	 * both valid during the call only. May be NULL. */
	void (*entry)(void *arg, uint64_t seq, const char *line, size_t n, const json_t *entry);
	void *arg;
	struct ib_buf line; /* private: the unfinished line */
};

/* entry may be NULL. Memory: at most one line and its parsed form. */
void ib_chain_init(struct ib_chain *c, void (*entry)(void *arg, uint64_t seq, const char *line, size_t n, const json_t *entry), void *arg);
/* Takes the next bytes. Faults go to why, and reading goes on; only a line over the limit fails: IB_E_LIMIT. */
IB_MUST int ib_chain_feed(struct ib_chain *c, const void *data, size_t n, struct ib_err *err);
/* End of the ledger: at least one line, and a newline behind the last one, else a fault in why. */
void ib_chain_end(struct ib_chain *c);
void ib_chain_clear(struct ib_chain *c);
#define ib_auto_chain __attribute__((cleanup(ib_chain_clear)))

#endif
