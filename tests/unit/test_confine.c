/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run about what surrounds a command: control groups, the watchdog, the view of a terminal, the line of progress. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "model/record.h"
#include "run/cast.h"
#include "run/cgroup.h"
#include "run/progress.h"
#include "run/watch.h"

/* --- control groups, on a fake tree --- */

static void put(const char *dir, const char *name, const char *text)
{
	ib_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY);

	CU_ASSERT_EQUAL_FATAL(ib_write_file(fd, name, text, strlen(text), 0644, true, NULL), 0);
}

static void remove_tree(const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
}

static int64_t number(const json_t *o, const char *key)
{
	return json_is_integer(json_object_get(o, key)) ? json_integer_value(json_object_get(o, key)) : IB_NONE;
}

static void test_confine_own_control_group_is_found(void)
{
	static const char mounts[] = "20 1 0:19 / /sys rw - sysfs sysfs rw\n31 20 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
			  rooted[] = "31 20 0:27 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
	static const struct {
		const char *mounts, *membership, *want;
	} cases[] = {
		{mounts, "0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope"},
		{mounts, "9:name=systemd:/x\n0::/\n", "/sys/fs/cgroup/"},
		{mounts, "0::/a.scope/ib-run-self\n", "/sys/fs/cgroup/a.scope"},
		{mounts, "4:memory:/x\n", NULL},
		{"20 1 0:19 / /sys rw - sysfs sysfs rw\n", "0::/\n", NULL},
		{rooted, "0::/docker/abc/sub\n", "/sys/fs/cgroup/sub"},
		{rooted, "0::/docker/abcd\n", NULL},
		{" - cgroup2 ", "0::/\n", NULL},
		{mounts, "", NULL},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_free char *got = ib_cgroup_own(cases[i].mounts, cases[i].membership);

		CU_ASSERT_TRUE(ib_streq(got, cases[i].want));
	}
}

static void test_confine_memory_limit_is_set_and_its_kills_are_told(void)
{
	char dir[] = "/tmp/ib-cgroup-XXXXXX";
	ib_auto_cgroup struct ib_cgroup c = {.parent_fd = -1, .dir_fd = -1};
	ib_auto_free char *group = NULL, *max = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(100);
	ib_auto_json json_t *o = NULL;
	int64_t kills;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	group = ib_asprintf("%s/g", dir);
	max = ib_asprintf("%s/memory.max", group);
	mkdir(group, 0755);
	put(group, "memory.max", "max\n                    ");
	put(group, "cgroup.procs", "");
	put(group, "memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
	put(group, "memory.peak", "268435456\n");
	put(group, "cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_throttled 0\nthrottled_usec 7\n");
	put(group, "pids.peak", "12\n");
	ib_cgroup_adopt(dir, "g", 256 << 20, &c);
	CU_ASSERT_PTR_NULL(c.why);
	CU_ASSERT_PTR_NULL(c.why_no_limit);
	CU_ASSERT_TRUE(c.procs_fd > 0);
	o = ib_cgroup_report(&c, &kills);
	CU_ASSERT_EQUAL(kills, 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(o, "memory_limit")), "enforced");
	CU_ASSERT_EQUAL(number(o, "memory_limit_bytes"), 256 << 20);
	CU_ASSERT_EQUAL(number(o, "memory_peak_bytes"), 268435456);
	CU_ASSERT_EQUAL(number(o, "cpu_ns"), 1500000);
	CU_ASSERT_EQUAL(number(o, "throttled_ns"), 7000);
	CU_ASSERT_EQUAL(number(o, "processes_peak"), 12);
	CU_ASSERT_EQUAL(ib_read_file(AT_FDCWD, max, &b, NULL), 0);
	CU_ASSERT_TRUE(ib_starts(ib_buf_str(&b), "268435456\n"));
	remove_tree(dir);
}

