/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zstd behind a source. */
#include "store/inflate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/str.h"

#define BUFFER ((size_t)128 << 10)

enum format { PLAIN, GZIP, ZSTD };

struct ib_inflate {
	struct ib_source in;
	const char *name;
	enum format format;
	z_stream gzip;
	ZSTD_DCtx *zstd;
	bool within; /* a member or frame that is not at its end */
	bool eof;
	uint64_t taken, given; /* bytes */
	struct ib_err err;
	size_t at, n; /* unread part of buffer */
	unsigned char buffer[BUFFER];
};

static int fill(struct ib_inflate *i, struct ib_err *err)
{
	int r = i->in.read(i->in.arg, i->buffer, BUFFER, &i->n, err);

	i->at = 0;
	if (r < 0)
		return r;
	i->taken += i->n;
	i->eof = i->n < BUFFER;
	return 0;
}

static enum format recognise(const unsigned char *p, size_t n)
{
	if (n >= 3 && memcmp(p, "\x1f\x8b\x08", 3) == 0)
		return GZIP;
	if (n >= 4 && (memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0 || ((p[0] & 0xF0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0)))
		return ZSTD;
	return PLAIN;
}

int ib_inflate_open(const struct ib_source *in, const char *name, struct ib_inflate **ret, struct ib_err *err)
{
	struct ib_inflate *i = ib_alloc(sizeof(*i));
	int r;

	i->in = *in;
	i->name = name;
	r = fill(i, err);
	if (r < 0) {
		free(i);
		return r;
	}
	i->format = recognise(i->buffer, i->n);
	if (i->format == GZIP && inflateInit2(&i->gzip, 15 + 16) != Z_OK)
		abort();
	if (i->format == ZSTD) {
		i->zstd = ZSTD_createDCtx();
		if (!i->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(i->zstd, ZSTD_d_windowLogMax, IB_INFLATE_WINDOW_LOG)))
			abort();
	}
	*ret = i;
	return 0;
}

void ib_inflate_free(struct ib_inflate **i)
{
	if (*i) {
		if ((*i)->format == GZIP)
			inflateEnd(&(*i)->gzip);
		ZSTD_freeDCtx((*i)->zstd);
		free(*i);
	}
	*i = NULL;
}

const char *ib_inflate_format(const struct ib_inflate *i)
{
	static const char *const names[] = {NULL, "gzip", "zstd"};

	return names[i->format];
}

static int malformed(struct ib_inflate *i, const char *why)
{
	return ib_fail_at(&i->err, IB_E_SYNTAX, i->name, "'%s' is not whole %s: %s", i->name, ib_inflate_format(i), why);
}

/* --- one call of the library each: takes from buffer, gives to data, and keeps track of within --- */

static int step_gzip(struct ib_inflate *i, unsigned char *data, size_t n, size_t *ret_n)
{
	size_t room = n < BUFFER ? n : BUFFER; /* of what fits an unsigned int */
	int r;

	if (!i->within && inflateReset(&i->gzip) != Z_OK)
		return ib_fail(&i->err, IB_E_INTERNAL, 0, "zlib cannot begin again");
	i->gzip.next_in = i->buffer + i->at;
	i->gzip.avail_in = (unsigned)(i->n - i->at);
	i->gzip.next_out = data;
	i->gzip.avail_out = (unsigned)room;
	r = inflate(&i->gzip, Z_NO_FLUSH);
	i->at = i->n - i->gzip.avail_in;
	*ret_n = room - i->gzip.avail_out;
	if (r == Z_MEM_ERROR)
		abort();
	if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
		return malformed(i, i->gzip.msg ? i->gzip.msg : "it needs a dictionary");
	i->within = r != Z_STREAM_END;
	return 0;
}

static int step_zstd(struct ib_inflate *i, unsigned char *data, size_t n, size_t *ret_n)
{
	ZSTD_inBuffer in = {i->buffer, i->n, i->at};
	ZSTD_outBuffer out = {data, n, 0};
	size_t left = ZSTD_decompressStream(i->zstd, &out, &in);

	i->at = in.pos;
	*ret_n = out.pos;
	if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
		return ib_fail_at(&i->err, IB_E_LIMIT, i->name, "'%s' needs a window of more than %u MiB to decompress", i->name, 1u << (IB_INFLATE_WINDOW_LOG - 20));
	if (ZSTD_isError(left))
		return malformed(i, ZSTD_getErrorName(left));
	i->within = left != 0;
	return 0;
}

static int check(struct ib_inflate *i)
{
	if (i->given > IB_INFLATE_BYTES_MAX)
		return ib_fail_at(&i->err, IB_E_LIMIT, i->name, "'%s' decompresses to more than 64 GiB", i->name);
	if (i->given > IB_INFLATE_RATIO_FROM && i->given / IB_INFLATE_RATIO_MAX > i->taken)
		return ib_fail_at(&i->err, IB_E_LIMIT, i->name, "'%s' decompresses to more than %d times its size", i->name, IB_INFLATE_RATIO_MAX);
	return 0;
}

/* What a decoder holds back comes out even when there is no more input, so that it is asked before the input is. */
static int unpack(struct ib_inflate *i, unsigned char *data, size_t n, size_t *ret_n)
{
	size_t done = 0;
	int r = 0;

	while (r == 0 && done < n) {
		size_t before = i->at, k = 0;

		if (i->within || i->at < i->n)
			r = i->format == GZIP ? step_gzip(i, data + done, n - done, &k) : step_zstd(i, data + done, n - done, &k);
		done += k;
		i->given += k;
		if (r == 0)
			r = check(i);
		if (r < 0 || k || i->at > before || i->at < i->n)
			continue;
		if (!i->eof)
			r = fill(i, &i->err);
		else if (i->within)
			r = ib_fail_at(&i->err, IB_E_TRUNC, i->name, "'%s' ends within its %s data", i->name, ib_inflate_format(i));
		else
			break;
	}
	*ret_n = done;
	return r;
}

static int pass(struct ib_inflate *i, unsigned char *data, size_t n, size_t *ret_n)
{
	size_t k = i->n - i->at < n ? i->n - i->at : n, more = 0;
	int r = 0;

	memcpy(data, i->buffer + i->at, k);
	i->at += k;
	if (k < n && !i->eof)
		r = i->in.read(i->in.arg, data + k, n - k, &more, &i->err);
	*ret_n = k + more;
	return r;
}

static int read_contents(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ib_inflate *i = arg;
	int r = (int)i->err.code;

	if (r == 0)
		r = i->format == PLAIN ? pass(i, data, n, ret_n) : unpack(i, data, n, ret_n);
	if (r < 0 && err)
		*err = i->err;
	return r;
}

struct ib_source ib_inflate_source(struct ib_inflate *i)
{
	return (struct ib_source){.read = read_contents, .arg = i};
}
