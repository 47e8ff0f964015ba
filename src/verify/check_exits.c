/* SPDX-License-Identifier: Apache-2.0 */
/* A06: how each command ended is on record, and the record means what it seems to: a status 0 of a client whose requests failed says nothing, and neither
 * does that of a pipe's last part. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "verify/check.h"

/* Has this shell command a pipe, and nothing that keeps the status of its first part? */
static bool bare_pipe(const char *script)
{
	char quote = 0;

	if (strstr(script, "pipefail") || strstr(script, "PIPESTATUS"))
		return false;
	for (const char *c = script; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (quote)
			quote = *c == quote ? 0 : quote;
		else if (*c == '\'' || *c == '"')
			quote = *c;
		else if (*c == '|' && c[1] == '|')
			c++;
		else if (*c == '|')
			return true;
	}
	return false;
}

/* The script of "sh -c SCRIPT", or NULL. */
static const char *script_of(const struct ib_strv *argv)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh"};
	const char *slash = argv->n ? strrchr(argv->v[0], '/') : NULL, *name = argv->n ? slash ? slash + 1 : argv->v[0] : "";
	bool shell = false;

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		shell = shell || strcmp(name, shells[i]) == 0;
	for (size_t i = 1; shell && i + 1 < argv->n && argv->v[i][0] == '-'; i++)
		if (argv->v[i][1] != '-' && strchr(argv->v[i], 'c'))
			return argv->v[i + 1];
	return NULL;
}

static int64_t not_succeeded(const struct ib_audit_run *run)
{
	int64_t n = 0;

	for (size_t k = 0; k < run->results->n; k++) {
		const struct ib_requests *q = &run->results->v[k].requests;

		if (!run->results->v[k].within)
			n += (q->failed > 0 ? q->failed : 0) + (q->timed_out > 0 ? q->timed_out : 0);
	}
	return n;
}

static void one_run(const struct ib_check *self, const struct ib_audit_run *run, struct ib_findings *f)
{
	const struct ib_record *r = &run->run->record;
	const char *script = script_of(&run->run->argv);
	int64_t bad = not_succeeded(run);

	if (r->state == IB_STATE_COMPLETED && r->exit.status == 0 && bad)
		ib_check_fail(self, f, IB_OK, run->run->doc.path, "the client ended with status 0 although %" PRId64 " of its requests failed", bad);
	if (script && bare_pipe(script))
		ib_check_fail(self, f, IB_OK, run->run->doc.path, "the command is a pipe without 'pipefail': the status on record is that of its last part");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	size_t before = f->n, seen = 0;

	if (!v->study) {
		ib_check_hints(self, v, f);
		if (f->n == before)
			ib_check_skip(self, f, NULL, "no record of how the client ended: its exit status, a signal, a time limit");
		return;
	}
	for (size_t i = 0; i < v->n_runs; i++)
		if (v->runs[i].run->has_record && v->runs[i].run->record.state != IB_STATE_REFUSED) {
			seen++;
			one_run(self, &v->runs[i], f);
		}
	ib_check_hints(self, v, f);
	if (!seen && f->n == before)
		ib_check_skip(self, f, NULL, "no run was measured");
	ib_check_pass(self, f, before);
}

const struct ib_check ib_check_exits = {
	.id = "A06",
	.level = IB_FINDING_W,
	.title = "how every command ended is on record, and means what it seems to",
	.reads = "exit status, signal and time limit in the records; the commands; the counts of failed requests",
	.means = "a status 0 hides failures: those of the client's requests, or of the first parts of a pipe",
	.todo = "judge the run by its counts of requests, not by its status; put 'set -o pipefail' into the command, or an expectation into the contract",
	.audit = run,
};
