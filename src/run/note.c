/* SPDX-License-Identifier: Apache-2.0 */
/* What an author adds to a ledger by hand. */
#include "run/note.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "ledger/read.h"
#include "redact/redact.h"

#define LEDGER_MAX (1u << 30)
#define TEXT_MAX 4096

int ib_note_check(const struct ib_study *study, const char *what, const char *text, struct ib_err *err)
{
	struct ib_err why = {0};

	if (!text || !text[strspn(text, " \t\r\n")])
		return ib_fail(err, IB_E_USAGE, 0, "%s is missing or blank", what);
	if (strlen(text) > TEXT_MAX)
		return ib_fail(err, IB_E_USAGE, 0, "%s is longer than %d bytes: keep it in a file of the study and name that", what, TEXT_MAX);
	if (!ib_utf8_valid(text, strlen(text)))
		return ib_fail(err, IB_E_USAGE, 0, "%s is not UTF-8", what);
	if (ib_gate(study->redactor, text, strlen(text), what, &why) < 0)
		return ib_fail(err, IB_E_USAGE, 0, "%s", why.text);
	return 0;
}

/* A study is not made for a note. */
static int find_study(const char *path, struct ib_err *err)
{
	ib_auto_free char *ledger = ib_asprintf("%s/ledger.jsonl", path);

	if (access(ledger, F_OK) < 0)
		return ib_fail(err, IB_E_USAGE, errno, "'%s' is no study: name one with -C", path);
	return 0;
}

static int check_run(const struct ib_study *study, const char *id, bool *ret_known, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LEDGER_MAX);
	ib_auto_ledger_view struct ib_ledger_view v = {0};
	const struct ib_ledger_run *run;
	int r = ib_read_file(study->fd, "ledger.jsonl", &b, err);

	if (r == 0)
		r = ib_ledger_view_load(ib_buf_str(&b), b.len, &v, err);
	if (r < 0)
		return r;
	run = ib_ledger_view_find(&v, id);
	if (!run)
		return ib_fail(err, IB_E_USAGE, 0, "the study '%s' has no run '%s': its runs are the directories below runs/", study->path, id);
	if (run->excluded)
		return ib_fail(err, IB_E_USAGE, 0, "run '%s' is excluded already: %s", id, run->exclusion_reason);
	*ret_known = run->finished_seq != 0 && run->state != IB_STATE_REFUSED;
	return 0;
}

static int append(const struct ib_study *study, const struct ib_note_options *o, struct ib_err *err)
{
	ib_auto_entry struct ib_entry exclusion = {.kind = IB_ENTRY_EXCLUSION}, note = {.kind = IB_ENTRY_NOTE};
	int r = 0;

	if (o->exclude) {
		exclusion.run = ib_strdup(o->exclude);
		exclusion.reason = ib_strdup(o->reason);
		r = ib_ledger_append(study->ledger, &exclusion, NULL, NULL, err);
	}
	if (r == 0 && o->note) {
		note.text = ib_strdup(o->note);
		r = ib_ledger_append(study->ledger, &note, NULL, NULL, err);
	}
	return r;
}

static void say(const struct ib_ctx *ctx, const struct ib_note_options *o, bool known)
{
	if (!o->exclude)
		return;
	ib_log(ctx, IB_LOG_INFO, "run '%s' is excluded; it stays where it is, and a plan fills its slot again", o->exclude);
	if (known)
		ib_log(ctx, IB_LOG_WARNING, "its result existed before: ib-verify will say so (A34)");
}

int ib_note(const struct ib_ctx *ctx, const struct ib_note_options *o, struct ib_err *err)
{
	const char *path = o->study ? o->study : access("ledger.jsonl", F_OK) == 0 ? "." : "ib-study";
	ib_auto_study struct ib_study study = {.fd = -1};
	bool known = false;
	int r = find_study(path, err);

	if (r == 0)
		r = ib_study_open(ctx, path, NULL, NULL, NULL, &study, err);
	if (r == 0 && o->exclude)
		r = ib_note_check(&study, "the reason of an exclusion (--reason TEXT)", o->reason, err);
	if (r == 0 && o->note)
		r = ib_note_check(&study, "the note", o->note, err);
	if (r == 0 && o->exclude)
		r = check_run(&study, o->exclude, &known, err);
	if (r == 0)
		r = append(&study, o, err);
	if (r < 0)
		return r;
	say(ctx, o, known);
	return 0;
}
