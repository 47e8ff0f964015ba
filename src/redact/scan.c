/* SPDX-License-Identifier: Apache-2.0 */
/* The value scanner: one pass over bytes, rules tried only where a word starts, at "://" and behind a query's '?' or '&'. */
#include "redact/redact.h"
#include "redact/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/source.h"

static bool at_nocase(const struct ib_text *t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at <= t->n && n <= t->n - at && strncasecmp(t->s + at, word, n) == 0;
}

/* A value that only stands for one: ours, a variable, a template, stars. */
bool ib_scan_placeholder(const char *s, size_t n)
{
	static const char *const words[] = {"none", "null", "nil", "true", "false", "undefined", "redacted", "empty", "example", "dummy", NULL};
	size_t stars = 0;

	if (n == 0 || (s[0] && strchr("$<{%[", s[0])))
		return true;
	while (stars < n && s[stars] && strchr("*.xX?", s[stars]))
		stars++;
	if (stars == n)
		return true;
	for (size_t i = 0; words[i]; i++)
		if (strlen(words[i]) == n && strncasecmp(s, words[i], n) == 0)
			return true;
	return false;
}

/* In logs a secret behind a sure name is long and has letters and digits; NAMES_IN_CAPITALS are help texts. */
static bool log_value(const char *s, size_t n)
{
	size_t digits = 0, letters = 0;

	for (size_t i = 0; i < n; i++) {
		digits += isdigit((unsigned char)s[i]) != 0;
		letters += isalpha((unsigned char)s[i]) != 0;
	}
	return n >= 8 && digits && letters;
}

/* Capitals behind the first letter: base64 of a user and password rather than a word. */
static bool mixed_case(const char *s, size_t n)
{
	size_t upper = 0, lower = 0;

	for (size_t i = 1; i < n; i++) {
		upper += isupper((unsigned char)s[i]) != 0;
		lower += islower((unsigned char)s[i]) != 0;
	}
	return n >= 8 && upper && lower;
}

static bool value_ends(char c, char quote)
{
	if (c == '\n' || c == '\r' || c == '\033')
		return true;
	return quote ? c == quote : isspace((unsigned char)c) || strchr("\"',;&)]}", c) != NULL;
}

/* The extent of the value at *at: quoted up to the quote, else up to a blank or closing character. *at goes behind the quote. */
static size_t value_extent(const struct ib_text *t, size_t max, size_t *at)
{
	size_t i = *at + (*at < t->n && t->s[*at] == '\\');
	char quote = 0;

	if (i < t->n && (t->s[i] == '"' || t->s[i] == '\''))
		quote = t->s[i++];
	*at = i;
	while (i < t->n && i - *at < max && !value_ends(t->s[i], quote))
		i++;
	if (quote && i > *at && t->s[i - 1] == '\\')
		i--;
	return i - *at;
}

/* Schemes of an Authorization header: the secret is the next word. */
static size_t skip_scheme(const struct ib_text *t, size_t at)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "apikey ", NULL};

	for (size_t i = 0; schemes[i]; i++)
		if (at_nocase(t, at, schemes[i]))
			return at + strlen(schemes[i]);
	return at;
}

static bool ends_with(const struct ib_text *t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at >= n && memcmp(t->s + at - n, word, n) == 0;
}

/* The escape character itself, or as JSON and source texts write it, before at. */
static bool behind_esc(const struct ib_text *t, size_t at)
{
	return ends_with(t, at, "\033") || ends_with(t, at, "\\u001b") || ends_with(t, at, "\\u001B") || ends_with(t, at, "\\x1b") || ends_with(t, at, "\\033");
}

/* Is "\n", "\u000a" or the like before at? */
static bool behind_escaped(const struct ib_text *t, size_t at)
{
	char c = t->s[at - 1], before = t->s[at - 2];

	if (before == '\\')
		return c && strchr("nrtbf", c);
	return isxdigit((unsigned char)c) && (before == '0' || before == '1') && (ends_with(t, at - 2, "\\u00") || ends_with(t, at - 2, "\\x"));
}

/* Is "ESC[31m" or "ESC(B" before at? */
static bool behind_sequence(const struct ib_text *t, size_t at)
{
	size_t p = at - 1, least = at > 32 ? at - 32 : 1;

	if (!isalpha((unsigned char)t->s[p]))
		return false;
	while (p > least && (isdigit((unsigned char)t->s[p - 1]) || t->s[p - 1] == ';' || t->s[p - 1] == '?'))
		p--;
	return (t->s[p - 1] == '[' || t->s[p - 1] == '(') && behind_esc(t, p - 1);
}

