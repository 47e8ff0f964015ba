/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/store: names, tar, zstd, BagIt files. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "store/bag.h"
#include "store/codec.h"
#include "store/tar.h"

static int check(const char *name)
{
	return ib_name_check(name, strlen(name), NULL);
}

static void test_store_names_are_narrow(void)
{
	static const char *const good[] = {"a", "data/x.json", ("gr\xC3\xB6\xC3\x9F" "e-\xE6\xB8\xAC.md"), "a b", ".hidden", "con", "a:b*?", "\xF0\x9F\x98\x80", "...x",
					   "\xF0\x91\xBC\x80" /* new in Unicode 15.0 */};
	static const char *const bad[] = {"", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/.", " a", "a ", "a/ b", "a.", "a\tb", "a\x7f", "a\\b", "100%", "\xff", "\xC0\x80",
					  "u\xCC\x88" /* NFD */, "\xE2\x80\x8B" /* zero-width space */, ("\xE2\x80\xAE" "x") /* bidi */, "\xC2\xA0" /* no-break space */,
					  "\xEE\x80\x80" /* private use */, "\xCD\xB8" /* unassigned */, "\xED\xA0\x80" /* surrogate */, "\xE2\x80\xA8" /* line separator */,
					  "\xE2\xBF\xBC" /* new in Unicode 15.1 */, ("\xEF\xBB\xBF" "a"), "\xE2\x84\xAB" /* Angstrom sign, not NFC */};
	ib_auto_free char *long_part = ib_alloc(300), *long_path = ib_alloc(1100);

	for (size_t i = 0; i < IB_LEN(good); i++) {
		if (check(good[i]) != 0)
			printf("# good name %zu\n", i);
		CU_ASSERT_EQUAL(check(good[i]), 0);
	}
	for (size_t i = 0; i < IB_LEN(bad); i++) {
		if (check(bad[i]) == 0)
			printf("# bad name %zu\n", i);
		CU_ASSERT_EQUAL(check(bad[i]), IB_E_PATH);
	}
	memset(long_part, 'a', 255);
	CU_ASSERT_EQUAL(check(long_part), 0);
	long_part[255] = 'a';
	CU_ASSERT_EQUAL(check(long_part), IB_E_PATH);
	for (size_t i = 0; i < 1024; i++)
		long_path[i] = i % 8 == 7 && i != 1023 ? '/' : 'a';
	CU_ASSERT_EQUAL(check(long_path), 0);
	long_path[1024] = 'a';
	CU_ASSERT_EQUAL(check(long_path), IB_E_PATH);
	CU_ASSERT_EQUAL(ib_name_check("a\0b", 3, NULL), IB_E_PATH);
}

static void test_store_names_collide_when_folded(void)
{
	static const struct {
		const char *name;
		int want;
	} steps[] = {
		{"data/a", 0}, {"data/b", 0}, {"data/A", IB_E_DUP}, {"data/a/x", IB_E_DUP}, {"data", IB_E_DUP}, {"DATA/c", 0}, {"data/C", IB_E_DUP},
		{"x/stra\xC3\x9F" "e", 0}, {"x/STRASSE", IB_E_DUP}, {"x/\xCF\x82", 0} /* final sigma */, {"x/\xCE\xA3", IB_E_DUP}, {"x/\xE1\xBE\xB3", 0},
		{"x/\xCE\xB1\xCE\xB9", IB_E_DUP}, {"x/k", 0}, {"x/K/y", IB_E_DUP}, {"y/d/e", 0}, {"Y/D", IB_E_DUP},
	};
	ib_auto_names struct ib_names *s = ib_names_new();

	for (size_t i = 0; i < IB_LEN(steps); i++) {
		int r = ib_names_add(s, steps[i].name, NULL);

		if (r != steps[i].want)
			printf("# step %zu: %d\n", i, r);
		CU_ASSERT_EQUAL(r, steps[i].want);
	}
	for (int i = 0; i < 5000; i++) {
		ib_auto_free char *name = ib_asprintf("many/%d/%d", i % 7, i);

		CU_ASSERT_EQUAL(ib_names_add(s, name, NULL), 0);
	}
	CU_ASSERT_EQUAL(ib_names_add(s, "many/3/3", NULL), IB_E_DUP);
}

