/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict screen: what holds, in plain words, the verdict first. Numbers are printed only from bytes that are intact, or that nobody vouches for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/exit.h"
#include "base/str.h"
#include "verify/gates.h"
#include "verify/screen.h"
#include "verify/text.h"

#define LINES 3 /* warnings shown */
#define FAULTS 12
#define ROWS_LEFT 3 /* rows at least, where there are so many */
#define SCREEN_MAX (1u << 20)

size_t ib_screen_count(const struct ib_verdict *v, enum ib_level_of level, enum ib_status status)
{
	return ib_findings_count(&v->findings, level, status);
}

bool ib_screen_holds(const struct ib_verdict *v)
{
	return v->intact == IB_HOLDS_YES && v->consistent == IB_HOLDS_YES;
}

/* --- the first line --- */

/* How many of the numbers that the clients state come out of their records, and how many there are. */
static void count_numbers(const struct ib_verdict *v, size_t *ret_derived, size_t *ret_all)
{
	*ret_derived = *ret_all = 0;
	for (size_t i = 0; i < v->audit.n_runs; i++)
		for (size_t k = 0; k < v->audit.runs[i].results->n; k++) {
			const struct ib_result *res = &v->audit.runs[i].results->v[k];

			*ret_all += res->n_claims;
			for (size_t c = 0; !res->unknown_version && c < res->n_claims; c++)
				*ret_derived += res->claims[c].status == IB_CLAIM_EXACT || res->claims[c].status == IB_CLAIM_WITHIN;
		}
}

/* Are there results, and did no request of any of them succeed? */
static bool nothing_measured(const struct ib_verdict *v)
{
	size_t none = 0;

	for (size_t i = 0; i < v->audit.n_runs; i++)
		for (size_t k = 0; k < v->audit.runs[i].results->n; k++) {
			const struct ib_result *res = &v->audit.runs[i].results->v[k];

			if (res->part != IB_PART_CONFIG && res->requests.succeeded != 0)
				return false;
			none += res->requests.succeeded == 0;
		}
	return none > 0;
}

/* Of anybody's files: no digest, no ledger, so what they measured stays open whatever the numbers do. That some numbers derive is not said of all. */
static void loose_words(const struct screen *s, size_t warnings, char ret[120])
{
	char with[40] = "", what[64] = "NO NUMBER RE-DERIVES";
	size_t derived, all;

	if (nothing_measured(s->v)) {
		snprintf(ret, 120, "NOTHING WAS MEASURED, NO REQUEST SUCCEEDED");
		return;
	}
	if (warnings)
		snprintf(with, sizeof(with), ", WITH %zu WARNING%s", warnings, warnings == 1 ? "" : "S");
	count_numbers(s->v, &derived, &all);
	if (derived == all && all)
		snprintf(what, sizeof(what), "NUMBERS RE-DERIVE");
	else if (derived)
		snprintf(what, sizeof(what), "%zu OF %zu NUMBERS RE-DERIVE", derived, all);
	snprintf(ret, 120, "%s%s; WHAT THEY MEASURED CANNOT BE ESTABLISHED", what, with);
}

static void words(const struct screen *s, char ret[120])
{
	const struct ib_verdict *v = s->v;
	size_t warnings = ib_screen_count(v, IB_FINDING_W, IB_FAIL);

	if (v->exit == IB_EXIT_REFUSED)
		snprintf(ret, 120, "REFUSED");
	else if (v->exit == IB_EXIT_FAILS && v->intact == IB_HOLDS_NO)
		snprintf(ret, 120, "ALTERED");
	else if (v->exit == IB_EXIT_FAILS)
		snprintf(ret, 120, "DOES NOT HOLD%s", ib_screen_holds(v) && s->opts->strict ? " (--strict: warnings count)" : "");
	else if (v->exit == IB_EXIT_UNDECIDED)
		snprintf(ret, 120, "%s", ib_screen_holds(v) ? "SIGNER NOT ESTABLISHED, ALL ELSE HOLDS" : "NOT DECIDED");
	else if (s->loose)
		loose_words(s, warnings, ret);
	else if (v->study.n_registrations && !v->study.n_ledger_runs)
		snprintf(ret, 120, "DESIGN ONLY");
	else if (warnings)
		snprintf(ret, 120, "HOLDS, WITH %zu WARNING%s", warnings, warnings == 1 ? "" : "S");
	else
		snprintf(ret, 120, "HOLDS");
}

