/* SPDX-License-Identifier: Apache-2.0 */
/* zstd around a packet. Everything that libzstd would skip in silence (further frames, skippable frames, what follows) is refused here. */
#include "store/codec.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/str.h"
#include "store/frame.h"

#define BUFFER (128u << 10)
#define WINDOW_LOG 23
#define LEVEL 3

static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};
static const unsigned char form[2] = {0x04, 0x68}; /* checksum, no content size, no dictionary; window 2^23 */

struct ib_unpacker {
	struct ib_source in;
	ZSTD_DCtx *zstd; /* NULL: plain */
	struct ib_frame frame;
	bool frame_done;
	size_t at, n; /* unread part of buffer */
	unsigned char buffer[BUFFER];
};

static int fill(struct ib_unpacker *u, struct ib_err *err)
{
	u->at = 0;
	return u->in.read(u->in.arg, u->buffer, BUFFER, &u->n, err);
}

static int start_frame(struct ib_unpacker *u, struct ib_err *err)
{
	if (u->n < 6)
		return ib_fail_at(err, IB_E_TRUNC, "frame", "the input ends inside the header of the zstd frame");
	if (memcmp(u->buffer + 4, form, 2) != 0)
		return ib_fail_at(err, IB_E_CONTAINER, "frame",
				  "the zstd frame's header is not that of a packet: content checksum, window of 8 MiB, no content size, no dictionary");
	u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		abort();
	if (ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)))
		return ib_fail(err, IB_E_INTERNAL, 0, "libzstd does not take the window limit");
	return ib_frame_feed(&u->frame, u->buffer + 6, u->n - 6, err);
}

int ib_unpacker_open(const struct ib_source *in, struct ib_unpacker **ret, struct ib_err *err)
{
	struct ib_unpacker *u = ib_alloc(sizeof(*u));
	int r;

	*ret = u;
	u->in = *in;
	r = fill(u, err);
	if (r < 0)
		return r;
	if (u->n >= 4 && memcmp(u->buffer + 1, "\x2a\x4d\x18", 3) == 0 && (u->buffer[0] & 0xF0) == 0x50)
		return ib_fail_at(err, IB_E_CONTAINER, "frame", "the input begins with a skippable zstd frame");
	return u->n >= 4 && memcmp(u->buffer, magic, 4) == 0 ? start_frame(u, err) : 0;
}

bool ib_unpacker_is_zstd(const struct ib_unpacker *u)
{
	return u->zstd;
}

static int read_plain(struct ib_unpacker *u, unsigned char *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	size_t k = u->n - u->at < n ? u->n - u->at : n;
	size_t more = 0;
	int r = 0;

	memcpy(data, u->buffer + u->at, k);
	u->at += k;
	if (n - k >= BUFFER) {
		r = u->in.read(u->in.arg, data + k, n - k, &more, err);
	} else if (k < n) {
		r = fill(u, err);
		if (r < 0)
			return r;
		more = u->n < n - k ? u->n : n - k;
		memcpy(data + k, u->buffer, more);
		u->at = more;
	}
	*ret_n = k + more;
	return r;
}

/* The frame is at its end: so must be the input. */
static int end_frame(struct ib_unpacker *u, struct ib_err *err)
{
	int r = 0;

	if (u->at == u->n)
		r = fill(u, err);
	if (r < 0)
		return r;
	if (u->n > u->at)
		return ib_fail_at(err, IB_E_TRAILING, "frame", "bytes follow the zstd frame");
	u->frame_done = true;
	return 0;
}

static int refill_frame(struct ib_unpacker *u, struct ib_err *err)
{
	int r = fill(u, err);

	if (r < 0)
		return r;
	if (u->n == 0)
		return ib_fail_at(err, IB_E_TRUNC, "frame", "the input ends inside the zstd frame");
	return ib_frame_feed(&u->frame, u->buffer, u->n, err);
}

int ib_unpacker_read(struct ib_unpacker *u, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	ZSTD_outBuffer out = {data, n, 0};
	int r = 0;

	if (!u->zstd)
		return read_plain(u, data, n, ret_n, err);
	while (out.pos < n && !u->frame_done && r == 0) {
		ZSTD_inBuffer in = {u->buffer, u->n, u->at};
		size_t k = ZSTD_decompressStream(u->zstd, &out, &in);

		u->at = in.pos;
		if (ZSTD_isError(k))
			return ib_fail_at(err, IB_E_CONTAINER, "frame", "the zstd frame does not decode: %s", ZSTD_getErrorName(k));
		if (k == 0)
			r = end_frame(u, err);
		else if (out.pos < n && u->at == u->n)
			r = refill_frame(u, err);
	}
	*ret_n = out.pos;
	return r;
}

void ib_unpacker_free(struct ib_unpacker **u)
{
	if (*u) {
		ZSTD_freeDCtx((*u)->zstd);
		free(*u);
	}
	*u = NULL;
}

/* --- writing --- */

struct ib_packer {
	struct ib_drain out;
	ZSTD_CCtx *zstd; /* NULL: plain */
	unsigned char buffer[BUFFER];
};

struct ib_packer *ib_packer_new(const struct ib_drain *out, bool zstd)
{
	static const struct {
		ZSTD_cParameter name;
		int value;
	} fixed[] = {
		{ZSTD_c_compressionLevel, LEVEL}, {ZSTD_c_windowLog, WINDOW_LOG}, {ZSTD_c_checksumFlag, 1}, {ZSTD_c_contentSizeFlag, 0}, {ZSTD_c_dictIDFlag, 0},
	};
	struct ib_packer *p = ib_alloc(sizeof(*p));

	p->out = *out;
	if (!zstd)
		return p;
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		abort();
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, fixed[i].name, fixed[i].value)))
			abort();
	return p;
}

static int compress(struct ib_packer *p, const void *data, size_t n, ZSTD_EndDirective how, struct ib_err *err)
{
	ZSTD_inBuffer in = {data, n, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {p->buffer, BUFFER, 0};
		int r;

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return ib_fail(err, IB_E_INTERNAL, 0, "cannot compress: %s", ZSTD_getErrorName(left));
		r = out.pos ? p->out.write(p->out.arg, p->buffer, out.pos, err) : 0;
		if (r < 0)
			return r;
	} while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

int ib_packer_write(struct ib_packer *p, const void *data, size_t n, struct ib_err *err)
{
	return p->zstd ? compress(p, data, n, ZSTD_e_continue, err) : p->out.write(p->out.arg, data, n, err);
}

int ib_packer_end(struct ib_packer *p, struct ib_err *err)
{
	return p->zstd ? compress(p, "", 0, ZSTD_e_end, err) : 0;
}

void ib_packer_free(struct ib_packer **p)
{
	if (*p) {
		ZSTD_freeCCtx((*p)->zstd);
		free(*p);
	}
	*p = NULL;
}
