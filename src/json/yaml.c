/* SPDX-License-Identifier: Apache-2.0 */
/* The strict YAML reader: libyaml's events, checked one by one, become a tree. The only user of libyaml. */
#include "json/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/auto.h"
#include "base/str.h"

struct reader {
	yaml_parser_t parser;
	const char *data, *name;
	size_t size;
	struct ib_yaml *stack[IB_YAML_DEPTH + 1]; /* open lists and maps; their last child */
	struct ib_yaml *last[IB_YAML_DEPTH + 1];
	int depth;
	struct ib_yaml *root;
	char *key; /* read, waiting for its value */
	struct ib_yaml_at key_at;
	size_t nodes;
	int documents;
};

int ib_yaml_fail(struct ib_err *err, const char *name, struct ib_yaml_at at, const char *fmt, ...)
{
	char text[640];
	char where[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(where, sizeof(where), "%.200s:%u:%u", name, at.line, at.column);
	return ib_fail_at(err, IB_E_USAGE, where, "%s: %s", where, text);
}

void ib_yaml_free(struct ib_yaml **y)
{
	struct ib_yaml *n = *y;

	while (n) {
		struct ib_yaml *next = n->next;

		ib_yaml_free(&n->child);
		free(n->text);
		free(n->key);
		free(n);
		n = next;
	}
	*y = NULL;
}

const struct ib_yaml *ib_yaml_get(const struct ib_yaml *map, const char *key)
{
	if (!map || map->kind != IB_YAML_MAP)
		return NULL;
	for (const struct ib_yaml *c = map->child; c; c = c->next)
		if (strcmp(c->key, key) == 0)
			return c;
	return NULL;
}

const struct ib_yaml *ib_yaml_item(const struct ib_yaml *list, size_t i)
{
	const struct ib_yaml *c = list ? list->child : NULL;

	for (; c && i; i--)
		c = c->next;
	return c;
}

static struct ib_yaml_at at_mark(const yaml_mark_t *m)
{
	return (struct ib_yaml_at){(unsigned)m->line + 1, (unsigned)m->column + 1};
}

/* Place of a byte. */
static struct ib_yaml_at at_offset(const char *data, size_t offset)
{
	struct ib_yaml_at at = {1, 1};

	for (size_t i = 0; i < offset; i++) {
		if (data[i] == '\n')
			at = (struct ib_yaml_at){at.line + 1, 1};
		else if ((data[i] & 0xC0) != 0x80)
			at.column++;
	}
	return at;
}

/* Length of the longest valid UTF-8 prefix. */
static size_t valid_prefix(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t k = 1;

		while (k <= 4 && i + k <= n && !ib_utf8_valid(s + i, k))
			k++;
		if (k > 4 || i + k > n)
			break;
		i += k;
	}
	return i;
}

static int check_bytes(const struct reader *r, struct ib_err *err)
{
	const char *nul = r->size ? memchr(r->data, 0, r->size) : NULL;

	if (r->size > IB_YAML_MAX)
		return ib_yaml_fail(err, r->name, (struct ib_yaml_at){1, 1}, "the file is larger than %u bytes", IB_YAML_MAX);
	if (r->size >= 3 && memcmp(r->data, "\xEF\xBB\xBF", 3) == 0)
		return ib_yaml_fail(err, r->name, (struct ib_yaml_at){1, 1}, "byte order mark: save the file as UTF-8 without one");
	if (nul)
		return ib_yaml_fail(err, r->name, at_offset(r->data, (size_t)(nul - r->data)), "byte 0: not a text file");
	if (!ib_utf8_valid(r->data, r->size))
		return ib_yaml_fail(err, r->name, at_offset(r->data, valid_prefix(r->data, r->size)), "not UTF-8");
	return 0;
}

/* Is what the parser stumbled over a tab? */
static bool at_tab(const struct reader *r, const yaml_mark_t *mark)
{
	size_t at = 0;

	for (size_t line = 0; line < mark->line; line++) {
		const char *end = memchr(r->data + at, '\n', r->size - at);

		if (!end)
			return false;
		at = (size_t)(end - r->data) + 1;
	}
	return mark->column < r->size - at && r->data[at + mark->column] == '\t';
}

