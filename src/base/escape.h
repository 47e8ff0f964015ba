/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text on its way to a terminal. */
#ifndef IB_BASE_ESCAPE_H
#define IB_BASE_ESCAPE_H

#include "base/buf.h"

/* Appends s so that every byte shows and nothing acts: controls, bidirectional and invisible characters, combining marks and invalid UTF-8
 * become \n, \x1B or \u202E; the backslash is doubled. At most max characters, then "…". NULL gives a dash. */
void ib_escape_text(struct ib_buf *b, const char *s, size_t max);

#endif
