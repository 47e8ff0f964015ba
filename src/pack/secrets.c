/* SPDX-License-Identifier: Apache-2.0 */
/* The last look for secrets before a packet leaves the machine. */
#include "pack/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "pack/cast.h"
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

static bool is_recording(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".cast") == 0;
}

/* In a recording of a terminal a secret may lie in pieces, or behind an escape: what it showed is looked at, too, where its bytes show nothing. */
static int scan_file(struct scan *s, int fd, struct ib_err *err)
{
	ib_auto_free struct ib_cast_text *text = NULL;
	struct ib_source_fd file = {fd, s->path};
	struct ib_source shown;
	uint64_t hits = 0;
	int r = ib_scan_fd(fd, s->path, hit, s, &hits, err);

	if (r < 0 || hits || !is_recording(s->path))
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read '%s' again", s->path);
	text = ib_alloc(sizeof(*text));
	shown = ib_cast_text_source(text, ib_source_from_fd(&file));
	return ib_scan_source(&shown, hit, s, &hits, err);
}

int ib_pack_secrets(const struct ib_ctx *ctx, int dirfd, const struct ib_tree *t, const char *const *allow, size_t allow_n, struct ib_err *err)
{
	struct scan s = {.ctx = ctx};

	for (size_t i = 0; i < allow_n; i++)
		if (!ib_tree_find(t, allow[i]))
			return ib_fail(err, IB_E_USAGE, 0, "'--allow-secret %s' names no file of the study; give its path below the study", allow[i]);
	for (size_t i = 0; i < t->n; i++) {
		ib_auto_fd int fd = -1;
		int r;

		if (t->v[i].withheld || listed(t->v[i].path, allow, allow_n))
			continue;
		fd = openat(dirfd, t->v[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", t->v[i].path);
		s.path = t->v[i].path;
		r = scan_file(&s, fd, err);
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
