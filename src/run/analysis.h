/* SPDX-License-Identifier: Apache-2.0 */
/* A command that reads a study and makes figures and tables of it: its script, what it read and what it wrote, by digest. */
#ifndef IB_RUN_ANALYSIS_H
#define IB_RUN_ANALYSIS_H

#include "base/ctx.h"
#include "base/err.h"

struct ib_analysis_options {
	const char *study;   /* NULL: "." or ./ib-study; must be there */
	char *const *argv;   /* NULL-terminated; {study_dir} and {analysis_dir} are replaced */
	int64_t timeout_ns;  /* 0: none */
	int64_t grace_ns;    /* 0: 10 s */
};

/* Runs the command, with IB_STUDY_DIR and IB_ANALYSIS_DIR in its environment, and writes analysis/<id>/analysis.json with its logs and the
 * entry of the ledger, however the command ends. The directory is locked until then, and begun.json in it says what was begun.
 * *ret_status is the exit status for ib-run: the command's own, 124, 126, 127 or 128+n. An
 * error means that the study could not be read or written. */
IB_MUST int ib_analysis(const struct ib_ctx *ctx, const struct ib_analysis_options *options, int *ret_status, struct ib_err *err);

#endif
