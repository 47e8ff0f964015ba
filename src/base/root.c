/* SPDX-License-Identifier: Apache-2.0 */
/* Host reads below a root directory. */
#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LINUX_OPENAT2_H
#include <linux/openat2.h>
#endif

#include "base/auto.h"
#include "base/io.h"

#define DEPTH_MAX 64 /* directories below the root that the walk holds open */
#define LINKS_MAX 40

struct override {
	char *path;
	struct ib_fact fact;
};

struct ib_root {
	int fd;
	char *path;
	bool live, walk;
	const char *const *patterns;
	char *refused;
	ib_root_watcher *watcher;
	void *watcher_arg;
	struct override *overrides;
	size_t overrides_n;
};

static const char *const names[] = {"ok", "absent", "denied", "unsupported", "timeout", "error"};

const char *ib_fact_name(enum ib_fact_status status)
{
	return names[status];
}

enum ib_fact_status ib_fact_parse(const char *name)
{
	for (size_t i = 0; i < IB_LEN(names); i++)
		if (ib_streq(name, names[i]))
			return (enum ib_fact_status)i;
	return IB_FACT_ERROR;
}

struct ib_fact ib_fact_of(int sys)
{
	switch (sys) {
	case 0:
		return (struct ib_fact){IB_FACT_OK, 0};
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
		return (struct ib_fact){IB_FACT_ABSENT, sys};
	case EACCES:
	case EPERM:
		return (struct ib_fact){IB_FACT_DENIED, sys};
	case EOPNOTSUPP:
	case ENOSYS:
		return (struct ib_fact){IB_FACT_UNSUPPORTED, sys};
	case ETIMEDOUT:
		return (struct ib_fact){IB_FACT_TIMEOUT, sys};
	default:
		return (struct ib_fact){IB_FACT_ERROR, sys};
	}
}

int ib_root_open(const char *dir, struct ib_root **ret, struct ib_err *err)
{
	struct ib_root *r;
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open root directory '%s'", dir);
	r = ib_alloc(sizeof(*r));
	r->fd = fd;
	r->path = ib_strdup(dir);
	r->live = strcmp(dir, "/") == 0;
	*ret = r;
	return 0;
}

void ib_root_free(struct ib_root **r)
{
	if (!*r)
		return;
	close((*r)->fd);
	for (size_t i = 0; i < (*r)->overrides_n; i++)
		free((*r)->overrides[i].path);
	free((*r)->overrides);
	free((*r)->path);
	free((*r)->refused);
	free(*r);
	*r = NULL;
}

bool ib_root_is_live(const struct ib_root *r)
{
	return r->live;
}

int ib_root_fd(const struct ib_root *r)
{
	return r->fd;
}

const char *ib_root_path(const struct ib_root *r)
{
	return r->path;
}

void ib_root_use_walk(struct ib_root *r)
{
	r->walk = true;
}

/* --- the walk: a stack of open directories, so that ".." never leaves the root --- */

struct walk {
	int fds[DEPTH_MAX]; /* directories below the root, innermost last */
	size_t depth;
	int root, links;
	char *pending; /* what is still to be resolved */
};

static void walk_up(struct walk *w, size_t depth)
{
	while (w->depth > depth)
		close(w->fds[--w->depth]);
}

static void walk_clear(struct walk *w)
{
	walk_up(w, 0);
	free(w->pending);
}

static int walk_top(const struct walk *w)
{
	return w->depth ? w->fds[w->depth - 1] : w->root;
}

/* Puts a link's target before what is pending. Returns an errno. */
static int walk_link(struct walk *w, int fd, const char *rest)
{
	char target[4096];
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);
	char *pending;

	if (n < 0)
		return errno;
	if (++w->links > LINKS_MAX)
		return ELOOP;
	target[n] = '\0';
	pending = ib_asprintf("%s/%s", target, rest);
	free(w->pending);
	w->pending = pending;
	if (target[0] == '/')
		walk_up(w, 0);
	return 0;
}

