/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a run. */
#include "run/watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"

#define ENTRIES_MAX 4096
#define DEPTH_MAX 8

static void walk(int dir_fd, const char *name, int depth, int *left, uint64_t *total)
{
	ib_auto_dir DIR *d = ib_list_dir(dir_fd, name);
	int fd = d ? dirfd(d) : -1;

	for (struct dirent *e; d && *left > 0 && (e = readdir(d));) {
		struct stat st;

		if (ib_streq(e->d_name, ".") || ib_streq(e->d_name, "..") || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		--*left;
		*total += 1 + (S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			walk(fd, e->d_name, depth + 1, left, total);
	}
}

uint64_t ib_watch_total(int dir_fd)
{
	static const char *const logs[] = {"stdout.log", "stderr.log"};
	int left = ENTRIES_MAX;
	uint64_t total = 0;
	struct stat st;

	for (size_t i = 0; i < IB_LEN(logs); i++)
		if (fstatat(dir_fd, logs[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			total += (uint64_t)st.st_size;
	walk(dir_fd, "output", 1, &left, &total);
	return total;
}

bool ib_watch_tick(void *watch, int64_t now_ns)
{
	struct ib_watch *w = watch;
	uint64_t total = ib_watch_total(w->dir_fd);

	if (!w->since_ns || total != w->total) {
		w->since_ns = now_ns;
		w->total = total;
	}
	w->fired |= now_ns - w->since_ns >= w->limit_ns;
	return w->fired;
}
