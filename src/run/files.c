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

#define DEPTH_MAX 62 /* as many levels as ib-verify reads below a study, which holds runs/ID/ */
#define LIST_BYTES (12u << 20) /* about what the list may take in the record, which is to stay a document that can be read */
#define ENTRY_BYTES 160         /* of one file in it, without its path */
#define NOTES_MAX 100
#define SYNC_EACH_MAX 64 /* more files than these are synced all at once, with whatever else is on their file system */

struct walk {
	struct ib_strv paths;
	struct ib_record *r; /* for notes; NULL when freezing */
	const struct timespec *start;
	bool freeze;
	size_t stuck; /* what could not be made read-only */
	size_t bytes, left_out, notes, unsaid;
};

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err);

static void note(struct walk *w, const char *path, const char *what)
{
	if (!w->r)
		return;
	if (w->notes++ < NOTES_MAX)
		ib_strv_take(&w->r->notes, ib_asprintf("'%.300s' %s", path, what));
	else
		w->unsaid++;
}

/* A directory that the command has left in a bad state must not cost the run its record. */
static void visit_dir(struct walk *w, int dir_fd, const char *name, const char *path, int depth)
{
	ib_auto_fd int fd = -1;

	if (depth >= DEPTH_MAX) {
		note(w, path, "is too deep and is not recorded");
		return;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note(w, path, "cannot be opened and is not recorded");
		return;
	}
	if (walk(w, fd, path, depth + 1, NULL) < 0)
		note(w, path, "cannot be listed and is not recorded");
	if (w->r && ib_sync_dir(fd, path, NULL) < 0)
		note(w, path, "may be lost if the machine stops now");
	if (w->freeze && fchmod(fd, 0555) < 0)
		w->stuck++;
}

static void add(struct walk *w, char *path)
{
	w->bytes += ENTRY_BYTES + 2 * strlen(path);
	if (w->bytes <= LIST_BYTES) {
		ib_strv_take(&w->paths, path);
		return;
	}
	w->left_out++;
	free(path);
}

bool ib_run_file_older(const struct timespec *file, const struct timespec *start)
{
	return start->tv_sec && (file->tv_sec != start->tv_sec ? file->tv_sec < start->tv_sec : file->tv_nsec < start->tv_nsec);
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

static void visit(struct walk *w, int dir_fd, const char *name, const char *prefix, int depth)
{
	ib_auto_free char *path = ib_asprintf("%s%s%s", prefix, *prefix ? "/" : "", name);
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			note(w, path, "cannot be inspected and is not recorded");
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		visit_dir(w, dir_fd, name, path, depth);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		if (w->r)
			remove_special(w, dir_fd, name, path, st.st_mode);
		return;
	}
	if (w->freeze) {
		w->stuck += fchmodat(dir_fd, name, st.st_mode & 0555, 0) < 0;
		return;
	}
	if (ib_nfs_remains(name)) {
		note(w, path, "is what NFS keeps of a file that was removed while it was open: it is not recorded, and no packet holds it");
		return;
	}
	if (ib_starts(path, "output/") && ib_run_file_older(&st.st_mtim, w->start))
		note(w, path, "is older than the start of the command");
	if (!ib_utf8_valid(path, strlen(path))) {
		note(w, path, "has a name that is not UTF-8 and is not recorded");
		return;
	}
	if (strcmp(path, "record.json") != 0 && strcmp(path, "record.json.part") != 0)
		add(w, ib_steal(&path));
}

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err)
{
	ib_auto_dir DIR *d = NULL;
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot list '%s'", *prefix ? prefix : "the run directory");
	rewinddir(d); /* the place is shared with dir_fd */
	for (struct dirent *e; (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			visit(w, dir_fd, e->d_name, prefix, depth);
	return 0;
}

static int open_and_digest(int dir_fd, const char *path, int *ret_fd, char hex[IB_HEX_LEN], uint64_t *bytes, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	r = ib_sha256_fd(fd, path, hex, bytes, err);
	if (r == 0)
		*ret_fd = ib_steal_fd(&fd);
	return r;
}

/* A digest must not reach the disk before what it is of. File systems that cannot sync say EINVAL. A file of a network file system that was replaced
 * elsewhere is stale once: it is opened again. */
static void digest(struct walk *w, int dir_fd, const char *path)
{
	ib_auto_fd int fd = -1;
	char hex[IB_HEX_LEN];
	struct ib_err err = {0};
	struct stat st;
	uint64_t bytes;
	int e = open_and_digest(dir_fd, path, &fd, hex, &bytes, &err);

	if (e < 0 && err.sys == ESTALE)
		e = open_and_digest(dir_fd, path, &fd, hex, &bytes, &err);
	if (e < 0) {
		ib_auto_free char *why = ib_asprintf("cannot be read and is not recorded: %s", strerror(err.sys));

		note(w, path, why);
		if (ib_starts(path, "output/"))
			ib_record_fail(w->r, "truncated_output");
		return;
	}
	if (w->paths.n <= SYNC_EACH_MAX && fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS)
		note(w, path, "may be lost if the machine stops now");
	ib_record_add_file(w->r, path, bytes, hex);
	w->r->files[w->r->files_n - 1].older = ib_starts(path, "output/") && fstat(fd, &st) == 0 && ib_run_file_older(&st.st_mtim, w->start);
}

int ib_run_files(int dir_fd, const struct timespec *start, struct ib_record *r, struct ib_err *err)
{
	struct walk w = {.r = r, .start = start};
	int e = walk(&w, dir_fd, "", 0, err);

	ib_strv_sort(&w.paths);
	for (size_t i = 0; e == 0 && i < w.paths.n; i++)
		digest(&w, dir_fd, w.paths.v[i]);
	if (w.paths.n > SYNC_EACH_MAX && syncfs(dir_fd) < 0)
		note(&w, "output", "may be lost if the machine stops now");
	ib_strv_clear(&w.paths);
	if (w.unsaid)
		ib_strv_take(&r->notes, ib_asprintf("%zu more files or directories have something to be said about them", w.unsaid));
	if (w.left_out) {
		ib_record_fail(r, "truncated_output");
		ib_strv_take(&r->notes, ib_asprintf("%zu files are not recorded: a record has no room for more than those in its list", w.left_out));
	}
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