static void headline(const struct screen *s)
{
	const char *color = s->v->exit == IB_EXIT_OK ? "\033[32;1m" : s->v->exit == IB_EXIT_UNDECIDED ? "\033[33;1m" : "\033[31;1m";
	const char *question = json_string_value(json_object_get(s->v->study.contract, "question"));
	char text[120];

	words(s, text);
	ib_buf_addf(s->b, "%s%s%s:%s%s ", s->color ? color : "", text, s->color ? "\033[0m" : "",
		    strlen(text) + strlen(s->v->path) > 88 && s->loose ? "\n              " : " ", ib_kind_name(s->v->kind));
	ib_text_safe(s->b, s->v->path, 200);
	ib_buf_addc(s->b, '\n');
	if (question && s->v->intact == IB_HOLDS_YES) {
		ib_buf_adds(s->b, "question      ");
		ib_text_safe(s->b, question, 82);
		ib_buf_addc(s->b, '\n');
	}
}

/* --- the verdicts --- */

static const char *shown(enum ib_holds h)
{
	static const char *const words_of[] = {[IB_HOLDS_NOT_CHECKABLE] = "-", [IB_HOLDS_YES] = "yes", [IB_HOLDS_NO] = "no"};

	return words_of[h];
}

static void verdict(const struct screen *s, const char *name, enum ib_holds h)
{
	ib_buf_addf(s->b, "%-13s %-5s", name, shown(h));
}

static void intact(const struct screen *s)
{
	const struct ib_verdict *v = s->v;

	verdict(s, "intact", v->intact);
	if (v->intact == IB_HOLDS_YES) {
		ib_buf_addf(s->b, "%" PRIu64 " files, ", v->files);
		ib_text_bytes(s->b, v->bytes);
		ib_buf_adds(s->b, v->kind == IB_KIND_PACKET ? ": exactly those of the manifest" : ": every run's files are those of its record and ledger");
	} else if (v->intact == IB_HOLDS_NO) {
		ib_buf_adds(s->b, "see below");
	} else {
		ib_buf_adds(s->b, s->loose ? "nobody wrote down what the bytes are: no ledger, no manifest, no signature" : "could not be established");
	}
	ib_buf_addc(s->b, '\n');
}

static void signed_by(const struct screen *s)
{
	const struct ib_verdict *v = s->v;

	bool statement = false;

	verdict(s, "signed", v->is_signed);
	for (size_t i = 0; i < v->n_signers; i++)
		statement = statement || v->signers[i].dsse;
	for (size_t i = 0; i < v->n_signers && i < 3; i++) {
		ib_buf_addf(s->b, "%s%s (", i ? ", " : "", v->signers[i].fingerprint);
		ib_text_safe(s->b, v->signers[i].key_type, 20);
		ib_buf_adds(s->b, v->signers[i].ssh ? v->signers[i].dsse ? ", also as SSH)" : ", SSH)" : ")");
	}
	if (v->n_signers && !statement)
		ib_buf_adds(s->b, ": the files alone, no Statement");
	if (!v->n_signers && v->kind != IB_KIND_PACKET)
		ib_buf_addf(s->b, "a %s is signed when it is packed", ib_kind_name(v->kind));
	else if (!v->n_signers)
		ib_buf_adds(s->b, "no signature that verifies");
	ib_buf_addc(s->b, '\n');
}

static void trusted(const struct screen *s)
{
	const struct ib_verdict *v = s->v;

	verdict(s, "trusted", v->trusted);
	for (size_t i = 0; i < v->n_signers; i++)
		if (v->signers[i].trusted) {
			ib_buf_adds(s->b, "by the key that you gave");
			if (v->signers[i].principal) {
				ib_buf_adds(s->b, ", of ");
				ib_text_safe(s->b, v->signers[i].principal, 60);
			}
			break;
		}
	if (v->trusted == IB_HOLDS_NO)
		ib_buf_adds(s->b, "signed with another key than those that you gave");
	else if (v->trusted == IB_HOLDS_NOT_CHECKABLE)
		ib_buf_adds(s->b, v->n_signers ? "no key was given to compare with" : "nothing to trust without a signature");
	ib_buf_addc(s->b, '\n');
	verdict(s, "time-stamped", v->time_stamped);
	ib_buf_adds(s->b, v->time_stamped == IB_HOLDS_NO ? "its times are the author's word\n" : "\n");
}

