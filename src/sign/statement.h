/* SPDX-License-Identifier: Apache-2.0 */
/* The signed in-toto Statement (man/ib-packet.5, Signature; schemas/statement-v1.schema.json): one way to write it, one strict reading. */
#ifndef IB_SIGN_STATEMENT_H
#define IB_SIGN_STATEMENT_H

#include "base/buf.h"
#include "base/digest.h"
#include "json/json.h"

#define IB_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define IB_PREDICATE_TYPE "urn:ibtools:packet:v1"
#define IB_STATEMENT_RUNS 10

/* planned started completed failed timed_out interrupted abandoned refused excluded imported */
extern const char *const ib_statement_run_keys[IB_STATEMENT_RUNS];

/* What the packet itself says; digests of absent files are NULL. */
struct ib_statement_facts {
	const char *tagmanifest, *manifest;           /* SHA-256 of the two manifests */
	const char *contract, *ledger, *report, *withheld; /* of data/contract.yaml, ledger.jsonl, report/index.html, withheld.json */
	const char *study;                            /* study part of the top directory */
	const char *seal;                             /* its last part, 8 hex digits */
};

/* What the signer says. */
struct ib_statement {
	char *question;            /* or NULL */
	char head[IB_HEX_LEN];     /* "": there is no ledger */
	uint64_t length;
	bool has_runs;
	uint64_t runs[IB_STATEMENT_RUNS];
	char *tool_name, *tool_version, *tool_commit; /* commit may be NULL */
};

/* Appends the Statement's one form to b. IB_E_LIMIT, or IB_E_USAGE for a control character in a text. */
IB_MUST int ib_statement_make(const struct ib_statement_facts *f, const struct ib_statement *s, struct ib_buf *b, struct ib_err *err);
/* Reads a Statement whose signature was verified and compares it with the packet: IB_E_JSON, IB_E_DSSE (shape, type, form), IB_E_HASH (a
 * subject), IB_E_BINDING. *ret is filled on success. */
IB_MUST int ib_statement_check(const char *data, size_t n, const struct ib_statement_facts *f, struct ib_statement *ret, struct ib_err *err);
void ib_statement_clear(struct ib_statement *s);
#define ib_auto_statement __attribute__((cleanup(ib_statement_clear)))

#endif
