/* SPDX-License-Identifier: Apache-2.0 */
/* What the text and the Markdown form have in common: cells, heading lines and sections, made of escaped text. */
#ifndef IB_REPORT_TABLE_H
#define IB_REPORT_TABLE_H

#include "report/report.h"

typedef void (*ib_escape_fn)(struct ib_buf *b, const char *s, size_t max);

enum { IB_COL_RUN, IB_COL_REQUESTS, IB_COL_P50, IB_COL_P95, IB_COL_N, IB_COL_RATE, IB_COL_CACHE, IB_COL_STATE, IB_COLS };

extern const char *const ib_report_columns[IB_COLS]; /* headings */

/* The cells of a row, allocated. */
void ib_report_cells(const struct ib_report_row *row, ib_escape_fn escape, char *ret[IB_COLS]);
void ib_report_cells_clear(char *cells[IB_COLS]);

/* Lines above the table: study, verdict, question, synthetic, accounting. */
void ib_report_head(const struct ib_report *r, ib_escape_fn escape, struct ib_strv *ret);
/* What the columns mean for the rows of one section, then "run ID: note" for each note. */
void ib_report_foot(const struct ib_report *r, const struct ib_formula *ttft, ib_escape_fn escape, struct ib_strv *ret);
void ib_report_notes(const struct ib_report *r, ib_escape_fn escape, struct ib_strv *ret);

/* Sections: rows whose times to first token follow the same formula. A row without a result belongs to the first one. Returns
 * the number of sections (at least 1); section i has formula ret[i], which is NULL when no row has a result. */
#define IB_SECTIONS_MAX 8
size_t ib_report_sections(const struct ib_report *r, const struct ib_formula *ret[IB_SECTIONS_MAX]);
bool ib_report_in_section(const struct ib_report_row *row, const struct ib_formula *const *sections, size_t i);

#endif
