/* SPDX-License-Identifier: Apache-2.0 */
/* The last lines of the verdict screen: the one command that comes next. */
#include <string.h>

#include "base/exit.h"
#include "base/str.h"
#include "verify/ask.h"
#include "verify/screen.h"

#define ASKED 6
#define WIDTH 100

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

/* For files of others: what would tell what they measured. */
static void ask(const struct screen *s)
{
	const char *wanted[ASKED];
	size_t n = ib_ask(&s->v->findings, wanted, ASKED), at = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(wanted[i]);

		if (!at) {
			ib_buf_adds(s->b, "ask for       ");
			at = 14;
		} else if (at + 2 + len > WIDTH) {
			ib_buf_adds(s->b, ";\n              ");
			at = 14;
		} else {
			ib_buf_adds(s->b, "; ");
			at += 2;
		}
		ib_buf_adds(s->b, wanted[i]);
		at += len;
	}
	if (n)
		ib_buf_addc(s->b, '\n');
}

static void command(const struct screen *s, const char *words)
{
	ib_buf_adds(s->b, words);
	shell_path(s, s->v->path);
	ib_buf_addc(s->b, '\n');
}

/* A packet of which all holds but whose it is. */
static bool to_finish(const struct screen *s)
{
	bool given = s->opts->n_trust || s->opts->n_fingerprints; /* then another signer is no step to finish, but what was to be found */

	if (s->v->kind != IB_KIND_PACKET || !ib_screen_holds(s->v))
		return false;
	if (s->v->n_signers && s->v->trusted != IB_HOLDS_YES && !given) {
		ib_buf_addf(s->b, "to finish     compare %s with what the signer gives you elsewhere (a page, a call), then:\n",
			    s->v->signers[0].fingerprint);
		ib_buf_addf(s->b, "              ib-verify --fingerprint %s ", s->v->signers[0].fingerprint);
		command(s, "");
		return true;
	}
	if (s->v->exit != IB_EXIT_UNDECIDED || s->v->n_signers)
		return false;
	command(s, "to finish     ask the author for a signed packet, or take it unsigned: ib-verify --unsigned-ok ");
	return true;
}

void ib_screen_next(const struct screen *s)
{
	if (s->loose && s->v->audit.n_runs) {
		ask(s);
		return;
	}
	if (to_finish(s) || s->v->exit != IB_EXIT_OK || s->v->kind == IB_KIND_RUN)
		return;
	ib_buf_adds(s->b, s->v->kind == IB_KIND_STUDY ? "next          ib-report -C " : "next          ib-report ");
	if (s->v->kind == IB_KIND_PACKET)
		trust_options(s);
	command(s, "");
}
