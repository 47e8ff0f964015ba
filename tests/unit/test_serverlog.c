/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run: slices of server logs, across rotation and truncation, redacted and bounded. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "run/serverlog_file.h"
#include "run/slice.h"

struct bench {
	char dir[64];
	int fd;
	struct ib_redactor *redactor;
	struct ib_log_place place;
	struct ib_log_part part;
};

static void open_bench(struct bench *b)
{
	static char secret[] = "SOME_TOKEN=correct-horse-battery", *env[] = {secret, NULL};
	static const uint8_t key[32] = {1};

	*b = (struct bench){.place.fd = -1};
	snprintf(b->dir, sizeof(b->dir), "/tmp/ib-serverlog-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(b->dir));
	b->fd = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b->redactor = ib_redactor_with_key(key, sizeof(key), env);
}

static void close_bench(struct bench *b)
{
	static const char *const names[] = {"log", "log.1", "log.2", "log.3", "log-old", "slice"};

	ib_log_place_clear(&b->place);
	ib_log_part_clear(&b->part);
	ib_redactor_free(&b->redactor);
	for (size_t i = 0; i < IB_LEN(names); i++)
		unlinkat(b->fd, names[i], 0);
	close(b->fd);
	rmdir(b->dir);
}

static void append(const struct bench *b, const char *name, const char *text)
{
	ib_auto_fd int fd = openat(b->fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	CU_ASSERT_EQUAL(ib_write_all(fd, text, strlen(text), name, NULL), 0);
}

static void move(const struct bench *b, const char *from, const char *to)
{
	CU_ASSERT_EQUAL(renameat(b->fd, from, b->fd, to), 0);
}

static void copy_and_empty(const struct bench *b)
{
	ib_auto_buf struct ib_buf all = IB_BUF(1u << 20);

	CU_ASSERT_EQUAL(ib_read_file(b->fd, "log", &all, NULL), 0);
	append(b, "log.1", ib_buf_str(&all));
	ib_auto_fd int fd = openat(b->fd, "log", O_WRONLY | O_TRUNC | O_CLOEXEC);
	CU_ASSERT_TRUE(fd >= 0);
}

/* What the slice holds; the caller frees it. */
static char *slice(struct bench *b, uint64_t max, struct ib_slice *ret)
{
	ib_auto_buf struct ib_buf all = IB_BUF(16u << 20);
	struct ib_err err = {0};

	CU_ASSERT_EQUAL(ib_slice_keep(b->redactor, b->part.seg, b->part.n, max, b->fd, "slice", ret, &err), 0);
	if (ret->kept_bytes)
		CU_ASSERT_EQUAL(ib_read_file(b->fd, "slice", &all, NULL), 0);
	CU_ASSERT_EQUAL(all.len, ret->kept_bytes);
	unlinkat(b->fd, "slice", 0);
	return ib_buf_steal(&all);
}

static void expect(struct bench *b, const char *want)
{
	struct ib_slice s = {0};

	ib_log_since(&b->place, &b->part);
	ib_auto_free char *text = slice(b, 1u << 20, &s);
	CU_ASSERT_STRING_EQUAL(text, want);
	CU_ASSERT_EQUAL(s.bytes, strlen(want));
	CU_ASSERT_EQUAL(s.gap_bytes, 0);
}

static void test_serverlog_holds_what_was_written_since(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "before\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "one\ntwo\n");
	expect(&b, "one\ntwo\n");
	CU_ASSERT_FALSE(b.part.rotated || b.part.truncated);
	CU_ASSERT_PTR_NULL(b.part.why);
	close_bench(&b);
}

static void test_serverlog_lines_at_the_cuts_are_whole(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\nhalf a li");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "ne\nnew\nunfinis");
	ib_log_since(&b.place, &b.part);
	append(&b, "log", "hed\nlater\n"); /* while it is copied */
	CU_ASSERT_EQUAL(b.part.n, 1);
	CU_ASSERT_EQUAL(b.part.seg[0].from, 4);
	CU_ASSERT_EQUAL(b.part.seg[0].to, strlen("old\nhalf a line\nnew\nunfinis"));
	ib_log_part_clear(&b.part);
	expect(&b, "half a line\nnew\nunfinished\nlater\n");
	close_bench(&b);
}

static void test_serverlog_nothing_written_is_nothing(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	expect(&b, "");
	CU_ASSERT_EQUAL(b.part.sys, 0);
	close_bench(&b);
}

static void test_serverlog_follows_a_rotation(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "a\n");
	move(&b, "log", "log.1");
	append(&b, "log.1", "b\n"); /* the server writes on until it reopens */
	append(&b, "log", "c\n");
	expect(&b, "a\nb\nc\n");
	CU_ASSERT_TRUE(b.part.rotated);
	CU_ASSERT_PTR_NULL(b.part.why);
	close_bench(&b);
}

static void test_serverlog_follows_several_rotations(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "a\n");
	move(&b, "log", "log.1");
	append(&b, "log", "b\n");
	move(&b, "log.1", "log.2");
	move(&b, "log", "log.1");
	append(&b, "log", "c\n");
	move(&b, "log.2", "log.3");
	move(&b, "log.1", "log.2");
	move(&b, "log", "log.1");
	expect(&b, "a\nb\nc\n"); /* the log itself is not there yet */
	CU_ASSERT_PTR_NOT_NULL(b.part.why);
	close_bench(&b);
}

