/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's frame: bytes in, tokens out. Its state is one enum and a bit for each open object or array, so that nothing recurses. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "json/stream_impl.h"

struct ib_stream *ib_stream_new(const struct ib_source *in, const char *name, const struct ib_stream_opts *opts)
{
	struct ib_stream *s = ib_alloc(sizeof(*s));

	s->in = *in;
	s->name = name;
	if (opts)
		s->opts = *opts;
	s->memory = ib_alloc(STREAM_FRONT + STREAM_BUFFER + STREAM_PAD);
	s->buffer = s->p = s->end = s->memory + STREAM_FRONT;
	s->line = s->at_line = 1;
	stream_hash_init(&s->key_hash, true);
	stream_hash_init(&s->value_hash, false);
	return s;
}

void ib_stream_free(struct ib_stream **s)
{
	if (*s) {
		stream_keys_clear(&(*s)->keys);
		stream_trail_clear(&(*s)->trail);
		free((*s)->text);
		free((*s)->memory);
		free(*s);
	}
	*s = NULL;
}

const struct ib_stream_notes *ib_stream_notes(const struct ib_stream *s)
{
	return &s->notes;
}

const char *ib_stream_name(const struct ib_stream *s)
{
	return s->name;
}

void ib_stream_at(const struct ib_stream *s, uint64_t *ret_line, uint64_t *ret_column)
{
	*ret_line = s->at_line;
	*ret_column = s->at - s->at_line_at + 1;
}

__attribute__((format(printf, 6, 0))) static int fail_at(struct ib_err *err, const char *name, uint64_t line, uint64_t column, enum ib_code code,
							 const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	return ib_fail_at(err, code, name, "'%s' line %llu column %llu: %s", name, (unsigned long long)line, (unsigned long long)column, text);
}

int ib_stream_fail(const struct ib_stream *s, struct ib_err *err, enum ib_code code, const char *fmt, ...)
{
	uint64_t line, column;
	va_list ap;
	int r;

	ib_stream_at(s, &line, &column);
	va_start(ap, fmt);
	r = fail_at(err, s->name, line, column, code, fmt, ap);
	va_end(ap);
	return r;
}

int stream_refuse(struct ib_stream *s, enum ib_code code, const char *fmt, ...)
{
	uint64_t at = s->base + (uint64_t)(s->p - s->buffer);
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = fail_at(&s->err, s->name, s->line, at - s->line_at + 1, code, fmt, ap);
	va_end(ap);
	return r;
}

int stream_end(struct ib_stream *s, int r, struct ib_err *err)
{
	if (r < 0) {
		s->failed = true;
		if (err)
			*err = s->err;
	}
	return r;
}

/* --- bytes --- */

int stream_more(struct ib_stream *s)
{
	size_t kept = (size_t)(s->end - s->p), n = 0;
	int r = 0;

	if (s->eof || kept == STREAM_BUFFER)
		return 0;
	s->base += (uint64_t)(s->p - s->buffer);
	memmove(s->buffer - 1, s->p - 1, kept + 1);
	s->p = s->buffer;
	r = s->in.read(s->in.arg, s->buffer + kept, STREAM_BUFFER - kept, &n, &s->err);
	s->end = s->buffer + kept + (r < 0 ? 0 : n);
	memset(s->end, 0, STREAM_PAD);
	if (r < 0)
		return r;
	s->eof = kept + n < STREAM_BUFFER;
	return n > 0;
}

int stream_ensure(struct ib_stream *s, size_t n)
{
	int r = 1;

	while (r > 0 && (size_t)(s->end - s->p) < n)
		r = stream_more(s);
	return r < 0 ? r : 0;
}

void stream_line(struct ib_stream *s)
{
	s->notes.crlf |= s->p[-1] == '\r';
	s->p++;
	s->line++;
	s->line_at = s->base + (uint64_t)(s->p - s->buffer);
}

int stream_byte_after_space(struct ib_stream *s)
{
	for (;;) {
		unsigned char c = (unsigned char)*s->p;
		int r;

		if (c > ' ')
			return c;
		if (c == ' ' || c == '\t' || c == '\r') {
			s->p++;
		} else if (c == '\n') {
			if (s->opts.lines && s->state != STATE_NONE)
				return stream_refuse(s, IB_E_JSON, "the line ends within the value");
			stream_line(s);
		} else if (s->p < s->end) {
			return c;
		} else {
			r = stream_more(s);
			if (r <= 0)
				return r < 0 ? r : STREAM_EOF;
		}
	}
}

