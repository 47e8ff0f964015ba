/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes; files that appear complete or not at all. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

/* Part by part, so that only the last one can be a link, which flags refuse. */
static int open_parts(int dirfd, const char *path, int flags, mode_t mode)
{
	ib_auto_fd int dir = -1;
	const char *slash;

	for (; (slash = strchr(path, '/')) && slash[1]; path = slash + 1) {
		ib_auto_free char *part = ib_strndup(path, (size_t)(slash - path));
		int next;

		if (strcmp(part, "..") == 0)
			errno = EXDEV;
		next = strcmp(part, "..") == 0 ? -1 : openat(dir < 0 ? dirfd : dir, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir >= 0)
			close(dir);
		dir = next;
		if (dir < 0)
			return dir;
	}
	return openat(dir < 0 ? dirfd : dir, path, flags | O_NOFOLLOW, mode);
}

int ib_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
#ifdef SYS_openat2
	const struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = (unsigned)flags | O_NOFOLLOW, .mode = mode, .resolve = 0x02 | 0x04 | 0x08 /* no magic links, no links, beneath */};
	long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) /* old containers refuse what they do not know */
		return (int)fd;
#endif
	return open_parts(dirfd, path, flags, mode);
}

int ib_write_all(int fd, const void *data, size_t n, const char *name, struct ib_err *err)
{
	const char *p = data;

	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot write '%s'", name);
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int ib_read_upto(int fd, void *data, size_t n, const char *name, size_t *ret_n, struct ib_err *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(fd, (char *)data + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return ib_fail(err, IB_E_IO, errno, "cannot read '%s'", name);
		if (k == 0)
			break;
		got += (size_t)k;
	}
	*ret_n = got;
	return 0;
}

int ib_read_all(int fd, const char *name, struct ib_buf *b, struct ib_err *err)
{
	char chunk[16384];
	size_t n;

	do {
		int r = ib_read_upto(fd, chunk, sizeof(chunk), name, &n, err);

		if (r < 0)
			return r;
		ib_buf_add(b, chunk, n);
	} while (n == sizeof(chunk) && !b->overflow);
	return ib_buf_check(b, name, err);
}

int ib_read_file(int dirfd, const char *path, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect '%s'", path);
	if (!S_ISREG(st.st_mode))
		return ib_fail(err, IB_E_TYPE, 0, "'%s' is not a regular file", path);
	return ib_read_all(fd, path, b, err);
}

/* Writes and syncs the temporary file; its mode is exact. */
static int write_temp(int fd, const char *path, const void *data, size_t n, mode_t mode, struct ib_err *err)
{
	int r = ib_write_all(fd, data, n, path, err);

	if (r < 0)
		return r;
	if (fchmod(fd, mode) < 0 || fsync(fd) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot write '%s'", path);
	return 0;
}

static int move_in_place(int dirfd, const char *temp, const char *path, bool replace, struct ib_err *err)
{
	if (renameat2(dirfd, temp, dirfd, path, replace ? 0 : 1 /* RENAME_NOREPLACE */) == 0)
		return 0;
	if (!replace && errno == EINVAL) { /* file systems without RENAME_NOREPLACE: link refuses an existing name too */
		if (linkat(dirfd, temp, dirfd, path, 0) == 0) {
			unlinkat(dirfd, temp, 0);
			return 0;
		}
	}
	if (errno == EEXIST)
		return ib_fail(err, IB_E_EXISTS, 0, "'%s' exists and is not overwritten", path);
	return ib_fail(err, IB_E_IO, errno, "cannot move '%s' into place", path);
}

/* Without a name until it is complete, so that a process that is killed on the way leaves nothing behind. False: this file system cannot do that. */
static bool write_nameless(int dirfd, const char *dir, const char *path, const void *data, size_t n, mode_t mode, int *ret, struct ib_err *err)
{
	ib_auto_fd int fd = openat(dirfd, dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	char link[64];

	if (fd < 0)
		return false;
	*ret = write_temp(fd, path, data, n, mode, err);
	if (*ret < 0)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, link, dirfd, path, AT_SYMLINK_FOLLOW) == 0)
		return true;
	if (errno == EEXIST)
		*ret = ib_fail(err, IB_E_EXISTS, 0, "'%s' exists and is not overwritten", path);
	return errno == EEXIST;
}

static int write_named(int dirfd, const char *path, const void *data, size_t n, mode_t mode, bool replace, struct ib_err *err)
{
	ib_auto_free char *temp = NULL;
	ib_auto_fd int fd = -1;
	uint32_t id = 0;
	int r;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	temp = ib_asprintf("%s.%08x.part", path, id);
	fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '%s'", path);
	r = write_temp(fd, path, data, n, mode, err);
	if (r == 0)
		r = move_in_place(dirfd, temp, path, replace, err);
	if (r < 0)
		unlinkat(dirfd, temp, 0);
	return r;
}

int ib_write_file(int dirfd, const char *path, const void *data, size_t n, mode_t mode, bool replace, struct ib_err *err)
{
	const char *slash = strrchr(path, '/');
	ib_auto_free char *dir = slash ? ib_strndup(path, (size_t)(slash - path) + 1) : ib_strdup(".");
	ib_auto_fd int parent = -1;
	int r = 0;

	if (replace || !write_nameless(dirfd, dir, path, data, n, mode, &r, err))
		r = write_named(dirfd, path, data, n, mode, replace, err);
	if (r < 0)
		return r;
	r = ib_open_dir(dirfd, dir, &parent, err);
	return r < 0 ? r : ib_sync_dir(parent, dir, err);
}

int ib_open_dir(int dirfd, const char *path, int *ret_fd, struct ib_err *err)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open directory '%s'", path);
	*ret_fd = fd;
	return 0;
}

DIR *ib_list_dir(int dirfd, const char *path)
{
	ib_auto_fd int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d)
		(void)ib_steal_fd(&fd); /* closedir() closes it */
	return d;
}

int ib_sync_dir(int dirfd, const char *name, struct ib_err *err)
{
	/* file systems that cannot sync a directory say EINVAL: nothing more can be done there */
	if (fsync(dirfd) < 0 && errno != EINVAL)
		return ib_fail(err, IB_E_IO, errno, "cannot sync directory '%s'", name);
	return 0;
}

int ib_make_dirs(int dirfd, const char *path, mode_t mode, struct ib_err *err)
{
	ib_auto_free char *p = ib_strdup(path);
	struct stat st;

	for (char *s = p + (*p == '/');; s++) {
		bool last = *s == '\0';

		if (*s != '/' && !last)
			continue;
		*s = '\0';
		if (*p && mkdirat(dirfd, p, mode) < 0) {
			if (errno != EEXIST)
				return ib_fail(err, IB_E_IO, errno, "cannot make directory '%s'", p);
			if (fstatat(dirfd, p, &st, 0) < 0 || !S_ISDIR(st.st_mode))
				return ib_fail(err, IB_E_EXISTS, 0, "'%s' is in the way and is not a directory", p);
		}
		if (last)
			return 0;
		*s = '/';
	}
}