/* Is the letter or digit before at the end of a control sequence or of an escaped control character? Then it is no part of the word at at. */
static bool behind_control(const struct ib_text *t, size_t at)
{
	if (at < 2 || isalpha((unsigned char)t->s[at - 2])) /* the usual case */
		return false;
	return behind_escaped(t, at) || behind_sequence(t, at);
}

/* Length of a control sequence at a place ("ESC[0m"), or 0. */
static size_t control_length(const struct ib_text *t, size_t at)
{
	size_t n = 2;

	if (at + 2 >= t->n || t->s[at] != '\033' || t->s[at + 1] != '[')
		return 0;
	while (at + n < t->n && n < 32 && (isdigit((unsigned char)t->s[at + n]) || t->s[at + n] == ';'))
		n++;
	return at + n < t->n ? n + 1 : 0;
}

/* Colours between a name and its value are blanks. */
static size_t skip_blanks(const struct ib_text *t, size_t at, size_t max)
{
	size_t n = 0;

	while (at + n < t->n && n < max) {
		size_t k = t->s[at + n] == ' ' ? 1 : control_length(t, at + n);

		if (!k)
			break;
		n += k;
	}
	return at + n;
}

/* Behind a name of n characters at a place: where its value starts, 0 when it has none. NAME=, "NAME":, --name and a blank. */
static size_t value_start(const struct ib_text *t, size_t at, size_t n)
{
	bool flag = at >= 2 && t->s[at - 1] == '-' && t->s[at - 2] == '-';
	size_t i = at + n, close;

	if (i < t->n && t->s[i] == '\\')
		i++;
	if (i < t->n && (t->s[i] == '"' || t->s[i] == '\''))
		i++;
	close = i;
	i = skip_blanks(t, i, 4);
	if (i < t->n && (t->s[i] == '=' || t->s[i] == ':'))
		i++;
	else if (!flag || i == close)
		return 0;
	i = skip_blanks(t, i, 64);
	return i < t->n && !ib_scan_at(t, i, "//") ? i : 0; /* "name://…" is a URL */
}

/* The name rule decides. at is the start of the name, n its length. */
static bool match_assignment(const struct ib_text *t, size_t at, size_t n, unsigned flags, struct ib_hit *ret)
{
	bool strict = flags & IB_SCAN_STRICT;
	size_t i = value_start(t, at, n), max = strict ? 1u << 20 : 256, scheme, len;

	if (!i || !(strict ? ib_name_secret(t->s + at, n) : ib_name_secret_sure(t->s + at, n)))
		return false;
	len = value_extent(t, max, &i);
	scheme = skip_scheme(t, i) - i;
	if (scheme) {
		i += scheme;
		len = value_extent(t, max, &i);
	}
	if (len == 0 || ib_scan_placeholder(t->s + i, len))
		return false;
	if (!strict && !log_value(t->s + i, len) && !(scheme && mixed_case(t->s + i, len)))
		return false;
	return ib_scan_found(ret, "named-secret", i, len);
}

/* "Bearer xxxxxxxx" without a name before it */
static bool match_bearer(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t i = at + 7, n = 0;

	if (!at_nocase(t, at, "bearer "))
		return false;
	while (i + n < t->n && (ib_scan_alnum(t->s[i + n]) || strchr("._~+/=-", t->s[i + n])))
		n++;
	return n >= 8 && log_value(t->s + i, n) && ib_scan_found(ret, "bearer-token", i, n);
}

/* Whether a place lies in a path that starts with '/', "./", "../" or "~/": every directory of it is then a word of its own, for
 * several short names together look as random as a key does. Looks back 512 bytes. */
static bool within_path(const struct ib_text *t, size_t at)
{
	size_t start = at, least = at > 512 ? at - 512 : 0;

	while (start > least && (ib_scan_alnum(t->s[start - 1]) || strchr("/._~+@%-", t->s[start - 1])))
		start--;
	while (start < at && (t->s[start] == '.' || t->s[start] == '~'))
		start++;
	return start < t->n && t->s[start] == '/';
}

