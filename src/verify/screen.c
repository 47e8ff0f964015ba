/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict screen: what holds, in plain words, the verdict first. Numbers are printed only from bytes that are intact. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/str.h"
#include "verify/cells.h"
#include "verify/text.h"
#include "verify/verify.h"

#define ROWS 6  /* cells shown */
#define LINES 3 /* warnings shown */
#define FAULTS 12

struct screen {
	const struct ib_verdict *v;
	const struct ib_verify_opts *opts;
	bool color;
	struct ib_buf *b;
};

static size_t count(const struct ib_verdict *v, enum ib_level_of level, enum ib_status status)
{
	return ib_findings_count(&v->findings, level, status);
}

static bool holds(const struct ib_verdict *v)
{
	return v->intact == IB_HOLDS_YES && v->consistent == IB_HOLDS_YES;
}

/* --- the first line --- */

static void words(const struct screen *s, char ret[96])
{
	const struct ib_verdict *v = s->v;
	size_t warnings = count(v, IB_FINDING_W, IB_FAIL);

	if (v->exit == IB_EXIT_REFUSED)
		snprintf(ret, 96, "REFUSED");
	else if (v->exit == IB_EXIT_FAILS && v->intact == IB_HOLDS_NO)
		snprintf(ret, 96, "ALTERED");
	else if (v->exit == IB_EXIT_FAILS)
		snprintf(ret, 96, "DOES NOT HOLD%s", holds(v) && s->opts->strict ? " (--strict: warnings count)" : "");
	else if (v->exit == IB_EXIT_UNDECIDED)
		snprintf(ret, 96, "%s", holds(v) ? "SIGNER NOT ESTABLISHED, ALL ELSE HOLDS" : "NOT DECIDED");
	else if (v->study.n_registrations && !v->study.n_ledger_runs)
		snprintf(ret, 96, "DESIGN ONLY");
	else if (warnings)
		snprintf(ret, 96, "HOLDS, WITH %zu WARNING%s", warnings, warnings == 1 ? "" : "S");
	else
		snprintf(ret, 96, "HOLDS");
}

static void headline(const struct screen *s)
{
	const char *color = s->v->exit == IB_EXIT_OK ? "\033[32;1m" : s->v->exit == IB_EXIT_UNDECIDED ? "\033[33;1m" : "\033[31;1m";
	const char *question = json_string_value(json_object_get(s->v->study.contract, "question"));
	char text[96];

	words(s, text);
	ib_buf_addf(s->b, "%s%s%s: %s ", s->color ? color : "", text, s->color ? "\033[0m" : "", ib_kind_name(s->v->kind));
	ib_text_safe(s->b, s->v->path, 200);
	ib_buf_addc(s->b, '\n');
	if (question && s->v->intact == IB_HOLDS_YES) {
		ib_buf_adds(s->b, "question      ");
		ib_text_safe(s->b, question, 100);
		ib_buf_addc(s->b, '\n');
	}
}

/* --- the verdicts --- */

static void verdict(const struct screen *s, const char *name, enum ib_holds h)
{
	static const char *const shown[] = {[IB_HOLDS_NOT_CHECKABLE] = "-", [IB_HOLDS_YES] = "yes", [IB_HOLDS_NO] = "no"};

	ib_buf_addf(s->b, "%-13s %-5s", name, shown[h]);
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
		ib_buf_adds(s->b, "could not be established");
	}
	ib_buf_addc(s->b, '\n');
}

static void signed_by(const struct screen *s)
{
	const struct ib_verdict *v = s->v;

	verdict(s, "signed", v->is_signed);
	for (size_t i = 0; i < v->n_signers && i < 3; i++) {
		ib_buf_addf(s->b, "%s%s (", i ? ", " : "", v->signers[i].fingerprint);
		ib_text_safe(s->b, v->signers[i].key_type, 20);
		ib_buf_addc(s->b, ')');
	}
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
	ib_buf_adds(s->b, "\n");
	verdict(s, "time-stamped", v->time_stamped);
	ib_buf_adds(s->b, v->time_stamped == IB_HOLDS_NO ? "its times are the author's word\n" : "\n");
}

static void complete(const struct screen *s)
{
	const struct ib_run_counts *c = &s->v->counts;
	int64_t filled = c->completed + c->failed + c->timed_out;
	bool all = c->planned == filled;

	ib_buf_addf(s->b, "%-13s %-5splanned %" PRId64 " %s completed %" PRId64 " + failed %" PRId64 " + timed out %" PRId64, "complete", all ? "yes" : "no",
		    c->planned, all ? "=" : "!=", c->completed, c->failed, c->timed_out);
	if (c->abandoned + c->interrupted + c->refused)
		ib_buf_addf(s->b, "; abandoned %" PRId64 ", interrupted %" PRId64 ", refused %" PRId64, c->abandoned, c->interrupted, c->refused);
	if (c->imported)
		ib_buf_addf(s->b, "; imported %" PRId64, c->imported);
	if (c->excluded)
		ib_buf_addf(s->b, "; excluded %" PRId64, c->excluded);
	ib_buf_addc(s->b, '\n');
}