static void test_serverlog_moved_to_an_unknown_name_says_so(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "a\n");
	move(&b, "log", "log-old");
	append(&b, "log", "b\n");
	expect(&b, "a\nb\n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(b.part.why);
	CU_ASSERT_PTR_NOT_NULL(strstr(b.part.why, "not known"));
	close_bench(&b);
}

static void test_serverlog_copied_and_emptied(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "a\n");
	copy_and_empty(&b);
	append(&b, "log", "more than there was before\n"); /* longer: told by its bytes */
	expect(&b, "a\nmore than there was before\n");
	CU_ASSERT_TRUE(b.part.truncated);
	CU_ASSERT_PTR_NULL(b.part.why);
	close_bench(&b);
}

static void test_serverlog_emptied_without_a_copy_says_so(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old and long\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "lost\n");
	copy_and_empty(&b);
	unlinkat(b.fd, "log.1", 0);
	append(&b, "log", "b\n");
	expect(&b, "b\n");
	CU_ASSERT_PTR_NOT_NULL(b.part.why);
	close_bench(&b);
}

static void test_serverlog_appears_or_is_not_there(void)
{
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	ib_log_since(&b.place, &b.part);
	CU_ASSERT_EQUAL(b.part.sys, ENOENT);
	CU_ASSERT_EQUAL(b.part.n, 0);
	ib_log_part_clear(&b.part);
	append(&b, "log", "all of it\n");
	expect(&b, "all of it\n");
	ib_log_part_clear(&b.part);
	ib_log_place_clear(&b.place);
	ib_log_place(b.fd, ".", &b.place);
	ib_log_since(&b.place, &b.part);
	CU_ASSERT_EQUAL(b.part.sys, EISDIR);
	close_bench(&b);
}

static void test_serverlog_deleted_is_still_read(void)
{
	struct bench b;

	open_bench(&b);
	append(&b, "log", "old\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "a\n");
	unlinkat(b.fd, "log", 0);
	expect(&b, "a\n");
	CU_ASSERT_TRUE(b.part.rotated);
	close_bench(&b);
}

static void write_many(const struct bench *b, size_t n)
{
	ib_auto_buf struct ib_buf all = IB_BUF(32u << 20);

	for (size_t i = 0; i < n; i++)
		ib_buf_addf(&all, "line %07zu of the log\n", i);
	append(b, "log", ib_buf_str(&all));
}

static void test_serverlog_slice_of_too_much_has_head_and_tail(void)
{
	const size_t n = 100000;
	struct ib_slice s = {0}, whole = {0};
	uint64_t left = 0;
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	write_many(&b, n);
	ib_log_since(&b.place, &b.part);
	ib_auto_free char *text = slice(&b, 100000, &s);
	const char *mark = strstr(text, "[ib-run: ");
	ib_auto_free char *all = slice(&b, 1u << 30, &whole);

	CU_ASSERT_EQUAL(strlen(all), n * 24);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mark);
	CU_ASSERT_EQUAL(sscanf(mark, "[ib-run: %lu bytes of the log are left out here]", &left), 1);
	CU_ASSERT_EQUAL(left, s.gap_bytes);
	CU_ASSERT_EQUAL(s.bytes, n * 24);
	CU_ASSERT_EQUAL(s.lines, n);
	CU_ASSERT_EQUAL(whole.lines, n);
	CU_ASSERT_EQUAL(s.kept_bytes, s.bytes - s.gap_bytes + strcspn(mark, "\n") + 1);
	CU_ASSERT_TRUE(s.kept_bytes > 50000 && s.kept_bytes < 140000);
	CU_ASSERT_NSTRING_EQUAL(text, "line 0000000 of the log\n", 24);
	CU_ASSERT_TRUE(ib_ends(text, "line 0099999 of the log\n"));
	CU_ASSERT_EQUAL(mark[-1], '\n');
	CU_ASSERT_STRING_EQUAL(s.sha256, whole.sha256); /* of the whole slice */
	CU_ASSERT_FALSE(whole.redacted);
	close_bench(&b);
}

