/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a study or packet: the table of its runs, from a verdict, in several formats. */
#ifndef IB_REPORT_REPORT_H
#define IB_REPORT_REPORT_H

#include "clients/result.h"
#include "verify/verify.h"

#define IB_REPORT_SCHEMA "urn:ibtools:report:v1"
#define IB_REPORT_MAX (64u << 20) /* bytes of a report */

/* A number of the table: derived, or else claimed by the client alone. */
struct ib_report_number {
	struct ib_stat stat;
	double claimed; /* same unit; NaN: not claimed, or derived */
};

/* One row: a run, or one of several results of a run. */
struct ib_report_row {
	const struct ib_study_run *run;
	const struct ib_result *result; /* NULL: no result file, or none that may be read */
	size_t of;                      /* results of this run */
	bool established;               /* the bytes behind it are those that were recorded; if not, no number of it is shown */
	struct ib_requests requests;    /* all IB_NOT_IN_FILE without a result */
	struct ib_report_number p50_ms, p95_ms; /* time to first token */
	struct ib_stat rate_hz;                 /* succeeded requests / the client's duration */
	bool diagnostic;                        /* of a diagnostic group: no headline */
	bool synthetic;
	const char *synthetic_why; /* or NULL */
	struct ib_strv notes; /* plain sentences, untrusted text in them not escaped */
};

struct ib_report {
	const struct ib_verdict *verdict; /* borrowed */
	const char *study, *question;     /* or NULL */
	struct ib_report_row *rows;       /* every run of the ledger, in its order but diagnostic ones last; then directories it does not name */
	size_t n;
	size_t synthetic; /* rows whose numbers do not come from a real endpoint */
};

/* v must outlive the report. */
void ib_report_build(const struct ib_verdict *v, struct ib_report *ret);
void ib_report_clear(struct ib_report *r);
#define ib_auto_report __attribute__((cleanup(ib_report_clear)))

struct ib_report_format {
	const char *name; /* of --format */
	void (*render)(const struct ib_report *r, struct ib_buf *b);
};

extern const struct ib_report_format ib_report_text, ib_report_markdown, ib_report_json;
extern const struct ib_report_format *const ib_report_formats[]; /* ends with NULL */
/* NULL when there is none of that name. */
const struct ib_report_format *ib_report_format_find(const char *name);

#endif
