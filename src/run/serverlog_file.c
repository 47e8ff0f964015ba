/* SPDX-License-Identifier: Apache-2.0 */
/* A server's log file before and after the command. */
#include "run/serverlog_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

#define MARK_MAX 4096u
#define LINE_MAX_BYTES 65536u
#define BANNER_MAX 65536u
#define BANNER_LOOK (64u << 20)
#define START_LINES 8192 /* bytes that lie between two such words of one start */
#define OLD_NAMES 9 /* log.1 … */

/* A regular file, or -1 with *ret_sys set. */
static int open_log(int dir_fd, const char *path, struct stat *st, int *ret_sys)
{
	ib_auto_fd int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*ret_sys = 0;
	if (fd < 0 || fstat(fd, st) < 0)
		*ret_sys = errno;
	else if (!S_ISREG(st->st_mode))
		*ret_sys = S_ISDIR(st->st_mode) ? EISDIR : ENOTSUP;
	return *ret_sys ? -1 : ib_steal_fd(&fd);
}

/* Digest of the n bytes before end. False: they are not there. */
static bool mark_of(int fd, uint64_t end, uint64_t n, char ret[IB_HEX_LEN])
{
	char bytes[MARK_MAX];
	ssize_t got = pread(fd, bytes, n, (off_t)(end - n));

	if (got < 0 || (uint64_t)got != n)
		return false;
	ib_sha256_of(bytes, n, ret);
	return true;
}

void ib_log_place(int dir_fd, const char *path, struct ib_log_place *ret)
{
	struct stat st;

	*ret = (struct ib_log_place){.path = ib_strdup(path), .dir_fd = dir_fd};
	ret->fd = open_log(dir_fd, path, &st, &ret->sys);
	if (ret->fd < 0)
		return;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->size = (uint64_t)st.st_size;
	ret->mark_n = ret->size < MARK_MAX ? ret->size : MARK_MAX;
	if (!mark_of(ret->fd, ret->size, ret->mark_n, ret->mark))
		ret->mark_n = 0;
}

void ib_log_place_clear(struct ib_log_place *p)
{
	if (p->path && p->fd >= 0)
		close(p->fd);
	free(p->path);
	*p = (struct ib_log_place){.fd = -1};
}

static void add(struct ib_log_part *part, int fd, uint64_t from, uint64_t to)
{
	if (part->n < IB_LOG_PARTS && from < to)
		part->seg[part->n++] = (struct ib_segment){fd, from, to};
}

static void own(struct ib_log_part *part, int fd)
{
	part->own[part->own_n++] = fd;
}

static void say(struct ib_log_part *part, const char *why)
{
	if (!part->why)
		part->why = ib_strdup(why);
}

/* Does the file hold, before the noted place, what stood there? */
static bool same_before(const struct ib_log_place *p, int fd, uint64_t size)
{
	char now[IB_HEX_LEN];

	return size >= p->size && (!p->mark_n || (mark_of(fd, p->size, p->mark_n, now) && strcmp(now, p->mark) == 0));
}

static int open_old(const struct ib_log_place *p, int number, struct stat *st)
{
	ib_auto_free char *name = ib_asprintf("%s.%d", p->path, number);
	int sys;

	return open_log(p->dir_fd, name, st, &sys);
}

/* Copied to log.1 and emptied in place: what is behind the noted place in the copy, then the file from its start. */
static void since_truncated(const struct ib_log_place *p, uint64_t size, struct ib_log_part *part)
{
	struct stat st;
	int copy = open_old(p, 1, &st);

	part->truncated = true;
	if (copy >= 0 && p->mark_n && same_before(p, copy, (uint64_t)st.st_size)) {
		own(part, copy);
		add(part, copy, p->size, (uint64_t)st.st_size);
	} else {
		if (copy >= 0)
			close(copy);
		say(part, "the log was cut while the command ran: what was written before that is lost");
	}
	add(part, p->fd, 0, size);
}

/* Renamed: the rest of the held file, what was rotated after it, and the file that has the name now. */
static void since_rotated(const struct ib_log_place *p, int now_fd, const struct stat *now, struct ib_log_part *part)
{
	int between[OLD_NAMES], n = 0;
	struct stat st, held;
	bool found = false;

	part->rotated = true;
	if (fstat(p->fd, &held) == 0)
		add(part, p->fd, p->size, (uint64_t)held.st_size);
	for (int i = 1; i <= OLD_NAMES && !found; i++) {
		int fd = open_old(p, i, &st);

		if (fd < 0)
			break;
		found = st.st_dev == p->dev && st.st_ino == p->ino;
		if (found)
			close(fd);
		else
			between[n++] = fd;
	}
	if (!found)
		say(part, "the log was moved to a name that is not known: what was written between two rotations would be missing");
	while (n-- > 0) {
		if (found && fstat(between[n], &st) == 0)
			add(part, between[n], 0, (uint64_t)st.st_size);
		own(part, between[n]);
	}
	if (now_fd >= 0)
		add(part, now_fd, 0, (uint64_t)now->st_size);
	else
		say(part, "the log is gone: what it held is kept");
}

