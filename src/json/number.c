/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text to double: up to 19 digits and powers of ten that clients write by exact integer arithmetic, all else by strtod(). */
#include "json/number.h"

#include <endian.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define POWERS 28   /* 5^27 is the last below 2^63 */
#define EXPONENT_MAX 100000

/* 5^i, shifted left until its highest bit is the highest of 64; and what makes a division by it a multiplication: floor((2^128 - 1) / d) - 2^64. */
static const struct {
	uint64_t d, inverse;
	int shift;
} fives[POWERS] = {
	{0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 63},
	{0xA000000000000000, 0x9999999999999999, 61},
	{0xC800000000000000, 0x47AE147AE147AE14, 59},
	{0xFA00000000000000, 0x0624DD2F1A9FBE76, 57},
	{0x9C40000000000000, 0xA36E2EB1C432CA57, 54},
	{0xC350000000000000, 0x4F8B588E368F0846, 52},
	{0xF424000000000000, 0x0C6F7A0B5ED8D36B, 50},
	{0x9896800000000000, 0xAD7F29ABCAF48578, 47},
	{0xBEBC200000000000, 0x5798EE2308C39DF9, 45},
	{0xEE6B280000000000, 0x12E0BE826D694B2E, 43},
	{0x9502F90000000000, 0xB7CDFD9D7BDBAB7D, 40},
	{0xBA43B74000000000, 0x5FD7FE17964955FD, 38},
	{0xE8D4A51000000000, 0x19799812DEA11197, 36},
	{0x9184E72A00000000, 0xC25C268497681C26, 33},
	{0xB5E620F480000000, 0x6849B86A12B9B01E, 31},
	{0xE35FA931A0000000, 0x203AF9EE756159B2, 29},
	{0x8E1BC9BF04000000, 0xCD2B297D889BC2B6, 26},
	{0xB1A2BC2EC5000000, 0x70EF54646D496892, 24},
	{0xDE0B6B3A76400000, 0x2725DD1D243ABA0E, 22},
	{0x8AC7230489E80000, 0xD83C94FB6D2AC34A, 19},
	{0xAD78EBC5AC620000, 0x79CA10C9242235D5, 17},
	{0xD8D726B7177A8000, 0x2E3B40A0E9B4F7DD, 15},
	{0x878678326EAC9000, 0xE392010175EE5962, 12},
	{0xA968163F0A57B400, 0x82DB34012B25144E, 10},
	{0xD3C21BCECCEDA100, 0x357C299A88EA76A5, 8},
	{0x84595161401484A0, 0xEF2D0F5DA7DD8AA2, 5},
	{0xA56FA5B99019A5C8, 0x8C240C4AECB13BB5, 3},
	{0xCECB8F27F4200F3A, 0x3CE9A36F23C0FC90, 1},
};

/* --- to double --- */

/* strtod() as in the C locale, whatever the program's: glibc gives its own constant locale here, without allocating. */
static double by_libc(const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double v;

	if (!c)
		abort();
	v = strtod_l(text, NULL, c);
	freelocale(c);
	return v;
}

static double slowly(const char *text, size_t n)
{
	char small[64], *copy;
	double v;

	/* The byte behind it may read like more of it. */
	if (n < sizeof(small)) {
		memcpy(small, text, n);
		small[n] = 0;
		return by_libc(small);
	}
	copy = ib_strndup(text, n);
	v = by_libc(copy);
	free(copy);
	return v;
}

/* m * 2^e to the nearest double, ties to even; m has its highest bit set; more: the exact value is a little above. Only for what is far from both ends of
 * the exponent's range. Rounding up all 53 bits carries into the exponent, as it should. */
