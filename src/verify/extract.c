/* SPDX-License-Identifier: Apache-2.0 */
/* Safe extraction: a directory of ours, no link followed or made, every file new, bytes digested while they are written, one rename at the end. */
#include "verify/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"

/* --- the directory --- */

static int random_name(char ret[32], struct ib_err *err)
{
	uint8_t id[8];

	if (getentropy(id, sizeof(id)) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot get random bytes");
	snprintf(ret, 32, ".ib-%02x%02x%02x%02x%02x%02x%02x%02x.part", id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7]);
	return 0;
}

int ib_extract_begin(const char *path, struct ib_extract *x, struct ib_err *err)
{
	ib_auto_free char *plain = ib_strdup(path), *dir = NULL;
	struct stat st;
	size_t n = strlen(plain);
	const char *slash;
	int r;

	*x = IB_EXTRACT_NONE;
	while (n > 1 && plain[n - 1] == '/')
		plain[--n] = '\0';
	slash = strrchr(plain, '/');
	x->path = ib_strdup(path);
	x->name = ib_strdup(slash ? slash + 1 : plain);
	dir = slash ? ib_strndup(plain, (size_t)(slash - plain) + 1) : ib_strdup(".");
	if (!x->name[0] || ib_streq(x->name, ".") || ib_streq(x->name, ".."))
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is no name for a new directory", path);
	r = ib_open_dir(AT_FDCWD, dir, &x->parent, err);
	if (r < 0)
		return r;
	if (fstatat(x->parent, x->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return ib_fail_at(err, IB_E_EXISTS, path, "'%s' exists; name a directory that does not, nothing is written over", path);
	r = random_name(x->part, err);
	if (r < 0)
		return r;
	if (mkdirat(x->parent, x->part, 0700) < 0) {
		x->part[0] = '\0';
		return ib_fail(err, IB_E_IO, errno, "cannot make a directory in '%s'", dir);
	}
	return ib_open_dir(x->parent, x->part, &x->dir, err);
}

void ib_extract_end(struct ib_extract *x)
{
	for (size_t i = x->done ? 0 : x->made.n; i > 0; i--) {
		const char *path = x->made.v[i - 1];

		unlinkat(x->dir, path, ib_ends(path, "/") ? AT_REMOVEDIR : 0);
	}
	if (x->part[0] && !x->done)
		unlinkat(x->parent, x->part, AT_REMOVEDIR);
	if (x->dir >= 0)
		close(x->dir);
	if (x->parent >= 0)
		close(x->parent);
	ib_strv_clear(&x->made);
	free(x->path);
	free(x->name);
	*x = IB_EXTRACT_NONE;
}

/* --- one file --- */

struct writer {
	struct ib_extract *x;
	int fd;
	unsigned mode;
	char path[IB_PATH_MAX + 1];
	sigset_t ends; /* signals that end the process: they wait */
};

static int make_dirs(struct writer *w, struct ib_err *err)
{
	for (char *slash = strchr(w->path, '/'); slash; slash = strchr(slash + 1, '/')) {
		ib_auto_free char *dir = ib_strndup(w->path, (size_t)(slash - w->path) + 1);

		if (mkdirat(w->x->dir, dir, 0755) == 0)
			ib_strv_add(&w->x->made, dir);
		else if (errno != EEXIST)
			return ib_fail(err, IB_E_IO, errno, "cannot make '%s%s'", w->x->path, dir);
	}
	return 0;
}

static int begin_file(void *arg, const char *path, unsigned mode, struct ib_err *err)
{
	struct writer *w = arg;
	int r;

	snprintf(w->path, sizeof(w->path), "%s", path);
	r = make_dirs(w, err);
	if (r < 0)
		return r;
	w->fd = ib_open_beneath(w->x->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make '%s/%s'", w->x->path, path);
	w->mode = mode;
	ib_strv_add(&w->x->made, path);
	return 0;
}

/* Is one of the signals that wait there? */
static bool interrupted(const struct writer *w)
{
	sigset_t now;

	if (sigpending(&now) < 0)
		return false;
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&w->ends, s) == 1 && sigismember(&now, s) == 1)
			return true;
	return false;
}

static int add_bytes(void *arg, const void *data, size_t n, struct ib_err *err)
{
	struct writer *w = arg;

	if (interrupted(w))
		return ib_fail(err, IB_E_IO, 0, "interrupted; nothing was left in '%s'", w->x->path);
	return ib_write_all(w->fd, data, n, w->path, err);
}

static int end_file(void *arg, struct ib_err *err)
{
	struct writer *w = arg;
	int fd = w->fd;

	w->fd = -1;
	if (fchmod(fd, w->mode) < 0 || fsync(fd) < 0) {
		int sys = errno;

		close(fd);
		return ib_fail(err, IB_E_IO, sys, "cannot write '%s/%s'", w->x->path, w->path);
	}
	return close(fd) < 0 ? ib_fail(err, IB_E_IO, errno, "cannot write '%s/%s'", w->x->path, w->path) : 0;
}

static void writer_close(const struct writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
}

/* --- all of them --- */

static bool same(const struct ib_packet_result *a, const struct ib_packet_result *b)
{
	return a->code == b->code && a->complete && b->complete && ib_streq(a->tagmanifest_sha256, b->tagmanifest_sha256) && a->n_signers == b->n_signers;
}

static int sync_dirs(const struct ib_extract *x, struct ib_err *err)
{
	int r = 0;

	for (size_t i = x->made.n; i > 0 && r == 0; i--) {
		const char *path = x->made.v[i - 1];
		ib_auto_fd int fd = -1;

		if (!ib_ends(path, "/"))
			continue;
		fd = ib_open_beneath(x->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
		r = fd < 0 ? ib_fail(err, IB_E_IO, errno, "cannot open '%s/%s'", x->path, path) : ib_sync_dir(fd, path, err);
	}
	return r == 0 ? ib_sync_dir(x->dir, x->path, err) : r;
}

static int give_name(struct ib_extract *x, struct ib_err *err)
{
	struct stat st;
	int r;

	if (fchmod(x->dir, 0755) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot set the mode of '%s'", x->path);
	r = sync_dirs(x, err);
	if (r < 0)
		return r;
	if (renameat2(x->parent, x->part, x->parent, x->name, 1 /* RENAME_NOREPLACE */) < 0 &&
	    (errno != EINVAL || fstatat(x->parent, x->name, &st, AT_SYMLINK_NOFOLLOW) == 0 || renameat(x->parent, x->part, x->parent, x->name) < 0))
		return ib_fail(err, errno == EEXIST ? IB_E_EXISTS : IB_E_IO, errno, "cannot give '%s' its name", x->path);
	r = ib_sync_dir(x->parent, x->path, err);
	if (r < 0) /* not known to last: as if it had not been */
		x->done = renameat(x->parent, x->name, x->parent, x->part) < 0;
	else
		x->done = true;
	return r;
}

static int write_files(const struct ib_source *in, const struct ib_packet_opts *opts, const struct ib_packet_result *first, struct writer *w,
		       struct ib_err *err)
{
	const struct ib_packet_copy copy = {.begin = begin_file, .bytes = add_bytes, .end = end_file, .arg = w};
	struct ib_packet_opts how = *opts;
	__attribute__((cleanup(ib_findings_clear))) struct ib_findings again = {0};
	ib_auto_packet_result struct ib_packet_result res;
	int r;

	how.sink = NULL;
	how.copy = &copy;
	r = ib_packet_verify(in, &how, &res, &again, err);
	if (r < 0)
		return r;
	if (!same(first, &res))
		return ib_fail(err, IB_E_STATE, 0, "the packet changed while it was read; nothing was extracted");
	return give_name(w->x, err);
}

int ib_extract_packet(const struct ib_source *in, const struct ib_packet_opts *opts, const struct ib_packet_result *first, struct ib_extract *x,
		      struct ib_err *err)
{
	static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	__attribute__((cleanup(writer_close))) struct writer w = {.x = x, .fd = -1};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction too_large;
	sigset_t before;
	int r;

	sigaction(SIGXFSZ, &ignore, &too_large); /* a file size limit is an error of write() */
	sigemptyset(&w.ends);
	for (size_t i = 0; i < IB_LEN(ends); i++)
		sigaddset(&w.ends, ends[i]);
	sigprocmask(SIG_BLOCK, &w.ends, &before);
	r = write_files(in, opts, first, &w, err);
	if (r < 0) {
		struct ib_extract undone = *x;

		*x = IB_EXTRACT_NONE;
		ib_extract_end(&undone);
	}
	sigaction(SIGXFSZ, &too_large, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
