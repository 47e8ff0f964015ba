/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of paths over the stream. At each object a mask of 64 bits says which rows may still match. */
#include "json/pick.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"

#define ROWS_MAX 64
#define TREE_VALUES 65536
#define TREE_BYTES ((size_t)16 << 20) /* of strings in one tree */

struct budget {
	size_t values, bytes;
};

struct picking {
	struct ib_stream *s;
	const struct ib_pick *table;
	void *row;
	struct budget budget; /* of the rows for other scalars */
	uint64_t found;
	struct ib_err *err;
};

static void *field(const struct picking *p, size_t i)
{
	return (char *)p->row + p->table[i].at;
}

static int mistyped(const struct picking *p, size_t i, const char *wanted)
{
	return ib_stream_fail(p->s, p->err, IB_E_SYNTAX, "'%s' is not %s", p->table[i].path, wanted);
}

/* --- small trees --- */

static int spend(struct ib_stream *s, struct budget *b, const struct ib_token *t, struct ib_err *err)
{
	if (++b->values > TREE_VALUES)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %d values where few are expected", TREE_VALUES);
	if (t->kind != IB_TOKEN_STRING && t->kind != IB_TOKEN_KEY)
		return 0;
	b->bytes += t->kept;
	if (b->bytes > TREE_BYTES)
		return ib_stream_fail(s, err, IB_E_LIMIT, "more than %zu bytes of text where little is expected", TREE_BYTES);
	return 0;
}

/* NULL: the token is no scalar. */
static json_t *scalar(const struct ib_token *t)
{
	switch (t->kind) {
	case IB_TOKEN_STRING:
		return json_stringn_nocheck(t->text, t->kept);
	case IB_TOKEN_NUMBER:
		if (t->whole)
			return json_integer(t->integer);
		return isfinite(t->real) ? json_real(t->real) : json_null();
	case IB_TOKEN_TRUE:
		return json_true();
	case IB_TOKEN_FALSE:
		return json_false();
	case IB_TOKEN_NULL:
		return json_null();
	default:
		return NULL;
	}
}

/* Takes value. jansson's keys end at their first byte 0. */
static int set_member(struct ib_stream *s, json_t *o, const char *key, size_t n, json_t *value, struct ib_err *err)
{
	if (strlen(key) == n)
		return json_object_set_new_nocheck(o, key, value) < 0 ? ib_stream_fail(s, err, IB_E_INTERNAL, "key '%s' cannot be kept", key) : 0;
	json_decref(value);
	return ib_stream_fail(s, err, IB_E_JSON, "byte 0 in key '%s'", key);
}

/* The containers that are open, and the key that waits for its value. */
struct tree {
	json_t *open[IB_STREAM_DEPTH];
	unsigned depth;
	char *key;
	size_t key_n;
	json_t *root;
};

static int attach(struct ib_stream *s, struct tree *t, json_t *v, struct ib_err *err)
{
	json_t *into = t->depth ? t->open[t->depth - 1] : NULL;
	int r = 0;

	if (!into) {
		t->root = v;
	} else if (json_is_object(into)) {
		r = set_member(s, into, t->key, t->key_n, v, err);
	} else {
		ib_json_add(into, v);
	}
	if (r == 0 && (json_is_object(v) || json_is_array(v)))
		t->open[t->depth++] = v;
	return r;
}

static int grow(struct ib_stream *s, struct tree *tree, const struct ib_token *t, struct ib_err *err)
{
	switch (t->kind) {
	case IB_TOKEN_KEY:
		free(tree->key);
		tree->key = ib_strndup(t->text, t->kept);
		tree->key_n = t->kept;
		return 0;
	case IB_TOKEN_OBJECT_END:
	case IB_TOKEN_ARRAY_END:
		tree->depth--;
		return 0;
	case IB_TOKEN_OBJECT:
		return attach(s, tree, ib_json_object(), err);
	case IB_TOKEN_ARRAY:
		return attach(s, tree, ib_json_array(), err);
	default:
		return attach(s, tree, scalar(t), err);
	}
}