/* Length of the run at a place that a random value could be: base64 digits, and '=' only as the padding behind them. */
static size_t random_run(const struct ib_text *t, size_t at)
{
	bool path = within_path(t, at);
	size_t n = 0, pad = 0;

	while (n < 501 && at + n < t->n && (ib_scan_alnum(t->s[at + n]) || t->s[at + n] == '+' || (t->s[at + n] == '/' && !path)))
		n++;
	while (n && pad < 2 && at + n + pad < t->n && t->s[at + n + pad] == '=')
		pad++;
	return n + pad;
}

/* Long random runs: base64 above 4.5 or hex above 3.0 bits a character. Digests of 64 digits and commits of 40 are ours to
 * record and are hex, so hex counts only in other lengths. */
static bool match_entropy(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t n = random_run(t, at), other = 0, upper = 0, lower = 0, digit = 0;
	double bits;

	if (n < 20 || n > 500)
		return false;
	for (size_t i = at; i < at + n; i++) {
		upper += isupper((unsigned char)t->s[i]) != 0;
		lower += islower((unsigned char)t->s[i]) != 0;
		digit += isdigit((unsigned char)t->s[i]) != 0;
		other += !isxdigit((unsigned char)t->s[i]);
	}
	if (!lower || !digit)
		return false;
	bits = ib_scan_entropy(t->s + at, n);
	if (!other && !upper)
		return bits > 3.0 && n != 64 && n != 40 && ib_scan_found(ret, "random-hex", at, n);
	/* without capitals it is a name; short runs cannot reach 4.5 bits */
	return upper && bits > (n < 32 ? 3.9 : 4.5) && ib_scan_found(ret, "random-text", at, n);
}

static bool word_start(const struct ib_text *t, size_t at)
{
	return at == 0 || !ib_scan_alnum(t->s[at - 1]) || behind_control(t, at);
}

/* at is the start of a word. */
static bool name_start(const struct ib_text *t, size_t at)
{
	char c = at ? t->s[at - 1] : ' ';

	if (at >= 2 && c == '-' && t->s[at - 2] == '-')
		return true;
	return c != '_' && c != '.' && c != '-';
}

static bool match_word(const struct ib_text *t, size_t at, unsigned flags, struct ib_hit *ret)
{
	size_t n = 0;

	if (ib_scan_token(t, at, ret) || match_bearer(t, at, ret))
		return true;
	if (name_start(t, at)) {
		while (at + n < t->n && n < 80 && (ib_scan_alnum(t->s[at + n]) || strchr("_-.", t->s[at + n])))
			n++;
		if (match_assignment(t, at, n, flags, ret))
			return true;
	}
	return (flags & IB_SCAN_ENTROPY) && match_entropy(t, at, ret);
}

/* Length of a mark of ours at a place ("<redacted:RULE:LENGTH:LABEL>", exactly so), or 0. */
static size_t mark_length(const struct ib_text *t, size_t at)
{
	static const char *const parts[] = {"abcdefghijklmnopqrstuvwxyz0123456789-", "0123456789", "0123456789abcdef"};
	static const char ends[] = "::>";
	size_t i = at + strlen(IB_MARK), n = 0;

	if (!ib_scan_at(t, at, IB_MARK))
		return 0;
	for (size_t p = 0; p < 3; p++) {
		for (n = 0; i + n < t->n && n < 40 && t->s[i + n] && strchr(parts[p], t->s[i + n]); n++)
			;
		i += n;
		if (i >= t->n || t->s[i++] != ends[p])
			return 0;
	}
	return n == IB_PSEUDONYM_LEN - 1 ? i - at : 0;
}

static bool match_address(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	return ib_scan_at(t, at, "://") && (ib_scan_userinfo(t, at + 3, ret) || ib_scan_path_token(t, at + 3, ret));
}

/* A rule that starts with punctuation. */
static bool match_sign(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	switch (t->s[at]) {
	case ':':
		return match_address(t, at, ret);
	case '?':
	case '&':
		return ib_scan_query(t, at + 1, ret);
	case '-':
		return (at == 0 || t->s[at - 1] != '-') && ib_scan_pem(t, at, ret);
	default:
		return false;
	}
}

bool ib_scan_next(const char *data, size_t n, size_t from, unsigned flags, struct ib_hit *ret)
{
	const struct ib_text t = {data, n};

	for (size_t i = from; i < n; i++) {
		size_t mark = data[i] == '<' ? mark_length(&t, i) : 0;

		if (mark)
			i += mark - 1;
		else if (!ib_scan_alnum(data[i]) ? match_sign(&t, i, ret) : word_start(&t, i) && match_word(&t, i, flags, ret))
			return true;
	}
	return false;
}

