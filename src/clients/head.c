/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a top-level key in the beginning of a JSON text. Lenient: what it takes for JSON, the strict loader looks at again. */
#include "clients/head.h"

#include <string.h>

struct ib_head ib_head_of(const char *data, size_t n)
{
	size_t mark = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	return (struct ib_head){data + mark, (n < IB_HEAD_MAX ? n : IB_HEAD_MAX) - mark};
}

static size_t skip_space(const struct ib_head *h, size_t i)
{
	while (i < h->n && (h->data[i] == ' ' || h->data[i] == '\t' || h->data[i] == '\n' || h->data[i] == '\r'))
		i++;
	return i;
}

/* i is on a quote; returns the index of the closing one, or n. */
static size_t string_end(const struct ib_head *h, size_t i)
{
	for (i++; i < h->n && h->data[i] != '"'; i++)
		if (h->data[i] == '\\')
			i++;
	return i < h->n ? i : h->n;
}

/* Skips a value; returns the index of the comma or bracket behind it, or n. */
static size_t value_end(const struct ib_head *h, size_t i)
{
	int depth = 0;

	for (; i < h->n; i++) {
		char c = h->data[i];

		if (c == '"')
			i = string_end(h, i);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth-- == 0)
			return i;
		else if (c == ',' && depth == 0)
			return i;
	}
	return h->n;
}

/* Index of the value of key, or n. */
static size_t find(const struct ib_head *h, const char *key)
{
	size_t len = strlen(key), i = skip_space(h, 0);

	if (i >= h->n || h->data[i] != '{')
		return h->n;
	while (i < h->n) {
		size_t end;
		bool same;

		i = skip_space(h, i + 1);
		if (i >= h->n || h->data[i] != '"')
			return h->n;
		end = string_end(h, i);
		same = end - i - 1 == len && end < h->n && memcmp(h->data + i + 1, key, len) == 0;
		i = skip_space(h, end + 1);
		if (i >= h->n || h->data[i] != ':')
			return h->n;
		i = skip_space(h, i + 1);
		if (same)
			return i;
		i = value_end(h, i);
		if (i >= h->n || h->data[i] != ',')
			return h->n;
	}
	return h->n;
}

bool ib_head_has(const struct ib_head *h, const char *key)
{
	return find(h, key) < h->n;
}

bool ib_head_starts(const struct ib_head *h, const char *key, const char *prefix)
{
	size_t i = find(h, key), len = strlen(prefix);

	return i < h->n && h->data[i] == '"' && h->n - i - 1 >= len && memcmp(h->data + i + 1, prefix, len) == 0;
}

/* The head from i on, if an object begins there. */
static struct ib_head from(const struct ib_head *h, size_t i)
{
	if (i >= h->n || h->data[i] != '{')
		return (struct ib_head){h->data, 0};
	return (struct ib_head){h->data + i, h->n - i};
}

struct ib_head ib_head_element(const struct ib_head *h)
{
	size_t i = skip_space(h, 0);

	return from(h, i < h->n && h->data[i] == '[' ? skip_space(h, i + 1) : h->n);
}

struct ib_head ib_head_inside(const struct ib_head *h, const char *key)
{
	return from(h, find(h, key));
}

int64_t ib_head_count(const struct ib_head *h, const char *key)
{
	size_t i = find(h, key), n = 0;
	int64_t v = 0;

	for (; i + n < h->n && h->data[i + n] >= '0' && h->data[i + n] <= '9' && n < 19; n++)
		v = n < 18 ? 10 * v + (h->data[i + n] - '0') : -1;
	return n == 0 || i + n == h->n || h->data[i + n] == '.' || h->data[i + n] == 'e' || h->data[i + n] == 'E' ? -1 : v;
}

struct ib_head ib_head_first(const struct ib_head *h, const char *key)
{
	size_t i = find(h, key);

	return from(h, i < h->n && h->data[i] == '[' ? skip_space(h, i + 1) : h->n);
}
