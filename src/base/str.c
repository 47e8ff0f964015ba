/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and strings. */
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *ib_alloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		abort();
	return p;
}

void *ib_realloc(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size);

	if (!q)
		abort();
	return q;
}

char *ib_strdup(const char *s)
{
	return s ? ib_strndup(s, strlen(s)) : NULL;
}

char *ib_strndup(const char *s, size_t n)
{
	char *p = ib_alloc(n + 1);

	memcpy(p, s, n);
	return p;
}

char *ib_asprintf(const char *fmt, ...)
{
	char *p = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	return p;
}

bool ib_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool ib_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool ib_streq(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void ib_hex(const void *data, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *d = data;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[d[i] >> 4];
		out[2 * i + 1] = digits[d[i] & 15];
	}
	out[2 * n] = '\0';
}

bool ib_is_hex(const char *s, size_t n)
{
	return s && strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *ib_b64_encode(const void *data, size_t n)
{
	const uint8_t *d = data;
	char *out = ib_alloc(n / 3 * 4 + 5), *o = out;
	size_t i;

	for (i = 0; i + 2 < n; i += 3) {
		uint32_t v = (uint32_t)d[i] << 16 | (uint32_t)d[i + 1] << 8 | d[i + 2];

		*o++ = b64[v >> 18];
		*o++ = b64[v >> 12 & 63];
		*o++ = b64[v >> 6 & 63];
		*o++ = b64[v & 63];
	}
	if (i < n) {
		uint32_t v = (uint32_t)d[i] << 16 | (i + 1 < n ? (uint32_t)d[i + 1] << 8 : 0);

		*o++ = b64[v >> 18];
		*o++ = b64[v >> 12 & 63];
		*o++ = i + 1 < n ? b64[v >> 6 & 63] : '=';
		*o++ = '=';
	}
	return out;
}

static int b64_value(char c)
{
	const char *p = c ? strchr(b64, c) : NULL;

	return p ? (int)(p - b64) : 64;
}

int ib_b64_decode(const char *s, size_t n, uint8_t **ret_data, size_t *ret_n, struct ib_err *err)
{
	size_t pad = n && s[n - 1] == '=' ? (n > 1 && s[n - 2] == '=' ? 2 : 1) : 0, o = 0;
	uint8_t *out;
	uint32_t v = 0;
	int bits = 0;

	if (n % 4)
		return ib_fail(err, IB_E_SYNTAX, 0, "base64 text is not a multiple of 4 characters long");
	out = ib_alloc(n / 4 * 3 + 1);
	for (size_t i = 0; i < n - pad; i++) {
		int d = b64_value(s[i]);

		if (d > 63) {
			free(out);
			return ib_fail(err, IB_E_SYNTAX, 0, "base64 text has an invalid character at offset %zu", i);
		}
		v = v << 6 | (uint32_t)d;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[o++] = (uint8_t)(v >> bits);
			v &= (1U << bits) - 1;
		}
	}
	if (v) {
		free(out);
		return ib_fail(err, IB_E_SYNTAX, 0, "base64 text has bits set after its end");
	}
	*ret_data = out;
	*ret_n = o;
	return 0;
}

int ib_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct ib_err *err)
{
	const char *d = s + (*s == '-');
	char *end;
	long long v;

	if (*d < '0' || *d > '9' || (*d == '0' && d[1]) || (*s == '-' && *d == '0'))
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is not a whole number", s);
	errno = 0;
	v = strtoll(s, &end, 10);
	if (*end)
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is not a whole number", s);
	if (errno || v < min || v > max)
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is out of range (%lld to %lld)", s, (long long)min, (long long)max);
	*ret = v;
	return 0;
}

static size_t utf8_length(uint8_t c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xC2 && c < 0xE0)
		return 2;
	if ((c & 0xF0) == 0xE0)
		return 3;
	return c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

bool ib_utf8_valid(const char *s, size_t n)
{
	const uint8_t *p = (const uint8_t *)s;

	for (size_t i = 0; i < n;) {
		size_t k = utf8_length(p[i]);

		if (k == 0 || k > n - i)
			return false;
		for (size_t j = 1; j < k; j++)
			if ((p[i + j] & 0xC0) != 0x80)
				return false;
		if ((p[i] == 0xE0 && p[i + 1] < 0xA0) || (p[i] == 0xED && p[i + 1] > 0x9F) || (p[i] == 0xF0 && p[i + 1] < 0x90) ||
		    (p[i] == 0xF4 && p[i + 1] > 0x8F))
			return false;
		i += k;
	}
	return true;
}

/* Levenshtein distance with one row; words of more than 63 bytes count as far away. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[64];

	if (n > 63 || m > 63)
		return 64;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = up;
		}
	}
	return row[m];
}

const char *ib_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t limit = strlen(word) / 3 + 1, least = limit + 1;

	for (; *names; names++) {
		size_t d = distance(word, *names);

		if (d < least) {
			least = d;
			best = *names;
		}
	}
	return best;
}

void ib_strv_take(struct ib_strv *l, char *s)
{
	l->v = ib_realloc(l->v, l->n + 2, sizeof(*l->v));
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

void ib_strv_add(struct ib_strv *l, const char *s)
{
	ib_strv_take(l, ib_strdup(s));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool ib_strv_has(const struct ib_strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

void ib_strv_sort(struct ib_strv *l)
{
	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), compare);
}

void ib_strv_clear(struct ib_strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

bool ib_nfs_remains(const char *name)
{
	const char *rest = ib_starts(name, ".nfs") ? name + strlen(".nfs") : "";

	return strlen(rest) >= 8 && !rest[strspn(rest, "0123456789abcdefABCDEF.")];
}
