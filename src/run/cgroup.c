/* SPDX-License-Identifier: Apache-2.0 */
/* A control group for one command. A limit on address space is no substitute: it counts what is mapped, not what is used, and GPU runtimes map
 * far more than the machine has. So a limit that no group can enforce is said to be not enforced. */
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "model/record.h"

#define PREFIX "ib-run-"
#define LEAF PREFIX "self"
#define SWEEP_S 60 /* younger ones may not be in use yet */

/* Field number n (from 0) of a line of words. False: there is none. */
static bool field(const char *line, int n, char *ret, size_t size)
{
	size_t len;

	for (; n > 0; n--) {
		line += strcspn(line, " \n");
		if (*line != ' ')
			return false;
		line++;
	}
	len = strcspn(line, " \n");
	if (!len || len >= size)
		return false;
	memcpy(ret, line, len);
	ret[len] = '\0';
	return true;
}

/* Where version 2 is mounted: the root of the mount and its point. */
static bool find_mount(const char *mountinfo, char root[1024], char point[1024])
{
	const char *mount = strstr(mountinfo, " - cgroup2 ");

	if (!mount)
		return false;
	while (mount > mountinfo && mount[-1] != '\n')
		mount--;
	return field(mount, 3, root, 1024) && field(mount, 4, point, 1024);
}

char *ib_cgroup_own(const char *mountinfo, const char *membership)
{
	const char *own = strncmp(membership, "0::/", 4) == 0 ? membership : strstr(membership, "\n0::/");
	char root[1024], point[1024];
	size_t len, skip;

	if (!own || !find_mount(mountinfo, root, point))
		return NULL;
	own = strchr(own, '/');
	len = strcspn(own, "\n");
	skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (skip && (strncmp(own, root, skip) != 0 || (own[skip] != '/' && skip != len)))
		return NULL; /* what is mounted does not show us */
	own += skip;
	len -= skip;
	if (len > sizeof(LEAF) && memcmp(own + len - sizeof(LEAF) + 1, LEAF, sizeof(LEAF) - 1) == 0)
		len -= sizeof(LEAF); /* an earlier run has moved us there */
	return ib_asprintf("%s%.*s", point, (int)len, own);
}

static char *slurp(int dir_fd, const char *path)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4u << 20);

	if (ib_read_file(dir_fd, path, &b, NULL) < 0 || ib_buf_check(&b, path, NULL) < 0)
		return NULL;
	return ib_strdup(ib_buf_str(&b));
}

char *ib_cgroup_find(void)
{
	ib_auto_free char *mountinfo = slurp(AT_FDCWD, "/proc/self/mountinfo"), *membership = slurp(AT_FDCWD, "/proc/self/cgroup");

	return mountinfo && membership ? ib_cgroup_own(mountinfo, membership) : NULL;
}

/* 0 or an errno. */
static int put(int dir_fd, const char *name, const char *text)
{
	ib_auto_fd int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return write(fd, text, strlen(text)) < 0 ? errno : 0;
}

static bool has_word(int dir_fd, const char *file, const char *word)
{
	ib_auto_free char *text = slurp(dir_fd, file);
	size_t n = strlen(word);

	for (const char *p = text; p && *p; p += strspn(p, " \n")) {
		size_t len = strcspn(p, " \n");

		if (len == n && memcmp(p, word, n) == 0)
			return true;
		p += len;
	}
	return false;
}

/* A group that hands a controller on may have no processes of its own: are we its only one, we go into a leaf. 0 or an errno. */
static int step_aside(int parent_fd)
{
	ib_auto_free char *procs = slurp(parent_fd, "cgroup.procs");
	char own[32];

	snprintf(own, sizeof(own), "%d\n", (int)getpid());
	if (!procs || strcmp(procs, own) != 0)
		return EBUSY;
	if (mkdirat(parent_fd, LEAF, 0755) < 0 && errno != EEXIST)
		return errno;
	return put(parent_fd, LEAF "/cgroup.procs", own);
}

