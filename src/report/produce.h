/* SPDX-License-Identifier: Apache-2.0 */
/* ib-report as one call: verify, build, render, write. */
#ifndef IB_REPORT_PRODUCE_H
#define IB_REPORT_PRODUCE_H

#include "report/report.h"

struct ib_report_opts {
	struct ib_verify_opts verify;
	const struct ib_report_format *format; /* NULL: text */
	const char *output; /* file to create, or NULL: stdout */
};

/* Verifies path and writes the report of it to a new file or to out. *ret_exit gets the exit status that the verdict gives. IB_E_EXISTS when the output file is
 * there already: nothing is overwritten. IB_E_UNSUPPORTED when path is no study, run or packet. */
IB_MUST int ib_report_produce(const struct ib_ctx *ctx, const char *path, const struct ib_report_opts *opts, FILE *out, int *ret_exit, struct ib_err *err);

#endif
