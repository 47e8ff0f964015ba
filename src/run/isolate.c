/* SPDX-License-Identifier: Apache-2.0 */
/* A process without network. It is cut off inside a user namespace, so that not even root can go back. */
#include "run/isolate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"

/* Writes a small file below /proc/PID. 0 or an errno. */
static int put(pid_t pid, const char *name, const char *text)
{
	ib_auto_fd int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return write(fd, text, strlen(text)) < 0 ? errno : 0;
}

/* All IDs, as they are: only somebody outside the new namespace may write that, and only as root. */
static int map_all(pid_t pid)
{
	int sys = put(pid, "uid_map", "0 0 4294967295\n");

	return sys ? sys : put(pid, "gid_map", "0 0 4294967295\n");
}

/* Our own IDs, which everybody may map for himself. */
static int map_own(uid_t uid, gid_t gid)
{
	char text[64];
	int sys = put(getpid(), "setgroups", "deny\n");

	if (sys)
		return sys;
	snprintf(text, sizeof(text), "%u %u 1\n", (unsigned)gid, (unsigned)gid);
	sys = put(getpid(), "gid_map", text);
	if (sys)
		return sys;
	snprintf(text, sizeof(text), "%u %u 1\n", (unsigned)uid, (unsigned)uid);
	return put(getpid(), "uid_map", text);
}

/* A process outside writes our map once we are inside, namely when *ret_go is closed. 0 or an errno. */
static int start_mapper(pid_t *ret_pid, int *ret_go)
{
	pid_t target = getpid();
	int fds[2];
	char byte;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	*ret_pid = fork();
	if (*ret_pid == 0) {
		close(fds[1]);
		while (read(fds[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(map_all(target));
	}
	close(fds[0]);
	*ret_go = fds[1];
	return *ret_pid < 0 ? EAGAIN : 0;
}

static int enter(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	ib_auto_fd int go = -1;
	int status = 0, sys;
	pid_t mapper = 0;

	sys = uid == 0 ? start_mapper(&mapper, &go) : 0;
	if (sys == 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		sys = errno;
	if (sys || !mapper)
		return sys ? sys : map_own(uid, gid); /* a mapper ends with us */
	close(ib_steal_fd(&go));
	if (waitpid(mapper, &status, 0) != mapper)
		return ECHILD;
	/* root of a container may not map what it does not have */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : map_own(uid, gid);
}

static int raise_loopback(void)
{
	ib_auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req;

	memset(&req, 0, sizeof(req));
	memcpy(req.ifr_name, "lo", 3);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &req) < 0)
		return errno;
	req.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &req) < 0 ? errno : 0;
}

/* Is there really no way out? 192.0.2.1 and 2001:db8::1 are addresses of documentation: nobody has them, and nothing is sent. */
static bool is_cut_off(void)
{
	ib_auto_fd int fd4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};

	inet_pton(AF_INET, "192.0.2.1", &to4.sin_addr);
	inet_pton(AF_INET6, "2001:db8::1", &to6.sin6_addr);
	if (fd4 < 0 || connect(fd4, (const struct sockaddr *)&to4, sizeof(to4)) == 0 || errno != ENETUNREACH)
		return false;
	return fd6 < 0 || connect(fd6, (const struct sockaddr *)&to6, sizeof(to6)) < 0;
}

int ib_isolate_network(void)
{
	int sys = enter();

	if (sys == 0)
		sys = raise_loopback();
	if (sys)
		return sys;
	return is_cut_off() ? 0 : EEXIST;
}
