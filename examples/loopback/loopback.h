/* SPDX-License-Identifier: Apache-2.0 */
/* What endpoint and load generator share: names, the seeded generator, synthetic words and prompts, token counting. */
#ifndef IB_EXAMPLES_LOOPBACK_H
#define IB_EXAMPLES_LOOPBACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Opens every version, fingerprint and model name of the endpoint: whoever sees it knows that no model answered. */
#define LB_SYNTHETIC "ib-loopback-synthetic"
#define LB_WORD_LEN 8 /* room for a word of six letters and a NUL */

/* Mixes two numbers into one that looks random (the finaliser of splitmix64). */
uint64_t lb_mix(uint64_t a, uint64_t b);
/* Next number of a seeded sequence (splitmix64). */
uint64_t lb_next(uint64_t *state);

/* A made-up word of three syllables, chosen by r. It is one token. */
void lb_word(uint64_t r, char out[LB_WORD_LEN]);
/* Appends a prompt of exactly so many tokens: the same for the same (seed, index), different from every other's in its
 * first words. */
void lb_prompt(uint64_t seed, uint64_t index, size_t tokens, struct ib_buf *b);

/* Token rule of the endpoint: a run of bytes other than white space is a word; each 12 bytes of it, or a rest, is a token.
 * Calls add for every token with its id. */
void lb_tokens(const char *text, size_t n, void (*add)(void *arg, uint32_t id), void *arg);

#endif