/* --- tokens --- */

static int unexpected(struct ib_stream *s, int c, const char *wanted)
{
	if (c == STREAM_EOF)
		return stream_refuse(s, IB_E_JSON, "the text ends where %s must come", wanted);
	if (c > ' ' && c < 127)
		return stream_refuse(s, IB_E_JSON, "'%c' where %s must come", c, wanted);
	return stream_refuse(s, IB_E_JSON, "byte 0x%02x where %s must come", (unsigned)c, wanted);
}

static int open_container(struct ib_stream *s, struct ib_token *t, bool object)
{
	if (s->depth == IB_STREAM_DEPTH)
		return stream_refuse(s, IB_E_LIMIT, "objects and arrays more than %d within each other", IB_STREAM_DEPTH);
	s->is_object[s->depth++] = object;
	if (object)
		stream_keys_open(s);
	stream_trail_open(s);
	s->p++;
	s->state = object ? STATE_KEY_FIRST : STATE_FIRST;
	t->kind = object ? IB_TOKEN_OBJECT : IB_TOKEN_ARRAY;
	return 0;
}

static int close_container(struct ib_stream *s, struct ib_token *t, int c)
{
	bool object = s->is_object[s->depth - 1];

	if (c != (object ? '}' : ']'))
		return unexpected(s, c, object ? "',' or '}'" : "',' or ']'");
	stream_mark(s);
	if (object)
		stream_keys_close(s);
	s->depth--;
	s->p++;
	s->state = s->depth ? STATE_AFTER : STATE_END;
	t->kind = object ? IB_TOKEN_OBJECT_END : IB_TOKEN_ARRAY_END;
	return 0;
}

static int word(struct ib_stream *s, struct ib_token *t, const char *text, enum ib_token_kind kind, double real)
{
	size_t n = strlen(text);
	int r = stream_ensure(s, n);

	if (r < 0)
		return r;
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
		return stream_refuse(s, IB_E_JSON, "no value of JSON (%s is one)", text);
	s->p += n;
	t->kind = kind;
	t->real = real;
	t->whole = false;
	return 0;
}

/* As Python writes them: NaN, Infinity, -Infinity. */
static int literal(struct ib_stream *s, struct ib_token *t, int c)
{
	if (!s->opts.literals)
		return stream_refuse(s, IB_E_JSON, "NaN and Infinity are no values of JSON");
	s->notes.literals++;
	if (c == 'N')
		return word(s, t, "NaN", IB_TOKEN_NUMBER, __builtin_nan(""));
	return c == 'I' ? word(s, t, "Infinity", IB_TOKEN_NUMBER, __builtin_inf()) : word(s, t, "-Infinity", IB_TOKEN_NUMBER, -__builtin_inf());
}

static int minus(struct ib_stream *s, struct ib_token *t)
{
	int r = stream_ensure(s, 2);

	if (r < 0)
		return r;
	return s->p[1] == 'I' ? literal(s, t, '-') : stream_number(s, t);
}

static int scalar(struct ib_stream *s, struct ib_token *t, int c)
{
	switch (c) {
	case '"':
		t->kind = IB_TOKEN_STRING;
		return stream_string(s, t, false);
	case 't':
		return word(s, t, "true", IB_TOKEN_TRUE, 1);
	case 'f':
		return word(s, t, "false", IB_TOKEN_FALSE, 0);
	case 'n':
		return word(s, t, "null", IB_TOKEN_NULL, 0);
	case 'N':
	case 'I':
		return literal(s, t, c);
	case '-':
		return minus(s, t);
	default:
		return c >= '0' && c <= '9' ? stream_number(s, t) : unexpected(s, c, "a value");
	}
}

int stream_value(struct ib_stream *s, struct ib_token *t, int c)
{
	int r;

	if (c == '{' || c == '[')
		return open_container(s, t, c == '{');
	r = scalar(s, t, c);
	s->state = s->depth ? STATE_AFTER : STATE_END;
	return r;
}

static int key(struct ib_stream *s, struct ib_token *t, int c)
{
	if (c != '"')
		return unexpected(s, c, s->state == STATE_KEY ? "a key" : "a key or '}'");
	t->kind = IB_TOKEN_KEY;
	s->state = STATE_COLON;
	return stream_trail_key(s, t);
}