static void test_serverlog_small_slice_has_head_and_tail_too(void)
{
	struct ib_slice s = {0};
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	write_many(&b, 1000);
	ib_log_since(&b.place, &b.part);
	ib_auto_free char *text = slice(&b, 2000, &s);

	CU_ASSERT_NSTRING_EQUAL(text, "line 0000000 of the log\n", 24);
	CU_ASSERT_TRUE(ib_ends(text, "line 0000999 of the log\n"));
	CU_ASSERT_TRUE(s.kept_bytes > 1000 && s.kept_bytes < 2100);
	close_bench(&b);
}

static void test_serverlog_slice_loses_its_secrets(void)
{
	struct ib_slice s = {0};
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "started with correct-horse-battery\n");
	write_many(&b, 1340); /* the key lies across what is read at once */
	append(&b, "log", "-----BEGIN RSA PRIVATE KEY-----\n");
	for (int i = 0; i < 40; i++)
		append(&b, "log", "MIIEpAIBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n");
	append(&b, "log", "-----END RSA PRIVATE KEY-----\nAuthorization: Bearer hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\nend\n");
	ib_log_since(&b.place, &b.part);
	ib_auto_free char *text = slice(&b, 1u << 20, &s);
	CU_ASSERT_TRUE(s.redacted);
	CU_ASSERT_PTR_NULL(strstr(text, "correct-horse"));
	CU_ASSERT_PTR_NULL(strstr(text, "MIIEpAIB"));
	CU_ASSERT_PTR_NULL(strstr(text, "hf_abc"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "<redacted:private-key:"));
	CU_ASSERT_TRUE(ib_ends(text, "\nend\n"));
	close_bench(&b);
}

static void test_serverlog_slice_keeps_any_bytes(void)
{
	static const char bytes[] = "a\0\0b\xff\xfe\r50%\r60%\n\0tail without an end";
	struct ib_slice s = {0};
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	ib_auto_fd int fd = openat(b.fd, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	CU_ASSERT_EQUAL(ib_write_all(fd, bytes, sizeof(bytes) - 1, "log", NULL), 0);
	ib_log_since(&b.place, &b.part);
	ib_auto_free char *text = slice(&b, 1u << 20, &s);
	CU_ASSERT_EQUAL(s.kept_bytes, sizeof(bytes) - 1);
	CU_ASSERT_EQUAL(memcmp(text, bytes, sizeof(bytes) - 1), 0);
	CU_ASSERT_EQUAL(s.lines, 2);
	close_bench(&b);
}

static void test_serverlog_slice_of_one_huge_line_and_a_hole(void)
{
	struct ib_slice s = {0};
	struct bench b;

	open_bench(&b);
	ib_log_place(b.fd, "log", &b.place);
	ib_auto_fd int fd = openat(b.fd, "log", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CU_ASSERT_EQUAL(ftruncate(fd, 3 << 20), 0);
	append(&b, "log", "end\n");
	ib_log_since(&b.place, &b.part);
	ib_auto_free char *text = slice(&b, 1u << 20, &s);
	CU_ASSERT_EQUAL(s.bytes, (3u << 20) + 4);
	CU_ASSERT_NSTRING_EQUAL(text, "[ib-run: ", 9); /* the first block is larger than the head */
	CU_ASSERT_EQUAL(s.lines, 1);
	CU_ASSERT_TRUE(s.kept_bytes <= 3u << 20);
	close_bench(&b);
}

static void test_serverlog_slice_beyond_reading_keeps_its_ends(void)
{
	struct ib_slice s = {0};
	struct bench b;

	open_bench(&b);
	append(&b, "log", "first\n");
	ib_auto_fd int fd = openat(b.fd, "log", O_WRONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)IB_SLICE_READ_MAX * 3), 0);
	append(&b, "log", "\nlast\n");
	ib_log_place(b.fd, "nothing", &b.place);
	b.part.own[0] = openat(b.fd, "log", O_RDONLY | O_CLOEXEC);
	b.part.own_n = b.part.n = 1;
	b.part.seg[0] = (struct ib_segment){b.part.own[0], 0, IB_SLICE_READ_MAX * 3 + 6};
	ib_auto_free char *text = slice(&b, 4096, &s);
	CU_ASSERT_EQUAL(s.bytes, IB_SLICE_READ_MAX * 3 + 6);
	CU_ASSERT_EQUAL(s.gap_bytes, s.bytes - 4096);
	CU_ASSERT_EQUAL(s.lines, IB_SLICE_UNKNOWN);
	CU_ASSERT_STRING_EQUAL(s.sha256, "");
	CU_ASSERT_NSTRING_EQUAL(text, "first\n", 6);
	CU_ASSERT_EQUAL(memcmp(text + s.kept_bytes - 6, "\nlast\n", 6), 0);
	close_bench(&b);
}

