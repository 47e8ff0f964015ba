/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text on its way to a terminal or into Markdown. */
#ifndef IB_REPORT_ESCAPE_H
#define IB_REPORT_ESCAPE_H

#include "base/buf.h"

/* Appends s so that every byte shows and nothing acts: controls, bidirectional and invisible characters, combining marks and invalid UTF-8
 * become \n, \x1B or \u202E; the backslash is doubled. At most max characters, then "…". NULL gives a dash. */
void ib_escape_text(struct ib_buf *b, const char *s, size_t max);
/* The same, and no character of it is Markdown: |, `, <, [ … get a backslash, links do not form by themselves. */
void ib_escape_markdown(struct ib_buf *b, const char *s, size_t max);
/* Columns that UTF-8 text without controls takes: one a character. */
size_t ib_text_columns(const char *s);

#endif
