/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the stream. One that stands in the buffer without escapes is given where it is; others are put together in s->text. */
#include <string.h>

#include "base/str.h"
#include "json/stream_impl.h"

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* The first byte that is no printable ASCII character or is '"' or '\\'. Byte 0 behind the buffer ends it. */
static char *plain(char *p)
{
	for (;; p += 8) {
		uint64_t v, quote, back, control;

		memcpy(&v, p, 8);
		v = le64toh(v);
		quote = v ^ (ONES * '"');
		back = v ^ (ONES * '\\');
		control = v - ONES * 0x20;
		v = (control | v | ((quote - ONES) & ~quote) | ((back - ONES) & ~back)) & HIGHS;
		if (v)
			return p + __builtin_ctzll(v) / 8;
	}
}

static bool is_tail(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Bytes of the character that begins with a and b, by its first byte; 0: none. No overlong forms, no surrogates, nothing beyond U+10FFFF. */
static size_t length(unsigned char a, unsigned char b)
{
	if (a < 0xC2 || a > 0xF4 || !is_tail((char)b))
		return 0;
	if (a < 0xE0)
		return 2;
	if (a < 0xF0)
		return (a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F) ? 0 : 3;
	return (a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F) ? 0 : 4;
}

/* The same for the character at p, which is not ASCII. Bytes 0 behind the buffer are no part of one. */
static size_t character(const char *p)
{
	size_t n = length((unsigned char)p[0], (unsigned char)p[1]);

	for (size_t i = 2; i < n; i++)
		if (!is_tail(p[i]))
			return 0;
	return n;
}

/* The first byte that needs a look: '"', '\\', a control character, no UTF-8, or the end of the buffer. */
static char *run(char *p)
{
	for (;;) {
		size_t n;

		p = plain(p);
		if (!((unsigned char)*p & 0x80))
			return p;
		n = character(p);
		if (!n)
			return p;
		p += n;
	}
}

/* --- a string put together --- */

struct sink {
	struct stream_hash hash;
	bool hashed, kept;
};

static void add(struct ib_stream *s, struct sink *k, const char *data, size_t n)
{
	size_t room = IB_STREAM_TEXT - s->text_n;

	if (k->hashed)
		stream_hash_add(&k->hash, data, n);
	else
		k->hash.bytes += n;
	if (!k->kept || s->text_full || !n)
		return;
	if (n > room) {
		s->text_full = true;
		for (n = room; n && is_tail(data[n]); n--)
			;
	}
	if (s->text_n + n + 1 > s->text_room) {
		s->text_room = 2 * (s->text_n + n + 1);
		if (s->text_room > IB_STREAM_TEXT + 1)
			s->text_room = IB_STREAM_TEXT + 1;
		s->text = ib_realloc(s->text, s->text_room, 1);
	}
	memcpy(s->text + s->text_n, data, n);
	s->text_n += n;
}

/* Four hex digits at p, or negative (no error of ours). */
static long hex4(const char *p)
{
	long v = 0;

	for (size_t i = 0; i < 4; i++) {
		char c = p[i];

		v = v * 16;
		if (c >= '0' && c <= '9')
			v += c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v += (c | 0x20) - 'a' + 10;
		else
			v = -(long)0x100000;
	}
	return v;
}

static size_t encode(long c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xC0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xE0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3F));
		out[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3F));
	out[2] = (char)(0x80 | (c >> 6 & 0x3F));
	out[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

static int unicode(struct ib_stream *s, struct sink *k)
{
	long c = hex4(s->p + 2), low;
	size_t n = 6;
	char out[4 + 8] = {0};

	if (c < 0)
		return stream_refuse(s, IB_E_JSON, "\\u without four hex digits");
	if (c >= 0xDC00 && c <= 0xDFFF)
		return stream_refuse(s, IB_E_JSON, "the second half of a surrogate pair without the first");
	if (c >= 0xD800 && c <= 0xDBFF) {
		low = s->p[6] == '\\' && s->p[7] == 'u' ? hex4(s->p + 8) : 0;
		if (low < 0xDC00 || low > 0xDFFF)
			return stream_refuse(s, IB_E_JSON, "the first half of a surrogate pair without the second");
		c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
		n = 12;
	}
	add(s, k, out, encode(c, out));
	s->p += n;
	return 0;
}

/* p stands on a backslash. */
static int escape(struct ib_stream *s, struct sink *k)
{
	static const char from[] = "\"\\/bfnrt", to[8 + 8] = "\"\\/\b\f\n\r\t";
	const char *at;
	int r = stream_ensure(s, 12);

	if (r < 0)
		return r;
	if (s->p[1] == 'u')
		return unicode(s, k);
	at = s->p[1] ? strchr(from, s->p[1]) : NULL;
	if (!at)
		return stream_refuse(s, IB_E_JSON, s->end - s->p < 2 ? "the text ends within a string" : "no escape sequence of JSON");
	add(s, k, to + (at - from), 1);
	s->p += 2;
	return 0;
}

/* What run() stopped at, other than a quote: p stands on it. */
static int special(struct ib_stream *s, struct sink *k)
{
	unsigned char c = (unsigned char)*s->p;
	int r;

	if (c == '\\')
		return escape(s, k);
	if (c >= 0x80) {
		r = stream_ensure(s, 4);
		if (r < 0)
			return r;
		return character(s->p) ? 0 : stream_refuse(s, IB_E_JSON, "no UTF-8 (byte 0x%02x)", c);
	}
	if (s->p < s->end)
		return stream_refuse(s, IB_E_JSON, "control character 0x%02x in a string, which must be escaped", c);
	r = stream_more(s);
	if (r == 0)
		return stream_refuse(s, IB_E_JSON, "the text ends within a string");
	return r < 0 ? r : 0;
}

static int finish(struct ib_stream *s, struct ib_token *t, struct sink *k, bool key)
{
	struct stream_key h = {0, 0};

	t->bytes = k->hash.bytes;
	if (k->hashed)
		h = stream_hash_end(&k->hash);
	t->hash = !key && s->opts.hash ? h.a ^ (h.b << 31 | h.b >> 33) : 0;
	if (!key && s->opts.hash && !t->hash)
		t->hash = 1;
	return key ? stream_keys_add(s, h, t->text) : 0;
}

static int assemble(struct ib_stream *s, struct ib_token *t, struct sink *k, bool key)
{
	s->text_n = 0;
	s->text_full = false;
	for (;;) {
		char *q = run(s->p);
		int r;

		add(s, k, s->p, (size_t)(q - s->p));
		s->p = q;
		if (*q == '"')
			break;
		r = special(s, k);
		if (r < 0)
			return r;
	}
	s->p++;
	if (!s->text)
		s->text = ib_alloc(s->text_room = 256);
	s->text[s->text_n] = 0;
	t->text = s->text;
	t->kept = s->text_n;
	return finish(s, t, k, key);
}

int stream_string(struct ib_stream *s, struct ib_token *t, bool key)
{
	struct sink k = {.hash = key ? s->key_hash : s->value_hash};
	char *q = run(s->p + 1);

	k.hashed = key || (s->opts.hash && !s->skipping);
	k.kept = key || !s->skipping;
	s->p++;
	if (*q != '"')
		return assemble(s, t, &k, key);
	t->text = s->p;
	t->kept = (size_t)(q - s->p);
	if (k.hashed)
		stream_hash_add(&k.hash, t->text, t->kept);
	else
		k.hash.bytes = t->kept;
	*q = 0;
	s->p = q + 1;
	return finish(s, t, &k, key);
}
