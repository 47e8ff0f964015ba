/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict screen's findings, and what could not be checked, by what it is about. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/screen.h"
#include "verify/text.h"

#define WIDTH 100
#define INDENT 14
#define PATH_SHOWN 46 /* bytes of a warning's path: its end */

/* What a check is about, for the line of those that could not look at it. */
static const struct {
	const char *topic, *ids;
} topics[] = {
	{"model", "A22"},
	{"server", "A23 A32 A33"},
	{"machine", "A25 A26"},
	{"cache", "A19"},
	{"workload", "A20"},
	{"source", "A27"},
	{"quality", "A31"},
	{"numbers", "A03 A07 A08 A09 A10 A11 A12 A13 A36"},
	{"load", "A14 A15 A16 A18 A37"},
	{"second run", "A17 A21 A24"},
	{"clocks", "A05 A28"},
	{"licence", "A30"},
	{"of a study", "A04 A06 A34 A35"},
	{"of a packet", "A01 A02"},
	{"seal", "S12 S13"},
	{"ledger's end: not anchored", "S14"},
};

static void finding(const struct screen *s, const char *label, const struct ib_finding *one)
{
	ib_buf_addf(s->b, "%-13s ", label);
	ib_text_safe(s->b, one->id, 20);
	if (one->code && strcmp(one->id, ib_code_name(one->code)) != 0)
		ib_buf_addf(s->b, " %s", ib_code_name(one->code));
	ib_buf_addc(s->b, ' ');
	if (one->file) {
		ib_text_safe(s->b, one->file, 300);
		ib_buf_adds(s->b, ": ");
	}
	ib_text_safe(s->b, one->message, 240);
	ib_buf_addc(s->b, '\n');
}

/* The first warning of a check over two lines at most: how many there are stands in front, the path gives way first. */
static void wrapped(const struct screen *s, const char *label, const struct ib_finding *one, size_t of)
{
	ib_auto_buf struct ib_buf text = IB_BUF(16384);
	size_t path = one->file ? strlen(one->file) : 0, at = INDENT;
	int line = 1;

	ib_text_safe(&text, one->id, 20);
	if (of > 1)
		ib_buf_addf(&text, " x %zu", of);
	ib_buf_adds(&text, path > PATH_SHOWN ? " .." : " ");
	if (one->file) {
		ib_text_safe(&text, one->file + (path > PATH_SHOWN ? path - PATH_SHOWN : 0), PATH_SHOWN);
		ib_buf_adds(&text, ": ");
	}
	ib_text_safe(&text, one->message, 240);
	ib_buf_addf(s->b, "%-13s ", label);
	for (const char *w = ib_buf_str(&text); *w;) {
		size_t gap = strspn(w, " "), n = strcspn(w + gap, " ");

		if (at > INDENT && at + gap + n > WIDTH - (line == 2 ? 4 : 0)) {
			if (line++ == 2) {
				ib_buf_adds(s->b, " ...");
				break;
			}
			ib_buf_addf(s->b, "\n%*s", INDENT, "");
			at = INDENT;
			w += gap;
			gap = 0;
		}
		ib_buf_add(s->b, w, gap + n);
		at += gap + n;
		w += gap + n;
	}
	ib_buf_addc(s->b, '\n');
}

/* That no key was given is said by the last line, with the command that ends it. */
static bool said_at_the_end(const struct screen *s, const struct ib_finding *one)
{
	return one->code == IB_E_TRUST && ib_screen_holds(s->v) && !s->opts->n_trust && !s->opts->n_fingerprints;
}

void ib_screen_findings(const struct screen *s, const char *label, enum ib_level_of level, enum ib_status status, size_t max)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < s->v->findings.n; i++) {
		const struct ib_finding *one = &s->v->findings.v[i];

		if (one->level != level || one->status != status || said_at_the_end(s, one))
			continue;
		if (shown == max) {
			left++;
			continue;
		}
		finding(s, shown ? "" : label, one);
		shown++;
	}
	if (left)
		ib_buf_addf(s->b, "%13s ... and %zu more: --json lists all\n", "", left);
}

