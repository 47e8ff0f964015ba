/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded buffer. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

char *ib_buf_room(struct ib_buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 256;

	if (b->overflow || n > b->max || b->len > b->max - n) {
		b->overflow = true;
		return NULL;
	}
	while (cap < b->len + n + 1)
		cap *= 2;
	if (cap != b->cap) {
		b->data = ib_realloc(b->data, cap, 1);
		b->cap = cap;
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void ib_buf_add(struct ib_buf *b, const void *data, size_t n)
{
	char *p = ib_buf_room(b, n);

	if (!p)
		return;
	if (n)
		memcpy(p, data, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void ib_buf_adds(struct ib_buf *b, const char *s)
{
	ib_buf_add(b, s, strlen(s));
}

void ib_buf_addc(struct ib_buf *b, char c)
{
	ib_buf_add(b, &c, 1);
}

void ib_buf_addf(struct ib_buf *b, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	ib_buf_add(b, text, (size_t)n);
	free(text);
}

int ib_buf_check(const struct ib_buf *b, const char *what, struct ib_err *err)
{
	if (b->overflow)
		return ib_fail(err, IB_E_LIMIT, 0, "%s is larger than the limit of %zu bytes", what, b->max);
	return 0;
}

const char *ib_buf_str(const struct ib_buf *b)
{
	return b->data ? b->data : "";
}

void ib_buf_reset(struct ib_buf *b)
{
	b->len = 0;
	b->overflow = false;
	if (b->data)
		b->data[0] = '\0';
}

void ib_buf_clear(struct ib_buf *b)
{
	free(b->data);
	*b = (struct ib_buf){.max = b->max};
}

char *ib_buf_steal(struct ib_buf *b)
{
	char *text = b->data ? b->data : ib_strdup("");

	*b = (struct ib_buf){.max = b->max};
	return text;
}
