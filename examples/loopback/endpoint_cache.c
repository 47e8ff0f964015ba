/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix cache: blocks of tokens by the hash of all tokens up to their end; the least recently used one makes room. */
#include <string.h>

#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/loopback.h"

#define NONE UINT32_MAX

struct block {
	uint64_t hash;
	uint32_t next;         /* in its bucket */
	uint32_t newer, older; /* in the order of use */
};

struct lb_cache {
	size_t cap, n, block_tokens, mask;
	struct block *blocks;
	uint32_t *buckets;
	uint32_t newest, oldest;
};

struct lb_cache *lb_cache_new(size_t blocks, size_t block_tokens)
{
	struct lb_cache *c = ib_alloc(sizeof(*c));
	size_t buckets = 16;

	while (buckets < blocks)
		buckets *= 2;
	c->cap = blocks;
	c->block_tokens = block_tokens;
	c->mask = buckets - 1;
	c->blocks = ib_realloc(NULL, blocks, sizeof(*c->blocks));
	c->buckets = ib_realloc(NULL, buckets, sizeof(*c->buckets));
	lb_cache_reset(c);
	return c;
}

void lb_cache_reset(struct lb_cache *c)
{
	c->n = 0;
	c->newest = c->oldest = NONE;
	memset(c->buckets, 0xff, (c->mask + 1) * sizeof(*c->buckets));
}

void lb_cache_free(struct lb_cache **c)
{
	if (!*c)
		return;
	free((*c)->blocks);
	free((*c)->buckets);
	free(*c);
	*c = NULL;
}

static uint32_t find(const struct lb_cache *c, uint64_t hash)
{
	uint32_t i = c->buckets[hash & c->mask];

	while (i != NONE && c->blocks[i].hash != hash)
		i = c->blocks[i].next;
	return i;
}

static void unlink_order(struct lb_cache *c, uint32_t i)
{
	const struct block *b = &c->blocks[i];

	if (b->newer == NONE)
		c->newest = b->older;
	else
		c->blocks[b->newer].older = b->older;
	if (b->older == NONE)
		c->oldest = b->newer;
	else
		c->blocks[b->older].newer = b->newer;
}

static void make_newest(struct lb_cache *c, uint32_t i)
{
	c->blocks[i].newer = NONE;
	c->blocks[i].older = c->newest;
	if (c->newest == NONE)
		c->oldest = i;
	else
		c->blocks[c->newest].newer = i;
	c->newest = i;
}

static uint32_t take_oldest(struct lb_cache *c)
{
	uint32_t i = c->oldest;
	uint32_t *at = &c->buckets[c->blocks[i].hash & c->mask];

	while (*at != i)
		at = &c->blocks[*at].next;
	*at = c->blocks[i].next;
	unlink_order(c, i);
	return i;
}

static void insert(struct lb_cache *c, uint64_t hash)
{
	uint32_t i = c->n < c->cap ? (uint32_t)c->n++ : take_oldest(c);
	uint32_t *bucket = &c->buckets[hash & c->mask];

	c->blocks[i].hash = hash;
	c->blocks[i].next = *bucket;
	*bucket = i;
	make_newest(c, i);
}

size_t lb_cache_use(struct lb_cache *c, const uint32_t *tokens, size_t n)
{
	uint64_t hash = 0;
	size_t hits = 0;
	bool unbroken = true;

	for (size_t at = 0; at + c->block_tokens <= n; at += c->block_tokens) {
		uint32_t i;

		for (size_t k = 0; k < c->block_tokens; k++)
			hash = lb_mix(hash, tokens[at + k]);
		i = find(c, hash);
		unbroken = unbroken && i != NONE;
		if (unbroken && at + c->block_tokens < n)
			hits += c->block_tokens;
		if (i == NONE) {
			insert(c, hash);
		} else {
			unlink_order(c, i);
			make_newest(c, i);
		}
	}
	return hits;
}
