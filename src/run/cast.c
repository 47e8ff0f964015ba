/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.cast. */
#include "run/cast.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

#define EVENT_MAX (512u << 10)

static int64_t monotonic(void)
{
	struct timespec ts = {0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * IB_NS + ts.tv_nsec;
}

/* A view that cannot be written is given up; the log goes on. */
static void emit(struct ib_cast *c, struct ib_buf *b)
{
	struct ib_err err = {0};

	if (c->fd >= 0 && (ib_buf_check(b, "terminal.cast", &err) < 0 || ib_write_all(c->fd, b->data, b->len, "terminal.cast", &err) < 0)) {
		c->sys = err.sys ? err.sys : EIO;
		close(c->fd);
		c->fd = -1;
	}
	ib_buf_clear(b);
}

static void begin_event(const struct ib_cast *c, struct ib_buf *b, char kind)
{
	int64_t us = (monotonic() - c->start_ns) / 1000;

	ib_buf_addf(b, "[%" PRId64 ".%06" PRId64 ", \"%c\", \"", us / 1000000, us % 1000000, kind);
}

/* How many bytes a character has that begins so; 0: none does. */
static size_t length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* How long is the character at p? 0: its end is not there yet, or *ret_bad bytes are none. */
static size_t character(const unsigned char *p, size_t n, size_t *ret_bad)
{
	size_t want = length(*p);
	unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80, high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;

	*ret_bad = want ? 0 : 1;
	for (size_t i = 1; i < want; i++, low = 0x80, high = 0xbf) {
		if (i == n)
			return 0;
		if (p[i] < low || p[i] > high) {
			*ret_bad = i;
			return 0;
		}
	}
	return want;
}

static void add_character(struct ib_buf *b, const unsigned char *p, size_t n)
{
	if (*p == '"' || *p == '\\')
		ib_buf_addf(b, "\\%c", *p);
	else if (*p < 0x20 || *p == 0x7f)
		ib_buf_addf(b, "\\u%04x", *p);
	else
		ib_buf_add(b, p, n);
}

/* Returns how many bytes at the end are the beginning of a character. */
static size_t add_text(struct ib_buf *b, const unsigned char *p, size_t n)
{
	while (n) {
		size_t bad, len = character(p, n, &bad);

		if (bad)
			ib_buf_adds(b, "\xef\xbf\xbd");
		else if (!len)
			return n;
		else
			add_character(b, p, len);
		len = bad ? bad : len;
		p += len;
		n -= len;
	}
	return 0;
}

void ib_cast_begin(struct ib_cast *c, int fd, struct winsize size, int64_t wall_s)
{
	ib_auto_buf struct ib_buf b = IB_BUF(EVENT_MAX);

	*c = (struct ib_cast){.fd = fd, .start_ns = monotonic(), .size = size};
	ib_buf_addf(&b, "{\"version\": 2, \"width\": %d, \"height\": %d, \"timestamp\": %" PRId64 "}\n", size.ws_col, size.ws_row, wall_s);
	emit(c, &b);
}

void ib_cast_output(struct ib_cast *c, const char *data, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF(EVENT_MAX);
	const unsigned char *p = (const unsigned char *)data;
	size_t before;

	if (c->fd < 0 || !n)
		return;
	begin_event(c, &b, 'o');
	before = b.len;
	/* the character that was cut, byte by byte until it is whole or none */
	while (n && c->part_n) {
		size_t rest;

		c->part[c->part_n++] = *p++;
		n--;
		rest = add_text(&b, c->part, c->part_n);
		memmove(c->part, c->part + c->part_n - rest, rest);
		c->part_n = rest;
	}
	if (n) {
		c->part_n = add_text(&b, p, n);
		memcpy(c->part, p + n - c->part_n, c->part_n);
	}
	if (b.len == before)
		return;
	ib_buf_adds(&b, "\"]\n");
	emit(c, &b);
}

void ib_cast_resize(struct ib_cast *c, struct winsize size)
{
	ib_auto_buf struct ib_buf b = IB_BUF(EVENT_MAX);

	if (c->fd < 0 || (size.ws_col == c->size.ws_col && size.ws_row == c->size.ws_row))
		return;
	c->size = size;
	begin_event(c, &b, 'r');
	ib_buf_addf(&b, "%dx%d\"]\n", size.ws_col, size.ws_row);
	emit(c, &b);
}

void ib_cast_end(struct ib_cast *c)
{
	ib_auto_buf struct ib_buf b = IB_BUF(EVENT_MAX);

	if (c->fd < 0)
		return;
	if (c->part_n) {
		begin_event(c, &b, 'o');
		ib_buf_adds(&b, "\xef\xbf\xbd\"]\n");
		emit(c, &b);
	}
	if (c->fd >= 0 && close(c->fd) < 0)
		c->sys = errno;
	c->fd = -1;
}