static int parser_error(const struct reader *r, struct ib_err *err)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "cannot be parsed";

	if (p->error == YAML_READER_ERROR)
		return ib_yaml_fail(err, r->name, at_offset(r->data, p->problem_offset < r->size ? p->problem_offset : r->size), "%s", problem);
	if (p->error == YAML_SCANNER_ERROR && at_tab(r, &p->problem_mark))
		return ib_yaml_fail(err, r->name, at_mark(&p->problem_mark), "a tab where only spaces may stand: indent with spaces");
	if (p->context)
		return ib_yaml_fail(err, r->name, at_mark(&p->problem_mark), "%s %s", problem, p->context);
	return ib_yaml_fail(err, r->name, at_mark(&p->problem_mark), "%s", problem);
}

static bool in_map(const struct reader *r)
{
	return r->depth > 0 && r->stack[r->depth - 1]->kind == IB_YAML_MAP;
}

static int no_extras(const struct reader *r, const yaml_char_t *anchor, const yaml_char_t *tag, struct ib_yaml_at at, struct ib_err *err)
{
	if (anchor)
		return ib_yaml_fail(err, r->name, at, "anchor '&%.60s': anchors are not allowed, write the value where it is used", (const char *)anchor);
	if (tag)
		return ib_yaml_fail(err, r->name, at, "tag '%.60s': tags are not allowed, the type comes from the key", (const char *)tag);
	return 0;
}

static bool is_null(const char *s)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	for (size_t i = 0; i < IB_LEN(nulls); i++)
		if (strcmp(s, nulls[i]) == 0)
			return true;
	return false;
}

/* A new node below the innermost open list or map, or as the root. */
static int place(struct reader *r, enum ib_yaml_kind kind, struct ib_yaml_at at, struct ib_yaml **ret, struct ib_err *err)
{
	struct ib_yaml *n, *parent = r->depth ? r->stack[r->depth - 1] : NULL;

	if (++r->nodes > IB_YAML_NODES_MAX)
		return ib_yaml_fail(err, r->name, at, "more than %d values", IB_YAML_NODES_MAX);
	n = ib_alloc(sizeof(*n));
	n->kind = kind;
	n->at = at;
	n->key = ib_steal(&r->key);
	n->key_at = n->key ? r->key_at : at;
	if (!parent) {
		r->root = n;
	} else {
		if (r->last[r->depth - 1])
			r->last[r->depth - 1]->next = n;
		else
			parent->child = n;
		r->last[r->depth - 1] = n;
		parent->n++;
	}
	*ret = n;
	return 0;
}

static int take_key(struct reader *r, const char *text, bool plain, struct ib_yaml_at at, struct ib_err *err)
{
	const struct ib_yaml *map = r->stack[r->depth - 1];
	const struct ib_yaml *first = ib_yaml_get(map, text);

	if (plain && strcmp(text, "<<") == 0)
		return ib_yaml_fail(err, r->name, at, "merge key '<<': not allowed, write the keys where they are used");
	if (plain && is_null(text))
		return ib_yaml_fail(err, r->name, at, "empty key");
	if (first)
		return ib_yaml_fail(err, r->name, at, "key '%.100s' occurs twice, first on line %u", text, first->key_at.line);
	if (map->n >= IB_YAML_KEYS_MAX)
		return ib_yaml_fail(err, r->name, at, "more than %d keys in one map", IB_YAML_KEYS_MAX);
	r->key = ib_strdup(text);
	r->key_at = at;
	return 0;
}

