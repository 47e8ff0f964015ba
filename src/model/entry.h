/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of the ledger (schemas/entry-v1.schema.json): one line of ledger.jsonl. */
#ifndef IB_MODEL_ENTRY_H
#define IB_MODEL_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "model/record.h"

#define IB_ENTRY_MAX 65536 /* bytes of a line, with its LF */

/* An analysis's document, in analysis/<id>/. The ledger holds the first once it ended, the second when its ib-run did not end. */
#define IB_ANALYSIS_SCHEMA "urn:ibtools:analysis:v1"
#define IB_ANALYSIS_ENDED "analysis.json"
#define IB_ANALYSIS_BEGUN "begun.json"

enum ib_entry_kind {
	IB_ENTRY_CONTRACT,
	IB_ENTRY_AMENDMENT,
	IB_ENTRY_START,
	IB_ENTRY_FINISH,
	IB_ENTRY_ABANDONED,
	IB_ENTRY_EXCLUSION,
	IB_ENTRY_NOTE,
	IB_ENTRY_IMPORT,
	IB_ENTRY_ANALYSIS, /* analysis/<id>/analysis.json, or begun.json of one that was abandoned */
	IB_ENTRY_TORN,
	IB_ENTRY_SEAL,
	IB_ENTRY_QUALITY,   /* a quality check: quality/<id>/result.json */
	IB_ENTRY_RECORDING, /* a recorded workload: workload/recorded/<group>.<cell>.jsonl */
	IB_ENTRY_CEILING,   /* what the clients reached without a server: ceiling/<id>.json */
	IB_ENTRY_KINDS,
};

const char *ib_entry_kind_name(enum ib_entry_kind k); /* never NULL */

/* The accounting of a study's runs. */
struct ib_run_counts {
	int64_t planned, started, completed, failed, timed_out, interrupted, abandoned, refused, excluded, imported;
};

/* Object with these ten keys in this order. New reference. */
json_t *ib_run_counts_json(const struct ib_run_counts *c);
IB_MUST int ib_run_counts_from_json(const json_t *j, const char *where, struct ib_run_counts *ret, struct ib_err *err);

struct ib_entry {
	/* filled by the appender */
	int64_t seq;                 /* from 1 */
	int64_t wall_ns, monotonic_ns;
	char *boot;                  /* pseudonym of the boot id, or NULL */
	char prev[IB_HEX_LEN];       /* "" for the first */
	/* filled by the caller, by kind; all others stay zero */
	enum ib_entry_kind kind;
	char *study;                           /* contract, amendment */
	char source_sha256[IB_HEX_LEN];        /* contract, amendment; "" for both: ad hoc, null */
	char json_sha256[IB_HEX_LEN];
	char *reason;                          /* amendment, exclusion */
	bool results_known;                    /* amendment */
	char *run;                             /* start, finish, abandoned, exclusion, import */
	char *group, *cell;                    /* start; may be NULL */
	int64_t repeat, attempt;               /* start */
	char capture[IB_HEX_LEN];              /* start; "" is null */
	enum ib_state state;                   /* finish */
	char record_sha256[IB_HEX_LEN];        /* finish */
	struct ib_strv captures;               /* finish: digests */
	char *text;                            /* note */
	char *file;                            /* torn, analysis, quality, recording, ceiling */
	int64_t bytes;                         /* of it */
	char sha256[IB_HEX_LEN];
	char tree_sha256[IB_HEX_LEN];          /* seal */
	struct ib_run_counts runs;             /* seal */
};

void ib_entry_clear(struct ib_entry *e);
#define ib_auto_entry __attribute__((cleanup(ib_entry_clear)))

/* New reference, keys in the normative order. */
json_t *ib_entry_to_json(const struct ib_entry *e);
/* Strict. *ret needs no init; cleared on failure. Of import only the common keys (and run) are read. */
IB_MUST int ib_entry_from_json(const json_t *j, const char *where, struct ib_entry *ret, struct ib_err *err);

#endif
