/* SPDX-License-Identifier: Apache-2.0 */
/* --requests FILE: the records of one result, in the interchange format. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/export.h"
#include "verify/audit.h"
#include "verify/verify.h"

static bool asked(const struct ib_audit_run *run, const struct ib_result *res, const char *which)
{
	return !which || ib_streq(run->name, which) || ib_streq(res->file, which);
}

/* Results with records of their own; which NULL: all. Returns how many; *ret gets the first. */
static size_t candidates(const struct ib_audit_view *v, const char *which, const struct ib_result **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < v->runs[i].results->n; k++) {
			const struct ib_result *res = &v->runs[i].results->v[k];

			if (res->columns.n && !res->within && asked(&v->runs[i], res, which) && n++ == 0)
				*ret = res;
		}
	return n;
}

static int choose(const struct ib_verdict *v, const char *which, const struct ib_result **ret, struct ib_err *err)
{
	bool loose = v->kind == IB_KIND_FOLDER || v->kind == IB_KIND_FILE;
	size_t n;

	if (!loose && v->intact != IB_HOLDS_YES)
		return ib_fail(err, IB_E_STATE, 0, "no records are written: the bytes are not intact");
	n = candidates(&v->audit, which, ret);
	if (n == 1)
		return 0;
	if (n)
		return ib_fail(err, IB_E_USAGE, 0, "%zu results hold records, '%s' is one of them: choose one with '--show', by its file or its run", n, (*ret)->file);
	if (which)
		return ib_fail(err, IB_E_USAGE, 0, "'%s' names no result with records of requests in '%s'", which, v->path);
	return ib_fail(err, IB_E_UNSUPPORTED, 0, "no result in '%s' holds records of requests", v->path);
}

int ib_verdict_requests(const struct ib_verdict *v, const char *which, const char *path, struct ib_err *err)
{
	const struct ib_result *res = NULL;
	struct ib_source_fd to = {.fd = -1, .name = path};
	struct ib_drain out;
	ib_auto_fd int fd = -1;
	int r;

	if (!ib_ends(path, ".jsonl") && !ib_ends(path, ".csv"))
		return ib_fail(err, IB_E_USAGE, 0, "'%s': the name of the file for --requests ends with .jsonl or .csv, and says so which form is written", path);
	r = choose(v, which, &res, err);
	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return ib_fail(err, errno == EEXIST ? IB_E_EXISTS : IB_E_IO, errno, "cannot make '%s'", path);
	to.fd = fd;
	out = ib_drain_to_fd(&to);
	r = ib_requests_write(res, ib_requests_form_of(path), &out, err);
	if (r < 0)
		unlink(path);
	return r;
}
