/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from a log: clients in Python print "Namespace(name=value, …)", the repr() of what argparse gave them, defaults included. */
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "clients/settings.h"

#define START "Namespace("
#define BLOCKS_MAX 64            /* configurations looked at in one log */
#define BLOCK_BYTES (256u << 10) /* of one */
#define PAIRS_MAX 2048           /* names in one */
#define DEPTH_MAX 32             /* brackets within each other */

/* Names and values of one configuration; value NULL: None, or nothing that a setting could be. */
struct pairs {
	size_t n;
	char *names[PAIRS_MAX], *values[PAIRS_MAX];
};

struct text {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct text *t)
{
	while (t->at < t->end && is_space(*t->at))
		t->at++;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Behind a backslash: what repr() writes for a character. Other escapes ("\x1b", "\u2028") are kept as they stand. */
static void escape(struct text *t, struct ib_buf *b)
{
	char c = *t->at++;

	if (c == '\\' || c == '\'' || c == '"') {
		ib_buf_addc(b, c);
	} else if (c == 'n' || c == 't' || c == 'r') {
		ib_buf_addc(b, ' ');
	} else {
		ib_buf_addc(b, '\\');
		ib_buf_addc(b, c);
	}
}

/* at is on the opening quote. False: no closing one. */
static bool quoted(struct text *t, struct ib_buf *b)
{
	char quote = *t->at++;

	while (t->at < t->end && *t->at != quote) {
		if (*t->at == '\\' && t->at + 1 < t->end) {
			t->at++;
			escape(t, b);
		} else {
			ib_buf_addc(b, *t->at++);
		}
	}
	if (t->at == t->end)
		return false;
	t->at++;
	return true;
}

/* Over brackets of any kind, strings within them minded; at is on the opening one. False: not closed. */
static bool skip_brackets(struct text *t)
{
	ib_auto_buf struct ib_buf none = IB_BUF(1);
	int depth = 0;

	while (t->at < t->end) {
		char c = *t->at;

		if (c == '\'' || c == '"') {
			if (!quoted(t, &none))
				return false;
			continue;
		}
		t->at++;
		if (strchr("([{<", c) && c && ++depth > DEPTH_MAX)
			return false;
		if (strchr(")]}>", c) && c && --depth == 0)
			return true;
	}
	return false;
}

static bool is_word(const char *start, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(start, word, n) == 0;
}

/* What makes a word nothing that we take: a call (PosixPath('x')), bytes (b'x'). False: not closed. */
static bool skip_rest(struct text *t, bool *ret_any)
{
	ib_auto_buf struct ib_buf none = IB_BUF(1);

	*ret_any = true;
	if (t->at < t->end && (*t->at == '\'' || *t->at == '"'))
		return quoted(t, &none);
	if (t->at < t->end && (*t->at == '(' || *t->at == '<' || *t->at == '{'))
		return skip_brackets(t);
	*ret_any = false;
	return true;
}

/* A word: a number, True, None, inf … */
static bool bare(struct text *t, struct ib_buf *b, bool *ret_known)
{
	const char *start = t->at;
	bool rest;
	size_t n;

	while (t->at < t->end && (is_name(*t->at) || *t->at == '+' || *t->at == '-' || *t->at == '.'))
		t->at++;
	n = (size_t)(t->at - start);
	if (is_word(start, n, "True"))
		ib_buf_adds(b, "true");
	else if (is_word(start, n, "False"))
		ib_buf_adds(b, "false");
	else
		ib_buf_add(b, start, n);
	if (!skip_rest(t, &rest))
		return false;
	*ret_known = !rest && !is_word(start, n, "None");
	return n > 0;
}

static bool simple(struct text *t, struct ib_buf *b, bool *ret_known)
{
	*ret_known = true;
	return *t->at == '\'' || *t->at == '"' ? quoted(t, b) : bare(t, b, ret_known);
}

/* A list of words and numbers, joined by blanks; of lists within it nothing is taken. */
static bool list(struct text *t, struct ib_buf *b, bool *ret_known)
{
	struct text whole = *t;
	char close = *t->at++ == '[' ? ']' : ')';

	*ret_known = true;
	while (skip_space(t), t->at < t->end && *t->at != close) {
		if (strchr("([{<", *t->at) && *t->at) {
			*ret_known = false;
			*t = whole;
			return skip_brackets(t);
		}
		if (b->len)
			ib_buf_addc(b, ' ');
		if (!simple(t, b, ret_known))
			return false;
		skip_space(t);
		t->at += t->at < t->end && *t->at == ',';
	}
	if (t->at == t->end)
		return false;
	t->at++;
	*ret_known = b->len > 0;
	return true;
}

static bool value(struct text *t, struct ib_buf *b, bool *ret_known)
{
	*ret_known = false;
	if (t->at == t->end)
		return false;
	if (*t->at == '[' || *t->at == '(')
		return list(t, b, ret_known);
	return *t->at == '{' || *t->at == '<' ? skip_brackets(t) : simple(t, b, ret_known);
}

/* One "name=value" and the comma behind it. False: that is no configuration. */
static bool pair(struct text *t, struct pairs *p)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2 * IB_SETTING_MAX);
	const char *name = t->at;
	size_t n;
	bool known;

	while (t->at < t->end && is_name(*t->at))
		t->at++;
	n = (size_t)(t->at - name);
	if (!n || t->at == t->end || *t->at++ != '=' || !value(t, &b, &known) || p->n == PAIRS_MAX)
		return false;
	p->names[p->n] = ib_strndup(name, n);
	p->values[p->n++] = known && !b.overflow ? ib_buf_steal(&b) : NULL;
	skip_space(t);
	if (t->at < t->end && *t->at == ',') {
		t->at++;
		skip_space(t);
		return true;
	}
	return t->at < t->end && *t->at == ')';
}