static bool before_amendment(const struct ib_study_view *v, const struct ib_study_run *r)
{
	return v->contract_entry && r->start && r->start->e.seq < v->contract_entry->e.seq;
}

/* Runs that would fill a slot otherwise: excluded ones, or those from before an amendment, whose slots are filled again. */
static int64_t set_aside(const struct ib_study_view *v, bool amended)
{
	int64_t n = 0;

	for (size_t i = 0; i < v->n_ledger_runs; i++) {
		const struct ib_study_run *r = &v->runs[i];
		bool aside = before_amendment(v, r) ? amended : !amended && r->exclusion;

		n += aside && !r->running && (r->state == IB_STATE_COMPLETED || r->state == IB_STATE_FAILED || r->state == IB_STATE_TIMED_OUT);
	}
	return n;
}

static void complete(const struct screen *s)
{
	const struct ib_run_counts *c = &s->v->counts;
	int64_t aside = set_aside(&s->v->study, false), amended = set_aside(&s->v->study, true);
	int64_t filled = c->completed + c->failed + c->timed_out - aside - amended;
	bool all = c->planned == filled;

	ib_buf_addf(s->b, "%-13s %-5splanned %" PRId64 " %s completed %" PRId64 " + failed %" PRId64 " + timed out %" PRId64, "complete", all ? "yes" : "no",
		    c->planned, all ? "=" : "!=", c->completed, c->failed, c->timed_out);
	if (aside)
		ib_buf_addf(s->b, " - excluded %" PRId64, aside);
	if (amended)
		ib_buf_addf(s->b, " - before the amendment %" PRId64, amended);
	if (c->abandoned + c->interrupted + c->refused)
		ib_buf_addf(s->b, "; abandoned %" PRId64 ", interrupted %" PRId64 ", refused %" PRId64, c->abandoned, c->interrupted, c->refused);
	if (c->imported)
		ib_buf_addf(s->b, "; imported %" PRId64, c->imported);
	if (c->excluded > aside)
		ib_buf_addf(s->b, "; excluded %" PRId64, c->excluded - aside);
	ib_buf_addc(s->b, '\n');
}

static void consistent(const struct screen *s)
{
	static const char *const names[] = {[IB_FINDING_E] = "fail", [IB_FINDING_W] = "warn", [IB_FINDING_I] = "noted"};
	size_t pass = 0, open = 0;

	for (int l = IB_FINDING_E; l <= IB_FINDING_I; l++) {
		pass += ib_screen_count(s->v, (enum ib_level_of)l, IB_PASS);
		open += ib_screen_count(s->v, (enum ib_level_of)l, IB_NOT_CHECKABLE);
	}
	verdict(s, "consistent", s->v->consistent);
	ib_buf_addf(s->b, "%zu pass", pass);
	for (int l = IB_FINDING_E; l <= IB_FINDING_I; l++) {
		size_t n = ib_screen_count(s->v, (enum ib_level_of)l, IB_FAIL);

		if (n || l == IB_FINDING_E)
			ib_buf_addf(s->b, ", %zu %s", n, names[l]);
	}
	ib_buf_addf(s->b, ", %zu not checkable%s%s\n", open, s->v->sandbox.level[0] ? "; sandbox " : "", s->v->sandbox.level);
}

static void rules(const struct screen *s)
{
	if (!s->v->rules)
		return;
	ib_buf_adds(s->b, "rules         ");
	ib_text_safe(s->b, s->v->rules->file, 100);
	ib_buf_addf(s->b, " change%s %zu level%s\n", s->v->rules_change == 1 ? "s" : "", s->v->rules_change, s->v->rules_change == 1 ? "" : "s");
}

