/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the stream, one and many. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "json/number.h"
#include "json/stream_impl.h"

struct scan {
	const char *end; /* the first byte that is no part of it */
	const char *bad; /* what is wrong there, or NULL */
	bool whole;
	bool power; /* has an exponent */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

static struct scan scan(const char *p)
{
	struct scan r = {.whole = true};
	const char *first = *p == '-' ? p + 1 : p;

	r.end = digits(first);
	if (r.end == first) {
		r.bad = "no digit after '-'";
	} else if (*first == '0' && r.end > first + 1) {
		r.bad = "a number that begins with 0";
		r.end = first + 1;
	}
	if (!r.bad && *r.end == '.') {
		first = r.end + 1;
		r.whole = false;
		r.end = digits(first);
		if (r.end == first)
			r.bad = "no digit after the point";
	}
	if (!r.bad && (*r.end == 'e' || *r.end == 'E')) {
		r.end++;
		r.power = true;
		r.whole = false;
		first = r.end += *r.end == '+' || *r.end == '-';
		r.end = digits(first);
		if (r.end == first)
			r.bad = "no digit in the exponent";
	}
	return r;
}

/* The whole number in the buffer. */
static int find(struct ib_stream *s, struct scan *ret)
{
	*ret = scan(s->p);
	while (ret->end == s->end && !s->eof) {
		int r = stream_more(s);

		if (r < 0)
			return r;
		if (r == 0 && !s->eof)
			return stream_refuse(s, IB_E_LIMIT, "a number of more than %zu bytes", STREAM_BUFFER);
		*ret = scan(s->p);
	}
	if (!ret->bad)
		return 0;
	s->p += ret->end - s->p;
	return stream_refuse(s, IB_E_JSON, "%s", ret->bad);
}

int stream_number(struct ib_stream *s, struct ib_token *t)
{
	struct scan n;
	size_t len;
	int r = find(s, &n);

	if (r < 0)
		return r;
	len = (size_t)(n.end - s->p);
	t->kind = IB_TOKEN_NUMBER;
	if (!s->skipping || n.power || len > 300) {
		t->real = ib_number_real(s->p, len);
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

int ib_stream_reals(struct ib_stream *s, const char *where, struct ib_reals *to, bool *ret_null, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (ret_null)
		*ret_null = r == 0 && t.kind == IB_TOKEN_NULL;
	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	if (t.kind != IB_TOKEN_ARRAY)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "%s is %s, not an array of numbers", where, what(t.kind));
	for (size_t i = 0;; i++) {
		r = ib_stream_next(s, &t, err);
		if (r < 0 || t.kind == IB_TOKEN_ARRAY_END)
			return r;
		if (t.kind != IB_TOKEN_NUMBER && t.kind != IB_TOKEN_NULL)
			return ib_stream_fail(s, err, IB_E_SYNTAX, "element %zu of %s is %s, not a number", i, where, what(t.kind));
		if (to->n >= IB_STREAM_REALS)
			return ib_stream_fail(s, err, IB_E_LIMIT, "more than %zu numbers in %s", IB_STREAM_REALS, where);
		ib_reals_add(to, t.kind == IB_TOKEN_NULL ? (double)NAN : t.real);
	}
}
