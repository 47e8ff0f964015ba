/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run: what is seen of files that are opened, and the files of a study at one moment. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "run/opened.h"
#include "run/snapshot.h"

struct tree {
	char path[64];
	int fd;
	struct ib_snapshot snap;
	struct ib_opened opened;
	struct ib_strv read;
};

static void put(const struct tree *t, const char *path, const char *text)
{
	CU_ASSERT_EQUAL(ib_write_file(t->fd, path, text, strlen(text), 0644, true, NULL), 0);
}

static void begin(struct tree *t)
{
	*t = (struct tree){.opened.fd = -1};
	snprintf(t->path, sizeof(t->path), "/tmp/ib-analysis-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(t->path));
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(mkdirat(t->fd, "d", 0755), 0);
	CU_ASSERT_EQUAL(mkdirat(t->fd, ".git", 0755), 0);
	put(t, "a", "a\n");
	put(t, "d/b", "b\n");
	put(t, ".git/c", "c\n");
	CU_ASSERT_EQUAL(symlinkat("a", t->fd, "link"), 0);
}

static void remove_all(const struct tree *t, const char *dir)
{
	int fd = openat(t->fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(fd, e->d_name, 0);
	if (d)
		closedir(d);
	unlinkat(t->fd, dir, AT_REMOVEDIR);
}

static void end(struct tree *t)
{
	ib_opened_clear(&t->opened);
	ib_snapshot_clear(&t->snap);
	ib_strv_clear(&t->read);
	remove_all(t, "d");
	remove_all(t, ".git");
	remove_all(t, ".");
	close(t->fd);
	CU_ASSERT_EQUAL(rmdir(t->path), 0);
}

static void touch(const struct tree *t, const char *path, int flags)
{
	int fd = openat(t->fd, path, flags | O_CLOEXEC, 0644);

	CU_ASSERT_TRUE(fd >= 0);
	if (fd >= 0)
		close(fd);
}

static void watch(struct tree *t)
{
	CU_ASSERT_EQUAL(ib_snapshot_take(t->fd, NULL, &t->snap, NULL), 0);
	ib_opened_begin(t->path, &t->snap.dirs, &t->opened);
}

static void test_analysis_files_that_are_read_are_seen(void)
{
	struct tree t;

	begin(&t);
	watch(&t);
	touch(&t, "a", O_RDONLY);
	touch(&t, "d/b", O_RDONLY);
	touch(&t, "d/b", O_RDONLY);
	touch(&t, "d/new", O_WRONLY | O_CREAT);
	touch(&t, ".git/c", O_RDONLY);
	ib_opened_end(&t.opened, &t.read);
	CU_ASSERT_EQUAL_FATAL(t.read.n, 3);
	CU_ASSERT_STRING_EQUAL(t.read.v[0], "a");
	CU_ASSERT_STRING_EQUAL(t.read.v[1], "d/b");
	CU_ASSERT_FALSE(ib_opened_only_written(&t.opened, "d/b"));
	CU_ASSERT_TRUE(ib_opened_only_written(&t.opened, "d/new"));
	CU_ASSERT_FALSE(ib_opened_only_written(&t.opened, "d/other"));
	CU_ASSERT_PTR_NULL(t.opened.why);
	end(&t);
}

static void test_analysis_files_that_are_only_written_are_not_read(void)
{
	struct tree t;

	begin(&t);
	watch(&t);
	touch(&t, "a", O_WRONLY | O_APPEND);
	touch(&t, "d/b", O_RDONLY);
	touch(&t, "d/b", O_WRONLY); /* two opens in a row would be one event */
	ib_opened_end(&t.opened, &t.read);
	CU_ASSERT_TRUE(ib_opened_only_written(&t.opened, "a"));
	CU_ASSERT_FALSE(ib_opened_only_written(&t.opened, "d/b"));
	end(&t);
}

static void test_analysis_more_than_the_kernel_keeps_is_said(void)
{
	struct tree t;
	int n = 0;
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");

	if (!f || fscanf(f, "%d", &n) != 1 || n > 100000)
		n = 0;
	if (f)
		fclose(f);
	if (!n) {
		ib_skip("the kernel keeps more events than the test makes");
		return;
	}
	begin(&t);
	watch(&t);
	for (int i = 0; i < n + 10; i++)
		touch(&t, i % 2 ? "a" : "d/b", O_RDONLY);
	ib_opened_end(&t.opened, &t.read);
	CU_ASSERT_EQUAL(t.read.n, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t.opened.why);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.opened.why, "more files were opened"));
	end(&t);
}

