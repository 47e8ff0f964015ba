/* SPDX-License-Identifier: Apache-2.0 */
/* The records of any result, written as ib-requests(5). */
#ifndef IB_CLIENTS_EXPORT_H
#define IB_CLIENTS_EXPORT_H

#include "base/source.h"
#include "clients/result.h"

enum ib_requests_form {
	IB_REQUESTS_JSONL,
	IB_REQUESTS_CSV,
};

/* The form that a file name asks for: CSV when it ends with ".csv". */
enum ib_requests_form ib_requests_form_of(const char *path);
/* Writes one result, of any client: a header, then one line for each of its records, warm-ups first. What the form cannot carry is in the manual.
 * IB_E_UNSUPPORTED: the result has no records. Errors of the drain. */
IB_MUST int ib_requests_write(const struct ib_result *r, enum ib_requests_form form, const struct ib_drain *out, struct ib_err *err);

#endif