static void consistent(const struct screen *s)
{
	size_t pass = 0, fail = 0, open = 0;

	for (int l = IB_FINDING_E; l <= IB_FINDING_I; l++) {
		pass += count(s->v, (enum ib_level_of)l, IB_PASS);
		fail += count(s->v, (enum ib_level_of)l, IB_FAIL);
		open += count(s->v, (enum ib_level_of)l, IB_NOT_CHECKABLE);
	}
	verdict(s, "consistent", s->v->consistent);
	ib_buf_addf(s->b, "%zu pass, %zu fail, %zu not checkable\n", pass, fail, open);
}

static void rules(const struct screen *s)
{
	if (!s->v->rules)
		return;
	ib_buf_adds(s->b, "rules         ");
	ib_text_safe(s->b, s->v->rules->file, 100);
	ib_buf_addf(s->b, " changes %zu level%s\n", s->v->rules_change, s->v->rules_change == 1 ? "" : "s");
}

/* --- one row per cell --- */

static void range(const struct screen *s, struct ib_range r, double scale, int width)
{
	char text[40], last[20];

	snprintf(text, sizeof(text), "%.1f", r.min * scale);
	snprintf(last, sizeof(last), "%.1f", r.max * scale);
	if (!r.n)
		snprintf(text, sizeof(text), "-");
	else if (strcmp(text, last) != 0)
		snprintf(text, sizeof(text), "%.1f..%s", r.min * scale, last);
	ib_buf_addf(s->b, " %*s", width, text);
}

static void cell(const struct screen *s, const struct ib_cell *c)
{
	struct ib_buf name = IB_BUF(200);
	char ok[48] = "-";

	ib_text_safe(&name, c->group ? c->group : "(no group)", 32);
	ib_buf_addc(&name, ' ');
	ib_text_safe(&name, c->cell ? c->cell : "", 32);
	if (c->attempted)
		snprintf(ok, sizeof(ok), "%" PRId64 "/%" PRId64, c->succeeded, c->attempted);
	ib_buf_addf(s->b, "%-26s %4zu %11s", ib_buf_str(&name), c->runs, ok);
	range(s, c->p50_s, 1000, 14);
	range(s, c->p95_s, 1000, 14);
	range(s, c->rate_hz, 1, 13);
	ib_buf_adds(s->b, "  ");
	ib_text_safe(s->b, c->mixed ? "mixed" : c->condition ? c->condition : "unspecified", 20);
	if (c->contradicted)
		ib_buf_addf(s->b, " CONTRADICTED in %zu", c->contradicted);
	else if (c->unconfirmed)
		ib_buf_adds(s->b, " unconfirmed");
	else if (c->confirmed)
		ib_buf_adds(s->b, " confirmed");
	ib_buf_addc(s->b, '\n');
	ib_buf_clear(&name);
}

static void cells(const struct screen *s)
{
	struct ib_cell *v;
	size_t n = ib_study_cells(&s->v->study, &v), synthetic = 0;

	for (size_t i = 0; i < s->v->study.n_ledger_runs; i++) {
		const struct ib_study_run *r = &s->v->study.runs[i];

		synthetic += r->has_record && r->record.synthetic == 1;
		for (size_t k = 0; k < r->results.n; k++)
			synthetic += r->results.v[k].synthetic != NULL;
	}
	if (n)
		ib_buf_addf(s->b, "%-26s %4s %11s %14s %14s %13s  %s\n", synthetic ? "cell (SYNTHETIC data)" : "cell", "runs", "ok/asked", "TTFT p50 ms", "p95 ms", "req/s",
			    "cache");
	for (size_t i = 0; i < n && i < ROWS; i++)
		cell(s, &v[i]);
	if (n > ROWS)
		ib_buf_addf(s->b, "... and %zu more cells: ib-report shows all\n", n - ROWS);
	free(v);
}

/* --- findings --- */

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

/* That no key was given is said by the last line, with the command that ends it. */
static bool said_at_the_end(const struct screen *s, const struct ib_finding *one)
{
	return one->code == IB_E_TRUST && holds(s->v) && !s->opts->n_trust && !s->opts->n_fingerprints;
}

static void findings(const struct screen *s, const char *label, enum ib_level_of level, enum ib_status status, size_t max)
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

/* What nobody could check, in one line: the ids, and the head that would anchor an unsealed study. */
static void not_checkable(const struct screen *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->v->findings.n; i++) {
		const struct ib_finding *one = &s->v->findings.v[i];

		if (one->level != IB_FINDING_I || one->status != IB_NOT_CHECKABLE || (i && n && strcmp(one->id, s->v->findings.v[i - 1].id) == 0))
			continue;
		if (++n > 8)
			continue;
		ib_buf_addf(s->b, "%s%s", n == 1 ? "not checkable " : " ", one->id);
		if (strcmp(one->id, "S14") == 0)
			ib_buf_adds(s->b, " (ledger's end: not anchored)");
	}
	if (n)
		ib_buf_adds(s->b, n > 8 ? " ...; --json says why\n" : "; --json says why\n");
}

