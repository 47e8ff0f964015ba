/* SPDX-License-Identifier: Apache-2.0 */
/* Files of trusted keys. */
#include "sign/trust.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/auto.h"
#include "base/clock.h"
#include "sign/sshsig.h"

static struct ib_trusted *add(struct ib_trust *t, const struct ib_pubkey *k, char *where)
{
	t->v = ib_realloc(t->v, t->n + 1, sizeof(*t->v));
	t->v[t->n] = (struct ib_trusted){.key = *k, .after = INT64_MIN, .before = INT64_MAX, .where = where};
	return &t->v[t->n++];
}

static int bad(const char *name, const char *why, struct ib_err *err)
{
	return ib_fail_at(err, IB_E_USAGE, name, "trust file '%s': %s", name, why);
}

/* One PEM block: what stands between its two lines. */
static int add_pem(struct ib_trust *t, const char *body, size_t n, const char *name, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b64 = IB_BUF(4096);
	ib_auto_free uint8_t *der = NULL;
	struct ib_pubkey k;
	struct ib_err why;
	size_t der_n;

	for (size_t i = 0; i < n; i++)
		if (!strchr(" \t\r\n", body[i]))
			ib_buf_addc(&b64, body[i]);
	if (b64.overflow || ib_b64_decode(ib_buf_str(&b64), b64.len, &der, &der_n, NULL) < 0)
		return bad(name, "a public key that is not base64", err);
	if (ib_pubkey_from_der(der, der_n, &k, &why) < 0)
		return bad(name, why.text, err);
	add(t, &k, ib_strdup(name));
	return 0;
}

/* --- lines of OpenSSH form --- */

enum type_of { TYPE_NONE, TYPE_OURS, TYPE_OTHER };

static enum type_of type_of(const char *word)
{
	static const char *const ours[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"};

	for (size_t i = 0; i < IB_LEN(ours); i++)
		if (strcmp(word, ours[i]) == 0)
			return TYPE_OURS;
	if (ib_starts(word, "ssh-") || ib_starts(word, "ecdsa-sha2-") || ib_starts(word, "sk-ssh-") || ib_starts(word, "sk-ecdsa-"))
		return TYPE_OTHER;
	return TYPE_NONE;
}

/* Cuts the next word off *p; blanks between quotation marks are part of it. NULL at the end. */
static char *next_word(char **p)
{
	char *word = *p + strspn(*p, " \t\r"), *q = word;
	bool quoted = false;

	for (; *q && (quoted || !strchr(" \t\r", *q)); q++) {
		if (*q == '\\' && q[1] == '"')
			q++;
		else if (*q == '"')
			quoted = !quoted;
	}
	*p = *q ? q + 1 : q;
	*q = '\0';
	return *word ? word : NULL;
}

/* Words at the place of a principal that change what a key of authorized_keys may do. */
static bool is_option(const char *word)
{
	static const char *const flags[] = {"cert-authority", "restrict",       "agent-forwarding", "port-forwarding", "pty",
					    "user-rc",        "x11-forwarding", "touch-required",   "verify-required"};

	for (size_t i = 0; i < IB_LEN(flags); i++)
		if (strcasecmp(word, flags[i]) == 0)
			return true;
	return strpbrk(word, "=\"") || strncasecmp(word, "no-", 3) == 0;
}

/* YYYYMMDD[HHMM[SS]][Z], in the local time zone without Z. */
static bool parse_date(const char *s, size_t n, int64_t *ret)
{
	struct tm t = {.tm_isdst = -1}, again;
	bool utc = n && (s[n - 1] == 'Z' || s[n - 1] == 'z');
	int v[14] = {0};
	time_t at;

	n -= utc;
	if ((n != 8 && n != 12 && n != 14) || strspn(s, "0123456789") < n)
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] = s[i] - '0';
	t.tm_year = v[0] * 1000 + v[1] * 100 + v[2] * 10 + v[3] - 1900;
	t.tm_mon = v[4] * 10 + v[5] - 1;
	t.tm_mday = v[6] * 10 + v[7];
	t.tm_hour = v[8] * 10 + v[9];
	t.tm_min = v[10] * 10 + v[11];
	t.tm_sec = v[12] * 10 + v[13];
	again = t;
	at = utc ? timegm(&t) : mktime(&t);
	if (t.tm_mon != again.tm_mon || t.tm_mday != again.tm_mday || again.tm_hour > 23 || again.tm_min > 59 || again.tm_sec > 59)
		return false;
	*ret = at;
	return true;
}