/* Resolves one component; *ret_fd is set when it was the last. Returns an errno. */
static int walk_step(struct walk *w, const char *name, const char *rest, int flags, int *ret_fd)
{
	bool last = rest[strspn(rest, "/")] == '\0';
	int fd = openat(walk_top(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC), error;
	struct stat st;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode)) {
		error = S_ISLNK(st.st_mode) ? walk_link(w, fd, rest) : errno;
		close(fd);
		return error;
	}
	if (last) {
		close(fd);
		*ret_fd = openat(walk_top(w), name, flags | O_NOFOLLOW);
		return *ret_fd < 0 ? errno : 0;
	}
	if (!S_ISDIR(st.st_mode) || w->depth == DEPTH_MAX) {
		close(fd);
		return S_ISDIR(st.st_mode) ? ENAMETOOLONG : ENOTDIR;
	}
	w->fds[w->depth++] = fd;
	memmove(w->pending, rest, strlen(rest) + 1);
	return 0;
}

static int walk_open(int root, const char *path, int flags, int *ret_fd)
{
	struct walk w __attribute__((cleanup(walk_clear))) = {.root = root, .pending = ib_strdup(path)};
	int fd = -1, error = 0;

	while (error == 0 && fd < 0) {
		char *at = w.pending + strspn(w.pending, "/");
		size_t n = strcspn(at, "/");
		ib_auto_free char *name = ib_strndup(at, n);

		if (n == 0) { /* it ends in a directory that is open already */
			fd = openat(walk_top(&w), ".", flags);
			error = fd < 0 ? errno : 0;
			break;
		}
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
			if (name[1] && w.depth)
				walk_up(&w, w.depth - 1);
			memmove(w.pending, at + n, strlen(at + n) + 1);
			continue;
		}
		error = walk_step(&w, name, at + n, flags, &fd);
	}
	*ret_fd = fd;
	return error;
}

/* Opens path below the root; returns an errno. */
static int open_below(struct ib_root *r, const char *path, int flags, int *ret_fd)
{
#ifdef SYS_openat2
	if (!r->walk) {
		const struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT};

		for (int i = 0; i < 10; i++) {
			int fd = (int)syscall(SYS_openat2, r->fd, path, &how, sizeof(how));

			if (fd >= 0) {
				*ret_fd = fd;
				return 0;
			}
			if (errno != EAGAIN) /* something was renamed meanwhile */
				break;
		}
		if (errno != ENOSYS && errno != EPERM && errno != EAGAIN)
			return errno;
		r->walk = errno == ENOSYS;
	}
#endif
	return walk_open(r->fd, path, flags, ret_fd);
}

/* --- restriction, statuses of a recorded machine, watching --- */

