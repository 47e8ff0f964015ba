/* SPDX-License-Identifier: Apache-2.0 */
/* A study directory opened for work. */
#ifndef IB_RUN_STUDY_H
#define IB_RUN_STUDY_H

#include <stdbool.h>

#include "base/ctx.h"
#include "base/digest.h"
#include "base/err.h"
#include "ledger/append.h"

struct ib_redactor;

struct ib_study {
	char *path;       /* absolute */
	char *name;       /* of the contract, or of the directory */
	int fd;           /* of the directory */
	struct ib_ledger *ledger;
	struct ib_redactor *redactor;  /* with the study's key */
	char capture_node[IB_HEX_LEN]; /* this process's node capture; "" not taken */
	bool capture_tried;
	char *capture_note;            /* why there is none, or NULL */
	int64_t survivors;             /* processes of abandoned runs found alive; IB_NONE: could not look */
};

/* Opens (or creates, with create) a study: makes runs/, writes the first entry when the ledger is empty (a contract entry with
 * null for ad hoc, unless source_sha256 and json_sha256 are given), repairs a torn last line, marks abandoned runs and looks for
 * survivors. path NULL: "." when it holds a ledger, else "./ib-study". name NULL: taken from the ledger or, in a new study, from the directory. */
IB_MUST int ib_study_open(const struct ib_ctx *ctx, const char *path, const char *name, const char *source_sha256, const char *json_sha256,
			  struct ib_study *ret, struct ib_err *err);
void ib_study_clear(struct ib_study *s);
#define ib_auto_study __attribute__((cleanup(ib_study_clear)))

#endif