struct line {
	char *principal;
	char *namespaces;
	int64_t after, before;
	const char *name;
	size_t number;
};

static void line_clear(struct line *l)
{
	free(l->principal);
	free(l->namespaces);
}

static int bad_line(const struct line *l, const char *why, struct ib_err *err)
{
	return ib_fail_at(err, IB_E_USAGE, l->name, "trust file '%s', line %zu: %s", l->name, l->number, why);
}

static bool named(const char *text, size_t n, const char *name)
{
	return n == strlen(name) && strncasecmp(text, name, n) == 0;
}

static int take_date(const struct line *l, const char *name, const char *value, size_t n, int64_t *ret, struct ib_err *err)
{
	if (parse_date(value, n, ret))
		return 0;
	return ib_fail_at(err, IB_E_USAGE, l->name, "trust file '%s', line %zu: %s is not YYYYMMDD[HHMM[SS]][Z]", l->name, l->number, name);
}

/* One option, NAME="VALUE" or NAME, of n characters. */
static int take_option(struct line *l, const char *text, size_t n, struct ib_err *err)
{
	const char *eq = memchr(text, '=', n), *value = NULL;
	size_t name = eq ? (size_t)(eq - text) : n, value_n = 0;

	if (eq && n >= name + 3 && eq[1] == '"' && text[n - 1] == '"') {
		value = eq + 2;
		value_n = n - name - 3;
	}
	if (named(text, name, "cert-authority"))
		return ib_fail_at(err, IB_E_UNSUPPORTED, l->name,
				  "trust file '%s', line %zu: an authority of certificates (cert-authority); certificates are not judged: give the signer's own key",
				  l->name, l->number);
	if (value && named(text, name, "valid-after"))
		return take_date(l, "valid-after", value, value_n, &l->after, err);
	if (value && named(text, name, "valid-before"))
		return take_date(l, "valid-before", value, value_n, &l->before, err);
	if (!value || l->namespaces || !named(text, name, "namespaces"))
		return ib_fail_at(err, IB_E_UNSUPPORTED, l->name, "trust file '%s', line %zu: the option '%.*s' cannot be judged; give the key without it", l->name,
				  l->number, (int)(n < 60 ? n : 60), text);
	l->namespaces = ib_strndup(value, value_n);
	return 0;
}

static int take_options(struct line *l, const char *text, struct ib_err *err)
{
	for (const char *p = text; *p;) {
		size_t n = 0;
		bool quoted = false;
		int r;

		for (; p[n] && (quoted || p[n] != ','); n++)
			quoted ^= p[n] == '"';
		r = take_option(l, p, n, err);
		if (r < 0)
			return r;
		p += n + (p[n] == ',');
	}
	return 0;
}

/* A list that only excludes matches nobody, in ssh too. */
static bool names_somebody(const char *principals)
{
	for (const char *p = principals; *p; p += strcspn(p, ","), p += *p == ',')
		if (*p != '!' && *p != ',')
			return true;
	return false;
}

static int add_key(struct ib_trust *t, struct line *l, const char *text, struct ib_err *err)
{
	ib_auto_free uint8_t *blob = NULL;
	struct ib_trusted *one;
	struct ib_pubkey k;
	size_t n;

	if (!text || ib_b64_decode(text, strlen(text), &blob, &n, NULL) < 0)
		return bad_line(l, "a key that is not base64", err);
	if (ib_pubkey_from_ssh(blob, n, &k, NULL) < 0)
		return bad_line(l, "a key that is not acceptable", err);
	one = add(t, &k, ib_asprintf("%s:%zu", l->name, l->number));
	one->principal = ib_steal(&l->principal);
	one->namespaces = ib_steal(&l->namespaces);
	one->after = l->after;
	one->before = l->before;
	return 0;
}

