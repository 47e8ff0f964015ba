/* SPDX-License-Identifier: Apache-2.0 */
/* Walk over the blocks of one zstd frame (RFC 8878, 3.1.1.2 and 3.1.1.3). */
#include "store/frame.h"

static int reserved(struct ib_err *err)
{
	return ib_fail_at(err, IB_E_CONTAINER, "frame", "a block of the zstd frame uses a reserved bit");
}

static void end_block(struct ib_frame *f)
{
	f->in_block = false;
	f->head_n = 0;
	f->state = f->last ? IB_FRAME_END : IB_FRAME_BLOCK;
}

/* Passes over n bytes, of which nothing more is looked at; then the next block. */
static void skip(struct ib_frame *f, size_t n)
{
	f->in_block = false;
	f->skip = n;
	f->state = IB_FRAME_SKIP;
	if (!n)
		end_block(f);
}

static int block_header(struct ib_frame *f, struct ib_err *err)
{
	uint32_t h = f->head[0] | (uint32_t)f->head[1] << 8 | (uint32_t)f->head[2] << 16;
	uint32_t type = h >> 1 & 3, size = h >> 3;

	f->last = h & 1;
	f->head_n = 0;
	if (type == 3)
		return reserved(err);
	if (type != 2) {
		skip(f, type == 1 ? 1 : size);
		return 0;
	}
	f->left = size;
	f->state = IB_FRAME_LITERALS;
	if (!size)
		end_block(f);
	return 0;
}

static size_t literals_header_size(unsigned char first)
{
	unsigned type = first & 3, format = first >> 2 & 3;

	if (type < 2)
		return format == 1 ? 2 : format == 3 ? 3 : 1;
	return format < 2 ? 3 : format + 2;
}

/* Bytes of literals behind their header. */
static size_t literals_size(const unsigned char *h, size_t n)
{
	uint64_t v = 0;
	unsigned type = h[0] & 3;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)h[i] << (8 * i);
	if (type == 1)
		return 1;
	if (type == 0)
		return (size_t)(n == 1 ? v >> 3 : v >> 4);
	return (size_t)(n == 3 ? v >> 14 : n == 4 ? v >> 18 : v >> 22);
}

static void literals_header(struct ib_frame *f)
{
	size_t n = literals_header_size(f->head[0]), size;

	if (f->head_n < n)
		return;
	size = literals_size(f->head, n);
	f->head_n = 0;
	if (size >= f->left) { /* no room for sequences: the decoder refuses it */
		skip(f, f->left);
		return;
	}
	f->left -= size;
	f->in_block = true;
	f->skip = size;
	f->state = size ? IB_FRAME_SKIP : IB_FRAME_SEQUENCES;
}

static int sequences_header(struct ib_frame *f, struct ib_err *err)
{
	unsigned char first = f->head[0];
	size_t n = first < 128 ? 1 : first < 255 ? 2 : 3;

	if (first == 0) {
		skip(f, f->left);
		return 0;
	}
	if (f->head_n < n + 1)
		return 0;
	if (f->head[n] & 3)
		return reserved(err);
	skip(f, f->left);
	return 0;
}

/* One byte of a header. */
static int gather(struct ib_frame *f, unsigned char c, struct ib_err *err)
{
	f->head[f->head_n++] = c;
	if (f->state == IB_FRAME_BLOCK)
		return f->head_n == 3 ? block_header(f, err) : 0;
	if (--f->left == 0) {
		end_block(f);
		return 0;
	}
	if (f->state == IB_FRAME_SEQUENCES)
		return sequences_header(f, err);
	literals_header(f);
	return 0;
}

int ib_frame_feed(struct ib_frame *f, const unsigned char *data, size_t n, struct ib_err *err)
{
	size_t i = 0;

	while (i < n && f->state != IB_FRAME_END) {
		if (f->state == IB_FRAME_SKIP) {
			size_t k = n - i < f->skip ? n - i : f->skip;

			i += k;
			f->skip -= k;
			if (f->skip == 0 && f->in_block)
				f->state = IB_FRAME_SEQUENCES;
			else if (f->skip == 0)
				end_block(f);
		} else {
			int r = gather(f, data[i++], err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
