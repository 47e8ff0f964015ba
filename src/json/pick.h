/* SPDX-License-Identifier: Apache-2.0 */
/* Takes what a table names out of a streamed object, and reads over the rest: a reader of a client's file is mostly such tables. */
#ifndef IB_JSON_PICK_H
#define IB_JSON_PICK_H

#include "base/str.h"
#include "json/json.h"
#include "json/stream.h"

enum ib_pick_kind {
	IB_PICK_REAL,    /* double. null leaves what is there: begin with NaN */
	IB_PICK_INT,     /* int64_t: a whole number, also as 12.0; null leaves what is there */
	IB_PICK_TEXT,    /* char *, allocated, at most IB_STREAM_TEXT bytes, invalid never; null leaves it; an earlier one is freed */
	IB_PICK_BOOL,    /* int8_t: 0 or 1; null leaves it: begin with -1 */
	IB_PICK_HASH,    /* uint64_t: of a string (the stream needs opts.hash); never 0 for one that is there */
	IB_PICK_BYTES,   /* int64_t: length of a string in bytes */
	IB_PICK_PRESENT, /* bool: the key is there and not null (false, 0 and "" count as there); the value is read over */
	IB_PICK_REALS,   /* struct ib_reals: numbers of an array, appended; null is NaN */
	IB_PICK_TREE,    /* json_t *: the whole value, small (at most 65,536 values in it) */
	/* json_t *: path must be "" or end with "/": an object of all members there that no other row takes and that are string, number, boolean or null */
	IB_PICK_SCALARS,
	IB_PICK_EACH,    /* the value is an array or object: each is called for every element, before it; null: not called */
	IB_PICK_CALL,    /* each is called once, before the value, whatever it is */
};

struct ib_pick {
	const char *path; /* keys joined by "/": "metrics/request_latency/value"; "" is the object itself (SCALARS only) */
	enum ib_pick_kind kind;
	size_t at;        /* offsetof the field within the row */
	bool wanted;      /* its absence (or null) is noted in missing */
	/* EACH and CALL: must read exactly one value. key is that of the member, NULL in an array */
	int (*each)(struct ib_stream *s, const char *key, void *row, struct ib_err *err);
};

/* Reads the object that comes next (IB_TOKEN_OBJECT not yet taken). rows of the table end with path NULL; at most 64. missing (may be NULL) gets the
 * paths of the wanted ones that are not there. IB_E_SYNTAX with position and path: a value of another type (NaN and Infinity are numbers); errors of
 * the stream. */
IB_MUST int ib_pick(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err);
/* The same where IB_TOKEN_OBJECT was taken already. */
IB_MUST int ib_pick_inside(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err);
/* The value that comes next as a small document: at most 65,536 values; IB_E_LIMIT. NaN and Infinity become null. New reference. */
IB_MUST int ib_pick_tree(struct ib_stream *s, json_t **ret, struct ib_err *err);

#endif