static bool matches(const char *pattern, const char *path)
{
	ib_auto_free char *head = NULL;

	if (!ib_ends(pattern, "/**"))
		return fnmatch(pattern, path, FNM_PATHNAME) == 0;
	head = ib_strndup(pattern, strlen(pattern) - 3);
	return fnmatch(head, path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

static bool allowed(struct ib_root *r, const char *path)
{
	if (!r->patterns)
		return true;
	/* ".." in a path that we made is a mistake of ours: it would get around the patterns */
	if (!strstr(path, "/../") && !ib_ends(path, "/.."))
		for (size_t i = 0; r->patterns[i]; i++)
			if (matches(r->patterns[i], path))
				return true;
	if (!r->refused)
		r->refused = ib_strdup(path);
	return false;
}

void ib_root_restrict(struct ib_root *r, const char *const *patterns)
{
	r->patterns = patterns;
	free(r->refused);
	r->refused = NULL;
}

const char *ib_root_refused(const struct ib_root *r)
{
	return r->refused;
}

void ib_root_watch(struct ib_root *r, ib_root_watcher *watcher, void *arg)
{
	r->watcher = watcher;
	r->watcher_arg = arg;
}

void ib_root_set_fact(struct ib_root *r, const char *path, struct ib_fact fact)
{
	r->overrides = ib_realloc(r->overrides, r->overrides_n + 1, sizeof(*r->overrides));
	r->overrides[r->overrides_n++] = (struct override){ib_strdup(path), fact};
}

/* Common start of every access: OK to go on, else the status to give. */
static struct ib_fact begin(struct ib_root *r, const char *path)
{
	if (!allowed(r, path))
		return (struct ib_fact){IB_FACT_ERROR, EPERM};
	for (size_t i = 0; i < r->overrides_n; i++)
		if (strcmp(r->overrides[i].path, path) == 0)
			return r->overrides[i].fact;
	return (struct ib_fact){IB_FACT_OK, 0};
}

static struct ib_fact end(struct ib_root *r, const char *path, struct ib_fact fact, const char *data, size_t n)
{
	if (r->watcher)
		r->watcher(r->watcher_arg, path, fact, fact.status == IB_FACT_OK ? data : NULL, n);
	return fact;
}

static struct ib_fact read_fd(int fd, struct ib_buf *out)
{
	char chunk[16384];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return ib_fact_of(errno);
	if (!S_ISREG(st.st_mode))
		return (struct ib_fact){IB_FACT_UNSUPPORTED, S_ISDIR(st.st_mode) ? EISDIR : EINVAL};
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ib_fact_of(errno);
		ib_buf_add(out, chunk, (size_t)n);
		if (out->overflow)
			return (struct ib_fact){IB_FACT_ERROR, EFBIG};
	}
	return (struct ib_fact){IB_FACT_OK, 0};
}

struct ib_fact ib_root_read(struct ib_root *r, const char *path, struct ib_buf *out)
{
	struct ib_fact fact = begin(r, path);
	ib_auto_fd int fd = -1;
	int error;

	ib_buf_reset(out);
	if (fact.status != IB_FACT_OK)
		return fact;
	error = open_below(r, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, &fd);
	fact = error ? ib_fact_of(error) : read_fd(fd, out);
	if (fact.status != IB_FACT_OK)
		ib_buf_reset(out);
	return end(r, path, fact, ib_buf_str(out), out->len);
}

struct ib_fact ib_root_keep(struct ib_root *r, const char *path, int *ret_fd)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct ib_fact fact = r ? begin(r, path) : (struct ib_fact){IB_FACT_OK, 0};
	int error = 0;

	*ret_fd = -1;
	if (fact.status != IB_FACT_OK)
		return fact;
	if (r)
		error = open_below(r, path, flags, ret_fd);
	else if ((*ret_fd = open(path, flags)) < 0)
		error = errno;
	fact = ib_fact_of(error);
	return r ? end(r, path, fact, NULL, 0) : fact;
}

struct ib_fact ib_root_list(struct ib_root *r, const char *path, struct ib_strv *ret)
{
	struct ib_fact fact = begin(r, path);
	ib_auto_dir DIR *dir = NULL;
	int fd = -1, error;

	if (fact.status != IB_FACT_OK)
		return fact;
	error = open_below(r, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, &fd);
	if (error)
		return end(r, path, ib_fact_of(error), NULL, 0);
	dir = fdopendir(fd);
	if (!dir) {
		error = errno;
		close(fd);
		return end(r, path, ib_fact_of(error), NULL, 0);
	}
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ib_strv_add(ret, e->d_name);
	ib_strv_sort(ret);
	return end(r, path, (struct ib_fact){IB_FACT_OK, 0}, NULL, 0);
}

struct ib_fact ib_root_exists(struct ib_root *r, const char *path)
{
	struct ib_fact fact = begin(r, path);
	ib_auto_fd int fd = -1;
	struct stat st;

	if (fact.status != IB_FACT_OK)
		return fact;
	fact = ib_fact_of(open_below(r, path, O_PATH | O_CLOEXEC, &fd));
	if (fact.status == IB_FACT_OK && fstat(fd, &st) < 0)
		fact = ib_fact_of(errno);
	return end(r, path, fact, fact.status == IB_FACT_OK && !S_ISDIR(st.st_mode) ? "" : NULL, 0);
}
