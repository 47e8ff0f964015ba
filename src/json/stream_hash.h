/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of strings, fed piece by piece: for stream*.c only. Here and not in a .c file, since every key passes through. */
#ifndef IB_JSON_STREAM_HASH_H
#define IB_JSON_STREAM_HASH_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define STREAM_P61 (((uint64_t)1 << 61) - 1)

/* Two polynomials over the field of 2^61 - 1, with blocks of 7 bytes as coefficients, at two points that the input cannot know: two different texts of n
 * bytes agree at most (n/7 / 2^61)^2 often. The leading coefficient is 1 and a byte 1 follows the text, so that different texts have different ones. */
struct stream_hash {
	uint64_t key[2], h[2];
	uint64_t tail;
	unsigned n_tail;
	uint64_t bytes;
};

struct stream_key {
	uint64_t a, b;
};

/* (h + block) * key, below 2^62 */
static inline uint64_t stream_hash_step(uint64_t h, uint64_t block, uint64_t key)
{
	unsigned __int128 x = (unsigned __int128)(h + block) * key;
	uint64_t r = ((uint64_t)x & STREAM_P61) + (uint64_t)(x >> 61);

	return (r & STREAM_P61) + (r >> 61);
}

static inline void stream_hash_block(struct stream_hash *h, uint64_t v)
{
	h->h[0] = stream_hash_step(h->h[0], v, h->key[0]);
	h->h[1] = stream_hash_step(h->h[1], v, h->key[1]);
}

static inline void stream_hash_byte(struct stream_hash *h, char c)
{
	h->tail |= (uint64_t)(unsigned char)c << (8 * h->n_tail++);
	if (h->n_tail == 7) {
		stream_hash_block(h, h->tail);
		h->tail = h->n_tail = 0;
	}
}

/* 8 bytes behind data[n - 1] must be readable. */
static inline void stream_hash_add(struct stream_hash *h, const char *data, size_t n)
{
	uint64_t v;

	h->bytes += n;
	for (; n && h->n_tail; data++, n--)
		stream_hash_byte(h, *data);
	if (!n)
		return;
	for (; n >= 7; data += 7, n -= 7) {
		memcpy(&v, data, 8);
		stream_hash_block(h, le64toh(v) & 0x00FFFFFFFFFFFFFF);
	}
	memcpy(&v, data, 8);
	h->tail = le64toh(v) & (((uint64_t)1 << (8 * n)) - 1);
	h->n_tail = (unsigned)n;
}

static inline uint64_t stream_hash_reduce(uint64_t v)
{
	v = (v & STREAM_P61) + (v >> 61);
	return v >= STREAM_P61 ? v - STREAM_P61 : v;
}

static inline struct stream_key stream_hash_end(struct stream_hash *h)
{
	stream_hash_block(h, h->tail | (uint64_t)1 << (8 * h->n_tail));
	return (struct stream_key){stream_hash_reduce(h->h[0]), stream_hash_reduce(h->h[1])};
}

#endif