/* Makes the memory controller available to groups below the parent. NULL, or why not (allocated). */
static char *enable_memory(int parent_fd)
{
	int sys;

	if (has_word(parent_fd, "cgroup.subtree_control", "memory"))
		return NULL;
	if (!has_word(parent_fd, "cgroup.controllers", "memory"))
		return ib_strdup("the memory controller is not available here");
	sys = put(parent_fd, "cgroup.subtree_control", "+memory");
	if (sys == EBUSY && (sys = step_aside(parent_fd)) == 0)
		sys = put(parent_fd, "cgroup.subtree_control", "+memory");
	if (sys == EBUSY)
		return ib_strdup("other processes share our control group; 'systemd-run --user --scope -p Delegate=yes ib-run ...' gives it one of its own");
	return sys ? ib_asprintf("the memory controller cannot be enabled (%s)", strerror(sys)) : NULL;
}

static void limit(struct ib_cgroup *c, int64_t bytes)
{
	char text[32];
	int sys;

	c->limit_bytes = bytes;
	if (bytes == IB_NONE)
		return;
	if (c->dir_fd < 0) {
		c->why_no_limit = ib_strdup(c->why);
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64 "\n", bytes);
	sys = put(c->dir_fd, "memory.max", text);
	if (sys && !c->why_no_limit)
		c->why_no_limit = ib_asprintf("the limit cannot be set (%s)", strerror(sys));
	if (!sys)
		put(c->dir_fd, "memory.swap.max", "0\n"); /* a command that swaps is measured wrong; not every kernel has it */
}

static int open_optional(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

	return fd > 0 ? fd : 0;
}

static void adopt(struct ib_cgroup *c, int64_t memory_bytes)
{
	c->dir_fd = openat(c->parent_fd, c->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir_fd < 0) {
		c->why = ib_asprintf("the control group cannot be opened (%s)", strerror(errno));
	} else {
		flock(c->dir_fd, LOCK_SH | LOCK_NB); /* in use: see sweep() */
		c->procs_fd = open_optional(c->dir_fd, "cgroup.procs");
		c->kill_fd = open_optional(c->dir_fd, "cgroup.kill");
	}
	limit(c, memory_bytes);
}

