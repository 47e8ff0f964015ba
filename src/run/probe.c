/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a URL from within a run. */
#include "run/probe.h"

#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/spawn.h"
#include "base/str.h"
#include "model/template.h"
#include "redact/redact.h"

int ib_probe_url(const struct ib_run *run, const char *url, char **ret, struct ib_err *err)
{
	struct ib_template t = {.env = run->ctx->env, .mode = IB_TEMPLATE_ENV};
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	int r = ib_template_expand(&t, url, &b, err);

	if (r == 0)
		r = ib_buf_check(&b, "the URL", err);
	if (r == 0)
		*ret = ib_strdup(ib_buf_str(&b));
	return r;
}

int ib_probe_env(const struct ib_run *run, const char *url, bool expand, struct ib_strv *ret, struct ib_err *err)
{
	ib_auto_free char *expanded = NULL;
	int r = expand ? ib_run_expand(run, url, true, &expanded, err) : ib_probe_url(run, url, &expanded, err);

	if (r < 0)
		return r;
	for (char *const *e = run->env; *e; e++)
		if (!ib_starts(*e, IB_PROBE_URL_NAME "="))
			ib_strv_add(ret, *e);
	ib_strv_take(ret, ib_asprintf(IB_PROBE_URL_NAME "=%s", expanded));
	return 0;
}

static bool interrupted(void *arg)
{
	const struct ib_run *run = arg;

	ib_signals_wait(run->signals, 0, -1);
	return run->signals->count > run->signals_seen;
}

int ib_probe_spawn(const struct ib_run *run, struct ib_spawn *what, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err)
{
	struct ib_run asking = *run;
	const struct ib_spawn_stop stop = {run->signals->fd, interrupted, &asking};
	int r;

	if (interrupted(&asking))
		return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
	what->stop = &stop;
	r = ib_spawn(what, out, ret, err);
	what->stop = NULL;
	return r == 0 && ret->stopped ? ib_fail(err, IB_E_STATE, 0, "interrupted by a signal") : r;
}

static int judge(const struct ib_child_end *end, const char *helper, struct ib_err *err)
{
	if (end->overflow || end->status == IB_EXIT_REFUSED)
		return ib_fail(err, IB_E_LIMIT, 0, "the answer is too large");
	if (end->timed_out || end->status == IB_EXIT_TIMED_OUT)
		return ib_fail(err, IB_E_TIMEOUT, 0, "no answer in time");
	switch (end->status) {
	case IB_EXIT_OK:
		return 0;
	case IB_EXIT_FAILS:
		return ib_fail(err, IB_E_IO, 0, "the answer's status is not 200 to 299");
	case IB_EXIT_UNDECIDED:
		return ib_fail(err, IB_E_IO, 0, "no answer: nothing listens there, or the connection broke");
	case IB_EXIT_CANNOT_EXECUTE:
	case IB_EXIT_NOT_FOUND:
		return ib_fail(err, IB_E_IO, 0, "the helper '%s' cannot be executed: is ibtools installed completely?", helper);
	default:
		return ib_fail(err, IB_E_IO, 0, "the helper '%s' failed", helper);
	}
}

int ib_probe(const struct ib_run *run, const char *url, int64_t timeout_ns, struct ib_buf *body, struct ib_err *err)
{
	ib_auto_free char *helper = ib_helper_path("ib-probe");
	ib_auto_free char *limit = ib_asprintf("%" PRId64 "ms", timeout_ns / 1000000 + 1);
	const char *const argv[] = {helper, "--timeout", limit, "-", NULL};
	ib_auto_strv struct ib_strv env = {0};
	struct ib_spawn what = {.argv = argv, .timeout_ns = timeout_ns + 2 * IB_NS};
	struct ib_child_end end;
	int r = ib_probe_env(run, url, false, &env, err);

	if (r < 0)
		return r;
	what.env = env.v;
	r = ib_probe_spawn(run, &what, body, &end, err);
	if (r == 0)
		r = judge(&end, helper, err);
	return r == 0 && body->len && memchr(body->data, 0, body->len) ? ib_fail(err, IB_E_SYNTAX, 0, "the answer is no text") : r;
}

int ib_probe_keep(const struct ib_run *run, const char *name, const char *text, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("endpoint/%s", name), *clean = ib_redact_text(run->study->redactor, text);
	int r = ib_make_dirs(run->dir_fd, "endpoint", 0755, err);

	if (r == 0)
		r = ib_gate(run->study->redactor, clean, strlen(clean), path, err);
	return r < 0 ? r : ib_write_file(run->dir_fd, path, clean, strlen(clean), 0644, false, err);
}
