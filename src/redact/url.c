/* SPDX-License-Identifier: Apache-2.0 */
/* URLs: user information, secret query keys, tokens in paths. */
#include "redact/redact.h"
#include "redact/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/buf.h"

/* log2 of 0 < x <= 1 to 2^-20, without the mathematics library */
static double log_2(double x)
{
	double result = 0, bit = 1;

	for (; x < 1; x *= 2)
		result -= 1;
	for (int i = 0; i < 20; i++) {
		bit /= 2;
		x *= x;
		if (x >= 2) {
			x /= 2;
			result += bit;
		}
	}
	return result;
}

double ib_scan_entropy(const char *s, size_t n)
{
	size_t count[256] = {0};
	double bits = 0;

	for (size_t i = 0; i < n; i++)
		count[(unsigned char)s[i]]++;
	for (size_t i = 0; i < 256; i++)
		if (count[i])
			bits -= (double)count[i] / (double)n * log_2((double)count[i] / (double)n);
	return bits;
}

/* End of the authority that starts at a place. */
static size_t authority_end(const struct ib_text *t, size_t at)
{
	while (at < t->n && !isspace((unsigned char)t->s[at]) && !strchr("/?#\"'<>,;)", t->s[at]))
		at++;
	return at;
}

/* Behind "://": the length of what stands before the last '@' of the authority, 0 without one. */
static size_t userinfo(const struct ib_text *t, size_t at)
{
	size_t end = authority_end(t, at);

	while (end > at && t->s[end - 1] != '@')
		end--;
	return end > at ? end - 1 - at : 0;
}

/* user:password@ with a password, or a long user without one (a token); "git@" is neither. */
bool ib_scan_userinfo(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t n = userinfo(t, at);
	const char *colon = n ? memchr(t->s + at, ':', n) : NULL;
	size_t user = colon ? (size_t)(colon - (t->s + at)) : n;

	if (n == 0 || ib_scan_placeholder(t->s + at, n))
		return false;
	if (colon ? ib_scan_placeholder(colon + 1, n - user - 1) && user < 16 : user < 16)
		return false;
	return ib_scan_found(ret, "url-userinfo", at, n);
}

/* conda channels: https://host/t/TOKEN/channel */
bool ib_scan_path_token(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t i = authority_end(t, at), n;

	if (!ib_scan_at(t, i, "/t/"))
		return false;
	n = ib_scan_run(t, i + 3, IB_URL, 200);
	if (n < 8 || i + 3 + n >= t->n || t->s[i + 3 + n] != '/')
		return false;
	return ib_scan_found(ret, "url-path-token", i + 3, n);
}

static bool secret_key(const char *s, size_t n)
{
	static const char *const keys[] = {"sig", "token", "key", "password", "passwd", "secret", "api_key", "apikey", "api-key", "access_token", "auth", "signature",
		"x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "sas", "private_token", NULL};

	for (size_t i = 0; keys[i]; i++)
		if (strlen(keys[i]) == n && strncasecmp(s, keys[i], n) == 0)
			return true;
	return false;
}

bool ib_scan_query(const struct ib_text *t, size_t at, struct ib_hit *ret)
{
	size_t n = 0, value, end;

	while (at + n < t->n && n < 40 && (ib_scan_alnum(t->s[at + n]) || t->s[at + n] == '-' || t->s[at + n] == '_'))
		n++;
	if (at + n >= t->n || t->s[at + n] != '=' || !secret_key(t->s + at, n))
		return false;
	value = at + n + 1;
	for (end = value; end < t->n && !isspace((unsigned char)t->s[end]) && !strchr("&#\"'<>", t->s[end]); end++)
		;
	if (end - value < 4 || ib_scan_placeholder(t->s + value, end - value))
		return false;
	return ib_scan_found(ret, "url-query", value, end - value);
}

/* The text with every secret in it replaced by a word. */
static char *without_secrets(const char *s, size_t n)
{
	struct ib_buf b = IB_BUF(n * 2 + 1024);
	struct ib_hit hit;
	size_t at = 0;

	while (ib_scan_next(s, n, at, IB_SCAN_STRICT, &hit)) {
		ib_buf_add(&b, s + at, hit.at - at);
		ib_buf_adds(&b, "***");
		at = hit.at + hit.n;
	}
	ib_buf_add(&b, s + at, n - at);
	return ib_buf_steal(&b);
}

char *ib_url_scrub(const char *url)
{
	ib_auto_free char *bare = NULL;
	const char *scheme = strstr(url, "://");
	const char *sign = strchr(url, '@'), *colon = strchr(url, ':');

	if (scheme) {
		const struct ib_text t = {url, strlen(url)};
		size_t at = (size_t)(scheme - url) + 3, n = userinfo(&t, at);

		bare = ib_asprintf("%.*s%s", (int)at, url, url + at + (n ? n + 1 : url[at] == '@'));
	} else if (sign && colon && sign < colon && !memchr(url, '/', (size_t)(sign - url))) {
		bare = ib_strdup(sign + 1); /* git@host:path */
	} else {
		bare = ib_strdup(url);
	}
	return without_secrets(bare, strlen(bare));
}
