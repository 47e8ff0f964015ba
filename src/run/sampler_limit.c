/* SPDX-License-Identifier: Apache-2.0 */
/* What a client may use of this machine. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/sampler_inside.h"

static const char *read_text(struct ib_root *root, const char *path, struct ib_buf *b)
{
	int fd;
	ssize_t n = 1;

	ib_buf_reset(b);
	if (ib_root_keep(root, path, &fd).status != IB_FACT_OK)
		return NULL;
	while (n > 0) {
		char *room = ib_buf_room(b, 16384);

		n = room ? read(fd, room, 16384) : 0;
		b->len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (b->data)
		b->data[b->len] = '\0';
	return ib_buf_str(b);
}

static double smaller(double a, double b)
{
	return isnan(a) || b < a ? b : a;
}

/* Version 2: "max 100000" or "50000 100000". */
static double quota_v2(struct ib_root *root, const char *dir, struct ib_buf *b)
{
	ib_auto_free char *file = ib_asprintf("/sys/fs/cgroup%s/cpu.max", dir);
	const char *text = read_text(root, file, b);
	double quota, period;

	return text && sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : NAN;
}

static double quota_v1(struct ib_root *root, const char *dir, struct ib_buf *b)
{
	ib_auto_free char *quota = ib_asprintf("/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", dir), *period = ib_asprintf("/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", dir);
	const char *text = read_text(root, quota, b);
	double q = text ? strtod(text, NULL) : -1, p;

	text = read_text(root, period, b);
	p = text ? strtod(text, NULL) : 0;
	return q > 0 && p > 0 ? q / p : NAN;
}

/* The smallest quota of a cgroup and all above it. */
static double quota(struct ib_root *root, const char *dir, double (*one)(struct ib_root *, const char *, struct ib_buf *))
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	ib_auto_free char *path = ib_strdup(strcmp(dir, "/") == 0 ? "" : dir);
	double least = one(root, path, &b);

	for (char *slash; (slash = strrchr(path, '/'));) {
		*slash = '\0';
		least = smaller(least, one(root, path, &b));
	}
	return least;
}

static double quotas(struct ib_root *root)
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	const char *text = read_text(root, "/proc/self/cgroup", &b);
	double least = NAN;

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *names = strchr(line, ':'), *dir = names ? strchr(names + 1, ':') : NULL;
		ib_auto_free char *path = dir ? ib_strndup(dir + 1, strcspn(dir + 1, "\n")) : NULL;
		bool v2 = names && dir == names + 1;

		if (path && path[0] == '/' && !strstr(path, "/../") && (v2 || strncmp(names, ":cpu,", 5) == 0 || strncmp(names, ":cpu:", 5) == 0))
			least = smaller(least, quota(root, path, v2 ? quota_v2 : quota_v1));
	}
	return least;
}

double ib_limit_cores(struct ib_root *root)
{
	double least = quotas(root);
	cpu_set_t set;

	if (!root && sched_getaffinity(0, sizeof(set), &set) == 0)
		least = smaller(least, CPU_COUNT(&set));
	return least;
}
