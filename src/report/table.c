/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and lines of the runs table. A dash is "not measured". */
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

#define DASH "\u2014"
#define CELL_MAX 4096
#define NAME_MAX_SHOWN 120
#define TEXT_MAX_SHOWN 400

const char *const ib_report_columns[IB_COLS] = {
	[IB_COL_RUN] = "run ID",
	[IB_COL_REQUESTS] = "attempts/success/failures",
	[IB_COL_P50] = "TTFT p50 (ms)",
	[IB_COL_P95] = "TTFT p95 (ms)",
	[IB_COL_N] = "n",
	[IB_COL_RATE] = "requests/s (window)",
	[IB_COL_CACHE] = "cache: evidence",
	[IB_COL_STATE] = "state",
};

static void add_count(struct ib_buf *b, int64_t v)
{
	if (v < 0)
		ib_buf_adds(b, DASH);
	else
		ib_buf_addf(b, "%lld", (long long)v);
}

static char *cell_requests(const struct ib_report_row *row)
{
	struct ib_buf b = IB_BUF(CELL_MAX);
	const struct ib_requests *q = &row->requests;
	int64_t failures = q->failed;

	if (q->attempted < 0 && q->succeeded < 0 && q->failed < 0)
		return ib_strdup(DASH);
	if (failures >= 0) /* everything that did not succeed */
		failures += (q->timed_out > 0 ? q->timed_out : 0) + (q->incomplete > 0 ? q->incomplete : 0);
	add_count(&b, q->attempted);
	ib_buf_addc(&b, '/');
	add_count(&b, q->succeeded);
	ib_buf_addc(&b, '/');
	add_count(&b, failures);
	return ib_buf_steal(&b);
}

/* Enough digits to tell runs apart, not more: 4 significant ones at least. */
static void add_number(struct ib_buf *b, double v)
{
	double a = fabs(v);

	if (a >= 1e12)
		ib_buf_addf(b, "%.4g", v);
	else
		ib_buf_addf(b, "%.*f", a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3, v);
}

static char *cell_number(const struct ib_report_number *n)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	if (n->stat.state == IB_STAT_VALUE) {
		add_number(&b, n->stat.value);
	} else if (!isnan(n->stat.max)) {
		ib_buf_adds(&b, "max ");
		add_number(&b, n->stat.max);
	} else if (!isnan(n->claimed)) {
		ib_buf_adds(&b, "claimed ");
		add_number(&b, n->claimed);
	} else {
		ib_buf_adds(&b, DASH);
	}
	return ib_buf_steal(&b);
}

static char *cell_n(const struct ib_report_row *row)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	add_count(&b, row->p50_ms.stat.state == IB_STAT_VALUE ? (int64_t)row->p50_ms.stat.n : -1);
	return ib_buf_steal(&b);
}

static char *cell_rate(const struct ib_report_row *row)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	if (row->rate_hz.state != IB_STAT_VALUE)
		return ib_strdup(DASH);
	add_number(&b, row->rate_hz.value);
	ib_buf_adds(&b, " (");
	add_number(&b, row->result->duration_s);
	ib_buf_adds(&b, " s)");
	return ib_buf_steal(&b);
}

static char *cell_cache(const struct ib_report_row *row, ib_escape_fn escape)
{
	static const char *const evidence[] = {[IB_UNCONFIRMED] = "unconfirmed", [IB_CONFIRMED] = "confirmed", [IB_CONTRADICTED] = "contradicted"};
	struct ib_buf b = IB_BUF(CELL_MAX);
	const struct ib_record *r = &row->run->record;

	if (!row->run->has_record || !row->established)
		return ib_strdup(DASH);
	escape(&b, r->cache.condition ? r->cache.condition : "unspecified", NAME_MAX_SHOWN);
	ib_buf_addf(&b, ": %s", evidence[r->cache.evidence]);
	return ib_buf_steal(&b);
}

static char *cell_state(const struct ib_report_row *row)
{
	return ib_asprintf("%s%s%s%s%s", row->run->running ? "running" : ib_state_name(row->run->state), row->run->exclusion ? ", excluded" : "",
			   row->diagnostic ? ", diagnostic" : "", row->synthetic ? ", synthetic" : "", row->established ? "" : ", not established");
}

static char *cell_run(const struct ib_report_row *row, ib_escape_fn escape)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	escape(&b, row->run->id, NAME_MAX_SHOWN);
	if (row->of > 1 && row->result)
		ib_buf_addf(&b, " (%zu of %zu)", (size_t)(row->result - row->run->results.v) + 1, row->of);
	return ib_buf_steal(&b);
}

void ib_report_cells(const struct ib_report_row *row, ib_escape_fn escape, char *ret[IB_COLS])
{
	ret[IB_COL_RUN] = cell_run(row, escape);
	ret[IB_COL_REQUESTS] = cell_requests(row);
	ret[IB_COL_P50] = cell_number(&row->p50_ms);
	ret[IB_COL_P95] = cell_number(&row->p95_ms);
	ret[IB_COL_N] = cell_n(row);
	ret[IB_COL_RATE] = cell_rate(row);
	ret[IB_COL_CACHE] = cell_cache(row, escape);
	ret[IB_COL_STATE] = cell_state(row);
}

void ib_report_cells_clear(char *cells[IB_COLS])
{
	for (size_t i = 0; i < IB_COLS; i++) {
		free(cells[i]);
		cells[i] = NULL;
	}
}

static void add_line(struct ib_strv *l, struct ib_buf *b)
{
	ib_strv_take(l, ib_buf_steal(b));
}

