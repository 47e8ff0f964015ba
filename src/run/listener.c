/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to a process: /proc/net/tcp has the socket's inode, /proc/PID/fd the processes that hold it. */
#include "run/listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "model/record.h"
#include "run/local.h"

#define NET_MAX (4u << 20)
#define SOCKETS 64 /* that listen on one port */
#define LISTEN 0x0a

struct sockets {
	uint64_t inode[SOCKETS];
	size_t n;
};

/* What a line of /proc/net/tcp or tcp6 says of the local side. */
struct line {
	char address[33];
	unsigned port, state;
	uint64_t inode;
};

static const char *read_text(struct ib_root *root, const char *path, struct ib_buf *b)
{
	ib_auto_fd int fd = -1;
	ssize_t n = 1;

	ib_buf_reset(b);
	if (ib_root_keep(root, path, &fd).status != IB_FACT_OK)
		return "";
	while (n > 0) {
		char *room = ib_buf_room(b, 16384);

		n = room ? read(fd, room, 16384) : 0;
		b->len += n > 0 ? (size_t)n : 0;
	}
	if (b->data)
		b->data[b->len] = '\0';
	return ib_buf_str(b);
}

static bool read_line(const char *text, struct line *ret)
{
	ret->inode = 0; /* none: no process is found */
	return sscanf(text, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %" SCNu64, ret->address, &ret->port, &ret->state,
		      &ret->inode) >= 3;
}

/* Calls use for each socket that listens on the port. */
static void each(struct ib_root *root, unsigned port, void (*use)(void *arg, const struct line *l), void *arg)
{
	static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};
	ib_auto_buf struct ib_buf b = IB_BUF(NET_MAX);

	for (size_t i = 0; i < IB_LEN(files); i++) {
		const char *at = read_text(root, files[i], &b);

		while ((at = strchr(at, '\n'))) {
			struct line l;

			if (read_line(++at, &l) && l.port == port && l.state == LISTEN)
				use(arg, &l);
		}
	}
}

static void count(void *arg, const struct line *l)
{
	(void)l;
	++*(size_t *)arg;
}

bool ib_listens(struct ib_root *root, unsigned port)
{
	size_t n = 0;

	each(root, port, count, &n);
	return n > 0;
}

/* --- the address --- */

/* The forms in which the kernel may write the address that a client connects to. */
struct forms {
	char text[3][33];
	size_t n;
};

static void add_v4(struct forms *f, const char *address)
{
	struct in_addr a;

	if (inet_pton(AF_INET, address, &a) != 1)
		return;
	snprintf(f->text[f->n++], 33, "%08X", a.s_addr);
	snprintf(f->text[f->n++], 33, "0000000000000000FFFF0000%08X", a.s_addr);
}

static void add_v6(struct forms *f, const char *address)
{
	uint32_t w[4];

	if (inet_pton(AF_INET6, address, w) == 1)
		snprintf(f->text[f->n++], 33, "%08X%08X%08X%08X", w[0], w[1], w[2], w[3]);
}

static void forms_of(const char *host, struct forms *ret)
{
	bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;

	*ret = (struct forms){0};
	if (any || strcmp(host, "localhost") == 0) {
		add_v4(ret, "127.0.0.1");
		add_v6(ret, "::1");
	} else {
		add_v4(ret, host);
		add_v6(ret, host);
	}
}

struct wanted {
	const struct forms *forms;
	struct sockets exact, wild;
};

static void add(struct sockets *s, uint64_t inode)
{
	if (s->n < SOCKETS && inode)
		s->inode[s->n++] = inode;
}

static void choose(void *arg, const struct line *l)
{
	struct wanted *w = arg;

	if (strspn(l->address, "0") == strlen(l->address))
		add(&w->wild, l->inode);
	for (size_t i = 0; i < w->forms->n; i++)
		if (strcmp(w->forms->text[i], l->address) == 0)
			add(&w->exact, l->inode);
}

/* --- the process --- */

static bool among(const struct sockets *s, const char *link)
{
	uint64_t inode;
	int end = 0;

	if (sscanf(link, "socket:[%" SCNu64 "]%n", &inode, &end) != 1 || end == 0 || link[end])
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->inode[i] == inode)
			return true;
	return false;
}

/* Does the process hold one of the sockets? *denied counts those that may not be looked at. */
static bool holds(int proc, const char *pid, const struct sockets *s, size_t *denied)
{
	ib_auto_free char *path = ib_asprintf("%s/fd", pid);
	ib_auto_dir DIR *d = ib_list_dir(proc, path);

	if (!d) {
		*denied += errno == EACCES || errno == EPERM;
		return false;
	}
	for (const struct dirent *e; (e = readdir(d));) {
		char link[64];
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		if (n <= 0)
			continue;
		link[n] = '\0';
		if (among(s, link))
			return true;
	}
	return false;
}

