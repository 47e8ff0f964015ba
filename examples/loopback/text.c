/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded numbers, synthetic words and prompts, the token rule. */
#include "examples/loopback/loopback.h"

#include <stdbool.h>
#include <string.h>

#define PIECE_BYTES 12
#define GOLDEN 0x9e3779b97f4a7c15ULL

static uint64_t finish(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t lb_mix(uint64_t a, uint64_t b)
{
	return finish(finish(a + GOLDEN) ^ (b * GOLDEN + 1));
}

uint64_t lb_next(uint64_t *state)
{
	*state += GOLDEN;
	return finish(*state);
}

void lb_word(uint64_t r, char out[LB_WORD_LEN])
{
	static const char consonants[] = "bdfghjklmnprstvz";
	static const char vowels[] = "aeio";
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		out[n++] = consonants[r & 15];
		out[n++] = vowels[(r >> 4) & 3];
		r >>= 6;
	}
	out[n] = '\0';
}

void lb_prompt(uint64_t seed, uint64_t index, size_t tokens, struct ib_buf *b)
{
	uint64_t state = lb_mix(seed, index);
	char word[LB_WORD_LEN];

	for (size_t i = 0; i < tokens; i++) {
		if (i)
			ib_buf_addc(b, ' ');
		/* the first two words spell the index: no two prompts of a seed share a block */
		if (i < 2)
			lb_word(index >> (18 * i), word);
		else
			lb_word(lb_next(&state), word);
		ib_buf_adds(b, word);
	}
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void lb_tokens(const char *text, size_t n, void (*add)(void *arg, uint32_t id), void *arg)
{
	size_t i = 0;

	while (i < n) {
		uint32_t id = 2166136261U;
		size_t piece = 0;

		while (i < n && is_space(text[i]))
			i++;
		while (i < n && piece < PIECE_BYTES && !is_space(text[i])) {
			id = (id ^ (unsigned char)text[i]) * 16777619U;
			piece++;
			i++;
		}
		if (piece)
			add(arg, id);
	}
}