static int on_scalar(struct reader *r, const yaml_event_t *e, struct ib_err *err)
{
	const char *text = (const char *)e->data.scalar.value;
	bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct ib_yaml_at at = at_mark(&e->start_mark);
	struct ib_yaml *n;
	int k = no_extras(r, e->data.scalar.anchor, e->data.scalar.tag, at, err);

	if (k < 0)
		return k;
	if (strlen(text) != e->data.scalar.length)
		return ib_yaml_fail(err, r->name, at, "text holds byte 0");
	if (in_map(r) && !r->key)
		return take_key(r, text, plain, at, err);
	if (plain && is_null(text)) {
		if (r->key)
			return ib_yaml_fail(err, r->name, r->key_at, "key '%.100s' has no value: leave the key out where nothing is to be said", r->key);
		return ib_yaml_fail(err, r->name, at, "empty value: write \"%s\" where this text is meant", text);
	}
	k = place(r, IB_YAML_SCALAR, at, &n, err);
	if (k < 0)
		return k;
	n->plain = plain;
	n->text = ib_strdup(text);
	return 0;
}

static int open_node(struct reader *r, enum ib_yaml_kind kind, const yaml_char_t *anchor, const yaml_char_t *tag, struct ib_yaml_at at, struct ib_err *err)
{
	struct ib_yaml *n;
	int k = no_extras(r, anchor, tag, at, err);

	if (k < 0)
		return k;
	if (in_map(r) && !r->key)
		return ib_yaml_fail(err, r->name, at, "a key must be a name, not a list or map");
	if (r->depth >= IB_YAML_DEPTH)
		return ib_yaml_fail(err, r->name, at, "nested more than %d deep", IB_YAML_DEPTH);
	k = place(r, kind, at, &n, err);
	if (k < 0)
		return k;
	r->stack[r->depth] = n;
	r->last[r->depth] = NULL;
	r->depth++;
	return 0;
}

static int on_document(struct reader *r, const yaml_event_t *e, struct ib_err *err)
{
	struct ib_yaml_at at = at_mark(&e->start_mark);

	if (e->data.document_start.version_directive || e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end)
		return ib_yaml_fail(err, r->name, at, "directives (lines that start with '%%') are not allowed");
	if (++r->documents > 1)
		return ib_yaml_fail(err, r->name, at, "a second document: a contract is one");
	return 0;
}

static int on_event(struct reader *r, const yaml_event_t *e, struct ib_err *err)
{
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(r, e, err);
	case YAML_ALIAS_EVENT:
		return ib_yaml_fail(err, r->name, at_mark(&e->start_mark), "alias '*%.60s': aliases are not allowed, write the value where it is used",
				    (const char *)e->data.alias.anchor);
	case YAML_SCALAR_EVENT:
		return on_scalar(r, e, err);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(r, IB_YAML_LIST, e->data.sequence_start.anchor, e->data.sequence_start.tag, at_mark(&e->start_mark), err);
	case YAML_MAPPING_START_EVENT:
		return open_node(r, IB_YAML_MAP, e->data.mapping_start.anchor, e->data.mapping_start.tag, at_mark(&e->start_mark), err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		r->depth--;
		return 0;
	default:
		return 0;
	}
}

static int read_events(struct reader *r, struct ib_err *err)
{
	bool end = false;

	while (!end) {
		yaml_event_t e;
		int k;

		if (!yaml_parser_parse(&r->parser, &e))
			return parser_error(r, err);
		end = e.type == YAML_STREAM_END_EVENT;
		k = on_event(r, &e, err);
		yaml_event_delete(&e);
		if (k < 0)
			return k;
	}
	if (!r->root)
		return ib_yaml_fail(err, r->name, (struct ib_yaml_at){1, 1}, "the file is empty");
	return 0;
}

int ib_yaml_load(const char *data, size_t n, const char *name, struct ib_yaml **ret, struct ib_err *err)
{
	struct reader r = {.data = data, .size = n, .name = name};
	int k = check_bytes(&r, err);

	if (k < 0)
		return k;
	if (!yaml_parser_initialize(&r.parser))
		return ib_fail(err, IB_E_INTERNAL, 0, "cannot start the YAML parser");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)data, n);
	k = read_events(&r, err);
	yaml_parser_delete(&r.parser);
	free(r.key);
	if (k < 0) {
		ib_yaml_free(&r.root);
		return k;
	}
	*ret = r.root;
	return 0;
}
