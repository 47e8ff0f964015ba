/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/root and base/spawn: nothing leaves the root, nothing outlives its limit. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/root.h"
#include "base/spawn.h"
#include "base/str.h"

/* A scratch directory "…/in" with a file outside of it; removed again. */
struct scratch {
	char top[32];
	char *in;
	int fd;
};

static void scratch_make(struct scratch *s)
{
	snprintf(s->top, sizeof(s->top), "/tmp/ib-root-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(s->top));
	s->in = ib_asprintf("%s/in", s->top);
	s->fd = -1;
	CU_ASSERT_EQUAL_FATAL(ib_make_dirs(AT_FDCWD, s->in, 0700, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_open_dir(AT_FDCWD, s->top, &s->fd, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_write_file(s->fd, "outside", "secret", 6, 0600, true, NULL), 0);
}

static void scratch_clear(struct scratch *s)
{
	const char *const argv[] = {"/bin/rm", "-rf", s->top, NULL};
	const struct ib_spawn rm = {.argv = argv, .timeout_ns = 10 * IB_NS};
	ib_auto_buf struct ib_buf out = IB_BUF(100);
	struct ib_child_end end;

	CU_ASSERT_EQUAL(ib_spawn(&rm, &out, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.status, 0);
	close(s->fd);
	free(s->in);
}

static void put(const struct scratch *s, const char *path, const char *text)
{
	ib_auto_free char *full = ib_asprintf("in/%s", path), *dir = ib_strdup(full);

	*strrchr(dir, '/') = '\0';
	CU_ASSERT_EQUAL(ib_make_dirs(s->fd, dir, 0700, NULL), 0);
	CU_ASSERT_EQUAL(ib_write_file(s->fd, full, text, strlen(text), 0600, true, NULL), 0);
}

static void link_to(const struct scratch *s, const char *target, const char *path)
{
	ib_auto_free char *full = ib_asprintf("in/%s", path);

	CU_ASSERT_EQUAL(symlinkat(target, s->fd, full), 0);
}

static const char *reading(struct ib_root *r, const char *path, struct ib_buf *b)
{
	struct ib_fact fact = ib_root_read(r, path, b);

	return fact.status == IB_FACT_OK ? ib_buf_str(b) : ib_fact_name(fact.status);
}

/* The same expectations of openat2(2) and of the component walk. */
static void links_stay_inside(bool walk)
{
	struct scratch s;
	ib_auto_root struct ib_root *r = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(100);
	ib_auto_free char *absolute = NULL;

	scratch_make(&s);
	put(&s, "etc/name", "inside");
	put(&s, "outside", "trapped");
	put(&s, "a/b/c/file", "deep");
	absolute = ib_asprintf("%s/outside", s.top);
	link_to(&s, absolute, "absolute");
	link_to(&s, "../../../../outside", "a/b/up");
	link_to(&s, "/etc/name", "a/to-etc");
	link_to(&s, "../../../a/./b//c/file", "etc/round");
	link_to(&s, "/", "slash");
	link_to(&s, "b", "a/dir");
	link_to(&s, "loop-b", "loop-a");
	link_to(&s, "loop-a", "loop-b");
	link_to(&s, "nowhere", "dangling");
	CU_ASSERT_EQUAL_FATAL(ib_root_open(s.in, &r, NULL), 0);
	if (walk)
		ib_root_use_walk(r);
	CU_ASSERT_FALSE(ib_root_is_live(r));
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/name", &b), "inside");
	CU_ASSERT_STRING_EQUAL(reading(r, "/absolute", &b), "absent");
	CU_ASSERT_STRING_EQUAL(reading(r, "/a/b/up", &b), "trapped");
	CU_ASSERT_STRING_EQUAL(reading(r, "/../../outside", &b), "trapped");
	CU_ASSERT_STRING_EQUAL(reading(r, "/a/to-etc", &b), "inside");
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/round", &b), "deep");
	CU_ASSERT_STRING_EQUAL(reading(r, "/slash/etc/name", &b), "inside");
	CU_ASSERT_STRING_EQUAL(reading(r, "/a/dir/c/file", &b), "deep");
	CU_ASSERT_STRING_EQUAL(reading(r, "/a/dir/../../etc/name", &b), "inside");
	CU_ASSERT_STRING_EQUAL(reading(r, "/loop-a", &b), "error");
	CU_ASSERT_EQUAL(ib_root_read(r, "/loop-a", &b).sys, ELOOP);
	CU_ASSERT_STRING_EQUAL(reading(r, "/dangling", &b), "absent");
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/name/x", &b), "absent");
	CU_ASSERT_EQUAL(ib_root_exists(r, "/a/b").status, IB_FACT_OK);
	CU_ASSERT_EQUAL(ib_root_exists(r, "/a/x").status, IB_FACT_ABSENT);
	scratch_clear(&s);
}

static void test_root_links_stay_inside_by_openat2(void)
{
	links_stay_inside(false);
}

static void test_root_links_stay_inside_by_walk(void)
{
	links_stay_inside(true);
}

static void test_root_statuses_are_no_values(void)
{
	struct scratch s;
	ib_auto_root struct ib_root *r = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(10), small = IB_BUF(9);
	ib_auto_strv struct ib_strv list = {0};

	scratch_make(&s);
	put(&s, "ten", "0123456789");
	put(&s, "d/b", "");
	put(&s, "d/a", "");
	CU_ASSERT_EQUAL(mkfifoat(s.fd, "in/fifo", 0600), 0);
	CU_ASSERT_EQUAL_FATAL(ib_root_open(s.in, &r, NULL), 0);
	CU_ASSERT_STRING_EQUAL(reading(r, "/ten", &b), "0123456789");
	CU_ASSERT_EQUAL(ib_root_read(r, "/ten", &small).sys, EFBIG);
	CU_ASSERT_EQUAL(small.len, 0);
	CU_ASSERT_EQUAL(ib_root_read(r, "/fifo", &b).status, IB_FACT_UNSUPPORTED);
	CU_ASSERT_EQUAL(ib_root_read(r, "/d", &b).sys, EISDIR);
	CU_ASSERT_EQUAL(ib_root_list(r, "/d", &list).status, IB_FACT_OK);
	CU_ASSERT_EQUAL_FATAL(list.n, 2);
	CU_ASSERT_STRING_EQUAL(list.v[0], "a");
	CU_ASSERT_EQUAL(ib_root_list(r, "/ten", &list).status, IB_FACT_ABSENT);
	CU_ASSERT_EQUAL(ib_fact_of(EACCES).status, IB_FACT_DENIED);
	CU_ASSERT_EQUAL(ib_fact_of(EIO).status, IB_FACT_ERROR);
	CU_ASSERT_EQUAL(ib_fact_of(EOPNOTSUPP).status, IB_FACT_UNSUPPORTED);
	ib_root_set_fact(r, "/ten", (struct ib_fact){IB_FACT_DENIED, EACCES});
	CU_ASSERT_EQUAL(ib_root_read(r, "/ten", &b).status, IB_FACT_DENIED);
	for (int i = IB_FACT_OK; i <= IB_FACT_ERROR; i++)
		CU_ASSERT_EQUAL((int)ib_fact_parse(ib_fact_name((enum ib_fact_status)i)), i);
	scratch_clear(&s);
}

static void test_root_refuses_what_is_not_declared(void)
{
	static const char *const patterns[] = {"/etc/name", "/sys/cpu*/online", "/proc/pressure/**", NULL};
	struct scratch s;
	ib_auto_root struct ib_root *r = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(100);

	scratch_make(&s);
	put(&s, "etc/name", "1");
	put(&s, "etc/other", "2");
	put(&s, "sys/cpu7/online", "3");
	put(&s, "sys/cpu7/x/online", "4");
	put(&s, "proc/pressure/cpu", "5");
	put(&s, "proc/pressured", "6");
	CU_ASSERT_EQUAL_FATAL(ib_root_open(s.in, &r, NULL), 0);
	ib_root_restrict(r, patterns);
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/name", &b), "1");
	CU_ASSERT_STRING_EQUAL(reading(r, "/sys/cpu7/online", &b), "3");
	CU_ASSERT_STRING_EQUAL(reading(r, "/proc/pressure/cpu", &b), "5");
	CU_ASSERT_PTR_NULL(ib_root_refused(r));
	CU_ASSERT_STRING_EQUAL(reading(r, "/sys/cpu7/x/online", &b), "error");
	CU_ASSERT_STRING_EQUAL(ib_root_refused(r), "/sys/cpu7/x/online");
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/other", &b), "error");
	CU_ASSERT_STRING_EQUAL(reading(r, "/proc/pressured", &b), "error");
	CU_ASSERT_STRING_EQUAL(reading(r, "/proc/pressure/../../etc/other", &b), "error");
	ib_root_restrict(r, NULL);
	CU_ASSERT_PTR_NULL(ib_root_refused(r));
	CU_ASSERT_STRING_EQUAL(reading(r, "/etc/other", &b), "2");
	scratch_clear(&s);
}

/* --- children --- */

static int answers(void *arg, int fd)
{
	return ib_write_all(fd, arg, strlen(arg), "pipe", NULL) == 0 ? 7 : 1;
}

static int crashes(void *arg, int fd)
{
	(void)!write(fd, arg, 1);
	raise(SIGSEGV);
	return 0;
}

static int hangs(void *arg, int fd)
{
	(void)!write(fd, arg, 1);
	signal(SIGTERM, SIG_IGN);
	while (pause() < 0)
		;
	return 0;
}

static int closes_and_hangs(void *arg, int fd)
{
	(void)arg;
	close(fd);
	while (pause() < 0)
		;
	return 0;
}

static int floods(void *arg, int fd)
{
	(void)arg;
	while (write(fd, "xxxxxxxxxxxxxxxx", 16) > 0)
		;
	return 0;
}

/* A grandchild keeps the pipe open: it must be neither waited for nor left. */
static int leaves_a_child(void *arg, int fd)
{
	(void)arg;
	if (fork() == 0)
		for (;;)
			pause();
	return write(fd, "x", 1) == 1 ? 0 : 1;
}

static struct ib_child_end call(int (*fn)(void *arg, int fd), int64_t timeout_ns, struct ib_buf *out)
{
	static char text[] = "hello";
	struct ib_child_end end = {0};

	CU_ASSERT_EQUAL(ib_child_call(fn, text, timeout_ns, out, &end, NULL), 0);
	return end;
}

static void test_spawn_call_gives_output_and_status(void)
{
	ib_auto_buf struct ib_buf out = IB_BUF(100);
	struct ib_child_end end = call(answers, 10 * IB_NS, &out);

	CU_ASSERT_STRING_EQUAL(ib_buf_str(&out), "hello");
	CU_ASSERT_EQUAL(end.status, 7);
	CU_ASSERT_EQUAL(end.signal, 0);
	CU_ASSERT_FALSE(end.timed_out);
}

static void test_spawn_call_survives_crash_hang_and_flood(void)
{
	ib_auto_buf struct ib_buf a = IB_BUF(100), b = IB_BUF(100), c = IB_BUF(100), d = IB_BUF(100), e = IB_BUF(100);
	struct ib_child_end end = call(crashes, 10 * IB_NS, &a);

	CU_ASSERT_EQUAL(end.signal, SIGSEGV);
	CU_ASSERT_EQUAL(end.status, -1);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&a), "h");
	end = call(hangs, IB_NS / 5, &b);
	CU_ASSERT(end.timed_out);
	CU_ASSERT_EQUAL(end.signal, SIGKILL);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "h");
	CU_ASSERT(end.wall_ns < 5 * IB_NS);
	CU_ASSERT(call(closes_and_hangs, IB_NS / 5, &c).timed_out);
	end = call(floods, 10 * IB_NS, &d);
	CU_ASSERT(end.overflow);
	CU_ASSERT_FALSE(end.timed_out);
	end = call(leaves_a_child, 10 * IB_NS, &e);
	CU_ASSERT_EQUAL(end.status, 0);
	CU_ASSERT(end.wall_ns < 5 * IB_NS);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&e), "x");
}

