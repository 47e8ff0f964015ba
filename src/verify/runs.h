/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the study view: what its ledger says of runs (runs.c), for study.c only. */
#ifndef IB_VERIFY_RUNS_H
#define IB_VERIFY_RUNS_H

#include "verify/study.h"

#define IB_RUN_ID_MAX 256

/* Reads the ledger into entries, registrations and runs. data NULL: too large to be read. */
void ib_study_read_ledger(struct ib_study_view *v, const char *data, uint64_t size);
/* A run that no ledger speaks of, to be looked at all the same. */
void ib_study_add_run(struct ib_study_view *v, const char *id);
/* Does a contract or amendment entry register a JSON form of this digest? */
bool ib_study_registered(const struct ib_study_view *v, const char *json_sha256);
/* The run ID of a path "runs/<id>/rest" into ret_id; returns rest, or NULL for another path. */
const char *ib_study_split(const char *path, char ret_id[IB_RUN_ID_MAX]);
/* What the record says of a file of its directory, or NULL. */
const struct ib_record_file *ib_study_listed(const struct ib_study_run *run, const char *rest);
/* Adds the part of the sink that reads files of any size (large.c). */
void ib_study_stream_sink(struct ib_evidence_sink *sink);
/* Remembers a fault for the check of that id. */
void ib_study_problem(struct ib_study_view *v, const char *check, enum ib_code code, const char *path, const char *why);
void ib_study_doc_clear(struct ib_study_doc *d);
/* Frees entries and runs. */
void ib_study_runs_clear(struct ib_study_view *v);

#endif
