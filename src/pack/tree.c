/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a study as a packet will hold them. */
#include "pack/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "json/json.h"
#include "store/bag.h"
#include "store/tar.h"

#define DEPTH_MAX 64

struct walk {
	struct ib_tree *tree;
	size_t cap;
	dev_t key_dev;
	ino_t key_ino;
};

static int add_file(struct walk *w, const char *path, const struct stat *st, struct ib_err *err)
{
	if (!S_ISREG(st->st_mode))
		return ib_fail_at(err, IB_E_TYPE, path,
				  "'%s' is neither a file nor a directory, and a packet holds only those; remove it, or put a copy of the file in its place", path);
	if (w->key_ino && st->st_dev == w->key_dev && st->st_ino == w->key_ino)
		return ib_fail_at(err, IB_E_USAGE, path, "the private key '%s' lies in the study and would be packed; move it elsewhere", path);
	if (w->tree->n >= IB_NAMES_MAX)
		return ib_fail_at(err, IB_E_LIMIT, path, "the study holds more than %u files", IB_NAMES_MAX);
	if (w->tree->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 64;
		w->tree->v = ib_realloc(w->tree->v, w->cap, sizeof(*w->tree->v));
	}
	w->tree->v[w->tree->n++] = (struct ib_tree_file){.path = ib_strdup(path), .bytes = (uint64_t)st->st_size, .executable = st->st_mode & S_IXUSR};
	return 0;
}

/* Takes dirfd over. */
static int walk(struct walk *w, int dirfd, const char *prefix, int depth, struct ib_err *err)
{
	ib_auto_dir DIR *d = fdopendir(dirfd);
	struct dirent *e;
	int r = 0;

	if (!d) {
		close(dirfd);
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", prefix);
	}
	if (depth > DEPTH_MAX)
		return ib_fail_at(err, IB_E_LIMIT, prefix, "'%s' is nested more than %d deep", prefix, DEPTH_MAX);
	errno = 0;
	while (r == 0 && (e = readdir(d))) {
		ib_auto_free char *path = ib_asprintf("%s%s%s", prefix, *prefix ? "/" : "", e->d_name);
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return ib_fail_at(err, IB_E_IO, path, "cannot inspect '%s': %s", path, strerror(errno));
		if (S_ISDIR(st.st_mode)) {
			int below = openat(dirfd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (below < 0)
				return ib_fail(err, IB_E_IO, errno, "cannot open directory '%s'", path);
			r = walk(w, below, path, depth + 1, err);
		} else if (!S_ISREG(st.st_mode) || !ib_nfs_remains(e->d_name)) {
			r = add_file(w, path, &st, err);
		}
		errno = 0;
	}
	if (r == 0 && errno)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", prefix);
	return r;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ib_tree_file *)a)->path, ((const struct ib_tree_file *)b)->path);
}

int ib_tree_walk(int dirfd, dev_t key_dev, ino_t key_ino, struct ib_tree *ret, struct ib_err *err)
{
	struct walk w = {.tree = ret, .key_dev = key_dev, .key_ino = key_ino};
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	*ret = (struct ib_tree){0};
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open the study's directory");
	r = walk(&w, fd, "", 0, err);
	if (r == 0 && ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_path);
	return r;
}

/* '*' and '?' within a component. */
static bool matches(const char *pattern, const char *s)
{
	const char *star = NULL, *from = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = pattern++;
			from = s;
		} else if (*pattern == *s || (*pattern == '?' && *s != '/')) {
			pattern++;
			s++;
		} else if (star && *from != '/') {
			pattern = star + 1;
			s = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool ib_tree_matched(const struct ib_tree *t, const char *pattern)
{
	for (size_t i = 0; i < t->n; i++)
		if (matches(pattern, t->v[i].path))
			return true;
	return false;
}

int ib_tree_withhold(struct ib_tree *t, const struct ib_contract *c, struct ib_err *err)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < c->withhold_n && !t->v[i].withheld; k++) {
			if (!matches(c->withhold[k].path, t->v[i].path))
				continue;
			if (ib_tree_needed(t->v[i].path))
				return ib_fail_at(err, IB_E_USAGE, t->v[i].path, "the contract withholds '%s', which a packet cannot do without", t->v[i].path);
			t->v[i].withheld = c->withhold[k].reason;
		}
	return 0;
}

