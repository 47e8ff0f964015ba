/* SPDX-License-Identifier: Apache-2.0 */
/* Splits command text into commands and words. */
#include "clients/words.h"

#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

struct ib_words ib_words_of(const char *text, size_t n)
{
	const char *at = n ? text : "";

	return (struct ib_words){at, at + (n < IB_WORDS_TEXT ? n : IB_WORDS_TEXT)};
}

/* One word while it is read. */
struct word {
	struct ib_buf text;
	bool any;  /* there is one, if only an empty one in quotes */
	bool drop; /* the target of a redirection */
};

static void add(struct word *d, char c)
{
	d->any = true;
	ib_buf_addc(&d->text, c);
}

static void single_quoted(struct ib_words *w, struct word *d)
{
	d->any = true;
	while (w->at < w->end && *w->at != '\'')
		add(d, *w->at++);
	w->at += w->at < w->end;
}

static void double_quoted(struct ib_words *w, struct word *d)
{
	d->any = true;
	while (w->at < w->end && *w->at != '"') {
		if (*w->at == '\\' && w->at + 1 < w->end && strchr("\"\\$`\n", w->at[1]) && w->at[1]) {
			w->at++;
			if (*w->at++ != '\n')
				add(d, w->at[-1]);
			continue;
		}
		add(d, *w->at++);
	}
	w->at += w->at < w->end;
}

static void backslash(struct ib_words *w, struct word *d)
{
	if (w->at == w->end)
		return;
	if (*w->at == '\r' && w->at + 1 < w->end && w->at[1] == '\n')
		w->at++;
	if (*w->at++ != '\n')
		add(d, w->at[-1]);
}

/* "NAME=value" before the command sets the environment of it. */
static bool assignment(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n && s[n] == '=' && (s[0] < '0' || s[0] > '9');
}

static void end_word(struct word *d, struct ib_strv *ret)
{
	bool keep = d->any && !d->drop && ret->n < IB_WORDS_MAX && (ret->n || !assignment(ib_buf_str(&d->text)));

	if (keep)
		ib_strv_add(ret, ib_buf_str(&d->text));
	if (d->any)
		d->drop = false;
	d->any = false;
	ib_buf_reset(&d->text);
}

/* Behind "<" or ">": the number before it and the word after it are no words of the command. */
static void redirection(struct ib_words *w, struct word *d, struct ib_strv *ret)
{
	const char *text = ib_buf_str(&d->text);

	if (d->any && text[strspn(text, "0123456789")] == '\0') {
		d->any = false;
		ib_buf_reset(&d->text);
	}
	end_word(d, ret);
	while (w->at < w->end && strchr("<>&|", *w->at) && *w->at)
		w->at++;
	d->drop = true;
}

static void comment(struct ib_words *w)
{
	while (w->at < w->end && *w->at != '\n')
		w->at++;
}

/* Takes one character; true when it ends the command. */
static bool step(struct ib_words *w, struct word *d, struct ib_strv *ret)
{
	char c = *w->at++;

	switch (c) {
	case '\'':
		single_quoted(w, d);
		return false;
	case '"':
		double_quoted(w, d);
		return false;
	case '\\':
		backslash(w, d);
		return false;
	case '<':
	case '>':
		redirection(w, d, ret);
		return false;
	case '\n':
	case ';':
	case '&':
	case '|':
	case '(':
	case ')':
		end_word(d, ret);
		d->drop = false;
		return true;
	case '\0':
	case ' ':
	case '\t':
	case '\r':
		end_word(d, ret);
		return false;
	default:
		if (c == '#' && !d->any)
			comment(w);
		else
			add(d, c);
		return false;
	}
}

bool ib_words_command(struct ib_words *w, struct ib_strv *ret)
{
	struct word d = {.text = IB_BUF(IB_WORDS_TEXT)};

	ib_strv_clear(ret);
	while (w->at < w->end)
		if (step(w, &d, ret) && ret->n)
			break;
	end_word(&d, ret);
	ib_buf_clear(&d.text);
	return ret->n > 0;
}
