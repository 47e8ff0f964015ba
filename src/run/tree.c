/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of processes, from /proc. */
#include "run/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "model/record.h"

#define ENVIRON_MAX (4u << 20)

void ib_pids_add(struct ib_pids *l, pid_t pid)
{
	l->v = ib_realloc(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = pid;
}

bool ib_pids_has(const struct ib_pids *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == pid)
			return true;
	return false;
}

void ib_pids_clear(struct ib_pids *l)
{
	free(l->v);
	*l = (struct ib_pids){0};
}

struct process {
	pid_t pid, parent, session;
	char state;
};

struct processes {
	struct process *v;
	size_t n;
};

/* Fields behind the command's name, which may hold anything: they start behind the last ')'. */
static bool read_stat(const char *pid, struct process *ret)
{
	char path[64], text[512];
	ib_auto_fd int fd = -1;
	const char *end;
	ssize_t n;
	int parent, group, session;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %d %d", &ret->state, &parent, &group, &session) != 4)
		return false;
	ret->pid = (pid_t)strtol(pid, NULL, 10);
	ret->parent = parent;
	ret->session = session;
	return true;
}

static bool list(struct processes *ret)
{
	ib_auto_dir DIR *d = opendir("/proc");
	bool self = false;

	for (struct dirent *e; d && (e = readdir(d));) {
		struct process p;

		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !read_stat(e->d_name, &p))
			continue;
		self |= p.pid == getpid();
		ret->v = ib_realloc(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = p;
	}
	return self; /* a /proc that does not show ourselves tells nothing */
}

bool ib_tree_children(struct ib_pids *ret)
{
	struct processes all = {0};
	ib_auto_free struct process *owned = NULL;
	char path[64];
	FILE *f;
	int pid;
	bool ok;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (f) {
		while (fscanf(f, "%d", &pid) == 1)
			ib_pids_add(ret, pid);
		fclose(f);
		return true;
	}
	ok = list(&all);
	owned = all.v;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].parent == getpid())
			ib_pids_add(ret, all.v[i].pid);
	return ok;
}

bool ib_tree_descendants(const struct ib_pids *excluded, struct ib_pids *ret, size_t *ret_dead)
{
	struct processes all = {0};
	ib_auto_free struct process *owned = NULL;
	ib_auto_pids struct ib_pids dead = {0}; /* parents that are gone but for their entry: their children count */
	bool ok = list(&all), more = true;

	owned = all.v;
	while (more) {
		more = false;
		for (size_t i = 0; i < all.n; i++) {
			const struct process *p = &all.v[i];
			struct ib_pids *to = p->state == 'Z' || p->state == 'X' ? &dead : ret;

			if (p->parent != getpid() && !ib_pids_has(ret, p->parent) && !ib_pids_has(&dead, p->parent))
				continue;
			if (ib_pids_has(to, p->pid) || ib_pids_has(excluded, p->pid))
				continue;
			ib_pids_add(to, p->pid);
			more = true;
		}
	}
	if (ret_dead)
		*ret_dead = dead.n;
	return ok;
}

bool ib_tree_session(pid_t session, struct ib_pids *ret)
{
	struct processes all = {0};
	ib_auto_free struct process *owned = NULL;
	bool ok = list(&all);

	owned = all.v;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].session == session && all.v[i].state != 'Z' && all.v[i].state != 'X')
			ib_pids_add(ret, all.v[i].pid);
	return ok;
}

/* Value of NAME in a block of NUL-terminated variables, or NULL. */
static const char *value(const char *data, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = data; p < data + n; p += strlen(p) + 1)
		if (strncmp(p, name, len) == 0 && p[len] == '=')
			return p + len + 1;
	return NULL;
}

/* Does nobody hold the lock of a run directory? A directory that is gone has no holder. */
static bool is_free(const char *dir)
{
	ib_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static bool survives(const char *pid, const char *dir, char **ret_run)
{
	ib_auto_buf struct ib_buf b = IB_BUF(ENVIRON_MAX);
	ib_auto_fd int fd = -1;
	char path[64];
	const char *run_dir;
	struct process p;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ib_read_all(fd, path, &b, NULL) < 0 || !b.len)
		return false;
	run_dir = value(b.data, b.len, "IB_RUN_DIR");
	if (!run_dir || !ib_starts(run_dir, dir) || run_dir[strlen(dir)] != '/' || value(b.data, b.len, "IB_HOOK"))
		return false;
	if (!read_stat(pid, &p) || p.state == 'Z' || p.state == 'X' || !is_free(run_dir))
		return false;
	free(*ret_run);
	*ret_run = ib_strdup(run_dir + strlen(dir) + 1);
	return true;
}

int64_t ib_tree_survivors(const char *dir, char **ret_run)
{
	ib_auto_dir DIR *d = opendir("/proc");
	int64_t n = 0;

	*ret_run = NULL;
	if (!d || access("/proc/self/environ", R_OK) < 0)
		return IB_NONE;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && survives(e->d_name, dir, ret_run))
			n++;
	return n;
}