/* Is it the first warning of its check? Counts those that follow. */
static bool first_of_check(const struct ib_findings *f, size_t i, size_t *ret_more)
{
	*ret_more = 0;
	for (size_t k = 0; k < f->n; k++) {
		if (f->v[k].level != IB_FINDING_W || f->v[k].status != IB_FAIL || strcmp(f->v[k].id, f->v[i].id) != 0)
			continue;
		if (k < i)
			return false;
		*ret_more += k > i;
	}
	return true;
}

void ib_screen_warnings(const struct screen *s, size_t max)
{
	const struct ib_findings *f = &s->v->findings;
	size_t shown = 0, left = 0, more;

	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].level != IB_FINDING_W || f->v[i].status != IB_FAIL || (i && shown && strcmp(f->v[i].id, f->v[i - 1].id) == 0) ||
		    !first_of_check(f, i, &more))
			continue;
		if (shown == max) {
			left++;
			continue;
		}
		wrapped(s, shown++ ? "" : "warning", &f->v[i], more + 1);
	}
	if (left)
		ib_buf_addf(s->b, "%13s ... and %zu more checks warn: --json lists all\n", "", left);
}

static bool open(const struct screen *s, const char *id, size_t n)
{
	for (size_t i = 0; i < s->v->findings.n; i++) {
		const struct ib_finding *one = &s->v->findings.v[i];

		if (one->status == IB_NOT_CHECKABLE && one->level == IB_FINDING_I && strlen(one->id) == n && strncmp(one->id, id, n) == 0)
			return true;
	}
	return false;
}

/* The ids of a list that are open: "A25 A26". */
static void open_of(const struct screen *s, const char *ids, struct ib_buf *b)
{
	while (*ids) {
		size_t n = strcspn(ids, " ");

		if (open(s, ids, n))
			ib_buf_addf(b, "%s%.*s", b->len ? " " : "", (int)n, ids);
		ids += n + strspn(ids + n, " ");
	}
}

static bool has_topic(const char *id)
{
	for (size_t t = 0; t < IB_LEN(topics); t++)
		if (strstr(topics[t].ids, id))
			return true;
	return false;
}

static void others(const struct screen *s, struct ib_buf *b)
{
	for (size_t i = 0; i < s->v->findings.n; i++) {
		const struct ib_finding *one = &s->v->findings.v[i];

		if (one->status != IB_NOT_CHECKABLE || one->level != IB_FINDING_I || has_topic(one->id) || strstr(ib_buf_str(b), one->id))
			continue;
		ib_buf_addf(b, "%s%.3s", b->len ? " " : "", one->id);
	}
}

/* One phrase more, on a new line where the width is used up. */
static void phrase(const struct screen *s, const char *text, size_t *at)
{
	size_t n = strlen(text);

	if (*at && *at + 2 + n > WIDTH) {
		ib_buf_addf(s->b, ",\n%*s", INDENT, "");
		*at = INDENT;
	} else if (*at) {
		ib_buf_adds(s->b, ", ");
		*at += 2;
	} else {
		ib_buf_adds(s->b, "not checkable ");
		*at = INDENT;
	}
	ib_buf_adds(s->b, text);
	*at += n;
}

void ib_screen_not_checkable(const struct screen *s)
{
	ib_auto_buf struct ib_buf rest = IB_BUF(1000);
	size_t at = 0;

	for (size_t t = 0; t < IB_LEN(topics); t++) {
		ib_auto_buf struct ib_buf ids = IB_BUF(200);
		ib_auto_free char *text = NULL;

		open_of(s, topics[t].ids, &ids);
		if (!ids.len)
			continue;
		text = ib_asprintf("%s (%s)", topics[t].topic, ib_buf_str(&ids));
		phrase(s, text, &at);
	}
	others(s, &rest);
	if (rest.len)
		phrase(s, ib_buf_str(&rest), &at);
	if (at)
		ib_buf_adds(s->b, "\n");
}