/* After what came before: takes the separator, and gives the byte behind it. */
static int separator(struct ib_stream *s, int c)
{
	if (s->state == STATE_COLON) {
		if (c != ':')
			return unexpected(s, c, "':'");
		s->state = STATE_VALUE;
	} else {
		s->state = s->is_object[s->depth - 1] ? STATE_KEY : STATE_VALUE;
	}
	s->p++;
	return stream_byte(s);
}

static int end_of_document(struct ib_stream *s, struct ib_token *t)
{
	int r = 0;

	t->kind = IB_TOKEN_END;
	if (s->opts.lines && s->state == STATE_END)
		r = stream_end_line(s);
	s->state = STATE_NONE;
	return r;
}

/* Does byte c end the innermost object or array? If it is not the right bracket for that, closing it says so. */
static bool ends(const struct ib_stream *s, int c)
{
	if (s->state == STATE_AFTER)
		return c != ',';
	return (s->state == STATE_FIRST && c == ']') || (s->state == STATE_KEY_FIRST && c == '}');
}

static int token(struct ib_stream *s, struct ib_token *t)
{
	int c;

	if (s->state == STATE_END || s->state == STATE_NONE)
		return end_of_document(s, t);
	c = stream_byte(s);
	if (c >= 0 && ends(s, c))
		return close_container(s, t, c);
	if (c >= 0 && (s->state == STATE_COLON || s->state == STATE_AFTER))
		c = separator(s, c);
	if (c < 0)
		return c;
	stream_mark(s);
	return s->state == STATE_KEY || s->state == STATE_KEY_FIRST ? key(s, t, c) : stream_value(s, t, c);
}

int ib_stream_next(struct ib_stream *s, struct ib_token *ret, struct ib_err *err)
{
	if (s->ahead) {
		s->ahead = false;
		*ret = s->peeked;
		return 0;
	}
	if (s->failed)
		return stream_end(s, (int)s->err.code, err);
	return stream_end(s, token(s, ret), err);
}

int ib_stream_peek(struct ib_stream *s, struct ib_token *ret, struct ib_err *err)
{
	int r;

	if (!s->ahead) {
		r = ib_stream_next(s, &s->peeked, err);
		if (r < 0)
			return r;
		s->ahead = true;
	}
	*ret = s->peeked;
	return 0;
}

static int skip(struct ib_stream *s)
{
	unsigned depth = s->depth;
	struct ib_token t;
	int r = 0;

	if (s->ahead) {
		s->ahead = false;
		t = s->peeked;
		depth -= t.kind == IB_TOKEN_OBJECT || t.kind == IB_TOKEN_ARRAY;
	} else {
		r = token(s, &t);
	}
	if (r == 0 && (t.kind == IB_TOKEN_END || t.kind == IB_TOKEN_KEY || t.kind == IB_TOKEN_OBJECT_END || t.kind == IB_TOKEN_ARRAY_END))
		return stream_refuse(s, IB_E_INTERNAL, "no value to read over");
	while (r == 0 && s->depth > depth)
		r = token(s, &t);
	return r;
}

int ib_stream_skip(struct ib_stream *s, struct ib_err *err)
{
	int r;

	if (s->failed)
		return stream_end(s, (int)s->err.code, err);
	s->skipping = true;
	r = skip(s);
	s->skipping = false;
	return stream_end(s, r, err);
}

static int start(struct ib_stream *s)
{
	int r = stream_ensure(s, 3);

	s->started = true;
	if (r == 0 && s->end - s->p >= 3 && memcmp(s->p, "\xEF\xBB\xBF", 3) == 0) {
		s->notes.bom = true;
		s->p += 3;
	}
	return r;
}

static int document(struct ib_stream *s, bool *ret_more)
{
	bool first = !s->started;
	int r = first ? start(s) : 0;

	if (r < 0)
		return r;
	if (s->ahead || s->state != STATE_NONE)
		return stream_refuse(s, IB_E_INTERNAL, "the document before was not read to its end");
	if (s->opts.lines) {
		r = stream_next_line(s, ret_more);
	} else {
		r = stream_byte(s);
		if (r < 0)
			return r;
		if (!first && !s->opts.sequence && r != STREAM_EOF)
			return stream_refuse(s, IB_E_JSON, "something follows the value");
		*ret_more = r != STREAM_EOF;
		r = 0;
	}
	if (r == 0 && *ret_more)
		s->state = STATE_VALUE;
	return r;
}

int ib_stream_document(struct ib_stream *s, bool *ret_more, struct ib_err *err)
{
	if (s->failed)
		return stream_end(s, (int)s->err.code, err);
	return stream_end(s, document(s, ret_more), err);
}
