/* SPDX-License-Identifier: Apache-2.0 */
/* Names: which variables may be recorded, and which names mean a secret. */
#include "redact/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"

#define WORDS_MAX 24

struct words {
	struct {
		const char *s;
		size_t n;
	} v[WORDS_MAX];
	size_t n;
};

static bool separator(char c)
{
	return c == '_' || c == '-' || c == '.' || c == '/' || c == ':' || c == '$';
}

/* "hfToken_2" -> hf, Token: words between separators and at lower-to-upper steps, trailing digits left out. */
static void split(const char *name, size_t n, struct words *w)
{
	size_t start = 0;

	w->n = 0;
	for (size_t i = 0; i <= n && w->n < WORDS_MAX; i++) {
		bool step = i > start && i < n && isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1]);
		bool end = i == n || separator(name[i]);
		size_t len = i - start;

		if (!step && !end)
			continue;
		while (len && isdigit((unsigned char)name[start + len - 1]))
			len--;
		if (len) {
			w->v[w->n].s = name + start;
			w->v[w->n++].n = len;
		}
		start = end ? i + 1 : i;
	}
}

static bool word_is(const struct words *w, size_t i, const char *word)
{
	return i < w->n && w->v[i].n == strlen(word) && strncasecmp(w->v[i].s, word, w->v[i].n) == 0;
}

static bool word_in(const struct words *w, size_t i, const char *const *list)
{
	for (; *list; list++)
		if (word_is(w, i, *list))
			return true;
	return false;
}

/* PGPASSWORD, CLIENTSECRET: glued to what stands before */
static bool word_ends(const struct words *w, size_t i)
{
	static const char *const ends[] = {"password", "passwd", "passphrase", "secret", "apikey", NULL};

	for (size_t k = 0; ends[k]; k++) {
		size_t n = strlen(ends[k]);

		if (w->v[i].n > n && strncasecmp(w->v[i].s + w->v[i].n - n, ends[k], n) == 0)
			return true;
	}
	return false;
}

static bool any_in(const struct words *w, const char *const *list)
{
	for (size_t i = 0; i < w->n; i++)
		if (word_in(w, i, list))
			return true;
	return false;
}

/* Always a secret, alone or in a longer name. */
static const char *const strong[] = {"secret", "secrets", "pass", "passwd", "password", "passwords", "passphrase", "credential", "credentials",
	"apikey", "apikeys", "authtoken", "accesstoken", "authorization", "dsn", NULL};
/* A secret as a variable's or flag's name, an ordinary word in prose. */
static const char *const weak[] = {"auth", "cookie", "cookies", "session", "private", "signature", "licence", "license", NULL};
/* TOKEN and KEY beside one of these count or name something else. */
static const char *const counts[] = {"max", "min", "num", "per", "threshold", "count", "limit", "budget", "size", "eos", "bos", "pad", "unk", "sep", "cls",
	"mask", "stop", "first", "last", "next", "input", "output", "prompt", "special", "start", "end", "image", "audio", "video", "time", "id", "ids", NULL};

/* KEY at word i: not PUBLIC_KEY, not KEY_VALUE. */
static bool is_key(const struct words *w, size_t i)
{
	if (!word_is(w, i, "key") && !word_is(w, i, "keys"))
		return false;
	return !word_is(w, i + 1, "value") && !(i > 0 && word_is(w, i - 1, "public"));
}

static bool is_token(const struct words *w, size_t i)
{
	/* TOKENS and TOKENIZER are no secrets; an identifier ("client_id") is, when the rest says so */
	return word_is(w, i, "token") && !any_in(w, counts);
}

static bool connection_string(const struct words *w, size_t i)
{
	return (word_is(w, i, "conn") || word_is(w, i, "connection")) && (word_is(w, i + 1, "str") || word_is(w, i + 1, "string"));
}

bool ib_name_secret(const char *name, size_t n)
{
	struct words w;

	split(name, n, &w);
	for (size_t i = 0; i < w.n; i++)
		if (word_in(&w, i, strong) || word_ends(&w, i) || word_in(&w, i, weak) || is_key(&w, i) || is_token(&w, i) || connection_string(&w, i))
			return true;
	return false;
}

bool ib_name_secret_sure(const char *name, size_t n)
{
	static const char *const before_key[] = {"api", "access", "account", "private", "auth", "secret", "license", "licence", "signing", "encryption", NULL};
	struct words w;

	split(name, n, &w);
	for (size_t i = 0; i < w.n; i++) {
		if (word_in(&w, i, strong) || word_ends(&w, i) || connection_string(&w, i))
			return true;
		if (i > 0 && is_key(&w, i) && word_in(&w, i - 1, before_key))
			return true;
		if (is_token(&w, i) && w.n > 1)
			return true;
	}
	return false;
}

#define ENTRY(name) name,
static const char *const values[] = {IB_ENV_VALUES(ENTRY) NULL};
static const char *const presence[] = {IB_ENV_PRESENT(ENTRY) NULL};

static bool listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (ib_ends(*list, "_") ? ib_starts(name, *list) : strcmp(name, *list) == 0)
			return true;
	return false;
}

enum ib_env_rule ib_env_rule(const char *name)
{
	if (ib_name_secret(name, strlen(name)))
		return IB_ENV_OTHER;
	if (listed(name, presence))
		return IB_ENV_PRESENCE;
	return listed(name, values) ? IB_ENV_VALUE : IB_ENV_OTHER;
}