static int build(struct ib_stream *s, struct tree *tree, struct ib_err *err)
{
	struct budget budget = {0};
	struct ib_token t;
	int r;

	do {
		r = ib_stream_next(s, &t, err);
		if (r == 0 && !tree->depth && (t.kind == IB_TOKEN_END || t.kind == IB_TOKEN_KEY || t.kind == IB_TOKEN_OBJECT_END || t.kind == IB_TOKEN_ARRAY_END))
			return ib_stream_fail(s, err, IB_E_INTERNAL, "no value to read");
		if (r == 0)
			r = spend(s, &budget, &t, err);
		if (r == 0)
			r = grow(s, tree, &t, err);
	} while (r == 0 && tree->depth);
	return r;
}

int ib_pick_tree(struct ib_stream *s, json_t **ret, struct ib_err *err)
{
	struct tree tree = {.depth = 0};
	int r = build(s, &tree, err);

	if (r < 0)
		json_decref(tree.root);
	else
		*ret = tree.root;
	free(ib_steal(&tree.key));
	return r;
}

/* --- one value --- */

static int take_real(const struct picking *p, size_t i, const struct ib_token *t)
{
	if (t->kind != IB_TOKEN_NUMBER)
		return mistyped(p, i, "a number");
	*(double *)field(p, i) = t->real;
	return 0;
}

static int take_int(const struct picking *p, size_t i, const struct ib_token *t)
{
	int64_t *to = field(p, i);

	if (t->kind != IB_TOKEN_NUMBER)
		return mistyped(p, i, "a number");
	if (t->whole)
		*to = t->integer;
	else if (t->real == floor(t->real) && fabs(t->real) <= 0x1p53)
		*to = (int64_t)t->real;
	else
		return mistyped(p, i, "a whole number");
	return 0;
}

static int take_string(const struct picking *p, size_t i, const struct ib_token *t)
{
	char **text = field(p, i);

	if (t->kind != IB_TOKEN_STRING)
		return mistyped(p, i, "a string");
	if (p->table[i].kind == IB_PICK_HASH) {
		*(uint64_t *)field(p, i) = t->hash;
	} else if (p->table[i].kind == IB_PICK_BYTES) {
		*(int64_t *)field(p, i) = (int64_t)t->bytes;
	} else {
		free(*text);
		*text = ib_strndup(t->text, t->kept);
	}
	return 0;
}

/* A token that is not null, for a row that takes one token. */
static int take(struct picking *p, size_t i, const struct ib_token *t)
{
	p->found |= (uint64_t)1 << i;
	switch (p->table[i].kind) {
	case IB_PICK_REAL:
		return take_real(p, i, t);
	case IB_PICK_INT:
		return take_int(p, i, t);
	case IB_PICK_BOOL:
		if (t->kind != IB_TOKEN_TRUE && t->kind != IB_TOKEN_FALSE)
			return mistyped(p, i, "true or false");
		*(int8_t *)field(p, i) = t->kind == IB_TOKEN_TRUE;
		return 0;
	case IB_PICK_PRESENT:
		*(bool *)field(p, i) = true;
		return 0;
	default:
		return take_string(p, i, t);
	}
}

/* --- rows that read the value themselves --- */

static int call(struct picking *p, size_t i, const char *key)
{
	return p->table[i].each(p->s, key, p->row, p->err);
}

static int each_member(struct picking *p, size_t i)
{
	ib_auto_free char *key = NULL;
	size_t room = 0;
	struct ib_token t;
	int r;

	for (;;) {
		r = ib_stream_next(p->s, &t, p->err);
		if (r < 0 || t.kind == IB_TOKEN_OBJECT_END)
			return r;
		if (t.kept + 1 > room) {
			room = 2 * (t.kept + 1);
			key = ib_realloc(key, room, 1);
		}
		memcpy(key, t.text, t.kept + 1);
		r = call(p, i, key);
		if (r < 0)
			return r;
	}
}

