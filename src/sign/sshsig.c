/* SPDX-License-Identifier: Apache-2.0 */
/* SSH signatures: armour, blob, and the bytes that were signed. */
#include "sign/sshsig.h"

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/digest.h"
#include "base/str.h"
#include "sign/wire.h"

#define COLUMNS 70
#define TOUCHED 1

static const char begin[] = "-----BEGIN SSH SIGNATURE-----\n", end[] = "-----END SSH SIGNATURE-----\n";

static int bad(struct ib_err *err, const char *why)
{
	return ib_fail(err, IB_E_SIG, 0, "not an SSH signature in the form of ssh-keygen: %s", why);
}

/* --- armour --- */

/* The text that stands for these bytes. */
static void armour(const uint8_t *blob, size_t n, struct ib_buf *b)
{
	ib_auto_free char *text = ib_b64_encode(blob, n);

	ib_buf_adds(b, begin);
	for (size_t at = 0, len = strlen(text); at < len; at += COLUMNS)
		ib_buf_addf(b, "%.*s\n", COLUMNS, text + at);
	ib_buf_adds(b, end);
}

static int take_armour(const char *text, size_t n, uint8_t **ret, size_t *ret_n, struct ib_err *err)
{
	ib_auto_buf struct ib_buf body = IB_BUF(IB_SSHSIG_MAX), again = IB_BUF(2 * IB_SSHSIG_MAX);
	size_t head = strlen(begin), tail = strlen(end);

	if (n > IB_SSHSIG_MAX)
		return ib_fail(err, IB_E_LIMIT, 0, "an SSH signature of more than %u bytes", IB_SSHSIG_MAX);
	if (n < head + tail || memcmp(text, begin, head) != 0 || memcmp(text + n - tail, end, tail) != 0)
		return bad(err, "it does not begin and end with its two lines");
	for (size_t i = head; i < n - tail; i++)
		if (text[i] != '\n')
			ib_buf_addc(&body, text[i]);
	if (ib_b64_decode(ib_buf_str(&body), body.len, ret, ret_n, NULL) < 0)
		return bad(err, "what it holds is not base64");
	armour(*ret, *ret_n, &again);
	if (again.len != n || memcmp(again.data, text, n) != 0)
		return bad(err, "its lines are not those that ssh-keygen writes");
	return 0;
}

/* --- blob --- */

static int take_namespace(struct ib_wire *w, struct ib_sshsig *s, struct ib_err *err)
{
	const uint8_t *p;
	size_t n;

	if (!ib_wire_string(w, &p, &n) || n == 0 || n >= sizeof(s->namespace) || memchr(p, 0, n))
		return bad(err, "its namespace");
	memcpy(s->namespace, p, n);
	return 0;
}

/* A positive number without needless zeros, n bytes of it behind the zero that keeps it positive. */
static bool take_number(struct ib_wire *w, const uint8_t **ret, size_t *ret_n)
{
	if (!ib_wire_string(w, ret, ret_n) || *ret_n == 0 || (*ret)[0] & 0x80)
		return false;
	if ((*ret)[0])
		return true;
	if (*ret_n < 2 || !((*ret)[1] & 0x80))
		return false;
	++*ret;
	--*ret_n;
	return true;
}

static void keep(struct ib_sshsig *s, const uint8_t *sig, size_t n)
{
	s->sig = ib_alloc(n + 1);
	memcpy(s->sig, sig, n);
	s->sig_n = n;
}

/* The pair of numbers of an ECDSA signature, as the DER that the rest of the project works with. */
static bool take_ecdsa(const uint8_t *p, size_t n, struct ib_sshsig *s)
{
	struct ib_wire w = {p, n};
	const uint8_t *a, *b;
	size_t a_n, b_n;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	unsigned char *der = NULL;
	int len = -1;

	if (sig && take_number(&w, &a, &a_n) && take_number(&w, &b, &b_n) && !w.left && a_n <= 32 && b_n <= 32) {
		ECDSA_SIG_set0(sig, BN_bin2bn(a, (int)a_n, NULL), BN_bin2bn(b, (int)b_n, NULL));
		len = i2d_ECDSA_SIG(sig, &der);
	}
	if (len > 0)
		keep(s, der, (size_t)len);
	OPENSSL_free(der);
	ECDSA_SIG_free(sig);
	return len > 0;
}

static int take_signature(struct ib_wire *w, struct ib_sshsig *s, struct ib_err *err)
{
	struct ib_wire in = {0};
	const uint8_t *p;
	size_t n;
	bool token = s->key.application[0];

	if (!ib_wire_string(w, &in.p, &in.left) || w->left)
		return bad(err, "its end");
	if (!ib_wire_is(&in, ib_pubkey_ssh_type(&s->key))) {
		if (token && ib_wire_is(&in, "webauthn-sk-ecdsa-sha2-nistp256@openssh.com"))
			return ib_fail(err, IB_E_UNSUPPORTED, 0, "an SSH signature by WebAuthn cannot be judged");
		return bad(err, "the kind of its signature is not that of its key");
	}
	if (!ib_wire_string(&in, &p, &n))
		return bad(err, "its signature");
	if (ib_key_is_ed25519(s->key.type))
		keep(s, p, n);
	else if (!take_ecdsa(p, n, s))
		return bad(err, "the numbers of its signature");
	if ((token && (!ib_wire_byte(&in, &s->flags) || !ib_wire_u32(&in, &s->counter))) || in.left)
		return bad(err, "what follows its signature");
	return 0;
}