static void withheld(const struct screen *s)
{
	size_t n = json_array_size(json_object_get(s->v->study.withheld.json, "withheld"));

	if (n)
		ib_buf_addf(s->b, "withheld      %zu file%s, declared with digest, size and reason in withheld.json\n", n, n == 1 ? "" : "s");
}

/* A path within a command that is shown to be copied: whoever named the file must not choose what the shell does. */
static void shell_path(const struct screen *s, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/+,@%:=";
	bool safe = *path && *path != '-';

	for (const char *c = path; *c; c++)
		safe = safe && *c >= 0x20 && *c < 0x7f && *c != '\'';
	if (!safe)
		ib_buf_adds(s->b, "PATH");
	else if (strspn(path, plain) == strlen(path))
		ib_buf_adds(s->b, path);
	else
		ib_buf_addf(s->b, "'%s'", path);
}

/* The options that made this verdict: without them ib-report would come to another. */
static void trust_options(const struct screen *s)
{
	for (size_t i = 0; i < s->opts->n_trust; i++) {
		ib_buf_adds(s->b, "--trust ");
		shell_path(s, s->opts->trust[i]);
		ib_buf_addc(s->b, ' ');
	}
	for (size_t i = 0; i < s->opts->n_fingerprints; i++) {
		ib_buf_adds(s->b, "--fingerprint ");
		shell_path(s, s->opts->fingerprints[i]);
		ib_buf_addc(s->b, ' ');
	}
	if (s->opts->unsigned_ok)
		ib_buf_adds(s->b, "--unsigned-ok ");
}

static void next_step(const struct screen *s)
{
	const struct ib_verdict *v = s->v;
	bool given = s->opts->n_trust || s->opts->n_fingerprints; /* then another signer is no step to finish, but what was to be found */
	bool key_asked = v->kind == IB_KIND_PACKET && v->n_signers && v->trusted != IB_HOLDS_YES && holds(v) && !given;

	if (key_asked) {
		ib_buf_addf(s->b, "to finish     compare %s with what the signer gives you elsewhere (a page, a call), then:\n", v->signers[0].fingerprint);
		ib_buf_adds(s->b, "              ib-verify --fingerprint ");
		ib_buf_addf(s->b, "%s ", v->signers[0].fingerprint);
		shell_path(s, v->path);
		ib_buf_addc(s->b, '\n');
	} else if (v->exit == IB_EXIT_UNDECIDED && v->kind == IB_KIND_PACKET && !v->n_signers && holds(v)) {
		ib_buf_adds(s->b, "to finish     ask the author for a signed packet, or take it unsigned: ib-verify --unsigned-ok ");
		shell_path(s, v->path);
		ib_buf_addc(s->b, '\n');
	} else if (v->exit == IB_EXIT_OK && v->kind != IB_KIND_RUN) {
		ib_buf_adds(s->b, v->kind == IB_KIND_STUDY ? "next          ib-report -C " : "next          ib-report ");
		if (v->kind == IB_KIND_PACKET)
			trust_options(s);
		shell_path(s, v->path);
		ib_buf_addc(s->b, '\n');
	}
}

void ib_verdict_screen(const struct ib_verdict *v, const struct ib_verify_opts *opts, bool color, struct ib_buf *b)
{
	const struct screen s = {.v = v, .opts = opts, .color = color, .b = b};
	bool study = v->kind == IB_KIND_PACKET || v->kind == IB_KIND_STUDY;

	headline(&s);
	if (v->kind != IB_KIND_FILE) {
		intact(&s);
		signed_by(&s);
		trusted(&s);
		if (study && v->intact == IB_HOLDS_YES)
			complete(&s);
		consistent(&s);
	}
	rules(&s);
	findings(&s, "FAILS", IB_FINDING_E, IB_FAIL, FAULTS);
	findings(&s, "undecided", IB_FINDING_E, IB_NOT_CHECKABLE, LINES);
	if (holds(v) && study)
		cells(&s);
	if (v->intact != IB_HOLDS_NO)
		findings(&s, "warning", IB_FINDING_W, IB_FAIL, LINES);
	if (holds(v)) {
		not_checkable(&s);
		withheld(&s);
		if (v->kind == IB_KIND_STUDY && !v->study.seal)
			ib_buf_addf(b, "ledger head   %s (%" PRIu64 " entries)\n", v->study.chain.head, v->study.chain.length);
		ib_buf_adds(b, "Does not prove: that the machine was as described, that its author changed nothing before the seal, or that no study was left out.\n");
	}
	next_step(&s);
}
