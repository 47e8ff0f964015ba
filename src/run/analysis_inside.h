/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of one analysis, shared by its two files only. */
#ifndef IB_RUN_ANALYSIS_INSIDE_H
#define IB_RUN_ANALYSIS_INSIDE_H

#include "base/buf.h"
#include "run/analysis.h"
#include "run/child.h"
#include "run/opened.h"
#include "run/snapshot.h"
#include "run/study.h"

/* A file that the command line names. */
struct ib_analysis_script {
	size_t argument; /* from 0, the program */
	char *path;      /* below the study; of one outside: redacted */
	bool in_study;
	uint64_t bytes;
	char sha256[IB_HEX_LEN];
};

struct ib_analysis_work {
	const struct ib_ctx *ctx;
	struct ib_study study;
	char *id, *dir;      /* dir: below the study */
	int dir_fd;
	char *const *asked;  /* the command as it was given, placeholders and all */
	struct ib_strv argv, env, watched, read, notes;
	struct ib_analysis_script *scripts;
	size_t n_scripts;
	struct ib_snapshot before, after;
	struct ib_opened opened;
	struct ib_child_result res;
	bool ended;          /* the command ran or could not be started; after and res hold */
};

/* Is it where an analysis may write: below analysis/ or report/? */
bool ib_analysis_may_write(const char *path);

/* The text of analysis.json, past the last gate, when opened has ended and after is taken; before (not ended) that of begun.json. */
IB_MUST int ib_analysis_document(struct ib_analysis_work *w, struct ib_buf *ret, struct ib_err *err);

#endif
