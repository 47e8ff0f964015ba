/* SPDX-License-Identifier: Apache-2.0 */
/* Files of trusted keys. */
#include "sign/trust.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"

static void add(struct ib_trust *t, const struct ib_pubkey *k, const char *principal)
{
	t->v = ib_realloc(t->v, t->n + 1, sizeof(*t->v));
	t->v[t->n++] = (struct ib_trusted){.key = *k, .principal = ib_strdup(principal)};
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
	add(t, &k, NULL);
	return 0;
}

enum type_of { TYPE_NONE, TYPE_OURS, TYPE_OTHER };

static enum type_of type_of(const char *word)
{
	if (strcmp(word, "ssh-ed25519") == 0 || strcmp(word, "ecdsa-sha2-nistp256") == 0)
		return TYPE_OURS;
	if (ib_starts(word, "ssh-") || ib_starts(word, "ecdsa-sha2-") || ib_starts(word, "sk-ssh-") || ib_starts(word, "sk-ecdsa-"))
		return TYPE_OTHER;
	return TYPE_NONE;
}

/* Words before the key's type that change what the key may do, or, with '!', whose it is not. */
static bool is_option(const char *word)
{
	static const char *const flags[] = {"cert-authority", "restrict", "agent-forwarding", "port-forwarding",  "pty",
					    "user-rc",        "x11-forwarding", "touch-required", "verify-required"};

	if (!word)
		return false;
	for (size_t i = 0; i < IB_LEN(flags); i++)
		if (strcasecmp(word, flags[i]) == 0)
			return true;
	return strpbrk(word, "=\"!") || strncasecmp(word, "no-", 3) == 0;
}

static int add_key(struct ib_trust *t, const char *text, const char *principal, const char *name, struct ib_err *err)
{
	ib_auto_free uint8_t *blob = NULL;
	struct ib_pubkey k;
	size_t n;

	if (!text || ib_b64_decode(text, strlen(text), &blob, &n, NULL) < 0)
		return bad(name, "a key that is not base64", err);
	if (ib_pubkey_from_ssh(blob, n, &k, err) < 0)
		return bad(name, "a key that is not acceptable", err);
	add(t, &k, principal);
	return 0;
}

/* One line of OpenSSH form: [principal] type key [comment]. *ret_other counts keys of types that are passed over. */
static int add_line(struct ib_trust *t, char *line, const char *name, size_t *ret_other, struct ib_err *err)
{
	char *save = NULL, *word = strtok_r(line, " \t\r", &save);
	const char *principal = NULL;

	if (!word || *word == '#')
		return 0;
	if (type_of(word) == TYPE_NONE) {
		principal = word;
		word = strtok_r(NULL, " \t\r", &save);
		if (is_option(principal) || is_option(word))
			return ib_fail_at(err, IB_E_UNSUPPORTED, name,
					  "trust file '%s' uses options, which this version cannot judge; give the key without them", name);
	}
	if (!word || type_of(word) == TYPE_NONE)
		return bad(name, "neither PEM public keys nor keys of OpenSSH form", err);
	if (type_of(word) == TYPE_OTHER) {
		++*ret_other;
		return 0;
	}
	return add_key(t, strtok_r(NULL, " \t\r", &save), principal, name, err);
}

static int add_lines(struct ib_trust *t, const char *data, size_t n, const char *name, struct ib_err *err)
{
	ib_auto_free char *text = ib_strndup(data, n);
	size_t before = t->n, other = 0;
	char *save = NULL;
	int r;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		r = add_line(t, line, name, &other, err);
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

bool ib_trust_has(const struct ib_trust *t, const struct ib_pubkey *k, const char **ret_principal)
{
	if (ret_principal)
		*ret_principal = NULL;
	for (size_t i = 0; i < t->n; i++)
		if (ib_pubkey_equal(&t->v[i].key, k)) {
			if (ret_principal)
				*ret_principal = t->v[i].principal;
			return true;
		}
	for (size_t i = 0; i < t->fingerprints.n; i++)
		if (strcmp(t->fingerprints.v[i], k->fingerprint) == 0)
			return true;
	return false;
}

bool ib_trust_empty(const struct ib_trust *t)
{
	return t->n == 0 && t->fingerprints.n == 0;
}

void ib_trust_clear(struct ib_trust *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].principal);
	free(t->v);
	ib_strv_clear(&t->fingerprints);
	*t = (struct ib_trust){0};
}