static void pairs_free(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->names[i]);
		free(p->values[i]);
	}
	free(p);
}

/* at is behind the opening bracket. False: not whole. */
static bool read_pairs(struct text *t, struct pairs *p)
{
	skip_space(t);
	while (t->at < t->end && *t->at != ')')
		if (!pair(t, p))
			return false;
	return t->at < t->end;
}

static char *find_pair(const void *arg, const char *name, bool many)
{
	const struct pairs *p = arg;

	(void)many;
	for (size_t i = 0; i < p->n && !strchr(name, '/'); i++)
		if (ib_setting_same_name(p->names[i], strlen(p->names[i]), name))
			return ib_strdup(p->values[i]);
	return NULL;
}

static size_t known_names(const struct ib_client *c, const struct pairs *p)
{
	size_t n = 0;

	for (const struct ib_client_flag *f = c->flags; f && f->name; f++)
		for (size_t i = 0; i < p->n; i++)
			n += !strchr(f->name, '/') && ib_setting_same_name(p->names[i], strlen(p->names[i]), f->name);
	return n;
}

/* The client that knows most of the names, and more than any other. */
static const struct ib_client *whose(const struct pairs *p)
{
	const struct ib_client *best = NULL;
	size_t most = 3; /* fewer are no sign */

	for (size_t k = 0; ib_clients[k]; k++) {
		size_t n = known_names(ib_clients[k], p);

		if (n == most)
			best = NULL;
		if (n <= most)
			continue;
		best = ib_clients[k];
		most = n;
	}
	return best;
}

static const struct ib_client *from_block(struct text *t, struct ib_settings *s)
{
	struct pairs *p = ib_alloc(sizeof(*p));
	const struct ib_given given = {find_pair, p, "the printed configuration"};
	const struct ib_client *c = read_pairs(t, p) ? whose(p) : NULL;

	if (c)
		ib_settings_apply(c, &given, s);
	pairs_free(p);
	return c;
}

const struct ib_client *ib_settings_from_log(const char *text, size_t n, struct ib_settings *s)
{
	const char *at = n ? text : "", *end = at + n;
	const struct ib_client *client = NULL;
	struct ib_settings all = {0}, one = {0};

	for (size_t i = 0; i < BLOCKS_MAX && n; i++) {
		const char *start = memmem(at, (size_t)(end - at), START, strlen(START));
		struct text t;
		const struct ib_client *c;

		if (!start)
			break;
		at = start + strlen(START);
		t = (struct text){at, (size_t)(end - at) < BLOCK_BYTES ? end : at + BLOCK_BYTES};
		c = from_block(&t, &one);
		if (c && (!client || c == client))
			ib_settings_agree(&all, &one, !client);
		ib_settings_clear(&one);
		client = client ? client : c;
	}
	ib_settings_agree(s, &all, true);
	return client;
}
