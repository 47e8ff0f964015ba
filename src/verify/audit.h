/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's view of any evidence: runs with results, what they were told to do and what the server counted. A study gives one run for each of its
 * ledger; a folder one for each directory that holds results; a single file is one run. Checks A01 … look at this and at nothing else. */
#ifndef IB_VERIFY_AUDIT_H
#define IB_VERIFY_AUDIT_H

#include "verify/context.h"
#include "verify/study.h"

struct ib_audit_run {
	char *name;                     /* a run ID; or the directory below the folder ("." for the folder itself); or the file's name */
	const struct ib_study_run *run; /* NULL: not of a study */
	const struct ib_results *results; /* derived; never NULL */
	struct ib_results own;          /* of a folder: what results points to */
	struct ib_strv torn;            /* of a folder: result files that a client recognised and could not read to their end: "path: why" */
	struct ib_strv unsupported;     /* of a folder: those of a form, version or size that their client's reader does not take: "path: why" */
	const struct ib_context *context; /* never NULL */
	struct ib_context own_context;  /* of a folder: what context points to */
	const json_t *slot;             /* of the contract's plan, or NULL */
	const json_t *group;            /* of the contract, or NULL */
};

/* A file of a folder. */
struct ib_audit_file {
	char *path, *sha256;
	uint64_t bytes;
	int64_t modified_ns; /* since 1970; of a directory's file, else IB_NONE */
};

struct ib_audit_view {
	const struct ib_study_view *study; /* NULL: a folder or a file */
	bool alone;                  /* one run's directory: what is said of other runs is not at hand */
	bool single;                 /* one file by itself: nothing around it was looked at */
	bool packet, is_signed, trusted;   /* what the packet's reader found */
	bool intact;                       /* of a study or packet */
	struct ib_audit_run *runs;
	size_t n_runs;
	struct ib_audit_file *files; /* of a folder, sorted by bytes of path */
	size_t n_files;
	struct ib_strv records;     /* of a folder: paths of records of ib-run: their ledger is not here */
	struct ib_strv unanswered;  /* of a folder: directories with the command of a client, and no result in them or below: "path: client" */
	struct ib_strv unread;      /* of a folder: what could not be read: "path: why" */
	struct ib_strv unknown;     /* of a folder: JSON of no known client, archives */
	struct ib_strv passed_over; /* of a folder: links, devices, sockets and pipes: "path: a symbolic link" */
	struct ib_privacy privacy; /* of a folder */
	bool no_clients;
};

/* The view of an ended study, or of one of its runs alone (only not NULL). study must stay valid. */
void ib_audit_of_study(const struct ib_study_view *study, const struct ib_study_run *only, struct ib_audit_view *ret);
void ib_audit_view_clear(struct ib_audit_view *v);
void ib_audit_run_clear(struct ib_audit_run *run); /* what it holds, not itself */
#define ib_auto_audit __attribute__((cleanup(ib_audit_view_clear)))

/* Setting k of a run: what its result file says, else its command line, else the printed configuration; NULL: nobody says. */
const char *ib_audit_setting(const struct ib_audit_run *run, const struct ib_result *res, enum ib_setting_key k);
double ib_audit_number(const struct ib_audit_run *run, const struct ib_result *res, enum ib_setting_key k); /* NaN: nobody says */
/* Did the run go to its end, as far as is known? Of a folder's run: unless its file says that it was cut off. */
bool ib_audit_whole(const struct ib_audit_run *run);
/* The path to report for a result. */
const char *ib_audit_where(const struct ib_audit_run *run, const struct ib_result *res);

#endif
