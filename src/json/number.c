/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text to double. */
#include "json/number.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

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

double ib_number_real(const char *text, size_t n)
{
	char small[64], *copy;
	double v;

	/* The byte behind it ends the number, unless it reads like more of one. */
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
