/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a directory as evidence. */
#include "verify/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "verify/hashed.h"

struct walk {
	const struct ib_evidence_sink *sink;
	struct ib_findings *f;
	const char *check;
	size_t files;
};

static int rank(const char *name)
{
	return strcmp(name, "ledger.jsonl") == 0 || strcmp(name, "record.json") == 0 ? 0 : 1;
}

static int by_rank_and_bytes(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int d = rank(x) - rank(y);

	return d ? d : strcmp(x, y);
}

static int list_names(int fd, const char *path, struct ib_strv *names, struct ib_err *err)
{
	ib_auto_dir DIR *d = ib_list_dir(fd, ".");
	struct dirent *e;

	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", path);
	for (errno = 0; (e = readdir(d)); errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			ib_strv_add(names, e->d_name);
			if (names->n > IB_DIR_FILES)
				return ib_fail_at(err, IB_E_LIMIT, path, "'%s' holds more than the limit of %u files", path, IB_DIR_FILES);
		}
	if (errno)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", path);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof(*names->v), by_rank_and_bytes);
	return 0;
}

static void note(struct walk *w, const char *path, enum ib_code code, enum ib_status status, const char *text)
{
	struct ib_finding *one = ib_findings_add(w->f, w->check, IB_FINDING_E, status, "%s", text);

	one->code = code;
	free(one->file);
	one->file = ib_strdup(path);
}

static void unreadable(struct walk *w, const char *path, uint64_t size, int sys)
{
	ib_auto_free char *text = ib_asprintf("cannot be read: %s", strerror(sys));

	note(w, path, IB_E_IO, IB_NOT_CHECKABLE, text);
	w->sink->file(w->sink->arg, path, size, "", NULL);
}

/* A file whose bytes the sink wants: read whole, digested, handed over. */
static int take_whole(struct walk *w, int fd, const char *path, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	char hex[IB_HEX_LEN];
	int r = ib_read_all(fd, path, &b, err);

	if (r < 0)
		return r;
	ib_sha256_of(ib_buf_str(&b), b.len, hex);
	w->sink->file(w->sink->arg, path, b.len, hex, ib_buf_str(&b));
	return 0;
}

/* A file of any size whose digest is established: its bytes once more, to whoever reads streams. */
static void stream(struct walk *w, int fd, const char *path, uint64_t size)
{
	struct ib_source_fd from = {.fd = fd, .name = path};
	const struct ib_source in = ib_source_from_fd(&from);

	if (w->sink->streams && w->sink->streams(w->sink->arg, path, size) && lseek(fd, 0, SEEK_SET) == 0)
		ib_evidence_stream(w->sink, path, &in);
}

static int take_digest(struct walk *w, int fd, const char *path, struct ib_err *err)
{
	char hex[IB_HEX_LEN];
	uint64_t bytes;
	int r = ib_sha256_fd(fd, path, hex, &bytes, err);

	if (r < 0)
		return r;
	w->sink->file(w->sink->arg, path, bytes, hex, NULL);
	stream(w, fd, path, bytes);
	return 0;
}

static int take_file(struct walk *w, int dirfd, const char *name, const char *path, const struct stat *st, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	uint64_t size = (uint64_t)st->st_size;
	struct ib_err why;
	struct stat now;
	int r;

	if (++w->files > IB_DIR_FILES)
		return ib_fail_at(err, IB_E_LIMIT, path, "more than the limit of %u files", IB_DIR_FILES);
	if (fd < 0) {
		unreadable(w, path, size, errno);
		return 0;
	}
	if (fstat(fd, &now) < 0 || now.st_ino != st->st_ino || now.st_dev != st->st_dev) {
		unreadable(w, path, size, ESTALE);
		return 0;
	}
	if (size <= IB_JSON_MAX && w->sink->wants(w->sink->arg, path, size))
		r = take_whole(w, fd, path, &why);
	else
		r = take_digest(w, fd, path, &why);
	if (r < 0)
		unreadable(w, path, size, why.sys ? why.sys : EFBIG);
	return 0;
}

static const char *type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a named pipe";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int walk_dir(struct walk *w, int fd, const char *path, int depth, struct ib_err *err);

static int take_entry(struct walk *w, int dirfd, const char *name, const char *path, int depth, struct ib_err *err)
{
	ib_auto_free char *text = NULL;
	ib_auto_fd int sub = -1;
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		note(w, path, IB_E_IO, IB_NOT_CHECKABLE, "went away while it was read");
		return 0;
	}
	if (S_ISREG(st.st_mode) && ib_nfs_remains(name))
		return 0; /* neither recorded nor packed: it goes when a process closes it */
	if (S_ISREG(st.st_mode))
		return take_file(w, dirfd, name, path, &st, err);
	if (!S_ISDIR(st.st_mode)) {
		text = ib_asprintf("is %s: evidence is regular files only", type_of(st.st_mode));
		note(w, path, IB_E_TYPE, IB_FAIL, text);
		return 0;
	}
	sub = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (sub < 0) {
		text = ib_asprintf("cannot be entered: %s", strerror(errno));
		note(w, path, IB_E_IO, IB_NOT_CHECKABLE, text);
		return 0;
	}
	return walk_dir(w, sub, path, depth + 1, err);
}

static int walk_dir(struct walk *w, int fd, const char *path, int depth, struct ib_err *err)
{
	ib_auto_strv struct ib_strv names = {0};
	int r;

	if (depth > IB_DIR_DEPTH)
		return ib_fail_at(err, IB_E_LIMIT, path, "'%.200s' lies deeper than the limit of %d levels", path, IB_DIR_DEPTH);
	if (w->sink->dir && *path)
		w->sink->dir(w->sink->arg, path, fd);
	r = list_names(fd, *path ? path : ".", &names, err);
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		ib_auto_free char *below = *path ? ib_asprintf("%s/%s", path, names.v[i]) : ib_strdup(names.v[i]);

		r = take_entry(w, fd, names.v[i], below, depth, err);
	}
	return r;
}

int ib_dir_walk(int dirfd, const char *name, const char *check, const struct ib_evidence_sink *sink, struct ib_findings *f, struct ib_err *err)
{
	struct walk w = {.sink = sink, .f = f, .check = check};
	int r = walk_dir(&w, dirfd, "", 0, err);

	return r < 0 ? ib_wrap(err, "'%s'", name) : 0;
}
