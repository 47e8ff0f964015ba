/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run/listener.c: from an address to the process that listens there. */
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "model/record.h"
#include "run/listener.h"

/* A socket that listens at 127.0.0.1. */
static int listening(unsigned *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CU_ASSERT_FATAL(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static void test_listener_is_this_process(void)
{
	unsigned port;
	ib_auto_fd __attribute__((unused)) int fd = listening(&port);
	ib_auto_free char *url = ib_asprintf("http://127.0.0.1:%u/metrics", port), *named = ib_asprintf("http://localhost:%u/metrics", port);
	ib_auto_free char *other = ib_asprintf("http://127.0.0.2:%u/metrics", port);
	struct ib_listener a, b;

	ib_listener_of(NULL, url, &a);
	CU_ASSERT_STRING_EQUAL(a.status, "ok");
	CU_ASSERT_EQUAL(a.pid, getpid());
	CU_ASSERT_EQUAL(a.processes, 1);
	CU_ASSERT(fabs(a.started_s - (double)time(NULL)) < 600);
	ib_listener_of(NULL, named, &b);
	CU_ASSERT(ib_listener_same(&a, &b));
	CU_ASSERT_FALSE(ib_listener_other(&a, &b));
	ib_listener_of(NULL, other, &b); /* another address of this machine */
	CU_ASSERT_STRING_EQUAL(b.status, "absent");
	CU_ASSERT_FALSE(ib_listener_same(&a, &b) || ib_listener_other(&a, &b));
}

static void test_listener_of_a_socket_that_is_shared_is_the_oldest(void)
{
	unsigned port;
	ib_auto_fd __attribute__((unused)) int fd = listening(&port);
	ib_auto_free char *url = ib_asprintf("http://127.0.0.1:%u/metrics", port);
	struct ib_listener l;
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	ib_listener_of(NULL, url, &l);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CU_ASSERT_EQUAL(l.pid, getpid());
	CU_ASSERT_EQUAL(l.processes, 2);
}

static void test_listener_elsewhere_is_not_looked_for(void)
{
	static const char *const all[][2] = {{"http://192.0.2.1:80/metrics", "remote"}, {"http://[2001:db8::1]/", "remote"}, {"http://gpu-node:8000/metrics", "unknown"},
					     {"nonsense", "unknown"}, {"http://127.0.0.1:1/", "absent"}};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		struct ib_listener l;

		ib_listener_of(NULL, all[i][0], &l);
		CU_ASSERT_STRING_EQUAL(l.status, all[i][1]);
		CU_ASSERT_PTR_NOT_NULL(l.why);
		CU_ASSERT_EQUAL(l.pid, IB_NONE);
	}
}

/* --- other machines --- */

static void put(const char *dir, const char *path, const char *text)
{
	ib_auto_free char *full = ib_asprintf("%s/%s", dir, path);
	ib_auto_free char *parent = ib_strndup(path, (size_t)(strrchr(path, '/') - path));
	ib_auto_fd int at = open(dir, O_RDONLY | O_DIRECTORY);
	FILE *f;

	CU_ASSERT_EQUAL_FATAL(ib_make_dirs(at, parent, 0755, NULL), 0);
	f = fopen(full, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

static void hold(const char *dir, int pid, const char *name, long ticks, int inode)
{
	ib_auto_free char *stat = ib_asprintf("%d (%s) S 1 1 1 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 %ld 1000 100\n", pid, name, ticks);
	ib_auto_free char *path = ib_asprintf("proc/%d/stat", pid), *null = ib_asprintf("proc/%d/fd/x", pid);
	ib_auto_free char *link = ib_asprintf("%s/proc/%d/fd/3", dir, pid), *target = ib_asprintf("socket:[%d]", inode);

	put(dir, path, stat);
	put(dir, null, "");
	CU_ASSERT_EQUAL(symlink(target, link), 0);
}

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define REST " 00000000:00000000 00:00000000 00000000     0        0 "

static void test_listener_in_recorded_machines(void)
{
	char dir[] = "/tmp/ib-listener-XXXXXX";
	ib_auto_root struct ib_root *root = NULL;
	struct ib_listener l;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	put(dir, "proc/stat", "cpu  1 2 3\nbtime 1700000000\n");
	put(dir, "proc/net/tcp", HEAD "   0: 0100007F:1F90 00000000:0000 0A" REST "111 1 0\n   1: 0100007F:1F91 0100007F:1F90 01" REST "112 1 0\n"
				      "   2: 00000000:1F92 00000000:0000 0A" REST "113 1 0\n   3: 0100007F:1F93 00000000:0000 0A" REST "114 1 0\n"
				      "   4: 0200007F:1F90 00000000:0000 0A" REST "115 1 0\n   5: junk\n");
	put(dir, "proc/net/tcp6", HEAD "   0: 00000000000000000000000001000000:1F94 00000000000000000000000000000000:0000 0A" REST "116 1 0\n");
	hold(dir, 70, "llama (server", 12345, 111);
	hold(dir, 71, "any", 10, 113);
	hold(dir, 72, "ssh", 10, 114);
	hold(dir, 73, "six", 10, 116);
	CU_ASSERT_EQUAL_FATAL(ib_root_open(dir, &root, NULL), 0);
	ib_listener_of(root, "http://127.0.0.1:8080/metrics", &l);
	CU_ASSERT_EQUAL(l.pid, 70);
	CU_ASSERT_STRING_EQUAL(l.name, "llama (server");
	CU_ASSERT_EQUAL(l.start_ticks, 12345);
	CU_ASSERT_DOUBLE_EQUAL(l.started_s, 1700000000 + 12345.0 / (double)sysconf(_SC_CLK_TCK), 1e-6);
	ib_listener_of(root, "http://127.0.0.1:8081/", &l); /* a connection is no listener */
	CU_ASSERT_STRING_EQUAL(l.status, "absent");
	ib_listener_of(root, "http://127.0.0.1:8082/", &l);
	CU_ASSERT_EQUAL(l.pid, 71);
	ib_listener_of(root, "http://127.0.0.1:8083/", &l);
	CU_ASSERT_STRING_EQUAL(l.status, "unknown");
	CU_ASSERT_STRING_EQUAL(l.why, "what listens there passes requests on to a server that is not seen");
	ib_listener_of(root, "http://[::1]:8084/", &l);
	CU_ASSERT_EQUAL(l.pid, 73);
	ib_listener_of(root, "http://127.0.0.2:8080/", &l); /* nobody who can be seen holds it */
	CU_ASSERT_STRING_EQUAL(l.status, "absent");
	CU_ASSERT_PTR_NOT_NULL(strstr(l.why, "container"));
	const char *const argv[] = {"rm", "-rf", dir, NULL};
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static const struct ib_test tests[] = {
	IB_TEST(test_listener_is_this_process),
	IB_TEST(test_listener_of_a_socket_that_is_shared_is_the_oldest),
	IB_TEST(test_listener_elsewhere_is_not_looked_for),
	IB_TEST(test_listener_in_recorded_machines),
	{0},
};

const struct ib_test_suite ib_suite = {"listener", tests};