static void test_spawn_runs_a_program(void)
{
	const char *const sh[] = {"/bin/sh", "-c", "echo out; echo err >&2; cat; pwd; echo \"$A\"; exit 3", NULL}, *const none[] = {"/nonexistent/x", NULL},
			*const dir[] = {"/", NULL};
	char variable[] = "A=b";
	char *env[] = {variable, NULL};
	struct ib_spawn what = {.argv = sh, .env = env, .cwd = "/", .timeout_ns = 10 * IB_NS};
	ib_auto_buf struct ib_buf out = IB_BUF(100);
	struct ib_child_end end;

	CU_ASSERT_EQUAL(ib_spawn(&what, &out, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.status, 3);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&out), "out\n/\nb\n");
	ib_buf_reset(&out);
	what.with_stderr = true;
	CU_ASSERT_EQUAL(ib_spawn(&what, &out, &end, NULL), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&out), "out\nerr\n/\nb\n");
	what.argv = none;
	CU_ASSERT_EQUAL(ib_spawn(&what, &out, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.status, 127);
	what.argv = dir;
	CU_ASSERT_EQUAL(ib_spawn(&what, &out, &end, NULL), 0);
	CU_ASSERT_EQUAL(end.status, 126);
}

static const struct ib_test tests[] = {
	IB_TEST(test_root_links_stay_inside_by_openat2),
	IB_TEST(test_root_links_stay_inside_by_walk),
	IB_TEST(test_root_statuses_are_no_values),
	IB_TEST(test_root_refuses_what_is_not_declared),
	IB_TEST(test_spawn_call_gives_output_and_status),
	IB_TEST(test_spawn_call_survives_crash_hang_and_flood),
	IB_TEST(test_spawn_runs_a_program),
	{0},
};

const struct ib_test_suite ib_suite = {"root", tests};