/* A key of another kind is no fault of the signature: whether it is good cannot be said. */
static int take_key(struct ib_wire *w, struct ib_sshsig *s, struct ib_err *err)
{
	static const char *const ours[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"};
	struct ib_wire in;
	const uint8_t *p, *name;
	size_t n, name_n;

	if (!ib_wire_string(w, &p, &n))
		return bad(err, "its key");
	in = (struct ib_wire){p, n};
	for (size_t i = 0; i < IB_LEN(ours); i++)
		if (ib_wire_is(&in, ours[i]))
			return ib_pubkey_from_ssh(p, n, &s->key, err);
	if (!ib_wire_string(&in, &name, &name_n) || name_n == 0 || name_n > 80)
		return bad(err, "its key");
	for (size_t i = 0; i < name_n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return bad(err, "its key");
	return ib_fail(err, IB_E_UNSUPPORTED, 0, "an SSH signature by a key of type '%.*s' cannot be judged: Ed25519 or ECDSA P-256 is needed", (int)name_n,
		       (const char *)name);
}

static int take_blob(const uint8_t *blob, size_t n, struct ib_sshsig *s, struct ib_err *err)
{
	struct ib_wire w = {blob, n};
	uint32_t version;
	int r;

	if (n < 6 || memcmp(blob, "SSHSIG", 6) != 0)
		return bad(err, "it does not begin with SSHSIG");
	w.p += 6;
	w.left -= 6;
	if (!ib_wire_u32(&w, &version) || version != 1)
		return bad(err, "its version is not 1");
	r = take_key(&w, s, err);
	if (r == 0)
		r = take_namespace(&w, s, err);
	if (r < 0)
		return r;
	if (!ib_wire_is(&w, ""))
		return bad(err, "what is reserved is not empty");
	s->sha256 = ib_wire_is(&w, "sha256");
	if (!s->sha256 && !ib_wire_is(&w, "sha512"))
		return bad(err, "its digest is neither sha512 nor sha256");
	return take_signature(&w, s, err);
}

int ib_sshsig_parse(const char *text, size_t n, struct ib_sshsig *ret, struct ib_err *err)
{
	ib_auto_free uint8_t *blob = NULL;
	size_t blob_n;
	int r;

	*ret = (struct ib_sshsig){0};
	r = take_armour(text, n, &blob, &blob_n, err);
	return r < 0 ? r : take_blob(blob, blob_n, ret, err);
}

void ib_sshsig_clear(struct ib_sshsig *s)
{
	free(s->sig);
	*s = (struct ib_sshsig){0};
}

/* --- the bytes that were signed --- */

static void add_digest(struct ib_buf *b, const struct ib_sshsig *s, const void *message, size_t n)
{
	uint8_t digest[IB_SHA512_LEN];

	if (s->sha256)
		ib_sha256_raw_of(message, n, digest);
	else
		ib_sha512_of(message, n, digest);
	ib_wire_add_string(b, digest, s->sha256 ? IB_SHA256_LEN : IB_SHA512_LEN);
}

/* What a token signs: digests of its application and of what it was given, with its flags and its counter between them. */
static void wrap_for_token(const struct ib_sshsig *s, struct ib_buf *b)
{
	uint8_t both[2 * IB_SHA256_LEN + 5] = {0};

	ib_sha256_raw_of(s->key.application, strlen(s->key.application), both);
	both[32] = s->flags;
	for (unsigned i = 0; i < 4; i++)
		both[33 + i] = (uint8_t)(s->counter >> (24 - 8 * i));
	ib_sha256_raw_of(b->data, b->len, both + 37);
	b->len = 0;
	ib_buf_add(b, both, sizeof(both));
}

int ib_sshsig_verify(const struct ib_sshsig *s, const char *namespace, const void *message, size_t n, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1024);

	if (strcmp(s->namespace, namespace) != 0)
		return ib_fail(err, IB_E_SIG, 0, "the SSH signature was made for the namespace '%s', not for '%s'", s->namespace, namespace);
	if (s->key.application[0] && !(s->flags & TOUCHED))
		return ib_fail(err, IB_E_SIG, 0, "the token was not touched when it signed");
	ib_buf_add(&b, "SSHSIG", 6);
	ib_wire_add_string(&b, s->namespace, strlen(s->namespace));
	ib_wire_add_string(&b, "", 0);
	ib_wire_add_string(&b, s->sha256 ? "sha256" : "sha512", 6);
	add_digest(&b, s, message, n);
	if (s->key.application[0])
		wrap_for_token(s, &b);
	return ib_pubkey_verify(&s->key, b.data, b.len, s->sig, s->sig_n, err);
}