static double assemble(uint64_t m, int e, bool more)
{
	uint64_t kept = m >> 11, rest = m & 0x7FF, bits;
	double v;

	kept += rest > 0x400 || (rest == 0x400 && (more || (kept & 1)));
	bits = ((uint64_t)(e + 11 + 52 + 1023) << 52) + (kept - ((uint64_t)1 << 52));
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* w / 10^k: a quotient of 64 bits and whether anything remains. The quotient is guessed by the inverse (Möller and Granlund, "Improved division by invariant
 * integers", 2011, algorithm 4) and put right by at most two steps, so that it is exact. */
static double divide(uint64_t w, int k)
{
	int z = __builtin_clzll(w), half;
	uint64_t d = fives[k].d, u1 = w << z, u0 = 0, q, low, r;
	unsigned __int128 guess;

	half = u1 >= d;
	if (half) {
		u0 = u1 << 63;
		u1 >>= 1;
	}
	guess = (unsigned __int128)fives[k].inverse * u1 + ((unsigned __int128)u1 << 64 | u0);
	q = (uint64_t)(guess >> 64) + 1;
	low = (uint64_t)guess;
	r = u0 - q * d;
	if (r > low) {
		q--;
		r += d;
	}
	if (r >= d) {
		q++;
		r -= d;
	}
	return assemble(q, half - 64 + fives[k].shift - z - k, r != 0);
}

/* w * 10^k */
static double multiply(uint64_t w, int k)
{
	int z = __builtin_clzll(w);
	unsigned __int128 p = (unsigned __int128)(w << z) * fives[k].d;
	int up = !(uint64_t)(p >> 127);

	p <<= up;
	return assemble((uint64_t)(p >> 64), 64 - up - z - fives[k].shift + k, (uint64_t)p != 0);
}

double ib_number_value(const struct ib_number *n, const char *text)
{
	double v;

	if (n->significant > 19 || (n->digits && (n->exponent <= -POWERS || n->exponent >= POWERS)))
		return slowly(text, (size_t)(n->end - text));
	if (!n->digits || !n->exponent)
		v = (double)n->digits;
	else
		v = n->exponent < 0 ? divide(n->digits, -n->exponent) : multiply(n->digits, n->exponent);
	return n->minus ? -v : v;
}

/* --- reading --- */

/* Are the 8 bytes at p digits, and which number are they? */
static inline bool eight(const char *p, uint64_t *ret)
{
	uint64_t v;

	memcpy(&v, p, 8);
	v = le64toh(v);
	if (((v + 0x4646464646464646) | (v - 0x3030303030303030)) & 0x8080808080808080)
		return false;
	v -= 0x3030303030303030;
	v = v * 10 + (v >> 8); /* pairs, in every other byte */
	v = (v & 0x000000FF000000FF) * (100 + ((uint64_t)1000000 << 32)) + (v >> 16 & 0x000000FF000000FF) * (1 + ((uint64_t)10000 << 32));
	*ret = v >> 32;
	return true;
}

/* Digits at p, appended to *w; the first byte that is none. */
static inline const char *digits(const char *p, uint64_t *w)
{
	uint64_t v;

	while (eight(p, &v)) {
		*w = *w * 100000000 + v;
		p += 8;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		*w = *w * 10 + (uint64_t)(*p - '0');
	return p;
}

/* The same where few are expected. */
static inline const char *few_digits(const char *p, uint64_t *w)
{
	const char *end = p + 4;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (p == end)
			return digits(p, w);
		*w = *w * 10 + (uint64_t)(*p - '0');
	}
	return p;
}

static const char *power(const char *p, struct ib_number *n)
{
	bool minus = *p == '-';
	const char *first;
	int e = 0;

	n->whole = false;
	n->power = true;
	first = p += *p == '+' || *p == '-';
	for (; *p >= '0' && *p <= '9'; p++)
		e = e < EXPONENT_MAX ? e * 10 + (*p - '0') : e;
	if (p == first)
		n->bad = "no digit in the exponent";
	n->exponent += minus ? -e : e;
	return p;
}

/* Digits from the first that is not 0. */
static int significant(const char *p, const char *end)
{
	int n = 0;

	for (; p < end && (*p == '0' || *p == '.'); p++)
		;
	for (; p < end && n < 100; p++)
		n += *p != '.';
	return n;
}

void ib_number_scan(const char *text, struct ib_number *n)
{
	const char *first = text + (*text == '-'), *p = first, *fraction;

	*n = (struct ib_number){.minus = *text == '-', .whole = true};
	p = few_digits(p, &n->digits);
	if (p == first) {
		n->bad = "no digit after '-'";
	} else if (*first == '0' && p > first + 1) {
		n->bad = "a number that begins with 0";
		p = first + 1;
	} else if (*p == '.') {
		fraction = p + 1;
		p = digits(fraction, &n->digits);
		n->whole = false;
		n->exponent = p - fraction < EXPONENT_MAX ? (int)(fraction - p) : -EXPONENT_MAX;
		if (p == fraction)
			n->bad = "no digit after the point";
	}
	n->significant = p - first <= 19 ? (int)(p - first) : significant(first, p);
	n->end = !n->bad && (*p == 'e' || *p == 'E') ? power(p + 1, n) : p;
}

double ib_number_real(const char *text, size_t n)
{
	char small[64 + IB_NUMBER_PAD];
	struct ib_number s;

	if (n > 64)
		return slowly(text, n);
	memcpy(small, text, n);
	memset(small + n, 0, IB_NUMBER_PAD);
	ib_number_scan(small, &s);
	return ib_number_value(&s, small);
}

bool ib_number_integer(const char *text, size_t n, int64_t *ret)
{
	bool minus = n && *text == '-';
	uint64_t v = 0, max = (uint64_t)INT64_MAX + minus;

	for (size_t i = minus; i < n; i++) {
		unsigned d = (unsigned char)text[i] - '0';

		if (d > 9 || v > (max - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = minus ? (int64_t)(0 - v) : (int64_t)v;
	return n > minus;
}
