/* SPDX-License-Identifier: Apache-2.0 */
/* Duplicate keys without keeping the keys: of each only a hash of 122 bits whose key the input cannot know, so that nobody makes two that agree. */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/str.h"
#include "json/stream_impl.h"

#define FEW 16 /* keys of an object that are compared one by one */

void stream_hash_init(struct stream_hash *h, bool secret)
{
	/* 16 random bytes that the kernel gave this process */
	const void *random = secret ? (const void *)getauxval(AT_RANDOM) : NULL; // NOLINT(performance-no-int-to-ptr)

	memset(h, 0, sizeof(*h));
	h->h[0] = h->h[1] = 1;
	h->key[0] = 0x9E3779B97F4A7C15 & STREAM_P61;
	h->key[1] = 0xC2B2AE3D27D4EB4F & STREAM_P61;
	for (size_t i = 0; random && i < 2; i++) {
		uint64_t v;

		memcpy(&v, (const char *)random + 8 * i, 8);
		h->key[i] = (h->key[i] ^ (v >> 3)) & STREAM_P61;
	}
}

/* --- the keys of open objects --- */

void stream_keys_clear(struct stream_keys *k)
{
	free(k->v);
	free(k->slots);
}

void stream_keys_open(struct ib_stream *s)
{
	s->keys.first[s->depth - 1] = s->keys.n;
	s->keys.indexed[s->depth - 1] = false;
}

static size_t home(const struct stream_keys *k, size_t i)
{
	return (size_t)((k->v[i].a * 0x9E3779B97F4A7C15) >> 20) & (k->n_slots - 1);
}

static void put(struct stream_keys *k, size_t i)
{
	size_t at = home(k, i);

	while (k->slots[at])
		at = (at + 1) & (k->n_slots - 1);
	k->slots[at] = (uint32_t)i + 1;
	k->used++;
}

/* Only ever the one put last, so that no other's way leads over its slot. */
static void take_out(struct stream_keys *k, size_t i)
{
	size_t at = home(k, i);

	while (k->slots[at] != i + 1)
		at = (at + 1) & (k->n_slots - 1);
	k->slots[at] = 0;
	k->used--;
}

static void index_all(struct ib_stream *s)
{
	struct stream_keys *k = &s->keys;

	free(k->slots);
	k->n_slots = k->n_slots ? k->n_slots * 2 : 256;
	while (k->n_slots < 2 * k->n)
		k->n_slots *= 2;
	k->slots = ib_alloc(k->n_slots * sizeof(*k->slots));
	k->used = 0;
	for (unsigned d = 0; d < s->depth; d++) {
		size_t end = k->n;

		for (unsigned e = s->depth - 1; e > d; e--)
			if (s->is_object[e])
				end = k->first[e];
		for (size_t i = k->first[d]; s->is_object[d] && k->indexed[d] && i < end; i++)
			put(k, i);
	}
}

void stream_keys_close(struct ib_stream *s)
{
	struct stream_keys *k = &s->keys;
	size_t first = k->first[s->depth - 1];

	if (k->indexed[s->depth - 1])
		for (size_t i = k->n; i-- > first;)
			take_out(k, i);
	k->n = first;
}

static bool same(struct stream_key a, struct stream_key b)
{
	return a.a == b.a && a.b == b.b;
}

static bool is_there(const struct stream_keys *k, size_t first, bool indexed, struct stream_key key)
{
	if (!indexed) {
		for (size_t i = first; i < k->n; i++)
			if (same(k->v[i], key))
				return true;
		return false;
	}
	for (size_t at = home(k, k->n); k->slots[at]; at = (at + 1) & (k->n_slots - 1)) {
		size_t i = k->slots[at] - 1;

		if (i >= first && same(k->v[i], key))
			return true;
	}
	return false;
}

int stream_keys_add(struct ib_stream *s, struct stream_key key, const char *text)
{
	struct stream_keys *k = &s->keys;
	size_t first = k->first[s->depth - 1];
	bool *indexed = &k->indexed[s->depth - 1];

	if (k->n == IB_STREAM_KEYS)
		return stream_refuse(s, IB_E_LIMIT, "more than %u keys in objects that are open", IB_STREAM_KEYS);
	if (k->n == k->room) {
		k->room = k->room ? k->room * 2 : 256;
		k->v = ib_realloc(k->v, k->room, sizeof(*k->v));
	}
	k->v[k->n] = key;
	if (is_there(k, first, *indexed, key))
		return ib_stream_fail(s, &s->err, IB_E_JSON, "key '%.100s' a second time in the same object", text);
	k->n++;
	if (!*indexed && k->n - first <= FEW)
		return 0;
	if (*indexed && 2 * k->n <= k->n_slots) {
		put(k, k->n - 1);
		return 0;
	}
	if (!*indexed && 2 * k->n <= k->n_slots) {
		for (size_t i = first; i < k->n; i++)
			put(k, i);
	} else {
		*indexed = true;
		index_all(s);
	}
	*indexed = true;
	return 0;
}