static const char *word(enum ib_holds h, const char *yes, const char *no, const char *open)
{
	return h == IB_HOLDS_YES ? yes : h == IB_HOLDS_NO ? no : open;
}

static void head_verdict(const struct ib_verdict *v, struct ib_strv *ret)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	ib_buf_addf(&b, "%s: %s", ib_kind_name(v->kind), word(v->intact, "intact", "NOT INTACT", "intactness not established"));
	if (v->kind == IB_KIND_PACKET)
		ib_buf_addf(&b, ", %s, %s", word(v->is_signed, "signed", "NOT SIGNED", "not signed"),
			    word(v->trusted, "trusted", "NOT TRUSTED", "signer not established"));
	ib_buf_addf(&b, ", %s", word(v->consistent, "consistent", "NOT CONSISTENT", "consistency not established"));
	add_line(ret, &b);
}

static void head_counts(const struct ib_run_counts *c, struct ib_strv *ret)
{
	struct ib_buf b = IB_BUF(CELL_MAX);
	const struct {
		const char *name;
		int64_t n;
	} parts[] = {{"completed", c->completed}, {"failed", c->failed},	   {"timed out", c->timed_out}, {"interrupted", c->interrupted},
		     {"abandoned", c->abandoned}, {"refused", c->refused}, {"imported", c->imported},   {"excluded", c->excluded}};

	ib_buf_addf(&b, "runs: %lld planned, %lld started", (long long)c->planned, (long long)c->started);
	for (size_t i = 0; i < IB_LEN(parts); i++)
		if (parts[i].n)
			ib_buf_addf(&b, ", %lld %s", (long long)parts[i].n, parts[i].name);
	add_line(ret, &b);
}

/* The label, with the first reason that is given. */
static void head_synthetic(const struct ib_report *r, ib_escape_fn escape, struct ib_strv *ret)
{
	struct ib_buf b = IB_BUF(CELL_MAX);
	const char *why = NULL;

	for (size_t i = 0; i < r->n && !why; i++)
		why = r->rows[i].synthetic_why;
	ib_buf_addf(&b, "SYNTHETIC: %zu of %zu rows measured a stand-in, not a model", r->synthetic, r->n);
	if (why) {
		ib_buf_adds(&b, " (");
		escape(&b, why, TEXT_MAX_SHOWN);
		ib_buf_addc(&b, ')');
	}
	add_line(ret, &b);
}

void ib_report_head(const struct ib_report *r, ib_escape_fn escape, struct ib_strv *ret)
{
	struct ib_buf b = IB_BUF(CELL_MAX);

	head_verdict(r->verdict, ret);
	if (r->question) {
		ib_buf_adds(&b, "question: ");
		escape(&b, r->question, TEXT_MAX_SHOWN);
		add_line(ret, &b);
	}
	if (r->synthetic)
		head_synthetic(r, escape, ret);
	if (r->verdict->kind != IB_KIND_RUN)
		head_counts(&r->verdict->counts, ret);
}

void ib_report_foot(const struct ib_report *r, const struct ib_formula *ttft, ib_escape_fn escape, struct ib_strv *ret)
{
	struct ib_buf b = IB_BUF(CELL_MAX);
	bool few = false, only_claimed = false;

	for (size_t i = 0; i < r->n; i++) {
		if (!r->rows[i].result || r->rows[i].result->ttft != ttft)
			continue;
		few = few || !isnan(r->rows[i].p95_ms.stat.max);
		only_claimed = only_claimed || !isnan(r->rows[i].p50_ms.claimed) || !isnan(r->rows[i].p95_ms.claimed);
	}
	if (!ttft)
		return;
	ib_buf_adds(&b, "TTFT: ");
	escape(&b, ttft->name, NAME_MAX_SHOWN);
	ib_buf_addf(&b, ", %s; %s; percentiles by rule linear", ttft->definition, ttft->population);
	add_line(ret, &b);
	ib_strv_take(ret, ib_asprintf("requests/s: %s, which is given in brackets: first request due to last one done",
				      ib_requests_over_duration.definition));
	if (few)
		ib_strv_take(ret, ib_strdup("max: fewer than 20 samples carry no p95; the largest is shown"));
	if (only_claimed)
		ib_strv_take(ret, ib_strdup("claimed: the client's own number, without records to derive it from"));
	ib_strv_take(ret, ib_strdup(DASH ": not measured"));
}

void ib_report_notes(const struct ib_report *r, ib_escape_fn escape, struct ib_strv *ret)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->rows[i].notes.n; k++) {
			struct ib_buf b = IB_BUF(CELL_MAX);

			escape(&b, r->rows[i].run->id, NAME_MAX_SHOWN);
			ib_buf_adds(&b, ": ");
			escape(&b, r->rows[i].notes.v[k], TEXT_MAX_SHOWN);
			add_line(ret, &b);
		}
}

size_t ib_report_sections(const struct ib_report *r, const struct ib_formula *ret[IB_SECTIONS_MAX])
{
	size_t n = 0;

	ret[0] = NULL;
	for (size_t i = 0; i < r->n; i++) {
		size_t k = 0;

		if (!r->rows[i].result)
			continue;
		while (k < n && ret[k] != r->rows[i].result->ttft)
			k++;
		if (k == n && n < IB_SECTIONS_MAX)
			ret[n++] = r->rows[i].result->ttft;
	}
	return n ? n : 1;
}

bool ib_report_in_section(const struct ib_report_row *row, const struct ib_formula *const *sections, size_t i)
{
	return row->result ? row->result->ttft == sections[i] : i == 0;
}