const char *ib_scan_value(const char *s, size_t n)
{
	struct ib_hit hit;

	return ib_scan_next(s, n, 0, IB_SCAN_STRICT | IB_SCAN_ENTROPY, &hit) ? hit.rule : NULL;
}

const char *ib_scan_words(void *words, const char *text)
{
	const char *rule = ib_scan_value(text, strlen(text));

	if (!rule)
		return NULL;
	snprintf(words, IB_SECRET_WORDS, "a secret (%s)", rule);
	return words;
}

/* Text in pieces: counts lines over all of them. */
struct feed {
	void (*hit)(void *arg, uint64_t line, const char *rule);
	void *arg;
	uint64_t line, hits;
};

static void count_lines(struct feed *f, const char *data, size_t from, size_t to)
{
	for (; from < to; from++)
		f->line += data[from] == '\n';
}

/* Reports the secrets in [done, until) of n bytes, also those whose name stands before done: the search begins at from. Returns up to where
 * all is reported: until, or the end of a secret that lies across it. */
static size_t feed(struct feed *f, const char *data, size_t n, size_t from, size_t done, size_t until)
{
	struct ib_hit hit;

	for (; ib_scan_next(data, n, from, 0, &hit) && hit.at < until; from = hit.at + hit.n) {
		if (hit.at + hit.n <= done) /* reported before */
			continue;
		if (hit.at > done)
			count_lines(f, data, done, hit.at);
		f->hits++;
		if (f->hit)
			f->hit(f->arg, f->line, hit.rule);
		count_lines(f, data, hit.at > done ? hit.at : done, hit.at + hit.n);
		done = hit.at + hit.n;
	}
	if (done >= until)
		return done;
	count_lines(f, data, done, until);
	return until;
}

size_t ib_scan_text(const char *data, size_t n, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg)
{
	struct feed f = {.hit = hit, .arg = arg, .line = 1};

	feed(&f, data, n, 0, 0, n);
	return (size_t)f.hits;
}

#define SCAN_CHUNK (1u << 20)
#define SCAN_AHEAD (64u << 10) /* seen behind the place up to which a full buffer is judged: more than any rule looks at */
#define SCAN_BEHIND 512u       /* kept before that place: the name of a secret that begins there, and what a rule looks back at */

/* Up to where a full buffer is judged. Behind a line end or a blank, so that no mark of ours is begun in its middle; a line without
 * either is cut anywhere, since what a secret there needs is still in the buffer. */
static size_t cut_at(const char *data, size_t n)
{
	size_t last = n - SCAN_AHEAD, cut = last;
	const char *line = memrchr(data + last - SCAN_AHEAD, '\n', SCAN_AHEAD);

	if (line)
		return (size_t)(line - data) + 1;
	while (cut > last - SCAN_AHEAD && !isspace((unsigned char)data[cut - 1]))
		cut--;
	return cut > last - SCAN_AHEAD ? cut : last;
}

int ib_scan_source(const struct ib_source *source, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg, uint64_t *ret_hits, struct ib_err *err)
{
	ib_auto_free char *data = ib_alloc(SCAN_CHUNK);
	struct feed f = {.hit = hit, .arg = arg, .line = 1};
	size_t have = 0, done = 0, got;

	for (;;) {
		size_t from = done > SCAN_BEHIND / 2 ? done - SCAN_BEHIND / 2 : 0, keep;
		int r = source->read(source->arg, data + have, SCAN_CHUNK - have, &got, err);

		if (r < 0)
			return r;
		if (got < SCAN_CHUNK - have) {
			feed(&f, data, have + got, from, done, have + got);
			break;
		}
		have += got;
		done = feed(&f, data, have, from, done, cut_at(data, have));
		keep = done > SCAN_BEHIND ? done - SCAN_BEHIND : 0;
		memmove(data, data + keep, have - keep);
		have -= keep;
		done -= keep;
	}
	*ret_hits = f.hits;
	return 0;
}

int ib_scan_fd(int fd, const char *name, void (*hit)(void *arg, uint64_t line, const char *rule), void *arg, uint64_t *ret_hits, struct ib_err *err)
{
	struct ib_source_fd s = {fd, name};
	struct ib_source source = ib_source_from_fd(&s);

	return ib_scan_source(&source, hit, arg, ret_hits, err);
}