/* What stands before the key's type: *word is the first word, and then that type, or what stands in its place. */
static int take_principal(struct line *l, char **word, char **text, struct ib_err *err)
{
	int r;

	if (is_option(*word)) { /* authorized_keys may begin so */
		r = take_option(l, *word, strlen(*word), err);
		return r < 0 ? r : bad_line(l, "options without a principal before them", err);
	}
	l->principal = ib_strdup(*word);
	if (!names_somebody(l->principal))
		return bad_line(l, "a principal that names nobody", err);
	*word = next_word(text);
	if (!*word || type_of(*word) != TYPE_NONE || !(is_option(*word) || strchr(*word, ',')))
		return 0;
	r = take_options(l, *word, err);
	*word = next_word(text);
	return r;
}

/* One line: [principals [options]] type key [comment]. *ret_other counts keys of types that are passed over. */
static int add_line(struct ib_trust *t, char *text, const char *name, size_t number, size_t *ret_other, struct ib_err *err)
{
	__attribute__((cleanup(line_clear))) struct line l = {.after = INT64_MIN, .before = INT64_MAX, .name = name, .number = number};
	char *word = next_word(&text);
	int r;

	if (!word || *word == '#')
		return 0;
	r = type_of(word) == TYPE_NONE ? take_principal(&l, &word, &text, err) : 0;
	if (r < 0)
		return r;
	if (!word || type_of(word) == TYPE_NONE)
		return bad_line(&l, "neither PEM public keys nor keys of OpenSSH form", err);
	if (type_of(word) == TYPE_OTHER) {
		++*ret_other;
		return 0;
	}
	return add_key(t, &l, next_word(&text), err);
}

static int add_lines(struct ib_trust *t, const char *data, size_t n, const char *name, struct ib_err *err)
{
	ib_auto_free char *text = ib_strndup(data, n);
	size_t before = t->n, other = 0, number = 0;

	for (char *line = text, *next; line; line = next) {
		int r;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		r = add_line(t, line, name, ++number, &other, err);
		if (r < 0)
			return r;
	}
	if (t->n > before)
		return 0;
	if (other)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "trust file '%s' holds only keys of other types than Ed25519 and ECDSA P-256", name);
	return bad(name, "it holds no public key", err);
}

/* Between and around PEM blocks: blank lines and comments. Anything else could be a key that is silently passed over. */
static bool only_comments(const char *p, const char *end)
{
	bool start = true, comment = false;

	for (; p < end; p++) {
		if (*p == '\n')
			start = true, comment = false;
		else if (start && *p == '#')
			comment = true, start = false;
		else if (!comment && !strchr(" \t\r", *p))
			return false;
	}
	return true;
}

int ib_trust_add(struct ib_trust *t, const char *data, size_t n, const char *name, struct ib_err *err)
{
	static const char begin[] = "-----BEGIN PUBLIC KEY-----", end[] = "-----END PUBLIC KEY-----";
	const char *p = data, *stop = data + n;
	size_t found = 0;

	if (n > IB_KEY_FILE_MAX)
		return bad(name, "it is larger than 1 MiB", err);
	if (n && memchr(data, 0, n))
		return bad(name, "it holds a byte 0", err);
	if (memmem(data, n, "PRIVATE KEY-----", 16))
		return bad(name, "it holds a private key; give the public half, NAME.pub.pem", err);
	for (;; found++) {
		const char *a = memmem(p, (size_t)(stop - p), begin, strlen(begin)), *b;
		int r;

		if ((a || found) && !only_comments(p, a ? a : stop))
			return bad(name, "something else stands beside its PEM public keys; give that in a file of its own", err);
		if (!a)
			break;
		a += strlen(begin);
		b = memmem(a, (size_t)(stop - a), end, strlen(end));
		if (!b)
			return bad(name, "a public key without its last line", err);
		r = add_pem(t, a, (size_t)(b - a), name, err);
		if (r < 0)
			return r;
		p = b + strlen(end);
	}
	return found ? 0 : add_lines(t, data, n, name, err);
}

int ib_trust_add_fingerprint(struct ib_trust *t, const char *text, struct ib_err *err)
{
	static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (!ib_starts(text, "SHA256:") || strlen(text) != IB_FINGERPRINT_LEN - 1 || strspn(text + 7, b64) != 43)
		return ib_fail(err, IB_E_USAGE, 0, "'%s' is not a fingerprint: 'SHA256:' and 43 characters, as 'ssh-keygen -l' prints it", text);
	ib_strv_add(&t->fingerprints, text);
	return 0;
}

