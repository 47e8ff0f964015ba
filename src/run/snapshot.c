/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a study at one moment. */
#include "run/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"

#define DEPTH_MAX 62 /* as many levels as ib-verify reads below a study, which holds runs/ID/ */
#define FILES_MAX 1000000u
#define DIGEST_MAX (1ull << 30)

struct walk {
	struct ib_snapshot *out;
	bool (*with_digest)(const char *path);
};

static bool ignored(const char *name)
{
	static const char *const names[] = {".", "..", ".git", "__pycache__", ".ipynb_checkpoints"};

	for (size_t i = 0; i < IB_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return ib_nfs_remains(name);
}

static void digest(struct walk *w, int dir_fd, const char *name, struct ib_snapshot_file *f)
{
	ib_auto_fd int fd = -1;
	uint64_t bytes;

	if (!w->with_digest || !w->with_digest(f->path) || w->out->digested + f->bytes > DIGEST_MAX)
		return;
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || ib_sha256_fd(fd, f->path, f->sha256, &bytes, NULL) < 0)
		f->sha256[0] = '\0';
	else
		w->out->digested += bytes;
}

static void add_file(struct walk *w, int dir_fd, const char *name, char *path, const struct stat *st)
{
	struct ib_snapshot *s = w->out;

	if (s->n >= FILES_MAX) {
		s->partial = true;
		free(path);
		return;
	}
	if ((s->n & (s->n + 1)) == 0) /* room for twice as many */
		s->files = ib_realloc(s->files, 2 * (s->n + 1), sizeof(*s->files));
	s->files[s->n] = (struct ib_snapshot_file){.path = path, .bytes = (uint64_t)st->st_size, .ino = st->st_ino, .mtime = st->st_mtim, .ctime = st->st_ctim};
	digest(w, dir_fd, name, &s->files[s->n++]);
}

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err);

static void visit(struct walk *w, int dir_fd, const char *name, const char *prefix, int depth)
{
	ib_auto_free char *path = ib_asprintf("%s%s%s", prefix, *prefix ? "/" : "", name);
	ib_auto_fd int fd = -1;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		w->out->partial |= errno != ENOENT;
	} else if (S_ISREG(st.st_mode)) {
		add_file(w, dir_fd, name, ib_steal(&path), &st);
	} else if (S_ISDIR(st.st_mode)) {
		fd = depth < DEPTH_MAX ? openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (fd < 0 || walk(w, fd, path, depth + 1, NULL) < 0)
			w->out->partial = true;
	}
}

static int walk(struct walk *w, int dir_fd, const char *prefix, int depth, struct ib_err *err)
{
	ib_auto_dir DIR *d = NULL;
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot list '%s'", *prefix ? prefix : "the study");
	rewinddir(d); /* the place is shared with dir_fd */
	ib_strv_add(&w->out->dirs, prefix);
	for (struct dirent *e; (e = readdir(d));)
		if (!ignored(e->d_name))
			visit(w, dir_fd, e->d_name, prefix, depth);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ib_snapshot_file *)a)->path, ((const struct ib_snapshot_file *)b)->path);
}

int ib_snapshot_take(int root_fd, bool (*with_digest)(const char *path), struct ib_snapshot *ret, struct ib_err *err)
{
	ib_auto_snapshot struct ib_snapshot s = {0};
	struct walk w = {&s, with_digest};
	int r = walk(&w, root_fd, "", 0, err);

	if (r < 0)
		return r;
	if (s.n)
		qsort(s.files, s.n, sizeof(*s.files), by_path);
	*ret = s;
	s = (struct ib_snapshot){0};
	return 0;
}

void ib_snapshot_clear(struct ib_snapshot *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->files[i].path);
	free(s->files);
	ib_strv_clear(&s->dirs);
	*s = (struct ib_snapshot){0};
}

const struct ib_snapshot_file *ib_snapshot_find(const struct ib_snapshot *s, const char *path)
{
	const struct ib_snapshot_file key = {.path = (char *)(uintptr_t)path};

	return s->n ? bsearch(&key, s->files, s->n, sizeof(*s->files), by_path) : NULL;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool ib_snapshot_same(const struct ib_snapshot_file *a, const struct ib_snapshot_file *b)
{
	return a->ino == b->ino && a->bytes == b->bytes && same_time(&a->mtime, &b->mtime) && same_time(&a->ctime, &b->ctime);
}
