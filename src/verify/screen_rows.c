/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict screen's rows: cells or results, what cannot be taken together, what was wanted and is not there. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/cells.h"
#include "verify/screen.h"
#include "verify/text.h"

#define ROWS_MIN 2
#define ROWS_MAX 8
#define PAIRS 2
#define NAME_MAX_SHOWN 16

/* Three digits that matter, or all before the point. */
static void number(char ret[16], double v)
{
	if (isnan(v))
		snprintf(ret, 16, "-");
	else
		snprintf(ret, 16, "%.*f", v >= 100 ? 0 : v >= 10 ? 1 : 2, v);
}

/* "19.2", over repeats "18.9..19.6". */
static void range(char ret[40], const struct ib_range *r, double scale)
{
	char low[16], high[16];

	number(low, r->n ? r->min * scale : NAN);
	number(high, r->n ? r->max * scale : NAN);
	snprintf(ret, 40, strcmp(low, high) == 0 ? "%s" : "%s..%s", low, high);
}

/* The median with its interval, or over repeats their range: an interval of several runs says nothing of what varies between them. */
static void median(char ret[80], const struct ib_cell *c)
{
	char at[40], low[16], high[16];

	range(at, &c->p50_s, 1000);
	if (c->p50_s.n != 1 || !c->interval_s.n) {
		snprintf(ret, 80, "%s", at);
		return;
	}
	number(low, c->interval_s.min * 1000);
	number(high, c->interval_s.max * 1000);
	snprintf(ret, 80, "%s [%s..%s]", at, low, high);
}

static void count(char ret[16], double n)
{
	if (isnan(n))
		snprintf(ret, 16, "-");
	else if (n >= 1e6)
		snprintf(ret, 16, "%.1fM", n / 1e6);
	else if (n >= 1e5)
		snprintf(ret, 16, "%.0fk", n / 1e3);
	else
		snprintf(ret, 16, "%.0f", n);
}

static void cache(const struct screen *s, const struct ib_cell *c)
{
	if (c->contradicted)
		ib_buf_addf(s->b, "CONTRADICTED in %zu", c->contradicted);
	else if (s->loose && isnan(c->hit_share))
		ib_buf_adds(s->b, "-");
	else if (s->loose)
		ib_buf_addf(s->b, "hits %.1f %%", 100 * c->hit_share);
	else if (c->mixed)
		ib_buf_adds(s->b, "mixed");
	else {
		ib_text_safe(s->b, c->condition ? c->condition : "unspecified", 11);
		ib_buf_adds(s->b, c->unconfirmed ? (c->condition && strcmp(c->condition, "unspecified") != 0 ? " unconf." : "") : c->confirmed ? " confirmed"
				: "");
	}
}

/* The last parts of a path say more than its first. */
static void name(struct ib_buf *b, const struct ib_cell *c)
{
	ib_auto_free char *full = c->run ? ib_loose_name(c->run, c->res)
					 : ib_asprintf("%s %s%s%s%s", c->group ? c->group : "(no group)", c->cell ? c->cell : "", c->label ? " " : "",
						       c->label ? c->label : "", c->amended ? " (before)" : "");
	size_t n = strlen(full);

	if (n > NAME_MAX_SHOWN + 2) {
		ib_buf_adds(b, "..");
		ib_text_safe(b, full + n - NAME_MAX_SHOWN, NAME_MAX_SHOWN);
	} else {
		ib_text_safe(b, full, NAME_MAX_SHOWN + 2);
	}
}

static void row(const struct screen *s, const struct ib_cell *c)
{
	char ok[48] = "-", p50[80], p95[40], rate[40], asked[16], got[16], tokens[40];
	ib_auto_buf struct ib_buf label = IB_BUF(200);

	name(&label, c);
	if (c->attempted)
		snprintf(ok, sizeof(ok), "%" PRId64 "/%" PRId64, c->succeeded, c->attempted);
	if (c->formulas_differ)
		snprintf(p50, sizeof(p50), "%s", "formulas differ");
	else
		median(p50, c);
	range(p95, &c->p95_s, 1000);
	range(rate, &c->rate_hz, 1);
	count(asked, c->measured ? c->asked : NAN);
	count(got, c->measured ? c->got : NAN);
	snprintf(tokens, sizeof(tokens), "%s/%s", asked, got);
	ib_buf_addf(s->b, "%-18s %3zu %9s %18s %8s %8s %11s  ", ib_buf_str(&label), c->runs, ok, p50, c->formulas_differ ? "-" : p95, rate, tokens);
	cache(s, c);
	ib_buf_addc(s->b, '\n');
}

static bool cap_unused(const struct ib_cell *c)
{
	return c->cap.n && c->peak.n == c->measured && c->peak.max < c->cap.min;
}

/* What a row's numbers do not show, in a line below it, where there is one left. */
static bool below(const struct screen *s, const struct ib_cell *c, size_t left)
{
	const char *sep = "";

	if (left < 2 || (!cap_unused(c) && !c->excluded && !c->diagnostic))
		return false;
	ib_buf_addf(s->b, "%18s ", "");
	if (cap_unused(c)) {
		ib_buf_addf(s->b, "cap %.0f unused, peak %.0f", c->cap.min, c->peak.max);
		sep = "; ";
	}
	if (c->excluded) {
		ib_buf_addf(s->b, "%s%zu excluded, not in these numbers", sep, c->excluded);
		sep = "; ";
	}
	if (c->diagnostic)
		ib_buf_addf(s->b, "%sdiagnostic, no headline", sep);
	ib_buf_addc(s->b, '\n');
	return true;
}

