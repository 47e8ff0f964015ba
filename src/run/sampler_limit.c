/* SPDX-License-Identifier: Apache-2.0 */
/* What a client may use of this machine, and whether its server is on it. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/sampler_inside.h"

#define NET_MAX (4u << 20)

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

/* --- client and server on one machine? --- */

/* Host and port of a URL; the default port where none is given. False: not one that we understand. */
static bool split(const char *url, char host[256], unsigned *ret_port)
{
	const char *p = strstr(url, "://"), *at, *end;
	size_t n;

	if (!p)
		return false;
	*ret_port = strncmp(url, "https", 5) == 0 ? 443 : 80;
	p += 3;
	n = strcspn(p, "/?#");
	at = memrchr(p, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - p);
		p = at + 1;
	}
	if (*p == '[') {
		end = memchr(p, ']', n);
		if (!end || end - p > 200)
			return false;
		snprintf(host, 256, "%.*s", (int)(end - p - 1), p + 1);
		n -= (size_t)(end + 1 - p);
		p = end + 1;
	} else {
		size_t k = strcspn(p, ":/?#");

		snprintf(host, 256, "%.*s", (int)(k < 255 ? k : 255), p);
		n -= k;
		p += k;
	}
	if (n && *p == ':')
		*ret_port = (unsigned)strtoul(p + 1, NULL, 10);
	return *ret_port > 0 && *ret_port < 65536 && host[0];
}

static bool is_ours(const void *address, int family)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != family)
			continue;
		if (family == AF_INET)
			found = memcmp(&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr, address, 4) == 0;
		else
			found = memcmp(&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr, address, 16) == 0;
	}
	freeifaddrs(all);
	return found;
}

/* Unknown: a name, which is not looked up. */
static enum ib_local is_local(struct ib_root *root, const char *host)
{
	unsigned char a[16];

	if (strcmp(host, "localhost") == 0)
		return IB_LOCAL_YES;
	if (inet_pton(AF_INET, host, a) == 1)
		return a[0] == 127 || a[0] == 0 || (!root && is_ours(a, AF_INET)) ? IB_LOCAL_YES : IB_LOCAL_NO;
	if (inet_pton(AF_INET6, host, a) == 1)
		return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(const void *)a) || (!root && is_ours(a, AF_INET6)) ? IB_LOCAL_YES : IB_LOCAL_NO;
	return IB_LOCAL_UNKNOWN;
}

/* Does somebody listen on the port here? State 0A is LISTEN. */
static bool listens(struct ib_root *root, unsigned port)
{
	static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};
	ib_auto_buf struct ib_buf b = IB_BUF(NET_MAX);

	for (size_t i = 0; i < IB_LEN(files); i++) {
		const char *text = read_text(root, files[i], &b);

		for (const char *line = text; line && (line = strchr(line, '\n')); ) {
			unsigned local, state;

			line++;
			if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local, &state) == 2 && local == port && state == 0x0a)
				return true;
		}
	}
	return false;
}

enum ib_local ib_colocated(struct ib_root *root, const char *url, const char **ret_why)
{
	char host[256];
	unsigned port;
	enum ib_local local;

	*ret_why = NULL;
	if (!url)
		*ret_why = "no endpoint is known";
	else if (!split(url, host, &port))
		*ret_why = "the endpoint's address is not understood";
	else if ((local = is_local(root, host)) == IB_LOCAL_UNKNOWN)
		*ret_why = "the endpoint is given by a name, which is not looked up";
	else if (local == IB_LOCAL_NO || listens(root, port))
		return local;
	else
		*ret_why = "the endpoint's address is this machine's, but nothing was seen to listen there: it may be forwarded";
	return IB_LOCAL_UNKNOWN;
}