int ib_tree_check_names(const struct ib_tree *t, size_t top_n, struct ib_err *err)
{
	static const char any_top[] = "0123456789012345678901234567890123456789012345678901234567890123"; /* only its length counts */
	ib_auto_names struct ib_names *names = ib_names_new();

	for (size_t i = 0; i < t->n; i++) {
		ib_auto_free char *full = ib_asprintf("%.*s/data/%s", (int)top_n, any_top, t->v[i].path);
		int r;

		if (t->v[i].withheld)
			continue;
		if (t->v[i].bytes > IB_TAR_FILE_MAX)
			return ib_fail_at(err, IB_E_LIMIT, t->v[i].path,
					  "'%s' has 8 GiB or more, which a packet cannot hold; withhold it in the contract, or split it", t->v[i].path);
		r = ib_name_check(full, strlen(full), err);
		if (r == 0)
			r = ib_names_add(names, full, err);
		if (r < 0) {
			ib_wrap(err, "'%s' cannot be packed under its name; rename it, or withhold it in the contract", t->v[i].path);
			snprintf(err->where, sizeof(err->where), "%s", t->v[i].path);
			return r;
		}
	}
	return 0;
}

int ib_tree_digest(int dirfd, struct ib_tree *t, struct ib_err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		ib_auto_fd int fd = openat(dirfd, t->v[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		int r;

		if (fd < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", t->v[i].path);
		r = ib_sha256_fd(fd, t->v[i].path, t->v[i].sha256, &t->v[i].bytes, err);
		if (r < 0)
			return r;
	}
	return 0;
}

struct ib_tree_file *ib_tree_find(const struct ib_tree *t, const char *path)
{
	const struct ib_tree_file key = {.path = (char *)(uintptr_t)path};

	return t->n ? bsearch(&key, t->v, t->n, sizeof(*t->v), by_path) : NULL;
}

void ib_tree_sha256(const struct ib_tree *t, char ret[IB_HEX_LEN])
{
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();

	for (size_t i = 0; i < t->n; i++) {
		const struct ib_tree_file *f = &t->v[i];

		if (f->withheld || !ib_tree_covers(f->path))
			continue;
		ib_sha256_add(sha, f->sha256, 64);
		ib_sha256_add(sha, "  data/", 7);
		ib_sha256_add(sha, f->path, strlen(f->path));
		ib_sha256_add(sha, "\n", 1);
	}
	ib_sha256_hex(sha, ret);
}

void ib_tree_manifest(const struct ib_tree *t, struct ib_buf *b)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].withheld)
			ib_buf_addf(b, "%s  data/%s\n", t->v[i].sha256, t->v[i].path);
}

void ib_tree_withheld_json(const struct ib_tree *t, struct ib_buf *b)
{
	ib_auto_json json_t *o = ib_json_object();
	json_t *list = ib_json_array();

	ib_json_set_str(o, "schema", "urn:ibtools:withheld:v1");
	ib_json_set(o, "withheld", list);
	for (size_t i = 0; i < t->n; i++) {
		json_t *one;

		if (!t->v[i].withheld)
			continue;
		one = ib_json_object();
		ib_json_set_str(one, "path", t->v[i].path);
		ib_json_set_int(one, "bytes", (int64_t)t->v[i].bytes);
		ib_json_set_str(one, "sha256", t->v[i].sha256);
		ib_json_set_str(one, "reason", t->v[i].withheld);
		ib_json_add(list, one);
	}
	ib_json_write_pretty(o, b);
}

void ib_tree_clear(struct ib_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].path);
	free(t->v);
	*t = (struct ib_tree){0};
}