static void test_store_plain_names(void)
{
	CU_ASSERT_TRUE(ib_name_is_plain("a", 1) && ib_name_is_plain("0-_z", 4));
	CU_ASSERT_FALSE(ib_name_is_plain("", 0) || ib_name_is_plain("-a", 2) || ib_name_is_plain("A", 1) || ib_name_is_plain("a.b", 3));
	CU_ASSERT_FALSE(ib_name_is_plain("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 33));
}

/* An archive of these paths, each with its own path as content. */
static void make_tar(const char *const *paths, size_t n, struct ib_buf *b, bool zstd)
{
	const struct ib_drain out = ib_drain_to_buf(b);
	ib_auto_packer struct ib_packer *p = ib_packer_new(&out, zstd);
	unsigned char header[IB_TAR_HEADER_MAX];
	static const char zeros[1024];
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct ib_tar_meta m = {.path = paths[i], .mode = i % 2 ? 0755 : 0644, .bytes = strlen(paths[i]), .mtime = 1796055600, .index = (uint32_t)i};

		r = ib_packer_write(p, header, ib_tar_encode(&m, header), NULL);
		if (r == 0)
			r = ib_packer_write(p, paths[i], strlen(paths[i]), NULL);
		if (r == 0)
			r = ib_packer_write(p, zeros, ib_tar_padding(m.bytes), NULL);
	}
	CU_ASSERT_EQUAL(r, 0);
	CU_ASSERT_EQUAL(ib_packer_write(p, zeros, sizeof(zeros), NULL), 0);
	CU_ASSERT_EQUAL(ib_packer_end(p, NULL), 0);
}

/* Reads it in small pieces; returns the number of files, or the error. */
static int read_tar(const char *data, size_t n, const char *const *paths)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	ib_auto_tar struct ib_tar *t = NULL;
	struct ib_tar_meta m;
	bool end;
	char body[1024];
	int r = ib_unpacker_open(&in, &u, NULL);

	if (r < 0)
		return r;
	t = ib_tar_new(u);
	for (int files = 0;; files++) {
		size_t k = 0, got = 0;

		r = ib_tar_next(t, &m, &end, NULL);
		if (r < 0 || end)
			return r < 0 ? r : files;
		CU_ASSERT_STRING_EQUAL(m.path, paths[files]);
		CU_ASSERT_EQUAL(m.mode, files % 2 ? 0755 : 0644);
		if (files % 3 == 2)
			continue; /* unread bodies are passed over */
		do {
			r = ib_tar_read(t, body + got, 7, &k, NULL);
			got += k;
		} while (r == 0 && k);
		CU_ASSERT_EQUAL(got, m.bytes);
		CU_ASSERT_EQUAL(memcmp(body, m.path, got), 0);
	}
}

#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_store_tar_round_trips(void)
{
	static const char *const paths[] = {"t/a", "t/" A50 A50 "/b", "t/" A50 "/" A50 "/" A50 "/" A50 "/c", "t/" A50 A50 A50 "/" A50 A50, "t/" A50 A50 A50 A50,
					    "t/" A50 A50 A50 "/" A50 A50 "x", "t/z"};

	for (int zstd = 0; zstd < 2; zstd++) {
		ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

		make_tar(paths, IB_LEN(paths), &b, zstd);
		CU_ASSERT_EQUAL(read_tar(b.data, b.len, paths), IB_LEN(paths));
		CU_ASSERT_EQUAL(read_tar(b.data, b.len - 1, paths), IB_E_TRUNC);
		ib_buf_addc(&b, '\0');
		CU_ASSERT_EQUAL(read_tar(b.data, b.len, paths), IB_E_TRAILING);
		if (zstd)
			CU_ASSERT_EQUAL(memcmp(b.data, "\x28\xB5\x2F\xFD\x04\x68", 6), 0);
	}
}

static void test_store_tar_refuses_what_it_would_not_write(void)
{
	static const char *const paths[] = {"t/a", "t/b"};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	int taken = 0;

	make_tar(paths, 2, &b, false);
	for (size_t i = 0; i < b.len; i++) {
		if (i % 1024 >= 512 && i % 1024 < 515)
			continue; /* the two bodies */
		b.data[i] ^= 1;
		taken += read_tar(b.data, b.len, paths) >= 0;
		b.data[i] ^= 1;
	}
	CU_ASSERT_EQUAL(taken, 0);
	CU_ASSERT_EQUAL(read_tar("", 0, paths), IB_E_TRUNC);
	CU_ASSERT_EQUAL(read_tar("\x50\x2a\x4d\x18\0\0\0\0", 8, paths), IB_E_CONTAINER);
	CU_ASSERT_EQUAL(read_tar("\x28\xB5\x2F\xFD", 4, paths), IB_E_TRUNC);
}