/* From the start of the line that the slice begins in. */
static void extend_start(struct ib_segment *s)
{
	char bytes[LINE_MAX_BYTES];
	uint64_t n = s->from < sizeof(bytes) ? s->from : sizeof(bytes);
	ssize_t got = n ? pread(s->fd, bytes, n, (off_t)(s->from - n)) : 0;
	const char *line = got > 0 ? memrchr(bytes, '\n', (size_t)got) : NULL;

	if (got < 0 || (uint64_t)got != n)
		return;
	if (line)
		s->from -= (uint64_t)(bytes + got - (line + 1));
	else if (n == s->from)
		s->from = 0;
}

/* To the end of the line that the slice ends in, where that has been written by now. */
static void extend_end(struct ib_segment *s)
{
	char bytes[LINE_MAX_BYTES], last;
	const char *line;
	ssize_t got;

	if (pread(s->fd, &last, 1, (off_t)s->to - 1) != 1 || last == '\n')
		return;
	got = pread(s->fd, bytes, sizeof(bytes), (off_t)s->to);
	line = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
	if (line)
		s->to += (uint64_t)(line - bytes) + 1;
}

void ib_log_since(const struct ib_log_place *p, struct ib_log_part *ret)
{
	struct stat st = {0}, held;
	int fd;

	*ret = (struct ib_log_part){0};
	fd = open_log(p->dir_fd, p->path, &st, &ret->sys);
	if (fd >= 0)
		own(ret, fd);
	if (p->fd < 0 && fd < 0)
		return;
	ret->sys = 0;
	if (p->fd < 0 || fstat(p->fd, &held) < 0)
		add(ret, fd, 0, (uint64_t)st.st_size); /* it was made while the command ran */
	else if (fd < 0 || st.st_dev != p->dev || st.st_ino != p->ino)
		since_rotated(p, fd, &st, ret);
	else if (!same_before(p, p->fd, (uint64_t)held.st_size))
		since_truncated(p, (uint64_t)held.st_size, ret);
	else
		add(ret, p->fd, p->size, (uint64_t)held.st_size);
	if (ret->n && ret->seg[0].from)
		extend_start(&ret->seg[0]);
	if (ret->n)
		extend_end(&ret->seg[ret->n - 1]);
}

void ib_log_part_clear(struct ib_log_part *p)
{
	for (size_t i = 0; i < p->own_n; i++)
		close(p->own[i]);
	free(p->why);
	*p = (struct ib_log_part){0};
}

/* Words of the first lines of known servers. */
static const char *const start_words[] = {"vLLM API server version", "non-default args: {", "server_args=ServerArgs(", "build_info: ", "build: "};

/* The first of them in n bytes, or NULL. */
static const char *first_start(const char *text, size_t n)
{
	const char *first = NULL;

	for (size_t i = 0; i < IB_LEN(start_words); i++) {
		const char *at = memmem(text, n, start_words[i], strlen(start_words[i]));

		first = at && (!first || at < first) ? at : first;
	}
	return first;
}

/* Where the last start of a server begins, or NULL: one start may say several of the words. */
static const char *last_start(const char *text, size_t n)
{
	const char *last = NULL, *at = text, *one;

	while ((one = first_start(at, n - (size_t)(at - text)))) {
		if (!last || one > at + START_LINES || at == text)
			last = one;
		at = one + 1;
	}
	return last;
}

/* The file's bytes [from, to) without the line that is begun at their end. */
static uint64_t whole_lines(int fd, uint64_t from, uint64_t to)
{
	char bytes[BANNER_MAX];
	ssize_t got = pread(fd, bytes, to - from < sizeof(bytes) ? to - from : sizeof(bytes), (off_t)from);
	const char *line = got > 0 ? memrchr(bytes, '\n', (size_t)got) : NULL;

	return line ? from + (uint64_t)(line + 1 - bytes) : to;
}

bool ib_log_banner(const struct ib_log_place *p, struct ib_segment *ret, bool *ret_known)
{
	uint64_t look = p->size < BANNER_LOOK ? p->size : BANNER_LOOK, base = p->size - look, from = 0;
	ib_auto_free char *text = look && p->fd >= 0 ? ib_alloc(look) : NULL;
	ssize_t got = text ? pread(p->fd, text, look, (off_t)base) : -1;
	const char *at, *line;
	struct stat st;
	int old;

	if (got <= 0 || (uint64_t)got != look)
		return false;
	at = last_start(text, look);
	*ret_known = at != NULL;
	if (at) {
		line = memrchr(text, '\n', (size_t)(at - text));
		from = line ? base + (uint64_t)(line + 1 - text) : base;
	} else if ((old = open_old(p, 1, &st)) >= 0) {
		close(old);
		return false;
	}
	*ret = (struct ib_segment){p->fd, from, p->size - from < BANNER_MAX ? p->size : from + BANNER_MAX};
	if (ret->to < p->size)
		ret->to = whole_lines(p->fd, from, ret->to);
	return true;
}
