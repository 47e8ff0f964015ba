/* SPDX-License-Identifier: Apache-2.0 */
/* The last look for secrets before a packet leaves the machine. */
#include "pack/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "redact/redact.h"

#define SHOWN_MAX 20

struct scan {
	const struct ib_ctx *ctx;
	const char *path;
	uint64_t hits;
	char first[400];
};

static void hit(void *arg, uint64_t line, const char *rule)
{
	struct scan *s = arg;

	if (s->hits++ == 0)
		snprintf(s->first, sizeof(s->first), "'%.300s' line %" PRIu64 " (%s)", s->path, line, rule);
	if (s->hits <= SHOWN_MAX)
		ib_log(s->ctx, IB_LOG_WARNING, "looks like a secret (%s): '%s' line %" PRIu64, rule, s->path, line);
	else if (s->hits == SHOWN_MAX + 1)
		ib_log(s->ctx, IB_LOG_WARNING, "looks like a secret: more places, not listed");
}

static bool listed(const char *path, const char *const *allow, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(allow[i], path) == 0)
			return true;
	return false;
}

int ib_pack_secrets(const struct ib_ctx *ctx, int dirfd, const struct ib_tree *t, const char *const *allow, size_t allow_n, struct ib_err *err)
{
	struct scan s = {.ctx = ctx};

	for (size_t i = 0; i < allow_n; i++)
		if (!ib_tree_find(t, allow[i]))
			return ib_fail(err, IB_E_USAGE, 0, "'--allow-secret %s' names no file of the study; give its path below the study", allow[i]);
	for (size_t i = 0; i < t->n; i++) {
		ib_auto_fd int fd = -1;
		uint64_t hits;
		int r;

		if (t->v[i].withheld || listed(t->v[i].path, allow, allow_n))
			continue;
		fd = openat(dirfd, t->v[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", t->v[i].path);
		s.path = t->v[i].path;
		r = ib_scan_fd(fd, s.path, hit, &s, &hits, err);
		if (r < 0)
			return r;
	}
	if (s.hits)
		return ib_fail(err, IB_E_STATE, 0,
			       "%" PRIu64 " %s like a secret, the first in %s; remove it and measure again, withhold the file in the contract, "
			       "or say '--allow-secret FILE' for each file that may leave",
			       s.hits, s.hits == 1 ? "place looks" : "places look", s.first);
	return 0;
}
