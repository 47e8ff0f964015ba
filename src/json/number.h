/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text to the nearest double: as strtod() in the C locale, about ten times as fast for the 17 digits that clients write. */
#ifndef IB_JSON_NUMBER_H
#define IB_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* text holds exactly one JSON number (checked by the caller) of n bytes, and at least one readable byte behind it. Returns the double nearest to it, ties to
 * even; a number beyond double gives an infinity, one that is not 0 and too small for a double gives 0 or a subnormal, correctly rounded. */
double ib_number_real(const char *text, size_t n);
/* Is it an integer (no point, no exponent) that fits? */
bool ib_number_integer(const char *text, size_t n, int64_t *ret);

/* The parts of a number that stands at the beginning of text, for the stream. */
#define IB_NUMBER_PAD 8 /* bytes behind the text that must be readable and no part of it */
struct ib_number {
	const char *end;  /* the first byte that is no part of it */
	const char *bad;  /* what is wrong with it, at end; or NULL. "the text ends" is not told from that */
	uint64_t digits;  /* all of them; wrong when more than 19 are significant */
	int significant;  /* how many, without the zeros before them (with them where they are few) */
	int exponent;     /* digits times this power of ten; cut at some 100,000 */
	bool minus, whole, power; /* whole: no point and no exponent; power: an exponent */
};
void ib_number_scan(const char *text, struct ib_number *ret);
/* The double of what ib_number_scan() read without fault. */
double ib_number_value(const struct ib_number *n, const char *text);

#endif