static void test_serverlog_banner_begins_at_the_last_start(void)
{
	struct ib_segment seg = {0};
	bool known = false;
	struct bench b;

	open_bench(&b);
	append(&b, "log", "INFO vLLM API server version 0.9.1\nserved\n");
	write_many(&b, 1000);
	append(&b, "log", "INFO vLLM API server version 0.9.2\nINFO non-default args: {'model': 'x'}\nready\n");
	ib_log_place(b.fd, "log", &b.place);
	append(&b, "log", "GET /\n");
	CU_ASSERT_TRUE(ib_log_banner(&b.place, &seg, &known));
	CU_ASSERT_TRUE(known);
	CU_ASSERT_EQUAL(seg.to, b.place.size);
	CU_ASSERT_EQUAL(seg.to - seg.from, strlen("INFO vLLM API server version 0.9.2\nINFO non-default args: {'model': 'x'}\nready\n"));
	ib_log_place_clear(&b.place);
	unlinkat(b.fd, "log", 0);
	write_many(&b, 10000);
	ib_log_place(b.fd, "log", &b.place);
	CU_ASSERT_TRUE(ib_log_banner(&b.place, &seg, &known));
	CU_ASSERT_FALSE(known);
	CU_ASSERT_EQUAL(seg.from, 0);
	CU_ASSERT_TRUE(seg.to > 60000 && seg.to <= 65536 && seg.to % 24 == 0);
	append(&b, "log.1", "older\n");
	CU_ASSERT_FALSE(ib_log_banner(&b.place, &seg, &known)); /* the file's start is not the server's */
	close_bench(&b);
}

static const struct ib_test tests[] = {
	IB_TEST(test_serverlog_holds_what_was_written_since),
	IB_TEST(test_serverlog_lines_at_the_cuts_are_whole),
	IB_TEST(test_serverlog_nothing_written_is_nothing),
	IB_TEST(test_serverlog_follows_a_rotation),
	IB_TEST(test_serverlog_follows_several_rotations),
	IB_TEST(test_serverlog_moved_to_an_unknown_name_says_so),
	IB_TEST(test_serverlog_copied_and_emptied),
	IB_TEST(test_serverlog_emptied_without_a_copy_says_so),
	IB_TEST(test_serverlog_appears_or_is_not_there),
	IB_TEST(test_serverlog_deleted_is_still_read),
	IB_TEST(test_serverlog_slice_of_too_much_has_head_and_tail),
	IB_TEST(test_serverlog_small_slice_has_head_and_tail_too),
	IB_TEST(test_serverlog_slice_loses_its_secrets),
	IB_TEST(test_serverlog_slice_keeps_any_bytes),
	IB_TEST(test_serverlog_slice_of_one_huge_line_and_a_hole),
	IB_TEST(test_serverlog_slice_beyond_reading_keeps_its_ends),
	IB_TEST(test_serverlog_banner_begins_at_the_last_start),
	{0},
};

const struct ib_test_suite ib_suite = {"serverlog", tests};