static int each_element(struct picking *p, size_t i)
{
	struct ib_token t;
	int r;

	for (;;) {
		r = ib_stream_peek(p->s, &t, p->err);
		if (r == 0 && t.kind == IB_TOKEN_ARRAY_END)
			return ib_stream_next(p->s, &t, p->err);
		if (r == 0)
			r = call(p, i, NULL);
		if (r < 0)
			return r;
	}
}

static int take_each(struct picking *p, size_t i)
{
	struct ib_token t;
	int r = ib_stream_next(p->s, &t, p->err);

	if (r < 0)
		return r;
	if (t.kind == IB_TOKEN_OBJECT)
		return each_member(p, i);
	return t.kind == IB_TOKEN_ARRAY ? each_element(p, i) : mistyped(p, i, "an array or object");
}

static int take_reals(struct picking *p, size_t i)
{
	ib_auto_free char *where = ib_asprintf("'%s'", p->table[i].path);

	return ib_stream_reals(p->s, where, field(p, i), NULL, p->err);
}

static int take_tree(struct picking *p, size_t i)
{
	json_t **to = field(p, i), *v = NULL;
	int r = ib_pick_tree(p->s, &v, p->err);

	if (r < 0)
		return r;
	json_decref(*to);
	*to = v;
	return 0;
}

static bool reads_value(const struct ib_pick *row)
{
	return row->kind == IB_PICK_REALS || row->kind == IB_PICK_TREE || row->kind == IB_PICK_EACH || row->kind == IB_PICK_CALL;
}

static int take_value(struct picking *p, size_t i, const struct ib_token *next)
{
	const char *slash = strrchr(p->table[i].path, '/');

	if (next->kind != IB_TOKEN_NULL)
		p->found |= (uint64_t)1 << i;
	else if (p->table[i].kind != IB_PICK_CALL)
		return ib_stream_skip(p->s, p->err);
	switch (p->table[i].kind) {
	case IB_PICK_REALS:
		return take_reals(p, i);
	case IB_PICK_TREE:
		return take_tree(p, i);
	case IB_PICK_EACH:
		return take_each(p, i);
	default:
		return call(p, i, slash ? slash + 1 : p->table[i].path);
	}
}

/* --- objects --- */

/* An object of the table: rows whose path begins with its own, which has depth bytes. */
struct level {
	uint64_t rows;
	size_t depth;
	json_t *scalars; /* borrowed; NULL: not wanted */
};

/* Rows that end at this key, and those that go on below it. */
struct match {
	uint64_t leaves, below;
};

/* Remembered where the stream knows the key. */
static struct match match(const struct picking *p, const struct level *l, const struct ib_token *key)
{
	struct ib_step *step = key->step;
	struct match m = {0, 0};

	if (step && step->whose == p->table && step->rows == l->rows && step->depth == l->depth)
		return (struct match){step->leaves, step->below};
	for (uint64_t rows = l->rows; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);
		const char *path = p->table[i].path + l->depth;

		if (*path != *key->text || strncmp(path, key->text, key->kept) != 0)
			continue;
		if (memchr(key->text, '/', key->kept) || strlen(key->text) != key->kept) /* no key of a path */
			break;
		if (!path[key->kept] && p->table[i].kind != IB_PICK_SCALARS)
			m.leaves |= (uint64_t)1 << i;
		else if (path[key->kept] == '/')
			m.below |= (uint64_t)1 << i;
	}
	if (step)
		*step = (struct ib_step){.whose = p->table, .depth = l->depth, .rows = l->rows, .leaves = m.leaves, .below = m.below};
	return m;
}

static int object(struct picking *p, uint64_t rows, size_t depth);

static int give(struct picking *p, uint64_t rows, const struct ib_token *t)
{
	int r = 0;

	for (; rows && r == 0 && t->kind != IB_TOKEN_NULL; rows &= rows - 1)
		r = take(p, (size_t)__builtin_ctzll(rows), t);
	return r;
}