/* Name and start of a process, from its stat. */
static bool look(struct ib_root *root, const char *pid, struct ib_listener *ret)
{
	ib_auto_free char *path = ib_asprintf("/proc/%s/stat", pid);
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	const char *text = read_text(root, path, &b), *open = strchr(text, '('), *close = strrchr(text, ')');
	long long ticks;

	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld", &ticks) != 1)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1), open + 1);
	ret->pid = strtoll(pid, NULL, 10);
	ret->start_ticks = ticks;
	return true;
}

static double boot_s(struct ib_root *root)
{
	ib_auto_buf struct ib_buf b = IB_BUF(NET_MAX);
	const char *line = strstr(read_text(root, "/proc/stat", &b), "\nbtime ");
	long long s;

	return line && sscanf(line, " btime %lld", &s) == 1 ? (double)s : NAN;
}

static size_t find(struct ib_root *root, const struct sockets *s, struct ib_listener *ret)
{
	ib_auto_fd int proc = -1;
	ib_auto_dir DIR *d = NULL;
	size_t denied = 0;

	if (ib_root_keep(root, "/proc", &proc).status != IB_FACT_OK || !(d = ib_list_dir(proc, ".")))
		return 0;
	for (const struct dirent *e; (e = readdir(d));) {
		struct ib_listener one = {0};

		if (e->d_name[strspn(e->d_name, "0123456789")] || !holds(proc, e->d_name, s, &denied) || !look(root, e->d_name, &one))
			continue;
		one.processes = ret->processes + 1;
		if (ret->processes == 0 || one.start_ticks < ret->start_ticks || (one.start_ticks == ret->start_ticks && one.pid < ret->pid))
			*ret = one;
		ret->processes = one.processes;
	}
	return denied;
}

/* Programs that only pass on what they are asked: another of these is not another server, nor the other way round. */
static bool passes_on(const char *name)
{
	static const char *const names[] = {"ssh", "sshd", "sshd-session", "docker-proxy", "kubectl", "socat", "haproxy", "nginx", "envoy", "caddy", "traefik",
					    "rootlessport", "rootlessport-c", "slirp4netns", "pasta", "systemd"};

	for (size_t i = 0; i < IB_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void say(struct ib_listener *l, const char *status, const char *why)
{
	l->status = status;
	l->why = why;
}

void ib_listener_of(struct ib_root *root, const char *url, struct ib_listener *ret)
{
	char host[256];
	unsigned port;
	struct forms forms;
	struct wanted w = {.forms = &forms};
	const struct sockets *s;
	enum ib_local local;
	size_t denied;

	*ret = (struct ib_listener){.status = "unknown", .pid = IB_NONE, .start_ticks = IB_NONE, .started_s = NAN};
	if (!ib_url_place(url, host, &port)) {
		say(ret, "unknown", "the endpoint's address is not understood");
		return;
	}
	local = ib_host_local(root, host);
	if (local != IB_LOCAL_YES) {
		say(ret, local == IB_LOCAL_NO ? "remote" : "unknown",
		    local == IB_LOCAL_NO ? "the endpoint is not on this machine" : "the endpoint is given by a name, which is not looked up");
		return;
	}
	forms_of(host, &forms);
	each(root, port, choose, &w);
	s = w.exact.n ? &w.exact : &w.wild;
	denied = s->n ? find(root, s, ret) : 0;
	if (!s->n)
		say(ret, "absent", "nobody was seen to listen there");
	else if (!ret->processes)
		say(ret, denied ? "denied" : "absent",
		    denied ? "whose socket it is may not be looked at: another user's" : "no process that can be seen here holds the socket: it may be in a container");
	else if (passes_on(ret->name))
		say(ret, "unknown", "what listens there passes requests on to a server that is not seen");
	else
		say(ret, "ok", NULL);
	if (ret->start_ticks != IB_NONE)
		ret->started_s = boot_s(root) + (double)ret->start_ticks / (double)sysconf(_SC_CLK_TCK);
}

static bool known(const struct ib_listener *l)
{
	return l->status && strcmp(l->status, "ok") == 0;
}

bool ib_listener_same(const struct ib_listener *a, const struct ib_listener *b)
{
	return known(a) && known(b) && a->pid == b->pid && a->start_ticks == b->start_ticks;
}

bool ib_listener_other(const struct ib_listener *a, const struct ib_listener *b)
{
	return known(a) && known(b) && !ib_listener_same(a, b);
}
