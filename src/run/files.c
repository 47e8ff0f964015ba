/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a run directory. */
#include "run/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/str.h"

#define DEPTH_MAX 32
#define FILES_MAX 200000

struct walk {
	struct ib_strv paths;
	struct ib_record *r; /* for notes; NULL when freezing */
	const struct timespec *start;
	bool freeze;
	size_t stuck; /* what could not be made read-only */
};

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err);

static void note(struct walk *w, const char *path, const char *what)
{
	ib_auto_free char *text = ib_asprintf("'%s' %s", path, what);

	if (w->r)
		ib_strv_add(&w->r->notes, text);
}

static int visit_dir(struct walk *w, int dir_fd, const char *name, const char *path, int depth, struct ib_err *err)
{
	ib_auto_fd int fd = -1;
	int r;

	if (depth >= DEPTH_MAX) {
		note(w, path, "is too deep and is not recorded");
		return 0;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note(w, path, "cannot be opened and is not recorded");
		return 0;
	}
	r = walk(w, fd, path, depth + 1, err);
	if (r == 0 && w->r)
		r = ib_sync_dir(fd, path, err);
	if (w->freeze && fchmod(fd, 0555) < 0)
		w->stuck++;
	return r;
}

static bool before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A link, pipe, socket or device holds no bytes of its own that could be evidence, and no reader of a study takes one: what it was goes into the
 * record, and it goes. */
static void remove_special(struct walk *w, int dir_fd, const char *name, const char *path, mode_t mode)
{
	char target[1024];
	ssize_t n = S_ISLNK(mode) ? readlinkat(dir_fd, name, target, sizeof(target) - 1) : 0;
	ib_auto_free char *what = NULL;

	target[n > 0 ? n : 0] = '\0';
	if (unlinkat(dir_fd, name, 0) < 0)
		what = ib_strdup("is not a regular file and is not recorded; no reader takes the study until it is removed");
	else if (S_ISLNK(mode))
		what = ib_asprintf("was a link to '%s' and was removed: a study holds files only", target);
	else
		what = ib_strdup("was a pipe, socket or device and was removed: a study holds files only");
	note(w, path, what);
}

static int visit(struct walk *w, int dir_fd, const char *name, const char *prefix, int depth, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("%s%s%s", prefix, *prefix ? "/" : "", name);
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : ib_fail(err, IB_E_IO, errno, "cannot inspect '%s'", path);
	if (S_ISDIR(st.st_mode))
		return visit_dir(w, dir_fd, name, path, depth, err);
	if (!S_ISREG(st.st_mode)) {
		if (w->r)
			remove_special(w, dir_fd, name, path, st.st_mode);
		return 0;
	}
	if (w->freeze) {
		w->stuck += fchmodat(dir_fd, name, st.st_mode & 0555, 0) < 0;
		return 0;
	}
	if (w->start->tv_sec && ib_starts(path, "output/") && before(&st.st_mtim, w->start))
		note(w, path, "is older than the start of the command");
	if (!ib_utf8_valid(path, strlen(path))) {
		note(w, path, "has a name that is not UTF-8 and is not recorded");
		return 0;
	}
	if (w->paths.n >= FILES_MAX)
		return ib_fail(err, IB_E_LIMIT, 0, "the run directory holds more than %d files", FILES_MAX);
	if (strcmp(path, "record.json") != 0 && strcmp(path, "record.json.part") != 0)
		ib_strv_take(&w->paths, ib_steal(&path));
	return 0;
}

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err)
{
	ib_auto_dir DIR *d = NULL;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot list '%s'", *prefix ? prefix : "the run directory");
	for (struct dirent *e; r == 0 && (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = visit(w, dir_fd, e->d_name, prefix, depth, err);
	return r;
}

static int digest(int dir_fd, const char *path, struct ib_record *r, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char hex[IB_HEX_LEN];
	uint64_t bytes;
	int e;

	if (fd < 0) {
		ib_strv_take(&r->notes, ib_asprintf("'%s' cannot be read and is not recorded: %s", path, strerror(errno)));
		return 0;
	}
	e = ib_sha256_fd(fd, path, hex, &bytes, err);
	/* a digest must not reach the disk before what it is of; file systems that cannot sync say EINVAL */
	if (e == 0 && fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS)
		ib_strv_take(&r->notes, ib_asprintf("'%s' may be lost if the machine stops now: %s", path, strerror(errno)));
	if (e == 0)
		ib_record_add_file(r, path, bytes, hex);
	return e;
}

int ib_run_files(int dir_fd, const struct timespec *start, struct ib_record *r, struct ib_err *err)
{
	struct walk w = {.r = r, .start = start};
	int e = walk(&w, dir_fd, "", 0, err);

	ib_strv_sort(&w.paths);
	for (size_t i = 0; e == 0 && i < w.paths.n; i++)
		e = digest(dir_fd, w.paths.v[i], r, err);
	ib_strv_clear(&w.paths);
	return e;
}

size_t ib_run_files_freeze(int dir_fd)
{
	struct walk w = {.freeze = true};

	if (walk(&w, dir_fd, "", 0, NULL) < 0)
		w.stuck++;
	w.stuck += fchmod(dir_fd, 0555) < 0;
	return w.stuck;
}