static void test_store_zstd_streams_large_content(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(64u << 20);
	const struct ib_drain out = ib_drain_to_buf(&b);
	ib_auto_packer struct ib_packer *p = ib_packer_new(&out, true);
	ib_auto_free char *chunk = ib_alloc(1u << 20);
	struct ib_source_mem mem;
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	size_t total = 0, k = 1;
	uint32_t x = 1;

	for (int i = 0; i < 20; i++) {
		for (size_t n = 0; n < 1u << 20; n++) {
			x = x * 1664525 + 1013904223;
			chunk[n] = (char)(n % 16 ? n : x >> 24);
		}
		CU_ASSERT_EQUAL_FATAL(ib_packer_write(p, chunk, 1u << 20, NULL), 0);
	}
	CU_ASSERT_EQUAL_FATAL(ib_packer_end(p, NULL), 0);
	mem = (struct ib_source_mem){b.data, b.len, 0};
	CU_ASSERT_EQUAL_FATAL(ib_unpacker_open(&in, &u, NULL), 0);
	while (k && ib_unpacker_read(u, chunk, 1u << 20, &k, NULL) == 0)
		total += k;
	CU_ASSERT_EQUAL(total, 20u << 20);
}

static int manifest(const char *text, bool payload)
{
	ib_auto_manifest struct ib_manifest m;

	return ib_manifest_parse(ib_strdup(text), strlen(text), "m", "t", payload, &m, NULL);
}

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_store_manifest_has_one_form(void)
{
	CU_ASSERT_EQUAL(manifest(H "  data/a\n" H "  data/b\n", true), 0);
	CU_ASSERT_EQUAL(manifest("", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest("\n", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H "  data/a", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H " *data/a\n", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H "  \n", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H "  x\n", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H "  x\n", false), 0);
	CU_ASSERT_EQUAL(manifest(H "  data/b\n" H "  data/a\n", true), IB_E_MANIFEST);
	CU_ASSERT_EQUAL(manifest(H "  data/a\n" H "  data/a\n", true), IB_E_DUP);
	CU_ASSERT_EQUAL(manifest(H "  data/../a\n", true), IB_E_PATH);
	CU_ASSERT_EQUAL(manifest(H "  data/a\r\n", true), IB_E_MANIFEST);
}

static void test_store_top_and_bag_info(void)
{
	ib_auto_free char *info = ib_bag_info("demo-20261130-01234567", 1796055600, 10, 2);
	uint64_t bytes, files;
	struct ib_top top;

	CU_ASSERT_STRING_EQUAL(info, "Bagging-Date: 2026-11-30\nExternal-Identifier: demo-20261130-01234567\nPayload-Oxum: 10.2\n");
	CU_ASSERT_EQUAL(ib_bag_info_parse(info, strlen(info), &bytes, &files, NULL), 0);
	CU_ASSERT(bytes == 10 && files == 2);
	CU_ASSERT_EQUAL(ib_bag_info_parse(info, strlen(info) - 1, &bytes, &files, NULL), IB_E_MANIFEST);
	CU_ASSERT_TRUE(ib_top_parse("a-b-20261130-01234567", 21, &top));
	CU_ASSERT_STRING_EQUAL(top.study, "a-b");
	CU_ASSERT_STRING_EQUAL(top.seal, "01234567");
	CU_ASSERT_FALSE(ib_top_parse("-20261130-01234567", 18, &top));
	CU_ASSERT_FALSE(ib_top_parse("a-20261130-0123456g", 19, &top));
	CU_ASSERT_FALSE(ib_top_parse("a-2026113x-01234567", 19, &top));
	CU_ASSERT_TRUE(ib_tree_covers("runs/x") && !ib_tree_covers("ledger.jsonl") && !ib_tree_covers("report/index.html") && !ib_tree_covers("ledger.torn/3"));
}

static const struct ib_test tests[] = {
	IB_TEST(test_store_names_are_narrow),
	IB_TEST(test_store_names_collide_when_folded),
	IB_TEST(test_store_plain_names),
	IB_TEST(test_store_tar_round_trips),
	IB_TEST(test_store_tar_refuses_what_it_would_not_write),
	IB_TEST(test_store_zstd_streams_large_content),
	IB_TEST(test_store_manifest_has_one_form),
	IB_TEST(test_store_top_and_bag_info),
	{0},
};

const struct ib_test_suite ib_suite = {"store", tests};
