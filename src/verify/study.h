/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a reader sees it: an evidence sink that keeps the table of files and the documents whose digests were compared, and the checks
 * over them. Knows nothing of where the bytes come from. */
#ifndef IB_VERIFY_STUDY_H
#define IB_VERIFY_STUDY_H

#include "base/digest.h"
#include "json/json.h"
#include "ledger/chain.h"
#include "model/finding.h"
#include "verify/evidence.h"

struct ib_client_result; /* clients/client.h: what a client's own files say of a run */

struct ib_study_file {
	char *path; /* below the study's root */
	uint64_t bytes;
	char sha256[IB_HEX_LEN];
};

struct ib_study_entry {
	json_t *json;
	const char *kind; /* points into json; "" when it has none */
	char line_sha256[IB_HEX_LEN];
};

/* A small document: parsed (json) or not (why says why not). */
struct ib_study_doc {
	char *path;
	char sha256[IB_HEX_LEN];
	json_t *json;
	char *why; /* why there is no json; NULL when there is */
	enum ib_code code;
};

struct ib_study_run {
	char *id;
	const json_t *start, *finish; /* its ledger entries, or NULL */
	size_t start_seq, finish_seq; /* lines of the ledger, 0: none */
	unsigned starts, ends;        /* how many entries of each sort (ends: finish and abandoned) */
	const json_t *exclusion;
	size_t exclusion_seq;
	bool abandoned;               /* by an entry, or derived: started, never ended, directory not locked */
	bool locked;                  /* a process holds the directory: the run is still going on */
	bool has_dir;                 /* at least one file below runs/<id>/ */
	size_t first_file, n_files;   /* its files within ib_study_view.files */
	struct ib_study_doc record;   /* path NULL: there is none */
	const char *group, *cell;     /* of the start entry; NULL: none */
	int64_t repeat, attempt;
	const char *state;            /* final: a record's state, "abandoned", "running", or "unknown" (its evidence does not hold) */
	struct ib_client_result *result; /* what its client wrote, re-read; NULL: none was recognised */
	char *result_file;               /* path of the file that it was read from */
};

struct ib_study_view {
	struct ib_study_file *files; /* sorted by bytes of path after ib_study_view_end() */
	size_t n_files;
	bool has_ledger;
	struct ib_chain chain;
	char *ledger_problem; /* the ledger could not be read to its end */
	enum ib_code ledger_code;
	struct ib_study_entry *entries;
	size_t n_entries;
	struct ib_study_run *runs; /* ledger's order of starts; directories that no start entry names follow */
	size_t n_runs, n_ledger_runs;
	struct ib_study_doc *contracts; /* contracts/<sha256>.json */
	size_t n_contracts;
	const json_t *contract; /* the contract in force: of the last contract or amendment entry; NULL: none or not readable */
	struct ib_study_doc withheld;
	const json_t *seal; /* the last entry, when it is a seal */
	bool anchored;      /* set by a packet's reader: a manifest and a signed statement vouch for every file and for the ledger's head */
	const char *expect_head; /* set by the caller, or NULL */
	/* private */
	struct ib_index *index;
	struct ib_findings noted; /* what was found while files came in */
	size_t held_bytes;
	bool clients_off;
};

/* Accounting of runs, as in a seal entry. */
struct ib_run_counts {
	uint64_t planned, started, completed, failed, timed_out, interrupted, abandoned, refused, excluded, imported;
};

void ib_study_view_init(struct ib_study_view *v);
struct ib_evidence_sink ib_study_view_sink(struct ib_study_view *v);
/* After the last file: sorts, binds files to runs, derives final states. Must be called once, before the checks. */
void ib_study_view_end(struct ib_study_view *v);
void ib_study_view_clear(struct ib_study_view *v);

/* Runs all checks of ib_study_checks[] over an ended view; each adds its findings, at least one. */
void ib_study_check(const struct ib_study_view *v, struct ib_findings *f);

/* The file of that path, or NULL. */
const struct ib_study_file *ib_study_find_file(const struct ib_study_view *v, const char *path);
/* The run of that ID, or NULL. */
struct ib_study_run *ib_study_find_run(const struct ib_study_view *v, const char *id);
/* Counts re-derived from the ledger, the records and the contract's plan. planned equals started without a plan. */
void ib_study_count(const struct ib_study_view *v, struct ib_run_counts *ret);

#endif
