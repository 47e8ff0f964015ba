/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the stream: for stream*.c only. Functions here report into s->err; those of stream.h copy it to their caller. */
#ifndef IB_JSON_STREAM_IMPL_H
#define IB_JSON_STREAM_IMPL_H

#include "json/stream.h"
#include "json/stream_hash.h"

#define STREAM_BUFFER ((size_t)256 << 10)
#define STREAM_FRONT 16 /* bytes before the buffer: the last one of what was there before */
#define STREAM_PAD 64   /* bytes 0 behind it */
#define STREAM_EOF 256

enum stream_state {
	STATE_NONE,      /* no document */
	STATE_VALUE,     /* a value must come */
	STATE_FIRST,     /* after '[' */
	STATE_KEY_FIRST, /* after '{' */
	STATE_KEY,       /* after ',' in an object */
	STATE_COLON,
	STATE_AFTER, /* after a value, within something */
	STATE_END,   /* the document's value was read */
};

/* The keys of all open objects, innermost last. An object with more than a few has them in slots, too. */
struct stream_keys {
	struct stream_key *v;
	size_t n, room;
	uint32_t *slots; /* index + 1; linear probing */
	size_t n_slots, used;
	size_t first[IB_STREAM_DEPTH];
	bool indexed[IB_STREAM_DEPTH];
};

#define TRAIL_STEPS 1024 /* that are remembered */
#define TRAIL_TEXT ((size_t)32 << 10)
#define TRAIL_KEY 56 /* bytes of the longest key remembered */
#define TRAIL_LOOK 64 /* bytes to be there for comparing with one: the key rounded up to words, and both quotes */
#define TRAIL_WAYS 8 /* that part after one key */

/* A key that was found to be none of those before it in its object. One way leads to each, so that an object whose keys follow a way has no duplicates. */
struct stream_step {
	struct ib_step note; /* the caller's */
	struct stream_key hash;
	const char *text; /* with bytes 0 behind it up to a whole word */
	uint32_t n;
	uint32_t before, next, inside; /* keys in the same object, and the first one in the object that is its value; 0: none */
	uint32_t other;                /* that came in its place */
	uint32_t ways;                 /* that part here, up to it */
};

struct stream_trail {
	struct stream_step *v; /* of the first two, one is no step and one leads to the first keys of documents */
	char *text;
	uint32_t n;
	size_t text_n;
	/* of each object and array that is open */
	struct {
		uint32_t from; /* the step whose value it is; 0: not remembered */
		uint32_t step; /* taken last in it; in an array from */
		bool on;       /* all its keys so far were steps, and stand in no other list */
		bool learning; /* all its keys so far are steps, the last ones new */
	} at[IB_STREAM_DEPTH];
};

struct ib_stream {
	struct ib_source in;
	const char *name;
	struct ib_stream_opts opts;
	char *memory, *buffer;
	char *p, *end;     /* what is not read yet; *end is 0 */
	uint64_t base;     /* offset of buffer[0] in the input */
	bool eof;          /* the source gave all */
	uint64_t line;     /* from 1 */
	uint64_t line_at;  /* offset of its first byte */
	uint64_t at, at_line, at_line_at; /* where the last token began */
	enum stream_state state;
	unsigned depth;
	bool is_object[IB_STREAM_DEPTH];
	bool started, skipping;
	bool ahead; /* peeked was read, and not yet given */
	struct ib_token peeked;
	char *text; /* of strings that do not stand in the buffer as they are */
	size_t text_n, text_room;
	bool text_full;
	struct stream_hash key_hash, value_hash; /* as they begin */
	struct stream_keys keys;
	struct stream_trail trail;
	struct ib_stream_notes notes;
	struct ib_err err;
	bool failed;
};

/* --- stream.c --- */
/* Moves what is unread to the front and reads more behind it; p stays at the same byte, which then has another address. 1: more came, 0: the end (or
 * no room). */
IB_MUST int stream_more(struct ib_stream *s);
/* More until n bytes are there, or the end is. */
IB_MUST int stream_ensure(struct ib_stream *s, size_t n);
/* Passes over white space; the byte that comes next (not taken), or STREAM_EOF. Within a document of one line, the line's end is an error. */
int stream_byte_after_space(struct ib_stream *s);
static inline int stream_byte(struct ib_stream *s)
{
	unsigned char c = (unsigned char)*s->p;

	return c > ' ' ? c : stream_byte_after_space(s);
}
/* p stands on a line feed: takes it. */
void stream_line(struct ib_stream *s);
/* Notes that a token begins at p. */
static inline void stream_mark(struct ib_stream *s)
{
	s->at = s->base + (uint64_t)(s->p - s->buffer);
	s->at_line = s->line;
	s->at_line_at = s->line_at;
}
/* An error at p. */
int stream_refuse(struct ib_stream *s, enum ib_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));
/* The value that starts with byte c at p, marked already. */
IB_MUST int stream_value(struct ib_stream *s, struct ib_token *t, int c);
/* Passes on what stands in s->err. */
int stream_end(struct ib_stream *s, int r, struct ib_err *err);

/* --- stream_text.c: p stands on the opening quote --- */
IB_MUST int stream_string(struct ib_stream *s, struct ib_token *t, bool key);

/* --- stream_keys.c --- */
void stream_hash_init(struct stream_hash *h, bool secret);
void stream_keys_open(struct ib_stream *s);  /* the object at s->depth - 1 begins */
void stream_keys_close(struct ib_stream *s); /* it ends */
IB_MUST int stream_keys_add(struct ib_stream *s, struct stream_key k, const char *text);
void stream_keys_clear(struct stream_keys *k);

/* --- stream_trail.c --- */
void stream_trail_open(struct ib_stream *s); /* the object or array at s->depth - 1 begins */
/* The key that begins at p, by what was read before or letter by letter. */
IB_MUST int stream_trail_key(struct ib_stream *s, struct ib_token *t);
void stream_trail_clear(struct stream_trail *t);

/* --- stream_number.c: p stands on '-' or a digit --- */
IB_MUST int stream_number(struct ib_stream *s, struct ib_token *t);

/* --- stream_lines.c: goes to the next line that is a document; *ret_more false: there is none --- */
IB_MUST int stream_next_line(struct ib_stream *s, bool *ret_more);
/* The rest of a document's line. */
IB_MUST int stream_end_line(struct ib_stream *s);

#endif
