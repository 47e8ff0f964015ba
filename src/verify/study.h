/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a reader sees it: an evidence sink that keeps the table of files and the documents whose digests were compared, and the checks
 * over them. Knows nothing of where the bytes come from. */
#ifndef IB_VERIFY_STUDY_H
#define IB_VERIFY_STUDY_H

#include "base/digest.h"
#include "clients/result.h"
#include "json/json.h"
#include "ledger/chain.h"
#include "model/entry.h"
#include "model/finding.h"
#include "model/record.h"
#include "verify/context.h"
#include "verify/evidence.h"
#include "verify/facts.h"
#include "verify/pages.h"
#include "verify/privacy.h"
#include "verify/samples.h"

struct ib_study_file {
	char *path; /* below the study's root */
	uint64_t bytes;
	char sha256[IB_HEX_LEN]; /* "": it could not be read (there is a finding that says so) */
};

struct ib_study_entry {
	struct ib_entry e; /* all zero where why is set */
	char *why;         /* the line has not the shape of an entry; NULL: it has */
	enum ib_code code;
};

/* A document: parsed (json) or not (why says why not). */
struct ib_study_doc {
	char *path; /* NULL: there is no such file */
	char sha256[IB_HEX_LEN];
	json_t *json;
	char *why;
	enum ib_code code;
};

struct ib_study_run {
	char *id;
	const struct ib_study_entry *start, *finish, *abandoned, *exclusion; /* the first entry of each kind, or NULL */
	unsigned starts, ends;       /* entries of that kind (ends: finish and abandoned) */
	bool locked;                 /* a process holds the directory: the run is still going on */
	bool has_dir;
	size_t first_file, n_files;  /* its files within ib_study_view.files */
	struct ib_study_doc doc;     /* record.json; its json is kept only where record could not be filled from it */
	bool has_record;             /* record is filled, from bytes whose digest the ledger holds (or, in a packet, the manifest) */
	struct ib_record record;
	enum ib_state state;         /* final: what the ledger says, else the record, else abandoned */
	bool running;                /* no end entry, and locked: state says nothing */
	bool adopted;                /* no end entry, state is that of a valid record */
	struct ib_results results;   /* what its client wrote, re-read; n 0: nothing recognised */
	struct ib_strv compressed;   /* paths below output/ of gzip and zstd files: not read */
	size_t unread;               /* files below output/ that were too large to be held and not read as a stream either */
	struct ib_strv argv;         /* the command of command.json, where it could be read */
	struct ib_pages pages;       /* its pages of metrics, counter by counter */
	struct ib_context context;   /* its command line, printed configuration and pages of metrics */
	struct ib_facts before, after; /* from its before.json, with what the endpoint said of itself, and after.json */
	struct ib_samples samples;   /* its load, read again */
	struct ib_strv torn_results; /* result files that a client recognised and could not read: "path: why" */
};

struct ib_study_problem {
	const char *check; /* id of the check that reports it */
	enum ib_code code;
	char *path, *why;
};

struct ib_study_view {
	struct ib_study_file *files; /* sorted by bytes of path after ib_study_view_end() */
	size_t n_files;
	bool has_ledger;
	struct ib_chain chain; /* chain.why: the first fault of the chain; entries are those before it */
	char *ledger_problem;  /* the ledger could not be read to its end */
	enum ib_code ledger_code;
	struct ib_study_entry *entries;
	size_t n_entries;
	struct ib_study_run *runs; /* in the ledger's order of starts (n_ledger_runs of them); then directories that no start entry names */
	size_t n_runs, n_ledger_runs;
	struct ib_study_doc *contracts; /* contracts/<sha256>.json */
	size_t n_contracts;
	struct ib_study_doc *quality; /* quality/<id>/result.json */
	size_t n_quality;
	struct ib_study_doc *analyses; /* analysis/<id>/analysis.json: of a packet all, else those whose digest the ledger holds */
	size_t n_analyses;
	struct ib_study_doc *ceilings; /* ceiling/<id>.json, likewise */
	size_t n_ceilings;
	const struct ib_study_entry *contract_entry; /* the last contract or amendment, or NULL */
	const json_t *contract;                      /* its document; NULL: ad hoc, or not readable */
	struct ib_capture_facts *captures; /* what the captures say */
	size_t n_captures;
	struct ib_privacy privacy;
	struct ib_study_doc withheld;
	const struct ib_study_entry *seal; /* the last entry, when it is a seal */
	bool anchored;           /* set by a packet's reader: a manifest vouches for every file */
	bool signed_head;        /* set by a packet's reader: a signed statement names the ledger's head */
	const char *expect_head; /* set by the caller, or NULL */
	bool no_clients;         /* set by the caller: leave the clients' files unread */
	const struct ib_study_entry **registrations; /* contract and amendment entries, in order */
	size_t n_registrations;
	/* private */
	size_t *index; /* places in runs, by ID */
	size_t n_index;
	struct ib_strv dirs; /* directories seen below runs/ */
	struct ib_study_problem *problems;
	size_t n_problems;
	size_t held_bytes, held_columns;
	struct ib_results streamed; /* what was read last, until its digest is known */
	char *streamed_why;         /* it is torn: why, or NULL */
};

void ib_study_view_init(struct ib_study_view *v);
struct ib_evidence_sink ib_study_view_sink(struct ib_study_view *v);
/* Are there files that a second reading (ib_packet_stream()) would give? */
bool ib_study_view_unread(const struct ib_study_view *v);
/* After the last file: sorts, binds files to runs, derives final states. Must be called once, before the checks. */
void ib_study_view_end(struct ib_study_view *v);
void ib_study_view_clear(struct ib_study_view *v);

/* Runs all checks over an ended view, those of its structure and the audit's; each adds its findings, at least one. */
void ib_study_check(const struct ib_study_view *v, struct ib_findings *f);

/* The file of that path, or NULL. After ib_study_view_end(). */
const struct ib_study_file *ib_study_find_file(const struct ib_study_view *v, const char *path);
/* The run of that ID, or NULL. */
struct ib_study_run *ib_study_find_run(const struct ib_study_view *v, const char *id);
/* Counts re-derived from the ledger, the records and the contract's plan. planned equals started without a plan. */
void ib_study_count(const struct ib_study_view *v, struct ib_run_counts *ret);
/* The registration that was in force when line seq of the ledger was written, or NULL; *ret_json (may be NULL) gets its document, or NULL. */
const struct ib_entry *ib_study_contract_at(const struct ib_study_view *v, int64_t seq, const json_t **ret_json);
/* What the capture of that digest says, or NULL. */
const struct ib_facts *ib_study_capture(const struct ib_study_view *v, const char *sha256);
/* Is this path declared in the withheld.json of a sealed study? Returns its declared digest, or NULL. */
const char *ib_study_withheld(const struct ib_study_view *v, const char *path);

#endif
