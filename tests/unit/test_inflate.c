/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of gzip and zstd input. */
#include "unit.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/auto.h"
#include "base/str.h"
#include "store/inflate.h"

#define TEXT_BYTES 300000

static void make_text(struct ib_buf *b)
{
	while (b->len < TEXT_BYTES)
		ib_buf_addf(b, "{\"n\": %zu}\n", b->len * 7919 % 1000003);
}

static void add_gzip(struct ib_buf *to, const struct ib_buf *from)
{
	z_stream z = {0};
	char *out = ib_buf_room(to, from->len + 1000);

	CU_ASSERT_EQUAL_FATAL(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)from->data;
	z.avail_in = (unsigned)from->len;
	z.next_out = (unsigned char *)out;
	z.avail_out = (unsigned)(from->len + 1000);
	CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->len += z.total_out;
	deflateEnd(&z);
}

static void add_zstd(struct ib_buf *to, const struct ib_buf *from)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	char *out = ib_buf_room(to, from->len + 1000);
	size_t n;

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(c, out, from->len + 1000, from->data, from->len);
	CU_ASSERT_FATAL(!ZSTD_isError(n));
	to->len += n;
	ZSTD_freeCCtx(c);
}

/* Reads all of data, step bytes at a time. */
static int unpack(const char *data, size_t n, size_t step, struct ib_buf *out, const char **format, struct ib_err *err)
{
	struct ib_source_mem mem = {.data = data, .n = n};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_inflate struct ib_inflate *i = NULL;
	ib_auto_free char *part = ib_alloc(step);
	struct ib_source from;
	size_t k = step;
	int r = ib_inflate_open(&in, "f", &i, err);

	if (r < 0)
		return r;
	from = ib_inflate_source(i);
	*format = ib_inflate_format(i);
	while (r == 0 && k == step) {
		k = 0;
		r = from.read(from.arg, part, step, &k, err);
		if (r == 0)
			ib_buf_add(out, part, k);
	}
	return r;
}

static void expect(const struct ib_buf *packed, const struct ib_buf *wanted, const char *format)
{
	static const size_t steps[] = {1, 4093, 65536, 1u << 20};

	for (size_t i = 0; i < IB_LEN(steps); i++) {
		ib_auto_buf struct ib_buf out = IB_BUF(16u << 20);
		struct ib_err err = {0};
		const char *found;

		CU_ASSERT_EQUAL_FATAL(unpack(packed->data, packed->len, steps[i], &out, &found, &err), 0);
		CU_ASSERT(ib_streq(found, format));
		CU_ASSERT_FATAL(out.len == wanted->len);
		CU_ASSERT_FATAL(out.len == 0 || memcmp(out.data, wanted->data, out.len) == 0);
	}
}

static void test_inflate_reads_members_and_frames(void)
{
	ib_auto_buf struct ib_buf text = IB_BUF(1u << 20), twice = IB_BUF(1u << 20), gz = IB_BUF(4u << 20), zst = IB_BUF(4u << 20);

	make_text(&text);
	expect(&text, &text, NULL);
	add_gzip(&gz, &text);
	expect(&gz, &text, "gzip");
	add_zstd(&zst, &text);
	expect(&zst, &text, "zstd");
	ib_buf_add(&twice, text.data, text.len);
	ib_buf_add(&twice, text.data, text.len);
	add_gzip(&gz, &text);
	expect(&gz, &twice, "gzip");
	ib_buf_add(&zst, "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11); /* a frame to be passed over */
	add_zstd(&zst, &text);
	expect(&zst, &twice, "zstd");
}

static void test_inflate_of_little(void)
{
	ib_auto_buf struct ib_buf none = IB_BUF(1000), gz = IB_BUF(10000), zst = IB_BUF(10000);
	const struct ib_buf short_text = {.data = (char[]){"\x1f\x8b"}, .len = 2};

	ib_buf_add(&none, "", 0);
	expect(&short_text, &short_text, NULL);
	add_gzip(&gz, &none);
	expect(&gz, &none, "gzip");
	add_zstd(&zst, &none);
	expect(&zst, &none, "zstd");
}

static enum ib_code refused(const char *data, size_t n)
{
	ib_auto_buf struct ib_buf out = IB_BUF(256u << 20);
	struct ib_err err = {0};
	const char *format;
	int r = unpack(data, n, 65536, &out, &format, &err);

	CU_ASSERT(r == 0 || strstr(err.text, "'f'"));
	return r < 0 ? err.code : IB_OK;
}

static void test_inflate_tells_the_end_from_a_cut(void)
{
	ib_auto_buf struct ib_buf text = IB_BUF(1u << 20), gz = IB_BUF(4u << 20), zst = IB_BUF(4u << 20);

	ib_buf_adds(&text, "{\"some\": \"text\", \"that\": \"is\", \"not\": \"long\"}");
	add_gzip(&gz, &text);
	add_zstd(&zst, &text);
	for (size_t n = 4; n < gz.len; n++)
		CU_ASSERT_EQUAL(refused(gz.data, n), IB_E_TRUNC);
	for (size_t n = 4; n < zst.len; n++)
		CU_ASSERT_EQUAL(refused(zst.data, n), IB_E_TRUNC);
	gz.data[gz.len - 5] ^= 1; /* the checksum */
	CU_ASSERT_EQUAL(refused(gz.data, gz.len), IB_E_SYNTAX);
	gz.data[gz.len - 5] ^= 1;
	zst.data[zst.len - 1] ^= 1;
	CU_ASSERT_EQUAL(refused(zst.data, zst.len), IB_E_SYNTAX);
	zst.data[zst.len - 1] ^= 1;
	ib_buf_adds(&gz, "more than that");
	CU_ASSERT_EQUAL(refused(gz.data, gz.len), IB_E_SYNTAX);
	ib_buf_adds(&zst, "more than that");
	CU_ASSERT_EQUAL(refused(zst.data, zst.len), IB_E_SYNTAX);
}

static void test_inflate_has_limits(void)
{
	static const char wide[] = "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00"; /* a window of 2^28 bytes */
	ib_auto_buf struct ib_buf bomb = IB_BUF(1u << 20);

	CU_ASSERT_EQUAL(refused(wide, sizeof(wide) - 1), IB_E_LIMIT);
	ib_buf_add(&bomb, "\x28\xb5\x2f\xfd\x00\x68", 6);
	for (int i = 0; i < 1200; i++)
		ib_buf_add(&bomb, i < 1199 ? "\x02\x00\x10x" : "\x03\x00\x10x", 4); /* 128 KiB of one byte */
	CU_ASSERT_EQUAL(refused(bomb.data, bomb.len), IB_E_LIMIT);
	bomb.data[6 + 4 * 200] |= 1; /* the last block already: 25 MiB */
	CU_ASSERT_EQUAL(refused(bomb.data, 6 + 4 * 201), IB_OK);
}

static const struct ib_test tests[] = {
	IB_TEST(test_inflate_reads_members_and_frames),
	IB_TEST(test_inflate_of_little),
	IB_TEST(test_inflate_tells_the_end_from_a_cut),
	IB_TEST(test_inflate_has_limits),
	{0},
};

const struct ib_test_suite ib_suite = {"inflate", tests};