static void test_confine_limit_that_nobody_enforces_is_said_to_be_none(void)
{
	char dir[] = "/tmp/ib-cgroup-XXXXXX";
	ib_auto_free char *nowhere = NULL;
	static const char *const why[] = {"memory controller is not available", "cannot be opened", "no control group of version 2"};
	const char *parents[3];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	nowhere = ib_asprintf("%s/nowhere", dir);
	put(dir, "cgroup.controllers", "cpu pids\n");
	put(dir, "cgroup.subtree_control", "cpu\n");
	parents[0] = dir;
	parents[1] = nowhere;
	parents[2] = NULL;
	for (size_t i = 0; i < IB_LEN(parents); i++) {
		ib_auto_cgroup struct ib_cgroup c = {.parent_fd = -1, .dir_fd = -1};
		ib_auto_json json_t *o = NULL;
		int64_t kills;

		ib_cgroup_make(parents[i], "ib-run-x", 1 << 30, &c);
		CU_ASSERT_PTR_NOT_NULL(c.why_no_limit ? strstr(c.why_no_limit, why[i]) : NULL);
		o = ib_cgroup_report(&c, &kills);
		CU_ASSERT_EQUAL(kills, IB_NONE);
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(o, "memory_limit")), "not_enforced");
		CU_ASSERT_TRUE(json_is_null(json_object_get(o, "memory_peak_bytes")));
	}
	remove_tree(dir);
}

static void test_confine_group_is_removed_and_what_was_forgotten_too(void)
{
	char dir[] = "/tmp/ib-cgroup-XXXXXX";
	ib_auto_free char *ours = NULL, *forgotten = NULL, *young = NULL, *other = NULL;
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	ours = ib_asprintf("%s/ib-run-x", dir);
	forgotten = ib_asprintf("%s/ib-run-y", dir);
	young = ib_asprintf("%s/ib-run-z", dir);
	other = ib_asprintf("%s/other", dir);
	mkdir(forgotten, 0755);
	mkdir(young, 0755);
	mkdir(other, 0755);
	utimensat(AT_FDCWD, forgotten, old, 0);
	utimensat(AT_FDCWD, other, old, 0);
	{
		ib_auto_cgroup struct ib_cgroup c = {.parent_fd = -1, .dir_fd = -1};

		ib_cgroup_make(dir, "ib-run-x", IB_NONE, &c);
		CU_ASSERT_PTR_NULL(c.why);
		CU_ASSERT_EQUAL(access(ours, F_OK), 0);
	}
	CU_ASSERT_EQUAL(access(ours, F_OK), -1);
	CU_ASSERT_EQUAL(access(forgotten, F_OK), -1);
	CU_ASSERT_EQUAL(access(young, F_OK), 0);
	CU_ASSERT_EQUAL(access(other, F_OK), 0);
	remove_tree(dir);
}

/* --- the watchdog --- */

static void test_confine_watchdog_sees_growth(void)
{
	char dir[] = "/tmp/ib-watch-XXXXXX";
	ib_auto_free char *deep = NULL;
	ib_auto_fd int fd = -1;
	struct ib_watch w = {.limit_ns = 10 * IB_NS};

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	w.dir_fd = fd;
	CU_ASSERT_FALSE(ib_watch_tick(&w, 100 * IB_NS)); /* neither logs nor output/: nothing yet */
	put(dir, "stdout.log", "a");
	CU_ASSERT_FALSE(ib_watch_tick(&w, 109 * IB_NS));
	CU_ASSERT_FALSE(ib_watch_tick(&w, 118 * IB_NS));
	deep = ib_asprintf("%s/output", dir);
	mkdir(deep, 0755);
	put(dir, "output/result", "");
	CU_ASSERT_FALSE(ib_watch_tick(&w, 118 * IB_NS + 1)); /* an empty file is progress, too */
	put(dir, "output/result", "more");
	CU_ASSERT_FALSE(ib_watch_tick(&w, 128 * IB_NS));
	CU_ASSERT_FALSE(ib_watch_tick(&w, 138 * IB_NS - 1));
	CU_ASSERT_TRUE(ib_watch_tick(&w, 138 * IB_NS));
	CU_ASSERT_TRUE(w.fired);
	remove_tree(dir);
}

/* --- the view of a terminal --- */

static void cast_of(const char *const *parts, struct ib_buf *ret)
{
	char file[] = "/tmp/ib-cast-XXXXXX";
	int fd = mkstemp(file);
	struct ib_cast c;

	ib_cast_begin(&c, fd, (struct winsize){.ws_col = 80, .ws_row = 24}, 1);
	for (; *parts; parts++)
		ib_cast_output(&c, *parts, strlen(*parts));
	ib_cast_resize(&c, (struct winsize){.ws_col = 100, .ws_row = 30});
	ib_cast_end(&c);
	CU_ASSERT_EQUAL(c.sys, 0);
	CU_ASSERT_EQUAL(ib_read_file(AT_FDCWD, file, ret, NULL), 0);
	unlink(file);
}

