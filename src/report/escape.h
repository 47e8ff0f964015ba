/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text on its way to a terminal (ib_escape_text) or into Markdown. */
#ifndef IB_REPORT_ESCAPE_H
#define IB_REPORT_ESCAPE_H

#include "base/escape.h"

/* As ib_escape_text(), and no character of it is Markdown: |, `, <, [ … get a backslash, links do not form by themselves. */
void ib_escape_markdown(struct ib_buf *b, const char *s, size_t max);
/* Columns that UTF-8 text without controls takes: one a character. */
size_t ib_text_columns(const char *s);

#endif
