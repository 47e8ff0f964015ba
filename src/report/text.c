/* SPDX-License-Identifier: Apache-2.0 */
/* The report on a terminal: aligned columns, one character a column. */
#include <string.h>

#include "report/escape.h"
#include "report/table.h"

static void lines(const struct ib_strv *l, const char *before, struct ib_buf *b)
{
	for (size_t i = 0; i < l->n; i++)
		ib_buf_addf(b, "%s%s\n", before, l->v[i]);
}

static void pad(struct ib_buf *b, size_t n)
{
	while (n--)
		ib_buf_addc(b, ' ');
}

/* Numbers to the right, names to the left. */
static void put(struct ib_buf *b, const char *const *cells, const size_t *width)
{
	for (size_t c = 0; c < IB_COLS; c++) {
		bool right = c == IB_COL_REQUESTS || c == IB_COL_P50 || c == IB_COL_P95 || c == IB_COL_N || c == IB_COL_RATE;
		size_t gap = width[c] - ib_text_columns(cells[c]);

		if (c)
			ib_buf_adds(b, "  ");
		if (right)
			pad(b, gap);
		ib_buf_adds(b, cells[c]);
		if (!right && c + 1 < IB_COLS)
			pad(b, gap);
	}
	ib_buf_addc(b, '\n');
}

static void widen(const char *const *cells, size_t *width)
{
	for (size_t c = 0; c < IB_COLS; c++) {
		size_t n = ib_text_columns(cells[c]);

		width[c] = n > width[c] ? n : width[c];
	}
}

static void section(const struct ib_report *r, const struct ib_formula *const *formulas, size_t i, struct ib_buf *b)
{
	size_t width[IB_COLS] = {0};

	widen(ib_report_columns, width);
	for (int pass = 0; pass < 2; pass++) {
		if (pass)
			put(b, ib_report_columns, width);
		for (size_t k = 0; k < r->n; k++) {
			char *cells[IB_COLS];

			if (!ib_report_in_section(&r->rows[k], formulas, i))
				continue;
			ib_report_cells(&r->rows[k], ib_escape_text, cells);
			if (pass)
				put(b, (const char *const *)cells, width);
			else
				widen((const char *const *)cells, width);
			ib_report_cells_clear(cells);
		}
	}
}

static void render(const struct ib_report *r, struct ib_buf *b)
{
	const struct ib_formula *formulas[IB_SECTIONS_MAX];
	ib_auto_strv struct ib_strv head = {0}, notes = {0};
	size_t n = ib_report_sections(r, formulas);

	ib_buf_adds(b, "study ");
	ib_escape_text(b, r->study, 120);
	ib_buf_addc(b, '\n');
	ib_report_head(r, ib_escape_text, &head);
	lines(&head, "", b);
	for (size_t i = 0; i < n; i++) {
		ib_auto_strv struct ib_strv foot = {0};

		ib_buf_addc(b, '\n');
		section(r, formulas, i, b);
		ib_report_foot(r, formulas[i], ib_escape_text, &foot);
		lines(&foot, "  ", b);
	}
	ib_report_notes(r, ib_escape_text, &notes);
	if (notes.n)
		ib_buf_adds(b, "\nnotes\n");
	lines(&notes, "  ", b);
}

const struct ib_report_format ib_report_text = {.name = "text", .render = render};
