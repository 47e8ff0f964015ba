/* SPDX-License-Identifier: Apache-2.0 */
/* A private directory that is gone when its user is. */
#include "base/tmp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

#define DEPTH_MAX 64

/* Removes what is in a directory; takes fd over. */
static void empty(int fd, int depth)
{
	ib_auto_dir DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return;
	}
	for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
		int below;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || unlinkat(dirfd(dir), d->d_name, 0) == 0)
			continue;
		below = openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0 && depth < DEPTH_MAX)
			empty(below, depth + 1);
		else if (below >= 0)
			close(below);
		unlinkat(dirfd(dir), d->d_name, AT_REMOVEDIR);
	}
}

static void remove_at_end(const struct ib_tmp *t, int end)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	char c;
	int fd;

	setsid(); /* Ctrl-C is not for us */
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &ignore, NULL);
	for (int i = 0; i < 3; i++)
		close(i); /* nobody shall wait for our end of a pipe */
	while (read(end, &c, 1) < 0 && errno == EINTR)
		;
	fd = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		empty(fd, 0);
	rmdir(t->path);
	_exit(0);
}

static bool make_below(const char *place, struct ib_tmp *t)
{
	char *path = place && place[0] == '/' ? ib_asprintf("%s/ib-XXXXXX", place) : NULL;

	if (path && mkdtemp(path)) {
		t->path = path;
		return true;
	}
	free(path);
	return false;
}

int ib_tmp_make(const struct ib_ctx *ctx, struct ib_tmp *ret, struct ib_err *err)
{
	ib_auto_tmp struct ib_tmp t = IB_TMP_NONE;
	int ends[2];

	if (!make_below(ib_env(ctx, "TMPDIR"), &t) && !make_below("/dev/shm", &t) && !make_below("/tmp", &t))
		return ib_fail(err, IB_E_IO, errno, "cannot make a temporary directory; set TMPDIR to a place that can be written");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	t.remover = fork();
	if (t.remover == 0) {
		close(ends[1]);
		remove_at_end(&t, ends[0]);
	}
	close(ends[0]);
	t.life = ends[1];
	if (t.remover < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot start a process");
	t.fd = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t.fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", t.path);
	*ret = t;
	t = IB_TMP_NONE;
	return 0;
}

void ib_tmp_remove(struct ib_tmp *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->life >= 0)
		close(t->life);
	if (t->remover > 0)
		while (waitpid(t->remover, NULL, 0) < 0 && errno == EINTR)
			;
	if (t->path)
		rmdir(t->path); /* no remover was started */
	free(t->path);
	*t = IB_TMP_NONE;
}
