/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a contract: scalars that no reader of YAML misreads, commands with their reasons. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "init/inside.h"
#include "model/template.h"

/* --- scalars --- */

/* Words that are something else than text to one reader or another. */
static bool special(const char *text)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"};
	size_t n = strlen(text);

	for (size_t i = 0; i < IB_LEN(words); i++)
		if (strlen(words[i]) == n && strncasecmp(words[i], text, n) == 0)
			return true;
	return false;
}

static bool plain(const char *text)
{
	const char *rest = text + strspn(text, "-");

	if (!(isalpha((unsigned char)*rest) || (*rest == '/' && rest == text)) || special(text))
		return false;
	return strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/=-") == strlen(rest);
}

void ib_init_scalar(struct ib_buf *b, const char *text)
{
	if (plain(text)) {
		ib_buf_adds(b, text);
		return;
	}
	ib_buf_addc(b, '"');
	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\\')
			ib_buf_addc(b, '\\');
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			ib_buf_addf(b, "\\x%02X", (unsigned char)*p);
		else
			ib_buf_addc(b, *p);
	}
	ib_buf_addc(b, '"');
}

char *ib_init_literal(const char *value)
{
	struct ib_buf b = IB_BUF(1u << 20);

	for (const char *p = value; *p; p++) {
		if (*p == '{' && !(p > value && p[-1] == '$' && ib_starts(p, "{env:")))
			ib_buf_addc(&b, '{');
		ib_buf_addc(&b, *p);
	}
	return ib_buf_steal(&b);
}

/* --- commands --- */

#define NUMBER_LEN 24

struct names {
	struct ib_template_var v[14];
	char numbers[4][NUMBER_LEN];
	char *owned[3];
};

static void names_clear(struct names *n)
{
	for (size_t i = 0; i < IB_LEN(n->owned); i++)
		free(n->owned[i]);
}

static void names_set(struct names *n, const struct ib_init_values *v)
{
	const int64_t numbers[] = {v->input_tokens, v->output_tokens, v->prompts, IB_INIT_SEED};

	for (size_t i = 0; i < IB_LEN(numbers); i++)
		snprintf(n->numbers[i], NUMBER_LEN, "%" PRId64, numbers[i]);
	n->owned[0] = ib_init_literal(v->endpoint);
	n->owned[1] = ib_init_literal(v->model);
	n->owned[2] = ib_init_literal(v->tokenizer);
	memcpy(n->v,
	       (const struct ib_template_var[]){{"input", n->numbers[0]}, {"output", n->numbers[1]}, {"input_tokens", n->numbers[0]}, {"output_tokens", n->numbers[1]},
						{"prompts", n->numbers[2]}, {"seed", n->numbers[3]},
						{"endpoint", n->owned[0]}, {"model", n->owned[1]}, {"tokenizer", n->owned[2]}, {"cap", v->cap},
						{"backend", v->server->backend}, {"out", v->out}, {"workload", v->workload}, {NULL, NULL}},
	       sizeof(n->v));
}

static const char *value_of(const struct names *n, const char *name, size_t len)
{
	for (size_t i = 0; n->v[i].name; i++)
		if (strlen(n->v[i].name) == len && memcmp(n->v[i].name, name, len) == 0)
			return n->v[i].value;
	return NULL;
}

/* One word, open and close around the names that are replaced; other text stays. */
static char *fill(const struct names *names, const char *word, size_t n, char open, char close)
{
	struct ib_buf b = IB_BUF(1u << 20);

	for (size_t i = 0; i < n; i++) {
		bool twice = open == '{' && word[i] == open && i + 1 < n && word[i + 1] == open; /* an escaped brace */
		const char *end = word[i] == open && !twice ? memchr(word + i + 1, close, n - i - 1) : NULL;
		const char *value = end ? value_of(names, word + i + 1, (size_t)(end - word) - i - 1) : NULL;

		if (value) {
			ib_buf_adds(&b, value);
			i = (size_t)(end - word);
		} else {
			ib_buf_add(&b, word + i, twice ? 2 : 1);
			i += twice;
		}
	}
	return ib_buf_steal(&b);
}

/* Words separated by one space, as elements of a list. */
static void add_words(struct ib_buf *b, const struct names *names, const char *words, bool *first)
{
	for (const char *p = words; *p;) {
		size_t n = strcspn(p, " ");
		ib_auto_free char *word = fill(names, p, n, '@', '@');

		if (!*first)
			ib_buf_adds(b, ", ");
		*first = false;
		ib_init_scalar(b, word);
		p += n + (p[n] == ' ');
	}
}

static void add_rows(struct ib_buf *b, int indent, const struct names *names, const struct ib_init_row *rows, enum ib_init_use use, bool comments)
{
	const struct ib_init_row *last = rows;

	for (const struct ib_init_row *r = rows; r->words; r++)
		if (use == IB_INIT_MEASURE || !r->result_only)
			last = r;
	for (const struct ib_init_row *r = rows; r <= last; r++) {
		bool first = true;

		if (use == IB_INIT_WARM_UP && r->result_only)
			continue;
		ib_buf_addf(b, "\n%*s", indent + 2, "");
		add_words(b, names, r->words, &first);
		ib_buf_addc(b, r == last ? ']' : ',');
		if (comments && r->why)
			ib_buf_addf(b, " # %s", r->why);
	}
	ib_buf_addc(b, '\n');
}

/* The user's words, in which names in braces are replaced where we know them. */
static void add_own(struct ib_buf *b, const struct ib_init_values *v, const struct names *names)
{
	static const char dir[] = "output_dir";

	for (char *const *word = v->command; *word; word++) {
		ib_auto_free char *text = fill(names, *word, strlen(*word), '{', '}');
		ib_auto_free char *own = NULL;
		struct names out = {.v = {{dir, v->out}, {NULL, NULL}}};

		own = fill(&out, text, strlen(text), '{', '}');
		ib_buf_adds(b, word == v->command ? "" : ", ");
		ib_init_scalar(b, own);
	}
	ib_buf_adds(b, "]\n");
}

void ib_init_argv(struct ib_buf *b, int indent, const char *key, const struct ib_init_values *v, enum ib_init_use use, bool comments)
{
	__attribute__((cleanup(names_clear))) struct names names = {0};

	names_set(&names, v);
	ib_buf_addf(b, "%*s%s: [", indent, "", key);
	if (v->command)
		add_own(b, v, &names);
	else
		add_rows(b, indent, &names, v->client->command, use, comments);
}

void ib_init_words(struct ib_buf *b, int indent, const char *key, const struct ib_init_values *v, const char *words)
{
	__attribute__((cleanup(names_clear))) struct names names = {0};
	bool first = true;

	names_set(&names, v);
	ib_buf_addf(b, "%*s%s: [", indent, "", key);
	add_words(b, &names, words, &first);
	ib_buf_adds(b, "]\n");
}