/* The texts of all events, one behind the other. Each line must be JSON. */
static void texts_of(const struct ib_buf *cast, char *ret, size_t size)
{
	const char *p = cast->data, *end = cast->data + cast->len;

	*ret = '\0';
	for (int line = 0; p < end; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		ib_auto_json json_t *j = NULL;

		CU_ASSERT_PTR_NOT_NULL_FATAL(nl);
		CU_ASSERT_EQUAL_FATAL(ib_json_load(p, (size_t)(nl - p), "cast", &j, NULL), 0);
		if (line > 0)
			snprintf(ret + strlen(ret), size - strlen(ret), "%s", json_string_value(json_array_get(j, 2)));
		p = nl + 1;
	}
}

static void test_confine_terminal_view_is_valid_whatever_is_written(void)
{
	static const struct {
		const char *parts[6], *want;
	} cases[] = {
		{{"plain\r\n"}, "plain\r\n100x30"},
		{{"caf\xc3", "\xa9"}, "caf\xc3\xa9" "100x30"},
		{{"\xf0\x9f", "\x98", "\x80!"}, "\xf0\x9f\x98\x80!100x30"},
		{{"\xff\xfe"}, "\xef\xbf\xbd\xef\xbf\xbd" "100x30"},
		{{"\xc3", "x"}, "\xef\xbf\xbdx100x30"},
		{{"\xe2\x82"}, "100x30\xef\xbf\xbd"},
		{{"\xed\xa0\x80"}, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" "100x30"},
		{{"\"\\\x1b[0m\x7f"}, "\"\\\x1b[0m\x7f" "100x30"},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_buf struct ib_buf b = IB_BUF(10000);
		char got[200];

		cast_of(cases[i].parts, &b);
		texts_of(&b, got, sizeof(got));
		CU_ASSERT_STRING_EQUAL(got, cases[i].want);
	}
}

/* --- the line of progress --- */

static void test_confine_progress_says_when_it_ends(void)
{
	struct ib_progress p = {.at = 3, .total = 30, .left = 28};
	char line[IB_PROGRESS_MAX];

	ib_progress_text(&p, "short", "cap-4", 2, 83 * IB_NS, 100, line);
	CU_ASSERT_STRING_EQUAL(line, "[3/30] short.cap-4 r02  1:23 elapsed, end -");
	ib_progress_took(&p, 100 * IB_NS);
	ib_progress_took(&p, 900 * IB_NS);
	ib_progress_took(&p, 60 * IB_NS);
	CU_ASSERT_EQUAL(ib_progress_left_ns(&p, 40 * IB_NS), 27 * 100 * IB_NS + 60 * IB_NS);
	CU_ASSERT_EQUAL(ib_progress_left_ns(&p, 400 * IB_NS), 27 * 100 * IB_NS);
	ib_progress_text(&p, "short", "cap-4", 2, 40 * IB_NS, 100, line);
	CU_ASSERT_STRING_EQUAL(line, "[3/30] short.cap-4 r02  0:40 elapsed, end in about 46:00");
	p.left = 200;
	ib_progress_text(&p, "short", "cap-4", 2, 4000 * IB_NS, 60, line);
	CU_ASSERT_STRING_EQUAL(line, "[3/30] short.cap-4 r02  1:06:40 elapsed, end in about 5:31:4");
	ib_progress_clear(&p);
}

static const struct ib_test tests[] = {
	IB_TEST(test_confine_own_control_group_is_found),
	IB_TEST(test_confine_memory_limit_is_set_and_its_kills_are_told),
	IB_TEST(test_confine_limit_that_nobody_enforces_is_said_to_be_none),
	IB_TEST(test_confine_group_is_removed_and_what_was_forgotten_too),
	IB_TEST(test_confine_watchdog_sees_growth),
	IB_TEST(test_confine_terminal_view_is_valid_whatever_is_written),
	IB_TEST(test_confine_progress_says_when_it_ends),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"confine", tests};