static int below(struct picking *p, const struct match *m, size_t depth)
{
	struct ib_token t;
	int r = ib_stream_next(p->s, &t, p->err);

	if (r == 0)
		r = give(p, m->leaves, &t);
	if (r < 0 || t.kind == IB_TOKEN_NULL)
		return r;
	return t.kind == IB_TOKEN_OBJECT ? object(p, m->below, depth) : mistyped(p, (size_t)__builtin_ctzll(m->below), "in an object");
}

static int leaf(struct picking *p, uint64_t leaves)
{
	uint64_t readers = 0;
	struct ib_token t;
	int r;

	for (uint64_t rows = leaves; rows; rows &= rows - 1)
		if (reads_value(&p->table[__builtin_ctzll(rows)]))
			readers = rows & -rows;
	r = ib_stream_peek(p->s, &t, p->err);
	if (r == 0)
		r = give(p, leaves & ~readers, &t);
	if (r < 0)
		return r;
	return readers ? take_value(p, (size_t)__builtin_ctzll(readers), &t) : ib_stream_skip(p->s, p->err);
}

/* A member that no row names. */
static int other(struct picking *p, const struct level *l, const struct ib_token *key)
{
	size_t n = key->kept;
	ib_auto_free char *copy = ib_strndup(key->text, n);
	struct ib_token t;
	json_t *v;
	int r = spend(p->s, &p->budget, key, p->err);

	if (r == 0)
		r = ib_stream_peek(p->s, &t, p->err);
	if (r == 0)
		r = spend(p->s, &p->budget, &t, p->err);
	if (r < 0)
		return r;
	v = scalar(&t);
	if (v)
		r = set_member(p->s, l->scalars, copy, n, v, p->err);
	return r < 0 ? r : ib_stream_skip(p->s, p->err);
}

static int member(struct picking *p, const struct level *l, const struct ib_token *key)
{
	struct match m = match(p, l, key);
	size_t depth = l->depth + key->kept + 1;

	if (m.below)
		return below(p, &m, depth);
	if (m.leaves)
		return leaf(p, m.leaves);
	return l->scalars ? other(p, l, key) : ib_stream_skip(p->s, p->err);
}

/* The row for the other scalars of this object, made ready. */
static json_t *scalars_of(struct picking *p, uint64_t rows, size_t depth)
{
	for (; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);
		json_t **to = field(p, i);

		if (p->table[i].kind != IB_PICK_SCALARS || p->table[i].path[depth])
			continue;
		p->found |= (uint64_t)1 << i;
		json_decref(*to);
		*to = ib_json_object();
		return *to;
	}
	return NULL;
}

static int object(struct picking *p, uint64_t rows, size_t depth)
{
	struct level l = {.rows = rows, .depth = depth, .scalars = scalars_of(p, rows, depth)};
	struct ib_token t;

	for (;;) {
		int r = ib_stream_next(p->s, &t, p->err);

		if (r < 0 || t.kind == IB_TOKEN_OBJECT_END)
			return r;
		r = member(p, &l, &t);
		if (r < 0)
			return r;
	}
}

int ib_pick_inside(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err)
{
	struct picking p = {.s = s, .table = table, .row = row, .err = err};
	uint64_t rows = 0;
	size_t n = 0;
	int r;

	while (table[n].path && n < ROWS_MAX)
		rows |= (uint64_t)1 << n++;
	if (n == ROWS_MAX && table[n].path)
		return ib_stream_fail(s, err, IB_E_INTERNAL, "a table of more than %d paths", ROWS_MAX);
	r = object(&p, rows, 0);
	for (size_t i = 0; r == 0 && missing && i < n; i++)
		if (table[i].wanted && !(p.found >> i & 1))
			ib_strv_add(missing, table[i].path);
	return r;
}

int ib_pick(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err)
{
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	if (r < 0)
		return r;
	if (t.kind != IB_TOKEN_OBJECT)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "a value that is no object");
	return ib_pick_inside(s, table, row, missing, err);
}