static size_t synthetic(const struct screen *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->v->audit.n_runs; i++) {
		const struct ib_audit_run *r = &s->v->audit.runs[i];

		n += r->run && r->run->has_record && r->run->record.synthetic == 1;
		for (size_t k = 0; k < r->results->n; k++)
			n += r->results->v[k].synthetic != NULL;
	}
	return n;
}

void ib_screen_cells(const struct screen *s, size_t others)
{
	struct ib_cell *v;
	size_t n = ib_audit_cells(&s->v->audit, &v), left = others + 1 < IB_SCREEN_LINES ? IB_SCREEN_LINES - others - 1 : 0, shown = 0;

	left = left < ROWS_MIN ? ROWS_MIN : left > ROWS_MAX ? ROWS_MAX : left;
	if (n)
		ib_buf_addf(s->b, "%-18s %3s %9s %18s %8s %8s %11s  %s\n", synthetic(s) ? "SYNTHETIC data" : s->loose ? "result" : "cell", s->loose ? ""
				: "run", "ok/sent",
			    "TTFT p50 ms [95%]", "p95", "req/s", "out ask/got", "cache");
	if (n > left)
		left--; /* for the line that says so */
	for (size_t i = 0; i < n && left; i++, left--, shown++) {
		row(s, &v[i]);
		if (below(s, &v[i], left))
			left--;
	}
	if (n > shown)
		ib_buf_addf(s->b, "... and %zu more: %s\n", n - shown, s->loose ? "--json lists all" : "ib-report shows all");
	free(v);
}

/* --- comparisons --- */

static void relation(const struct screen *s, const char *what, enum ib_order o, double ratio)
{
	if (o == IB_ORDER_UNKNOWN)
		return;
	ib_buf_addf(s->b, ", %s ", what);
	if (o == IB_ORDER_NOT_SEPARABLE)
		ib_buf_adds(s->b, "not separable");
	else
		ib_buf_addf(s->b, "%s (x %.2f)", o == IB_ORDER_LOWER ? "lower" : "higher", ratio);
}

static void one_pair(const struct screen *s, const struct ib_pair *p)
{
	ib_buf_addf(s->b, "%-13s ", p->why ? "apart" : "compared");
	ib_text_safe(s->b, p->other->name, 24);
	ib_buf_adds(s->b, " : ");
	ib_text_safe(s->b, p->base->name, 24);
	if (p->why) {
		ib_buf_adds(s->b, ": not comparable, ");
		ib_nc_list(s->b, p->why);
	} else {
		relation(s, "TTFT p50", p->ttft, p->ttft_ratio);
		relation(s, "req/s", p->rate, p->rate_ratio);
		if (p->ttft == IB_ORDER_UNKNOWN && p->rate == IB_ORDER_UNKNOWN)
			ib_buf_adds(s->b, ", no interval and no spread to tell them apart by");
	}
	ib_buf_addc(s->b, '\n');
}

/* Repeats of one cell that are not taken together. */
static size_t pools(const struct screen *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->compared.n_cells; i++) {
		const struct ib_compared *c = &s->compared.cells[i];
		size_t apart = 0;
		unsigned why = 0;

		for (size_t k = 1; k < c->n_pools; k++) {
			apart += c->pools[k].n;
			why |= c->pools[k].why;
		}
		if (!apart || n++ >= PAIRS)
			continue;
		ib_buf_adds(s->b, "apart         ");
		ib_text_safe(s->b, c->name, 24);
		ib_buf_addf(s->b, ": %zu of %zu repeats not taken together with the first, ", apart, apart + c->pools[0].n);
		ib_nc_list(s->b, why);
		ib_buf_addc(s->b, '\n');
	}
	return n;
}

void ib_screen_compared(const struct screen *s)
{
	size_t apart = pools(s), shown = 0;

	for (size_t i = 0; i < s->compared.n_pairs && shown < PAIRS; i++, shown++)
		one_pair(s, &s->compared.pairs[i]);
	if (s->compared.n_pairs > shown || apart > PAIRS)
		ib_buf_addf(s->b, "              ... and %zu more: --json lists all\n", s->compared.n_pairs - shown + (apart > PAIRS ? apart - PAIRS : 0));
}

/* --- coverage --- */

void ib_screen_coverage(const struct screen *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->coverage.n_metrics; i++) {
		const struct ib_wanted *w = &s->coverage.metrics[i];

		if (w->how == IB_COVERED_DERIVED || !w->results)
			continue;
		ib_buf_adds(s->b, n++ ? ", " : "not derived   ");
		ib_text_safe(s->b, w->metric, 30);
		ib_buf_adds(s->b, w->unknown ? " (no such metric)" : w->how == IB_COVERED_CLAIMED ? " (claimed)" : " (missing)");
	}
	if (n)
		ib_buf_addc(s->b, '\n');
	n = 0;
	for (size_t i = 0; i < s->coverage.n_cells; i++) {
		const struct ib_planned *p = &s->coverage.cells[i];

		if (p->how == IB_CELL_COMPLETED || ++n > 3)
			continue;
		ib_buf_adds(s->b, n > 1 ? ", " : "not complete  ");
		ib_text_safe(s->b, p->cell, 24);
		ib_buf_addf(s->b, " %s", ib_resolution_name(p->how));
	}
	if (n)
		ib_buf_addf(s->b, n > 3 ? " and %zu more\n" : "\n", n - 3);
}