/* --- judging --- */

/* ssh's patterns: '*' and '?'. */
static bool matches(const char *pattern, size_t n, const char *s)
{
	size_t i = 0;

	for (; i < n; i++, s++) {
		if (pattern[i] == '*') {
			while (i < n && pattern[i] == '*')
				i++;
			for (; *s; s++)
				if (i == n || matches(pattern + i, n - i, s))
					return true;
			return i == n;
		}
		if (!*s || (pattern[i] != '?' && pattern[i] != *s))
			return false;
	}
	return !*s;
}

/* ssh's lists of patterns: one must match, and none behind '!'. */
static bool listed(const char *list, const char *s)
{
	bool found = false;

	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");
		bool not = *p == '!';

		if (matches(p + not, n - not, s)) {
			if (not)
				return false;
			found = true;
		}
		p += n + (p[n] == ',');
	}
	return found;
}

enum fit { FITS, OTHER_PRINCIPAL, OTHER_NAMESPACE, NOT_YET, NO_LONGER };

static enum fit fit(const struct ib_trust *t, const struct ib_trusted *one)
{
	if (t->principal && !(one->principal && listed(one->principal, t->principal)))
		return OTHER_PRINCIPAL;
	if (one->namespaces && !listed(one->namespaces, IB_SSHSIG_NAMESPACE))
		return OTHER_NAMESPACE;
	return t->at < one->after ? NOT_YET : t->at > one->before ? NO_LONGER : FITS;
}

bool ib_trust_has(const struct ib_trust *t, const struct ib_pubkey *k, const char **ret_principal)
{
	if (ret_principal)
		*ret_principal = NULL;
	for (size_t i = 0; i < t->n; i++)
		if (ib_pubkey_equal(&t->v[i].key, k) && fit(t, &t->v[i]) == FITS) {
			if (ret_principal)
				*ret_principal = t->principal ? t->principal : t->v[i].principal;
			return true;
		}
	for (size_t i = 0; i < t->fingerprints.n && !t->principal; i++)
		if (strcmp(t->fingerprints.v[i], k->fingerprint) == 0)
			return true;
	return false;
}

bool ib_trust_dated(const struct ib_trust *t, const struct ib_pubkey *k)
{
	for (size_t i = 0; i < t->n; i++)
		if (ib_pubkey_equal(&t->v[i].key, k) && (t->v[i].after != INT64_MIN || t->v[i].before != INT64_MAX))
			return true;
	return false;
}

char *ib_trust_why(const struct ib_trust *t, const struct ib_pubkey *k)
{
	char time[IB_TIME_LEN];

	for (size_t i = 0; i < t->n; i++) {
		const struct ib_trusted *one = &t->v[i];

		if (!ib_pubkey_equal(&one->key, k))
			continue;
		switch (fit(t, one)) {
		case OTHER_PRINCIPAL:
			return ib_asprintf("%s: the key is of '%s', not of '%s'", one->where, one->principal ? one->principal : "nobody named", t->principal);
		case OTHER_NAMESPACE:
			return ib_asprintf("%s: the key is for the namespaces '%s', '%s' is not among them", one->where, one->namespaces, IB_SSHSIG_NAMESPACE);
		case NOT_YET:
			ib_time_text(one->after * IB_NS, 0, time);
			return ib_asprintf("%s: the key is valid only from %s", one->where, time);
		case NO_LONGER:
			ib_time_text(one->before * IB_NS, 0, time);
			return ib_asprintf("%s: the key is valid only until %s", one->where, time);
		case FITS:
		default:
			break;
		}
	}
	for (size_t i = 0; i < t->fingerprints.n && t->principal; i++)
		if (strcmp(t->fingerprints.v[i], k->fingerprint) == 0)
			return ib_asprintf("a fingerprint does not say whose key it is: '%s' is not established", t->principal);
	return NULL;
}

bool ib_trust_empty(const struct ib_trust *t)
{
	return t->n == 0 && t->fingerprints.n == 0;
}

void ib_trust_clear(struct ib_trust *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].principal);
		free(t->v[i].namespaces);
		free(t->v[i].where);
	}
	free(t->v);
	ib_strv_clear(&t->fingerprints);
	*t = (struct ib_trust){0};
}
