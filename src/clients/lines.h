/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one JSON document, or of one a line. */
#ifndef IB_CLIENTS_LINES_H
#define IB_CLIENTS_LINES_H

#include "json/json.h"

typedef int (*ib_line_fn)(json_t *o, const char *name, void *arg, struct ib_err *err);

/* Calls fn for every line that is not blank; errors name the line. The last line may lack its line feed when torn_ok. */
IB_MUST int ib_lines(const char *data, size_t n, const char *name, bool torn_ok, ib_line_fn fn, void *arg, struct ib_err *err);
/* One document over any number of lines, or, when the first line is a whole one and more follow, as ib_lines(). */
IB_MUST int ib_lines_or_document(const char *data, size_t n, const char *name, ib_line_fn fn, void *arg, struct ib_err *err);

#endif
