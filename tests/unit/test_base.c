/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/base. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/exit.h"
#include "base/io.h"
#include "base/str.h"

static void test_base_errors_gather_context(void)
{
	struct ib_err err;

	CU_ASSERT_EQUAL(ib_fail(&err, IB_E_IO, 2, "cannot open '%s'", "x"), IB_E_IO);
	CU_ASSERT_STRING_EQUAL(err.text, "cannot open 'x': No such file or directory");
	CU_ASSERT_EQUAL(ib_wrap(&err, "run '%s'", "r1"), IB_E_IO);
	CU_ASSERT_STRING_EQUAL(err.text, "run 'r1': cannot open 'x': No such file or directory");
	CU_ASSERT_STRING_EQUAL(ib_code_name(IB_E_TRAILING), "E_TRAILING");
	CU_ASSERT_EQUAL(ib_code_exit(IB_E_HASH), IB_EXIT_FAILS);
	CU_ASSERT_EQUAL(ib_code_exit(IB_E_TRUST), IB_EXIT_UNDECIDED);
	CU_ASSERT_EQUAL(ib_code_exit(IB_E_DSSE), IB_EXIT_REFUSED);
}

static void test_base_buffer_is_bounded(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(10);
	struct ib_err err;

	ib_buf_adds(&b, "12345");
	ib_buf_addf(&b, "%d", 67890);
	CU_ASSERT_EQUAL(ib_buf_check(&b, "text", &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "1234567890");
	ib_buf_addc(&b, 'x');
	CU_ASSERT_EQUAL(ib_buf_check(&b, "text", &err), IB_E_LIMIT);
	CU_ASSERT_EQUAL(b.len, 10);
}

static void test_base_base64_is_strict(void)
{
	static const char *const bad[] = {"A", "AA", "AAA", "AA=A", "A===", "AB==", "AAB=", "AA\nA", "AA-_", "=AAA"};
	static const char data[] = "any carnal pleas";
	ib_auto_free uint8_t *out = NULL;
	size_t n;

	for (size_t i = 0; i < sizeof(data); i++) {
		ib_auto_free char *text = ib_b64_encode(data, i);
		ib_auto_free uint8_t *back = NULL;

		CU_ASSERT_EQUAL_FATAL(ib_b64_decode(text, strlen(text), &back, &n, NULL), 0);
		CU_ASSERT_EQUAL(n, i);
		CU_ASSERT_EQUAL(memcmp(back, data, i), 0);
	}
	for (size_t i = 0; i < IB_LEN(bad); i++)
		CU_ASSERT_EQUAL(ib_b64_decode(bad[i], strlen(bad[i]), &out, &n, NULL), IB_E_SYNTAX);
}

static void test_base_utf8(void)
{
	CU_ASSERT_TRUE(ib_utf8_valid("gr\xC3\xB6\xC3\x9F \xF0\x9F\x98\x80", 11));
	CU_ASSERT_FALSE(ib_utf8_valid("\xC0\x80", 2));
	CU_ASSERT_FALSE(ib_utf8_valid("\xED\xA0\x80", 3));
	CU_ASSERT_FALSE(ib_utf8_valid("\xF4\x90\x80\x80", 4));
	CU_ASSERT_FALSE(ib_utf8_valid("\xE0\x9F\x80", 3));
	CU_ASSERT_FALSE(ib_utf8_valid("\xC3", 1));
}

static void test_base_times(void)
{
	char text[IB_TIME_LEN];
	int64_t ns;

	ib_time_text(1796055600123456789LL, 9, text);
	CU_ASSERT_STRING_EQUAL(text, "2026-11-30T16:20:00.123456789Z");
	CU_ASSERT_EQUAL(ib_time_parse(text, &ns, NULL), 0);
	CU_ASSERT_EQUAL(ns, 1796055600123456789LL);
	ib_time_text(1796055600123456789LL, 0, text);
	CU_ASSERT_STRING_EQUAL(text, "2026-11-30T16:20:00Z");
	ib_time_compact(1796055600123456789LL, text);
	CU_ASSERT_STRING_EQUAL(text, "20261130T162000Z");
	CU_ASSERT_EQUAL(ib_time_parse("2026-02-30T00:00:00Z", &ns, NULL), IB_E_SYNTAX);
	CU_ASSERT_EQUAL(ib_time_parse("2026-02-03T00:00:00", &ns, NULL), IB_E_SYNTAX);
	CU_ASSERT_EQUAL(ib_time_parse("2026-02-03T00:00:00.Z", &ns, NULL), IB_E_SYNTAX);
	CU_ASSERT_EQUAL(ib_duration_parse("10m", &ns, NULL), 0);
	CU_ASSERT_EQUAL(ns, 600 * IB_NS);
	CU_ASSERT_EQUAL(ib_duration_parse("1.5s", &ns, NULL), 0);
	CU_ASSERT_EQUAL(ns, IB_NS * 3 / 2);
	CU_ASSERT_EQUAL(ib_duration_parse("-1s", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("5 s", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("1e30h", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("0x10s", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("1e3", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("1.2.3s", &ns, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_duration_parse("999999999999999999999h", &ns, NULL), IB_E_USAGE);
}

static void test_base_integers(void)
{
	int64_t v = 0;

	CU_ASSERT_EQUAL(ib_parse_int("-12", -20, 20, &v, NULL), 0);
	CU_ASSERT_EQUAL(v, -12);
	CU_ASSERT_EQUAL(ib_parse_int("012", -20, 20, &v, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_parse_int("21", -20, 20, &v, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_parse_int(" 1", -20, 20, &v, NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_parse_int("99999999999999999999", INT64_MIN, INT64_MAX, &v, NULL), IB_E_USAGE);
}

static void test_base_nearest_name(void)
{
	static const char *const names[] = {"repeats", "readiness", "command", NULL};

	CU_ASSERT_STRING_EQUAL(ib_nearest("repeat", names), "repeats");
	CU_ASSERT_STRING_EQUAL(ib_nearest("comand", names), "command");
	CU_ASSERT_PTR_NULL(ib_nearest("zzz", names));
}

static void test_base_digest(void)
{
	char hex[IB_HEX_LEN];

	ib_sha256_of("abc", 3, hex);
	CU_ASSERT_STRING_EQUAL(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ib_sha256_of(NULL, 0, hex);
	CU_ASSERT_STRING_EQUAL(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* One million times "a", in pieces that meet no block; twice, since the state starts anew. */
static void test_base_digest_in_pieces(void)
{
	ib_auto_sha256 struct ib_sha256 *s = ib_sha256_new();
	char piece[1000], hex[IB_HEX_LEN];

	memset(piece, 'a', sizeof(piece));
	for (int again = 0; again < 2; again++) {
		for (size_t left = 1000000, n = 1; left; left -= n) {
			n = n % 997 + 1 < left ? n % 997 + 1 : left;
			ib_sha256_add(s, piece, n);
		}
		ib_sha256_hex(s, hex);
		CU_ASSERT_STRING_EQUAL(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	}
}

/* RFC 4231, cases 2 and 6: a short key, and one that is longer than a block. */
static void test_base_hmac(void)
{
	uint8_t raw[IB_SHA256_LEN], long_key[131];
	char hex[IB_HEX_LEN];

	ib_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, raw);
	ib_hex(raw, sizeof(raw), hex);
	CU_ASSERT_STRING_EQUAL(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(long_key, 0xaa, sizeof(long_key));
	ib_hmac_sha256(long_key, sizeof(long_key), "Test Using Larger Than Block-Size Key - Hash Key First", 54, raw);
	ib_hex(raw, sizeof(raw), hex);
	CU_ASSERT_STRING_EQUAL(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void test_base_write_file_never_overwrites(void)
{
	char dir[] = "/tmp/ib-unit-XXXXXX";
	ib_auto_fd int fd = -1;
	ib_auto_buf struct ib_buf b = IB_BUF(100);
	struct ib_err err;
	struct stat st;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL_FATAL(ib_open_dir(AT_FDCWD, dir, &fd, &err), 0);
	CU_ASSERT_EQUAL(ib_write_file(fd, "a", "one", 3, 0644, false, &err), 0);
	CU_ASSERT_EQUAL(ib_write_file(fd, "a", "two", 3, 0644, false, &err), IB_E_EXISTS);
	CU_ASSERT_EQUAL(ib_read_file(fd, "a", &b, &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "one");
	CU_ASSERT_EQUAL(ib_write_file(fd, "a", "two", 3, 0400, true, &err), 0);
	CU_ASSERT_EQUAL(fstatat(fd, "a", &st, 0), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0400);
	CU_ASSERT_EQUAL(ib_make_dirs(fd, "x/y/z", 0755, &err), 0);
	CU_ASSERT_EQUAL(ib_make_dirs(fd, "x/y/z", 0755, &err), 0);
	CU_ASSERT_EQUAL(ib_make_dirs(fd, "a/b", 0755, &err), IB_E_EXISTS);
	unlinkat(fd, "a", 0);
	unlinkat(fd, "x/y/z", AT_REMOVEDIR);
	unlinkat(fd, "x/y", AT_REMOVEDIR);
	unlinkat(fd, "x", AT_REMOVEDIR);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
}

static const struct ib_test tests[] = {
	IB_TEST(test_base_errors_gather_context),
	IB_TEST(test_base_buffer_is_bounded),
	IB_TEST(test_base_base64_is_strict),
	IB_TEST(test_base_utf8),
	IB_TEST(test_base_times),
	IB_TEST(test_base_integers),
	IB_TEST(test_base_nearest_name),
	IB_TEST(test_base_digest),
	IB_TEST(test_base_digest_in_pieces),
	IB_TEST(test_base_hmac),
	IB_TEST(test_base_write_file_never_overwrites),
	{0},
};

const struct ib_test_suite ib_suite = {"base", tests};
