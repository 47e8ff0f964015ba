/* SPDX-License-Identifier: Apache-2.0 */
/* The report as Markdown: a table that a README can take as it is. */
#include <string.h>

#include "report/escape.h"
#include "report/table.h"

static void list(const struct ib_strv *l, struct ib_buf *b)
{
	for (size_t i = 0; i < l->n; i++)
		ib_buf_addf(b, "- %s\n", l->v[i]);
	if (l->n)
		ib_buf_addc(b, '\n');
}

static void put(struct ib_buf *b, const char *const *cells)
{
	for (size_t c = 0; c < IB_COLS; c++)
		ib_buf_addf(b, "| %s ", cells[c]);
	ib_buf_adds(b, "|\n");
}

static void section(const struct ib_report *r, const struct ib_formula *const *formulas, size_t i, struct ib_buf *b)
{
	put(b, ib_report_columns);
	ib_buf_adds(b, "|---|---:|---:|---:|---:|---:|---|---|\n");
	for (size_t k = 0; k < r->n; k++) {
		char *cells[IB_COLS];

		if (!ib_report_in_section(&r->rows[k], formulas, i))
			continue;
		ib_report_cells(&r->rows[k], ib_escape_markdown, cells);
		put(b, (const char *const *)cells);
		ib_report_cells_clear(cells);
	}
	ib_buf_addc(b, '\n');
}

static void render(const struct ib_report *r, struct ib_buf *b)
{
	const struct ib_formula *formulas[IB_SECTIONS_MAX];
	ib_auto_strv struct ib_strv head = {0}, notes = {0};
	size_t n = ib_report_sections(r, formulas);

	ib_buf_adds(b, "# Study ");
	ib_escape_markdown(b, r->study, 120);
	ib_buf_adds(b, "\n\n");
	ib_report_head(r, ib_escape_markdown, &head);
	list(&head, b);
	for (size_t i = 0; i < n; i++) {
		ib_auto_strv struct ib_strv foot = {0};

		section(r, formulas, i, b);
		ib_report_foot(r, formulas[i], ib_escape_markdown, &foot);
		list(&foot, b);
	}
	ib_report_notes(r, ib_escape_markdown, &notes);
	if (notes.n)
		ib_buf_adds(b, "Notes:\n\n");
	list(&notes, b);
}

const struct ib_report_format ib_report_markdown = {.name = "md", .render = render};
