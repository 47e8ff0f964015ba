/* SPDX-License-Identifier: Apache-2.0 */
/* What is left to a process that has locked itself in: each deed in a child of its own, also where the kernel gives less. */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "unit.h"
#include "verify/sandbox.h"

enum { DONE = 0, DENIED = 10, OTHER = 11, NOT_LOCKED = 12 };

struct place {
	char path[64];
	int dir; /* open */
};

static void place_make(struct place *p)
{
	int fd;

	snprintf(p->path, sizeof(p->path), "/tmp/ib-sandbox-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(p->path));
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(p->dir, "inside", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_FATAL(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
}

static void place_remove(struct place *p)
{
	static const char *const names[] = {"inside", "made", "new"};

	for (size_t i = 0; i < 3; i++)
		unlinkat(p->dir, names[i], 0);
	close(p->dir);
	CU_ASSERT_EQUAL(rmdir(p->path), 0);
}

static int outcome(long r)
{
	return r >= 0 ? DONE : errno == EPERM || errno == EACCES || errno == EXDEV ? DENIED : OTHER;
}

/* The status of a child that locks itself in and then does the deed. A build whose list ends the process says DENIED with SIGSYS. */
static int locked(const struct ib_sandbox_opts *o, int (*deed)(const struct place *p), const struct place *p)
{
	struct ib_sandbox s;
	struct ib_err err;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ib_sandbox_enter(o, &s, &err) < 0 || !s.landlock || !s.seccomp ? NOT_LOCKED : deed(p));
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGSYS ? DENIED : OTHER;
}

static int open_outside(const struct place *p)
{
	(void)p;
	return outcome(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
}

static int open_inside(const struct place *p)
{
	return outcome(openat(p->dir, "inside", O_RDONLY | O_CLOEXEC));
}

static int climb(const struct place *p)
{
	return outcome(openat(p->dir, "../../etc/hostname", O_RDONLY | O_CLOEXEC));
}

static int make_inside(const struct place *p)
{
	return outcome(openat(p->dir, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int make_outside(const struct place *p)
{
	(void)p;
	return outcome(open("/tmp/ib-sandbox-outside", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int change_inside(const struct place *p)
{
	return outcome(openat(p->dir, "inside", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int remove_inside(const struct place *p)
{
	return outcome(unlinkat(p->dir, "inside", 0));
}

static int write_whole(const struct place *p)
{
	struct ib_err err;
	ib_auto_free char *path = NULL;

	if (asprintf(&path, "%s/made", p->path) < 0)
		return OTHER;
	return ib_write_file(AT_FDCWD, path, "yes", 3, 0644, false, &err) < 0 ? OTHER : DONE;
}

static int make_process(const struct place *p)
{
	pid_t pid = fork();

	(void)p;
	if (pid == 0)
		_exit(0);
	return outcome(pid);
}

static int run_program(const struct place *p)
{
	(void)p;
	return outcome(execl("/bin/true", "true", (char *)NULL));
}

static int reach_out(const struct place *p)
{
	(void)p;
	return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int reach_locally(const struct place *p)
{
	(void)p;
	return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int map_code(const struct place *p)
{
	void *m = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)p;
	return outcome(m == MAP_FAILED ? -1 : 0);
}

static int make_code(const struct place *p)
{
	void *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)p;
	return m == MAP_FAILED ? OTHER : outcome(mprotect(m, 4096, PROT_READ | PROT_EXEC));
}

static int signal_parent(const struct place *p)
{
	(void)p;
	return outcome(kill(getppid(), 0));
}

static int more_limits(const struct place *p)
{
	const struct rlimit more = {.rlim_cur = 1000, .rlim_max = 1000};

	(void)p;
	return outcome(setrlimit(RLIMIT_NOFILE, &more));
}

static int watch_parent(const struct place *p)
{
	(void)p;
	return outcome(syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), NULL, NULL));
}

static int allocate_and_print(const struct place *p)
{
	ib_auto_free char *much = malloc(64u << 20);

	(void)p;
	if (!much)
		return OTHER;
	memset(much, 1, 64u << 20);
	return outcome(write(STDOUT_FILENO, "", 0));
}

static bool has_all(void)
{
	const struct ib_sandbox_opts o = {.write = -1, .rename = -1};
	struct ib_sandbox s = {0};
	struct ib_err err;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ib_sandbox_enter(&o, &s, &err) < 0 || !s.landlock || !s.seccomp);
	waitpid(pid, &status, 0);
	if (status == 0)
		return true;
	ib_skip("this system or this build gives no whole sandbox: what it denies is not tested");
	return false;
}

static void test_sandbox_a_packet_needs_nothing(void)
{
	const struct ib_sandbox_opts o = {.write = -1, .rename = -1};
	struct place p;

	if (!has_all())
		return;
	place_make(&p);
	CU_ASSERT_EQUAL(locked(&o, allocate_and_print, &p), DONE);
	CU_ASSERT_EQUAL(locked(&o, open_outside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, make_outside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, make_process, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, run_program, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, reach_out, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, reach_locally, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, map_code, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, make_code, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, signal_parent, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, watch_parent, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, more_limits, &p), DENIED);
	place_remove(&p);
}

static void test_sandbox_a_directory_is_read_and_nothing_else(void)
{
	struct ib_sandbox_opts o = {.write = -1, .rename = -1, .n_read = 1};
	struct place p;

	if (!has_all())
		return;
	place_make(&p);
	o.read[0] = p.dir;
	CU_ASSERT_EQUAL(locked(&o, open_inside, &p), DONE);
	CU_ASSERT_EQUAL(locked(&o, climb, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, open_outside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, make_inside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, change_inside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, remove_inside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, run_program, &p), DENIED);
	place_remove(&p);
}

static void test_sandbox_a_file_is_made_where_it_was_asked_for(void)
{
	struct ib_sandbox_opts o = {.write = -1, .rename = -1};
	struct place p;
	struct stat st;

	if (!has_all())
		return;
	place_make(&p);
	o.write = p.dir;
	CU_ASSERT_EQUAL(locked(&o, write_whole, &p), DONE);
	CU_ASSERT(fstatat(p.dir, "made", &st, 0) == 0 && st.st_size == 3);
	CU_ASSERT_EQUAL(locked(&o, make_outside, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, climb, &p), DENIED);
	CU_ASSERT_EQUAL(locked(&o, run_program, &p), DENIED);
	place_remove(&p);
}

static int stray;

static int use_stray(const struct place *p)
{
	(void)p;
	return fcntl(stray, F_GETFD) >= 0 ? DONE : errno == EBADF ? DENIED : OTHER;
}

static void test_sandbox_inherited_descriptors_are_closed(void)
{
	struct ib_sandbox_opts o = {.write = -1, .rename = -1};
	struct place p;

	if (!has_all())
		return;
	place_make(&p);
	stray = fcntl(p.dir, F_DUPFD, 50);
	CU_ASSERT_EQUAL(locked(&o, use_stray, &p), DENIED);
	o.keep[0] = stray;
	o.n_keep = 1;
	CU_ASSERT_EQUAL(locked(&o, use_stray, &p), DONE);
	close(stray);
	place_remove(&p);
}

/* In a child whose kernel refuses these calls: what ib_sandbox_enter() says. */
static int poorer(const int *refused, size_t n, bool require, char ret_level[32], char ret_missing[160])
{
	const struct ib_sandbox_opts o = {.write = -1, .rename = -1, .require = require};
	struct ib_sandbox *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	scmp_filter_ctx c;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct ib_err err;

		c = seccomp_init(SCMP_ACT_ALLOW);
		for (size_t i = 0; i < n; i++)
			if (seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), refused[i], 0) < 0)
				_exit(OTHER);
		_exit(seccomp_load(c) < 0 ? OTHER : ib_sandbox_enter(&o, s, &err) == 0 ? DONE : err.code == IB_E_UNSUPPORTED ? DENIED : OTHER);
	}
	waitpid(pid, &status, 0);
	memcpy(ret_level, s->level, 32);
	memcpy(ret_missing, s->missing, 160);
	munmap(s, sizeof(*s));
	return WIFEXITED(status) ? WEXITSTATUS(status) : OTHER;
}

static void test_sandbox_a_missing_layer_is_said_or_fails(void)
{
	const int landlock[] = {444};
	char level[32], missing[160];

	if (!has_all())
		return;
	CU_ASSERT_EQUAL(poorer(landlock, 1, false, level, missing), DONE);
	CU_ASSERT_STRING_EQUAL(level, "seccomp");
	CU_ASSERT_STRING_EQUAL(missing, "Landlock: this kernel has none");
	CU_ASSERT_EQUAL(poorer(landlock, 1, true, level, missing), DENIED);
}

static void test_sandbox_level_is_what_is_in_force(void)
{
	const struct ib_sandbox_opts o = {.write = -1, .rename = -1, .require = true};
	struct ib_sandbox *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ib_err err;
	char want[32];
	pid_t pid = fork();

	CU_ASSERT_PTR_NOT_EQUAL_FATAL(s, MAP_FAILED);
	if (pid == 0)
		_exit(ib_sandbox_enter(&o, s, &err) == 0);
	waitpid(pid, NULL, 0);
	if (s->landlock && s->seccomp)
		snprintf(want, sizeof(want), "landlock-%d+seccomp", s->landlock);
	else
		snprintf(want, sizeof(want), "%s", s->seccomp ? "seccomp" : "none");
	CU_ASSERT(s->landlock && !s->seccomp ? true : strcmp(s->level, want) == 0);
	CU_ASSERT_EQUAL(s->missing[0] == 0, s->landlock && s->seccomp);
	munmap(s, sizeof(*s));
}

static const struct ib_test tests[] = {
	IB_TEST(test_sandbox_level_is_what_is_in_force),
	IB_TEST(test_sandbox_a_packet_needs_nothing),
	IB_TEST(test_sandbox_a_directory_is_read_and_nothing_else),
	IB_TEST(test_sandbox_a_file_is_made_where_it_was_asked_for),
	IB_TEST(test_sandbox_inherited_descriptors_are_closed),
	IB_TEST(test_sandbox_a_missing_layer_is_said_or_fails),
	{0},
};

const struct ib_test_suite ib_suite = {"sandbox", tests};