static void open_parent(const char *parent, const char *name, struct ib_cgroup *ret)
{
	*ret = (struct ib_cgroup){.parent_fd = -1, .dir_fd = -1, .name = ib_strdup(name), .limit_bytes = IB_NONE};
	if (!parent)
		ret->why = ib_strdup("there is no control group of version 2 here");
	else if ((ret->parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		ret->why = ib_asprintf("our control group cannot be opened (%s)", strerror(errno));
}

/* Removes what an ib-run that was killed has left: groups without processes that nobody holds. */
static void sweep(int parent_fd)
{
	ib_auto_dir DIR *d = ib_list_dir(parent_fd, ".");

	for (struct dirent *e; d && (e = readdir(d));) {
		ib_auto_fd int dir = -1;
		struct stat st;

		if (!ib_starts(e->d_name, PREFIX) || ib_streq(e->d_name, LEAF))
			continue;
		dir = openat(parent_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir >= 0 && fstat(dir, &st) == 0 && time(NULL) - st.st_mtime > SWEEP_S && flock(dir, LOCK_EX | LOCK_NB) == 0)
			unlinkat(parent_fd, e->d_name, AT_REMOVEDIR);
	}
}

void ib_cgroup_adopt(const char *parent, const char *name, int64_t memory_bytes, struct ib_cgroup *ret)
{
	open_parent(parent, name, ret);
	if (ret->parent_fd >= 0)
		adopt(ret, memory_bytes);
	else
		limit(ret, memory_bytes);
}

void ib_cgroup_make(const char *parent, const char *name, int64_t memory_bytes, struct ib_cgroup *ret)
{
	open_parent(parent, name, ret);
	if (ret->parent_fd >= 0)
		sweep(ret->parent_fd);
	if (ret->parent_fd >= 0 && mkdirat(ret->parent_fd, name, 0755) < 0)
		ret->why = ib_asprintf("no control group can be made (%s)", strerror(errno));
	if (ret->why) {
		limit(ret, memory_bytes);
		return;
	}
	if (memory_bytes != IB_NONE)
		ret->why_no_limit = enable_memory(ret->parent_fd);
	adopt(ret, memory_bytes);
}

void ib_cgroup_unused(struct ib_cgroup *c, const char *why)
{
	if (!c->why)
		c->why = ib_strdup(why);
	if (c->limit_bytes != IB_NONE && !c->why_no_limit)
		c->why_no_limit = ib_strdup(why);
}

/* The number behind a key of a file of "key number" lines; key NULL: the file is one number. */
static int64_t number(int dir_fd, const char *file, const char *key)
{
	ib_auto_free char *text = dir_fd < 0 ? NULL : slurp(dir_fd, file);
	size_t n = key ? strlen(key) : 0;

	for (const char *p = text; p && *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
		const char *at = !key ? p : strncmp(p, key, n) == 0 && p[n] == ' ' ? p + n + 1 : NULL;
		ib_auto_free char *digits = at ? ib_strndup(at, strcspn(at, "\n")) : NULL;
		int64_t v;

		if (digits)
			return ib_parse_int(digits, 0, INT64_MAX, &v, NULL) < 0 ? IB_NONE : v;
	}
	return IB_NONE;
}

static void set(json_t *o, const char *key, int64_t v, int64_t unit)
{
	if (v == IB_NONE || v > INT64_MAX / unit)
		ib_json_set(o, key, NULL);
	else
		ib_json_set_int(o, key, v * unit);
}

json_t *ib_cgroup_report(const struct ib_cgroup *c, int64_t *ret_oom_kills)
{
	json_t *o = ib_json_object();
	int fd = c->why ? -1 : c->dir_fd;

	*ret_oom_kills = number(fd, "memory.events", "oom_kill");
	ib_json_set_str(o, "cgroup", c->why ? "none" : "own");
	ib_json_set_str(o, "why", c->why);
	ib_json_set_str(o, "memory_limit", c->limit_bytes == IB_NONE ? "none" : c->why_no_limit ? "not_enforced" : "enforced");
	set(o, "memory_limit_bytes", c->limit_bytes, 1);
	ib_json_set_str(o, "memory_limit_why", c->why_no_limit);
	set(o, "memory_peak_bytes", number(fd, "memory.peak", NULL), 1);
	set(o, "out_of_memory_kills", *ret_oom_kills, 1);
	set(o, "cpu_ns", number(fd, "cpu.stat", "usage_usec"), 1000);
	set(o, "cpu_user_ns", number(fd, "cpu.stat", "user_usec"), 1000);
	set(o, "cpu_system_ns", number(fd, "cpu.stat", "system_usec"), 1000);
	set(o, "throttled_ns", number(fd, "cpu.stat", "throttled_usec"), 1000);
	set(o, "processes_peak", number(fd, "pids.peak", NULL), 1);
	return o;
}

void ib_cgroup_clear(struct ib_cgroup *c)
{
	const int fds[] = {c->procs_fd, c->kill_fd};

	for (size_t i = 0; i < IB_LEN(fds); i++)
		if (fds[i] > 0)
			close(fds[i]);
	if (c->dir_fd >= 0)
		close(c->dir_fd);
	/* what was killed may take a moment to leave it */
	for (int i = 0; c->parent_fd >= 0 && i < 50 && unlinkat(c->parent_fd, c->name, AT_REMOVEDIR) < 0 && errno == EBUSY; i++)
		usleep(10000);
	if (c->parent_fd >= 0)
		close(c->parent_fd);
	free(c->name);
	free(c->why);
	free(c->why_no_limit);
	*c = (struct ib_cgroup){.parent_fd = -1, .dir_fd = -1};
}