static void test_analysis_a_kernel_that_does_not_watch_is_said(void)
{
	struct rlimit was, none;
	struct tree t;

	begin(&t);
	CU_ASSERT_EQUAL(ib_snapshot_take(t.fd, NULL, &t.snap, NULL), 0);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){3, was.rlim_max};
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	ib_opened_begin(t.path, &t.snap.dirs, &t.opened);
	setrlimit(RLIMIT_NOFILE, &was);
	CU_ASSERT_PTR_NOT_NULL(t.opened.why);
	CU_ASSERT_EQUAL(t.opened.dirs.n, 0);
	ib_opened_end(&t.opened, &t.read);
	CU_ASSERT_EQUAL(t.read.n, 0);
	end(&t);
}

static void test_analysis_many_names_are_kept_apart(void)
{
	struct tree t;

	begin(&t);
	for (int i = 0; i < 3000; i++) {
		ib_auto_free char *name = ib_asprintf("d/%04d", i);

		touch(&t, name, O_WRONLY | O_CREAT);
	}
	watch(&t);
	for (int i = 0; i < 3000; i++) {
		ib_auto_free char *name = ib_asprintf("d/%04d", i);

		touch(&t, name, O_RDONLY);
		ib_opened_take(&t.opened);
	}
	ib_opened_end(&t.opened, &t.read);
	CU_ASSERT_EQUAL_FATAL(t.read.n, 3000);
	CU_ASSERT_STRING_EQUAL(t.read.v[2999], "d/2999");
	end(&t);
}

static bool in_d(const char *path)
{
	return ib_starts(path, "d/");
}

static void test_analysis_a_snapshot_tells_what_changed(void)
{
	struct tree t;
	struct ib_snapshot after = {0};
	char want[IB_HEX_LEN];

	begin(&t);
	CU_ASSERT_EQUAL(ib_snapshot_take(t.fd, in_d, &t.snap, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(t.snap.n, 2); /* neither links nor .git */
	CU_ASSERT_EQUAL(t.snap.dirs.n, 2);
	CU_ASSERT_STRING_EQUAL(t.snap.files[0].sha256, "");
	ib_sha256_of("b\n", 2, want);
	CU_ASSERT_STRING_EQUAL(ib_snapshot_find(&t.snap, "d/b")->sha256, want);
	CU_ASSERT_PTR_NULL(ib_snapshot_find(&t.snap, "d"));
	put(&t, "d/b", "x\n");
	CU_ASSERT_EQUAL(ib_snapshot_take(t.fd, in_d, &after, NULL), 0);
	CU_ASSERT_TRUE(ib_snapshot_same(ib_snapshot_find(&t.snap, "a"), ib_snapshot_find(&after, "a")));
	CU_ASSERT_FALSE(ib_snapshot_same(ib_snapshot_find(&t.snap, "d/b"), ib_snapshot_find(&after, "d/b")));
	ib_snapshot_clear(&after);
	end(&t);
}

static const struct ib_test tests[] = {
	IB_TEST(test_analysis_files_that_are_read_are_seen),
	IB_TEST(test_analysis_files_that_are_only_written_are_not_read),
	IB_TEST(test_analysis_more_than_the_kernel_keeps_is_said),
	IB_TEST(test_analysis_a_kernel_that_does_not_watch_is_said),
	IB_TEST(test_analysis_many_names_are_kept_apart),
	IB_TEST(test_analysis_a_snapshot_tells_what_changed),
	{0},
};

const struct ib_test_suite ib_suite = {"analysis", tests};
