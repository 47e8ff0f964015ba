/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that show by their shape: service tokens, web tokens, private keys. */
#include "redact/scan.h"

#include <ctype.h>
#include <string.h>

#include "base/auto.h"

static bool in_class(char c, enum ib_alphabet a)
{
	switch (a) {
	case IB_ALNUM:
		return ib_scan_alnum(c);
	case IB_UPPER:
		return isupper((unsigned char)c) || isdigit((unsigned char)c);
	case IB_WORD:
		return ib_scan_alnum(c) || c == '_';
	case IB_URL:
		return ib_scan_alnum(c) || c == '_' || c == '-';
	case IB_BASE64:
	default:
		return ib_scan_alnum(c) || c == '+' || c == '/' || c == '=';
	}
}

size_t ib_scan_run(const struct ib_text *t, size_t at, enum ib_alphabet a, size_t max)
{
	size_t end = at < t->n && max < t->n - at ? at + max : t->n, i = at;

	while (i < end && in_class(t->s[i], a))
		i++;
	return i - at;
}

bool ib_scan_at(const struct ib_text *t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at <= t->n && n <= t->n - at && memcmp(t->s + at, word, n) == 0;
}

/* Tokens of services: a prefix, then so many characters of an alphabet. mixed: the rest must look made by a machine, since
 * the prefix also starts ordinary identifiers. whole: '-' and '_' before the prefix are part of a longer word. */
static const struct prefix {
	const char *rule, *prefix;
	enum ib_alphabet alphabet;
	size_t min, max;
	bool mixed, whole;
} prefixes[] = {
	{"hugging-face-token", "hf_", IB_URL, 20, 120, true, false},
	{"hugging-face-token", "api_org_", IB_URL, 20, 120, true, false},
	{"llm-api-key", "sk-", IB_URL, 20, 250, true, true},
	{"llm-api-key", "gsk_", IB_URL, 20, 120, true, false},
	{"llm-api-key", "r8_", IB_URL, 20, 120, true, false},
	{"llm-api-key", "nvapi-", IB_URL, 20, 120, true, true},
	{"llm-api-key", "xai-", IB_URL, 20, 120, true, true},
	{"llm-api-key", "pplx-", IB_URL, 20, 120, true, true},
	{"google-api-key", "AIza", IB_URL, 30, 45, true, false},
	{"google-token", "ya29.", IB_URL, 20, 2000, true, false},
	{"github-token", "ghp_", IB_ALNUM, 30, 255, false, false},
	{"github-token", "gho_", IB_ALNUM, 30, 255, false, false},
	{"github-token", "ghu_", IB_ALNUM, 30, 255, false, false},
	{"github-token", "ghs_", IB_ALNUM, 30, 255, false, false},
	{"github-token", "ghr_", IB_ALNUM, 30, 255, false, false},
	{"github-token", "github_pat_", IB_WORD, 36, 255, false, false},
	{"gitlab-token", "glpat-", IB_URL, 20, 120, false, false},
	{"npm-token", "npm_", IB_ALNUM, 36, 120, false, false},
	{"pypi-token", "pypi-AgE", IB_URL, 40, 500, false, false},
	{"docker-token", "dckr_pat_", IB_URL, 20, 120, false, false},
	{"aws-key-id", "AKIA", IB_UPPER, 16, 16, false, true},
	{"aws-key-id", "ASIA", IB_UPPER, 16, 16, false, true},
	{"aws-key-id", "ABIA", IB_UPPER, 16, 16, false, true},
	{"aws-key-id", "ACCA", IB_UPPER, 16, 16, false, true},
	{"azure-account-key", "AccountKey=", IB_BASE64, 40, 120, false, false},
	{"alibaba-key-id", "LTAI", IB_ALNUM, 12, 40, true, true},
	{"slack-token", "xoxa-", IB_URL, 10, 250, false, false},
	{"slack-token", "xoxb-", IB_URL, 10, 250, false, false},
	{"slack-token", "xoxo-", IB_URL, 10, 250, false, false},
	{"slack-token", "xoxp-", IB_URL, 10, 250, false, false},
	{"slack-token", "xoxs-", IB_URL, 10, 250, false, false},
	{"slack-token", "xoxr-", IB_URL, 10, 250, false, false},
	{"payment-key", "sk_live_", IB_ALNUM, 16, 250, false, false},
	{"payment-key", "rk_live_", IB_ALNUM, 16, 250, false, false},
	{"age-key", "AGE-SECRET-KEY-1", IB_ALNUM, 20, 120, false, false},
	{"age-key", "age-secret-key-1", IB_ALNUM, 20, 120, false, false},
};

