/* SPDX-License-Identifier: Apache-2.0 */
/* What an author adds to a ledger by hand: the exclusion of a run, a note. */
#ifndef IB_RUN_NOTE_H
#define IB_RUN_NOTE_H

#include "base/ctx.h"
#include "base/err.h"
#include "run/study.h"

struct ib_note_options {
	const char *study;   /* directory; NULL: "." when it holds a ledger, else "./ib-study" */
	const char *exclude; /* ID of a run, or NULL */
	const char *reason;  /* of the exclusion */
	const char *note;    /* or NULL */
};

/* Appends what is asked for to the ledger of a study that is there: the exclusion first. Nothing is appended when one of both is refused. IB_E_USAGE: no
 * such study or run, a run that is excluded already, a text that is blank, too long or holds a secret. */
IB_MUST int ib_note(const struct ib_ctx *ctx, const struct ib_note_options *o, struct ib_err *err);

/* May a person's text stand in the ledger? what names it in the message. IB_E_USAGE: missing, blank, longer than 4096 bytes, not UTF-8, a secret in it. */
IB_MUST int ib_note_check(const struct ib_study *study, const char *what, const char *text, struct ib_err *err);

#endif
