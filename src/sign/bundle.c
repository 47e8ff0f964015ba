/* SPDX-License-Identifier: Apache-2.0 */
/* DSSE in a Sigstore bundle. The text is taken apart by its fixed pieces, so that there is nothing left to normalise. */
#include "sign/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

static const char hint_at[] = "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"publicKey\":{\"hint\":\"";
static const char payload_at[] = "\"},\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"";
static const char keyid_at[] = "\",\"payloadType\":\"" IB_PAYLOAD_TYPE "\",\"signatures\":[{\"keyid\":\"";
static const char sig_at[] = "\",\"sig\":\"";
static const char tail[] = "\"}]}}\n";

void ib_dsse_pae(const void *payload, size_t n, struct ib_buf *b)
{
	ib_buf_addf(b, "DSSEv1 %zu %s %zu ", strlen(IB_PAYLOAD_TYPE), IB_PAYLOAD_TYPE, n);
	ib_buf_add(b, payload, n);
}

int ib_bundle_make(const struct ib_privkey *k, const void *payload, size_t n, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_buf struct ib_buf pae = IB_BUF(n + 128);
	ib_auto_free uint8_t *sig = NULL;
	ib_auto_free char *payload64 = NULL, *sig64 = NULL;
	const char *fp = ib_privkey_public(k)->fingerprint;
	size_t sig_n;
	int r;

	ib_dsse_pae(payload, n, &pae);
	r = ib_privkey_sign(k, pae.data, pae.len, &sig, &sig_n, err);
	if (r < 0)
		return r;
	payload64 = ib_b64_encode(payload, n);
	sig64 = ib_b64_encode(sig, sig_n);
	ib_buf_addf(b, "%s%s%s%s%s%s%s%s%s", hint_at, fp, payload_at, payload64, keyid_at, fp, sig_at, sig64, tail);
	return ib_buf_check(b, "bundle", err);
}

/* Passes over a fixed piece. */
static bool piece(const char **p, const char *end, const char *fixed)
{
	size_t n = strlen(fixed);

	if ((size_t)(end - *p) < n || memcmp(*p, fixed, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Decodes base64 up to the next quotation mark; at least one byte. */
static bool base64(const char **p, const char *end, uint8_t **ret, size_t *ret_n)
{
	const char *quote = memchr(*p, '"', (size_t)(end - *p));

	if (!quote || quote == *p || ib_b64_decode(*p, (size_t)(quote - *p), ret, ret_n, NULL) < 0)
		return false;
	*p = quote;
	return true;
}

int ib_bundle_parse(const char *data, size_t n, struct ib_bundle *ret, struct ib_err *err)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = data, *end = data + n;
	const size_t fp_n = IB_FINGERPRINT_LEN - 1;
	uint8_t *payload = NULL;
	bool good;

	*ret = (struct ib_bundle){0};
	good = piece(&p, end, hint_at) && (size_t)(end - p) > fp_n;
	if (good) {
		memcpy(ret->keyid, p, fp_n);
		p += fp_n;
		good = ib_starts(ret->keyid, "SHA256:") && strspn(ret->keyid + 7, digits) == fp_n - 7;
	}
	good = good && piece(&p, end, payload_at) && base64(&p, end, &payload, &ret->payload_n);
	if (good) { /* room for a NUL */
		ret->payload = ib_alloc(ret->payload_n + 1);
		memcpy(ret->payload, payload, ret->payload_n);
	}
	free(payload);
	good = good && piece(&p, end, keyid_at) && piece(&p, end, ret->keyid) && piece(&p, end, sig_at) && base64(&p, end, &ret->sig, &ret->sig_n) &&
	       piece(&p, end, tail) && p == end;
	return good ? 0 : ib_fail(err, IB_E_DSSE, 0, "not byte for byte the bundle of a packet");
}

int ib_bundle_verify(const struct ib_bundle *b, const struct ib_pubkey *k, struct ib_err *err)
{
	ib_auto_buf struct ib_buf pae = IB_BUF(b->payload_n + 128);

	ib_dsse_pae(b->payload, b->payload_n, &pae);
	return ib_pubkey_verify(k, pae.data, pae.len, b->sig, b->sig_n, err);
}

void ib_bundle_clear(struct ib_bundle *b)
{
	free(b->payload);
	free(b->sig);
	*b = (struct ib_bundle){0};
}
