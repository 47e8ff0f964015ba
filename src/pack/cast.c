/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording of a terminal showed, as one text. */
#include "pack/cast.h"

#include <string.h>

#define NOTHING 256 /* beside the bytes */

/* The value of a digit; 0 of what is none. */
static unsigned hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, c | 0x20) : NULL;

	return p && *p ? (unsigned)(p - digits) : 0;
}

/* A byte of a string; returns what it adds to the text, or NOTHING. */
static int unescape(struct ib_cast_text *t, char c)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
	const char *p;

	switch (t->state) {
	case IB_CAST_ESCAPE:
		t->state = c == 'u' ? IB_CAST_HEX : IB_CAST_PLAIN;
		t->code = 0;
		t->digits = 0;
		p = c ? strchr(from, c) : NULL;
		return c == 'u' ? NOTHING : p ? to[p - from] : (unsigned char)c;
	case IB_CAST_HEX:
		t->code = t->code * 16 + hex(c);
		if (++t->digits < 4)
			return NOTHING;
		t->state = IB_CAST_PLAIN;
		return t->code < 0x80 ? (int)t->code : '?'; /* no secret has other characters */
	default:
		if (c == '\\')
			t->state = IB_CAST_ESCAPE;
		else if (c == '"')
			t->in_string = false;
		else
			return (unsigned char)c;
		return NOTHING;
	}
}

/* One byte of the recording; returns one of the text, or NOTHING. The first string of an event is its kind, the second its text. */
static int take(struct ib_cast_text *t, char c, bool first)
{
	int byte;

	if (first) {
		t->event = c == '[';
		t->in_string = false;
		t->strings = 0;
		t->resize = false;
		t->state = IB_CAST_PLAIN;
	}
	if (!t->event)
		return NOTHING;
	if (!t->in_string) {
		t->in_string = c == '"';
		t->strings += t->in_string;
		return NOTHING;
	}
	byte = unescape(t, c);
	t->resize |= t->strings == 1 && c == 'r';
	return t->strings == 2 && !t->resize ? byte : NOTHING;
}

static int fill(struct ib_cast_text *t, struct ib_err *err)
{
	int r = t->from.read(t->from.arg, t->in, sizeof(t->in), &t->n, err);

	t->at = 0;
	t->ended = r < 0 || t->n < sizeof(t->in);
	return r;
}

static int read_text(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ib_cast_text *t = arg;
	char *out = data;
	size_t have = 0;
	int r;

	while (have < n) {
		int byte;
		bool first;

		if (t->at == t->n && t->ended)
			break;
		if (t->at == t->n) {
			if ((r = fill(t, err)) < 0)
				return r;
			continue;
		}
		first = t->line_start;
		t->line_start = t->in[t->at] == '\n';
		byte = take(t, t->in[t->at++], first);
		if (byte != NOTHING)
			out[have++] = (char)byte;
	}
	*ret_n = have;
	return 0;
}

struct ib_source ib_cast_text_source(struct ib_cast_text *t, struct ib_source from)
{
	memset(t, 0, sizeof(*t));
	t->from = from;
	t->line_start = true;
	return (struct ib_source){.read = read_text, .arg = t};
}