/* A run of 16 letters and digits without a break, or four digits: nobody names a function so. */
static bool looks_made(const char *s, size_t n)
{
	size_t run = 0, digits = 0, longest = 0;

	for (size_t i = 0; i < n; i++) {
		run = ib_scan_alnum(s[i]) ? run + 1 : 0;
		longest = run > longest ? run : longest;
		digits += isdigit((unsigned char)s[i]) != 0;
	}
	return longest >= 16 || digits >= 4;
}

bool ib_scan_found(struct ib_hit *ret, const char *rule, size_t at, size_t n)
{
	*ret = (struct ib_hit){rule, at, n};
	return true;
}

static bool match_prefix(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	bool broken = at > 0 && (t->s[at - 1] == '-' || t->s[at - 1] == '_');

	for (size_t i = 0; i < IB_LEN(prefixes); i++) {
		const struct prefix *p = &prefixes[i];
		size_t head, n;

		if (t->s[at] != p->prefix[0] || !ib_scan_at(t, at, p->prefix) || (p->whole && broken))
			continue;
		head = strlen(p->prefix);
		n = ib_scan_run(t, at + head, p->alphabet, p->max + 1);
		if (n < p->min || n > p->max || (p->mixed && !looks_made(t->s + at + head, n)))
			continue;
		return ib_scan_found(ret, p->rule, at, head + n);
	}
	return false;
}

/* eyJ… . eyJ… [. …]: a JSON Web Token. The bounds keep hostile text from costing quadratic time. */
#define JWT_HEADER 512
#define JWT_PART 16384

static bool match_jwt(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t n, end = at, parts = 0;

	if (!ib_scan_at(t, at, "eyJ"))
		return false;
	while (parts < 5 && (n = ib_scan_run(t, end, IB_URL, parts ? JWT_PART : JWT_HEADER)) >= 6) {
		parts++;
		end += n;
		if (end >= t->n || t->s[end] != '.')
			break;
		end++;
	}
	if (parts < 2)
		return false;
	return ib_scan_found(ret, "json-web-token", at, end - at - (t->s[end - 1] == '.'));
}

/* SG.xxx.yyy */
static bool match_sendgrid(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t a, b;

	if (!ib_scan_at(t, at, "SG."))
		return false;
	a = ib_scan_run(t, at + 3, IB_URL, 100);
	if (a < 16 || at + 3 + a >= t->n || t->s[at + 3 + a] != '.')
		return false;
	b = ib_scan_run(t, at + 4 + a, IB_URL, 200);
	return b >= 16 && ib_scan_found(ret, "mail-api-key", at, 4 + a + b);
}

/* -----BEGIN … PRIVATE KEY-----, up to its end mark or the end of the text, also with escaped line ends */
bool ib_scan_pem(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t line = at + strlen("-----BEGIN ");
	const char *end;

	if (!ib_scan_at(t, at, "-----BEGIN "))
		return false;
	while (line < t->n && (isupper((unsigned char)t->s[line]) || isdigit((unsigned char)t->s[line]) || t->s[line] == ' ') && line - at < 60)
		line++;
	if (line - at < 22 || memcmp(t->s + line - 11, "PRIVATE KEY", 11) != 0)
		return false;
	end = memmem(t->s + line, t->n - line, "-----END ", 9);
	if (!end)
		return ib_scan_found(ret, "private-key", at, t->n - at);
	for (line = (size_t)(end - t->s) + 9; line < t->n && t->s[line] != '\n' && t->s[line] != '\\' && t->s[line] != '"'; line++)
		;
	return ib_scan_found(ret, "private-key", at, line - at);
}

bool ib_scan_token(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	return match_prefix(t, at, ret) || match_jwt(t, at, ret) || match_sendgrid(t, at, ret);
}
