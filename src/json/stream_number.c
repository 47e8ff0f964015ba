/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the stream, one and many. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "json/number.h"
#include "json/stream_impl.h"

/* The whole number in the buffer. */
static int find(struct ib_stream *s, struct ib_number *ret)
{
	ib_number_scan(s->p, ret);
	while (ret->end == s->end && !s->eof) {
		int r = stream_more(s);

		if (r < 0)
			return r;
		if (r == 0 && !s->eof)
			return stream_refuse(s, IB_E_LIMIT, "a number of more than %zu bytes", STREAM_BUFFER);
		ib_number_scan(s->p, ret);
	}
	if (!ret->bad)
		return 0;
	s->p += ret->end - s->p;
	return stream_refuse(s, IB_E_JSON, "%s", ret->bad);
}

int stream_number(struct ib_stream *s, struct ib_token *t)
{
	struct ib_number n;
	size_t len;
	int r = find(s, &n);

	if (r < 0)
		return r;
	len = (size_t)(n.end - s->p);
	t->kind = IB_TOKEN_NUMBER;
	if (!s->skipping || n.power || len > 300) {
		t->real = ib_number_value(&n, s->p);
		t->whole = n.whole && ib_number_integer(s->p, len, &t->integer);
		if (isinf(t->real))
			return stream_refuse(s, IB_E_JSON, "a number beyond those of a double");
	}
	s->p += len;
	return 0;
}

/* --- many --- */

void ib_reals_add(struct ib_reals *r, double v)
{
	if (r->n == r->room) {
		r->room = r->room ? r->room + r->room / 2 : 64;
		r->v = ib_realloc(r->v, r->room, sizeof(*r->v));
	}
	r->v[r->n++] = v;
}

void ib_reals_clear(struct ib_reals *r)
{
	free(r->v);
	*r = (struct ib_reals){0};
}

static const char *what(enum ib_token_kind kind)
{
	switch (kind) {
	case IB_TOKEN_OBJECT:
		return "an object";
	case IB_TOKEN_ARRAY:
		return "an array";
	case IB_TOKEN_STRING:
		return "a string";
	case IB_TOKEN_NUMBER:
		return "a number";
	case IB_TOKEN_TRUE:
	case IB_TOKEN_FALSE:
		return "true or false";
	case IB_TOKEN_NULL:
		return "null";
	default:
		return "nothing";
	}
}

/* Elements of the array that is open, as long as they are plain numbers that lie in the buffer; what comes then is for token after token. */
static int run_of_numbers(struct ib_stream *s, struct ib_reals *to)
{
	struct ib_number n;
	double v;

	for (;;) {
		if (s->state == STATE_AFTER) {
			if (*s->p != ',' || to->n >= IB_STREAM_REALS)
				return 0;
			s->p++;
			s->state = STATE_VALUE;
		}
		while (*s->p == ' ')
			s->p++;
		if (*s->p < ' ') { /* also where char is signed and the byte is no ASCII */
			int c = stream_byte(s);

			if (c < 0)
				return c;
		}
		if (*s->p != '-' && (*s->p < '0' || *s->p > '9'))
			return 0;
		ib_number_scan(s->p, &n);
		if (n.bad || n.end == s->end)
			return 0;
		v = ib_number_value(&n, s->p);
		if (isinf(v))
			return 0;
		ib_reals_add(to, v);
		s->p += n.end - s->p;
		s->state = STATE_AFTER;
	}
}

int ib_stream_reals(struct ib_stream *s, const char *where, struct ib_reals *to, bool *ret_null, struct ib_err *err)
{
	size_t before = to->n;
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (ret_null)
		*ret_null = r == 0 && t.kind == IB_TOKEN_NULL;
	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	if (t.kind != IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "%s is %s, not an array of numbers", where, what(t.kind));
	for (;;) {
		r = stream_end(s, run_of_numbers(s, to), err);
		if (r == 0)
			r = ib_stream_next(s, &t, err);
		if (r < 0 || t.kind == IB_TOKEN_ARRAY_END)
			return r;
		if (t.kind != IB_TOKEN_NUMBER && t.kind != IB_TOKEN_NULL)
			return ib_stream_fail(s, err, IB_E_SYNTAX, "element %zu of %s is %s, not a number", to->n - before, where, what(t.kind));
		if (to->n >= IB_STREAM_REALS)
			return ib_stream_fail(s, err, IB_E_LIMIT, "more than %zu numbers in %s", IB_STREAM_REALS, where);
		ib_reals_add(to, t.kind == IB_TOKEN_NULL ? (double)NAN : t.real);
	}
}
