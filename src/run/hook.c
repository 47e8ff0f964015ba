/* SPDX-License-Identifier: Apache-2.0 */
/* Commands around the measured one: reset, warm-up, convert. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "run/inside.h"

/* A file without a name: a server that the hook leaves running may go on writing into it without touching the run. */
static int nameless(const struct ib_run *run, int *ret, struct ib_err *err)
{
	*ret = openat(run->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret < 0)
		*ret = memfd_create("hook", MFD_CLOEXEC);
	return *ret < 0 ? ib_fail(err, IB_E_IO, errno, "cannot hold a hook's output") : 0;
}

/* What was written so far becomes a file of the run. */
static int keep(struct ib_run *run, int from, const struct ib_run_ask *ask, const char *suffix, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("%s%s%s.%s", ask->dir, *ask->dir ? "/" : "", ask->name, suffix);
	ib_auto_fd int to = openat(run->dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	char chunk[65536];
	off_t at = 0;
	ssize_t n;

	if (to < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '%s'", path);
	while ((n = pread(from, chunk, sizeof(chunk), at)) > 0) {
		int r = ib_write_all(to, chunk, (size_t)n, path, err);

		if (r < 0)
			return r;
		at += n;
	}
	return n < 0 ? ib_fail(err, IB_E_IO, errno, "cannot read a hook's output") : 0;
}

static void add_env(struct ib_strv *env, const struct ib_run *run, const char *name)
{
	for (char *const *e = run->env; *e; e++)
		if (!ib_starts(*e, "IB_HOOK="))
			ib_strv_add(env, *e);
	ib_strv_take(env, ib_asprintf("IB_HOOK=%s", name));
}

int ib_run_ask(struct ib_run *run, const struct ib_run_ask *ask, struct ib_child_result *ret, struct ib_err *err)
{
	ib_auto_strv struct ib_strv args = {0}, env = {0};
	ib_auto_fd int out = -1, errors = -1, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct ib_child_spec spec = {.timeout_ns = ask->timeout_ns,
				     .grace_ns = run->spec->grace_ns ? run->spec->grace_ns : IB_GRACE_NS};
	int r;

	if (run->signals->caught)
		return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
	if ((!ask->verbatim && (r = ib_run_expand_all(run, ask->argv, true, &args, err)) < 0) ||
	    (r = nameless(run, &out, err)) < 0 || (r = nameless(run, &errors, err)) < 0 ||
	    (*ask->dir && (r = ib_make_dirs(run->dir_fd, ask->dir, 0755, err)) < 0))
		return r;
	add_env(&env, run, ask->name);
	spec.argv = ask->verbatim ? ask->argv : args.v;
	spec.env = env.v;
	spec.stdin_fd = ask->stdin_fd >= 0 ? ask->stdin_fd : null;
	spec.stdout_fd = out;
	spec.stderr_fd = errors;
	if ((r = ib_child_run(run->ctx, run->signals, &spec, ret, err)) < 0 || (r = keep(run, out, ask, "out", err)) < 0 ||
	    (r = keep(run, errors, ask, "err", err)) < 0)
		return r;
	return ret->interrupted_by ? ib_fail(err, IB_E_STATE, 0, "interrupted by a signal") : 0;
}

int ib_run_hook(struct ib_run *run, const char *name, char *const *argv, int64_t timeout_ns, struct ib_child_result *ret, struct ib_err *err)
{
	struct ib_run_ask ask = {.dir = "hooks", .name = name, .argv = argv, .stdin_fd = -1, .timeout_ns = timeout_ns};
	struct ib_record_hook *h;
	int r;

	*ret = (struct ib_child_result){.duration_ns = -1};
	r = ib_run_ask(run, &ask, ret, err);
	if (ret->duration_ns < 0) /* it never ran */
		return r;
	h = ib_record_add_hook(run->record, name);
	h->exit_status = ret->exit_status;
	h->signal = ret->signal;
	h->timed_out = ret->timed_out;
	h->duration_ns = ret->duration_ns;
	return r;
}

int ib_run_sleep(struct ib_run *run, int64_t ns, struct ib_err *err)
{
	int64_t until = ib_monotonic_ns(run->ctx->clock) + ns;

	for (;;) {
		int64_t left = until - ib_monotonic_ns(run->ctx->clock);

		ib_signals_wait(run->signals, left > 0 ? left : 0, -1);
		if (run->signals->caught)
			return ib_fail(err, IB_E_STATE, 0, "interrupted by a signal");
		if (left <= 0)
			return 0;
	}
}
