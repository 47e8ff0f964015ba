/* SPDX-License-Identifier: Apache-2.0 */
/* A pull reader for raw JSON results of any size: strict RFC 8259, one pass, memory that does not grow with the text. Nothing is built: the caller
 * takes tokens, or hands a table of wanted paths to json/pick.h. */
#ifndef IB_JSON_STREAM_H
#define IB_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/source.h"

#define IB_STREAM_DEPTH 64             /* objects and arrays within each other */
#define IB_STREAM_TEXT (1u << 20)      /* bytes of a string or key that are kept; of longer ones the beginning */
#define IB_STREAM_KEYS (1u << 20)      /* keys of all open objects together, for finding duplicates */
#define IB_STREAM_REALS ((size_t)1 << 28) /* numbers that one caller may collect */

enum ib_token_kind {
	IB_TOKEN_END, /* of the document */
	IB_TOKEN_OBJECT,
	IB_TOKEN_OBJECT_END,
	IB_TOKEN_ARRAY,
	IB_TOKEN_ARRAY_END,
	IB_TOKEN_KEY,
	IB_TOKEN_STRING,
	IB_TOKEN_NUMBER,
	IB_TOKEN_TRUE,
	IB_TOKEN_FALSE,
	IB_TOKEN_NULL,
};

/* A key at its place in the documents, for what a caller wants to remember about it: all 0 at first, never touched by the stream. */
struct ib_step {
	const void *whose;
	size_t depth;
	uint64_t rows, leaves, below;
};

struct ib_token {
	enum ib_token_kind kind;
	const char *text; /* a key or string, unescaped, with a byte 0 behind it; valid until the next call */
	size_t kept;      /* its bytes in text, at most IB_STREAM_TEXT */
	uint64_t bytes;   /* its whole length */
	uint64_t hash;    /* of the whole string: equal for equal ones, not for use against an attacker. Only with opts.hash */
	double real;      /* a number, correctly rounded */
	bool whole;       /* it is written without point and exponent and fits integer */
	int64_t integer;
	struct ib_step *step; /* of a key: the same one whenever the same keys led to it, valid as long as the stream; NULL: not remembered */
};

struct ib_stream_opts {
	bool literals; /* NaN, Infinity and -Infinity are numbers (counted), as Python writes them; else IB_E_JSON */
	bool lines;    /* one document a line; lines that are no object or array are passed over and counted; else one document in all */
	bool sequence; /* any number of documents, one after the other, laid out as they like */
	bool hash;     /* compute ib_token.hash */
};

struct ib_stream;

/* in and name (for messages) must stay valid. A byte-order mark is passed over and noted. Never NULL. */
struct ib_stream *ib_stream_new(const struct ib_source *in, const char *name, const struct ib_stream_opts *opts);
void ib_stream_free(struct ib_stream **s);
#define ib_auto_stream __attribute__((cleanup(ib_stream_free)))

/* Goes to the next document: *ret_more false at the end of input. The document before must have been read to its IB_TOKEN_END. With lines, a line that
 * is not whole at the end of input (no line feed) is a document like any other: ib_stream_torn() tells. IB_E_JSON: something after the only document. */
IB_MUST int ib_stream_document(struct ib_stream *s, bool *ret_more, struct ib_err *err);
/* The next token of the document. IB_E_JSON with line and column (bytes, from 1): syntax, duplicate keys (found within one object), invalid UTF-8, numbers
 * beyond double; IB_E_LIMIT: IB_STREAM_DEPTH, IB_STREAM_KEYS; IB_E_IO and those of the source. After an error every call fails with the same. */
IB_MUST int ib_stream_next(struct ib_stream *s, struct ib_token *ret, struct ib_err *err);
/* The token that ib_stream_next() will give, without taking it. */
IB_MUST int ib_stream_peek(struct ib_stream *s, struct ib_token *ret, struct ib_err *err);
/* Reads over the value that comes next, checking it as strictly. Also right after an IB_TOKEN_KEY. */
IB_MUST int ib_stream_skip(struct ib_stream *s, struct ib_err *err);

/* Numbers collected by a caller; memory is that of v, grown by half or doubled. */
struct ib_reals {
	double *v;
	size_t n, room;
};
void ib_reals_add(struct ib_reals *r, double v);
void ib_reals_clear(struct ib_reals *r);
/* Appends the numbers of the array that comes next; null becomes NaN. The fast way for long arrays. IB_E_SYNTAX: another value in it, naming where;
 * IB_E_LIMIT. A null or nothing but null in place of the array appends nothing and sets *ret_null (may be NULL). */
IB_MUST int ib_stream_reals(struct ib_stream *s, const char *where, struct ib_reals *to, bool *ret_null, struct ib_err *err);

/* What was met so far. */
struct ib_stream_notes {
	uint64_t literals;      /* NaN and Infinity */
	uint64_t foreign_lines; /* with lines: passed over */
	uint64_t first_foreign; /* its line, from 1; 0: none */
	bool bom, crlf;         /* a byte-order mark; a line that ends with CR LF */
	bool torn;              /* with lines: the last line had no line feed */
};
const struct ib_stream_notes *ib_stream_notes(const struct ib_stream *s);
const char *ib_stream_name(const struct ib_stream *s);
/* Position of the token read last. */
void ib_stream_at(const struct ib_stream *s, uint64_t *ret_line, uint64_t *ret_column);
/* An error of the caller about what was read last: "'name' line 3 column 7: …"; returns code. */
int ib_stream_fail(const struct ib_stream *s, struct ib_err *err, enum ib_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