static void gates(const struct screen *s)
{
	struct ib_gate all[IB_GATES];
	size_t at = 14;

	ib_gates(s->v, &s->compared, all);
	ib_buf_adds(s->b, "gates         ");
	for (size_t i = 0; i < IB_GATES; i++) {
		const char *why = all[i].holds == IB_HOLDS_NO ? all[i].why : NULL;
		ib_auto_free char *text = ib_asprintf("%s %s%s%s%s", all[i].name, shown(all[i].holds), why ? " (" : "", why ? why : "", why ? ")" : "");

		if (at + strlen(text) + 1 > 100) {
			ib_buf_addf(s->b, ",\n%14s%s", "", text);
			at = 14;
		} else {
			ib_buf_addf(s->b, "%s%s", i ? ", " : "", text);
		}
		at += strlen(text) + 2;
	}
	ib_buf_addc(s->b, '\n');
}

static void withheld(const struct screen *s)
{
	size_t n = json_array_size(json_object_get(s->v->study.withheld.json, "withheld"));

	if (n)
		ib_buf_addf(s->b, "withheld      %zu file%s, declared with digest, size and reason in withheld.json\n", n, n == 1 ? "" : "s");
}

static void does_not_prove(const struct screen *s)
{
	if (s->v->kind == IB_KIND_STUDY && !s->v->study.seal)
		ib_buf_addf(s->b, "ledger head   %s (%" PRIu64 " entries)\n", s->v->study.chain.head, s->v->study.chain.length);
	ib_buf_adds(s->b, "Does not prove: machine as described; author changed nothing before the seal; no study left out\n");
}

/* What this reader had not to give up, for want of it: a line of its own only then. */
static void sandbox(const struct screen *s)
{
	const struct ib_sandbox *box = &s->v->sandbox;

	if (box->missing[0])
		ib_buf_addf(s->b, "%-13s %s (%s)\n", "sandbox", box->level, box->missing);
}

/* Above the rows. */
static void top(const struct screen *s, bool study)
{
	headline(s);
	if (s->loose || s->v->kind != IB_KIND_FILE) {
		intact(s);
		if (!s->loose) {
			signed_by(s);
			trusted(s);
		}
		if (study && s->v->intact == IB_HOLDS_YES)
			complete(s);
		consistent(s);
	}
	rules(s);
	if (s->numbers && s->v->audit.n_runs)
		gates(s);
	ib_screen_findings(s, "FAILS", IB_FINDING_E, IB_FAIL, FAULTS);
	ib_screen_findings(s, "undecided", IB_FINDING_E, IB_NOT_CHECKABLE, LINES);
}

/* Below the rows. */
static void bottom(const struct screen *s, size_t warnings)
{
	if (s->numbers) {
		ib_screen_compared(s);
		ib_screen_coverage(s);
	}
	if (s->v->intact != IB_HOLDS_NO)
		ib_screen_warnings(s, warnings);
	if (s->numbers)
		ib_screen_not_checkable(s);
	if (ib_screen_holds(s->v)) {
		withheld(s);
		does_not_prove(s);
	}
	sandbox(s);
	ib_screen_next(s);
}

static size_t lines(const struct ib_buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

void ib_verdict_screen(const struct ib_verdict *v, const struct ib_verify_opts *opts, bool color, struct ib_buf *b)
{
	ib_auto_buf struct ib_buf below = IB_BUF(SCREEN_MAX);
	bool study = v->kind == IB_KIND_PACKET || v->kind == IB_KIND_STUDY;
	size_t rows = 1;
	struct screen s = {.v = v, .opts = opts, .color = color, .loose = v->kind == IB_KIND_FOLDER || (v->kind == IB_KIND_FILE && v->audit.n_runs), .b = b};

	s.numbers = ib_screen_holds(v) || (s.loose && v->exit != IB_EXIT_REFUSED);
	if (s.numbers) {
		ib_compare(&v->audit, &s.compared);
		ib_coverage(&v->audit, &s.coverage);
	}
	top(&s, study);
	s.b = &below;
	rows += smaller(s.loose ? s.compared.members.n : s.compared.n_cells, ROWS_LEFT);
	for (size_t warnings = LINES; warnings; warnings--) { /* fewer where the screen would become longer than agreed */
		ib_buf_reset(&below);
		bottom(&s, warnings);
		if (lines(b) + lines(&below) + rows <= IB_SCREEN_LINES)
			break;
	}
	s.b = b;
	if (s.numbers)
		ib_screen_cells(&s, lines(b) + lines(&below));
	ib_buf_add(b, ib_buf_str(&below), below.len);
	ib_comparisons_clear(&s.compared);
	ib_coverage_clear(&s.coverage);
}
