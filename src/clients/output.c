/* SPDX-License-Identifier: Apache-2.0 */
/* All result files in a tree of outputs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/client.h"
#include "clients/head.h"

#define ENTRIES_MAX 10000
#define DEPTH_MAX 16

void ib_outputs_clear(struct ib_outputs *o)
{
	ib_results_clear(&o->results);
	*o = (struct ib_outputs){0};
}

/* Paths of all regular files below dirfd/prefix, unsorted; *n counts every entry. */
static int list(int dirfd, const char *prefix, int depth, size_t *n, struct ib_strv *ret, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, prefix[0] ? prefix : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	ib_auto_dir DIR *d = NULL;
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open directory '%s'", prefix);
	if (depth > DEPTH_MAX)
		return ib_fail_at(err, IB_E_LIMIT, prefix, "'%s' is more than %d levels deep", prefix, DEPTH_MAX);
	d = fdopendir(fd);
	if (!d)
		return ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", prefix);
	(void)ib_steal_fd(&fd); /* closedir() closes it */
	errno = 0;
	for (struct dirent *e = readdir(d); e; errno = 0, e = readdir(d)) {
		ib_auto_free char *path = ib_asprintf("%s%s%s", prefix, prefix[0] ? "/" : "", e->d_name);
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			r = list(dirfd, path, depth + 1, n, ret, err);
			if (r < 0)
				return r;
		} else if (S_ISREG(st.st_mode)) {
			ib_strv_add(ret, path);
		}
		if (++*n > ENTRIES_MAX)
			return ib_fail_at(err, IB_E_LIMIT, prefix, "more than %d entries to look for results in", ENTRIES_MAX);
	}
	return errno ? ib_fail(err, IB_E_IO, errno, "cannot read directory '%s'", prefix) : 0;
}

/* Is it the file of a client, by its beginning? */
static int recognise(int dirfd, const char *path, bool *ret, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ib_auto_free char *head = ib_alloc(IB_HEAD_MAX);
	size_t n;
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	r = ib_read_upto(fd, head, IB_HEAD_MAX, path, &n, err);
	if (r < 0)
		return r;
	*ret = ib_client_recognise(head, n) != NULL;
	return 0;
}

static int read_one(int dirfd, const char *path, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct ib_source_fd from = {.fd = fd, .name = path};
	const struct ib_source in = ib_source_from_fd(&from);

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	return ib_client_read_source(&in, path, ret, err);
}

int ib_client_read_dir(int dirfd, struct ib_outputs *ret, struct ib_err *err)
{
	ib_auto_strv struct ib_strv paths = {0};
	size_t n = 0;
	int r = list(dirfd, "", 0, &n, &paths, err);

	*ret = (struct ib_outputs){0};
	if (r < 0)
		return r;
	ib_strv_sort(&paths);
	for (size_t i = 0; i < paths.n; i++) {
		ib_auto_results struct ib_results one = {0};
		struct ib_err bad = {0};
		bool known = false;

		r = recognise(dirfd, paths.v[i], &known, &bad);
		if (r == 0 && !known)
			continue;
		ret->files++;
		if (r == 0)
			r = read_one(dirfd, paths.v[i], &one, &bad);
		if (r == 0)
			ib_results_move(&ret->results, &one);
		else if (ret->unreadable++ == 0)
			ret->first = bad;
	}
	ib_results_derive(&ret->results);
	return 0;
}
