/* SPDX-License-Identifier: Apache-2.0 */
/* The packet layer: what stands in signatures/. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "sign/sshsig.h"
#include "verify/packet_read.h"

/* "12" of n bytes, without leading zeros; numbers beyond nine digits are all the same: too large. */
static bool number(const char *s, size_t n, unsigned long *ret)
{
	*ret = 0;
	if (n == 0 || s[0] == '0' || strspn(s, "0123456789") < n)
		return false;
	for (size_t i = 0; i < n; i++)
		*ret = *ret > 99999999 ? 999999999 : *ret * 10 + (unsigned long)(s[i] - '0');
	return true;
}

bool ib_sig_name(const char *path, struct ib_sig_file *ret)
{
	static const struct {
		const char *suffix;
		enum ib_sig_kind kind;
	} numbered[] = {{".sigstore.json", IB_SIG_BUNDLE}, {".sshsig", IB_SIG_SSH}, {".tsr", IB_SIG_TIME}};
	const char *name = path + strlen("signatures/");
	size_t n = strlen(name);

	if (!ib_starts(path, "signatures/") || strlen(path) >= sizeof(ret->path))
		return false;
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->kind = IB_SIG_ROOT;
	if (strcmp(name, "empty_trusted_root.json") == 0)
		return true;
	ret->kind = IB_SIG_KEY;
	if (ib_starts(name, "keys/") && n == 5 + 64 + 4 && strcmp(name + 69, ".pem") == 0)
		return strspn(name + 5, "0123456789abcdef") == 64;
	for (size_t i = 0; i < IB_LEN(numbered); i++)
		if (ib_ends(name, numbered[i].suffix)) {
			ret->kind = numbered[i].kind;
			return number(name, n - strlen(numbered[i].suffix), &ret->number);
		}
	return false;
}

static int judge_key(struct ib_sig_file *s, struct ib_err *err)
{
	if (ib_pubkey_from_pem(s->data, s->n, &s->key, err) < 0)
		return ib_fail_at(err, IB_E_KEY, s->path, "'%s' is not a public key that is accepted, in its usual form", s->path);
	if (strncmp(s->key.sha256, s->path + strlen("signatures/keys/"), 64) != 0)
		return ib_fail_at(err, IB_E_KEY, s->path, "'%s' does not hold the key that its name says", s->path);
	return 0;
}

/* Key files and the fixed file; notes what cannot be judged. */
static int judge_files(struct ib_packet_reader *p, struct ib_err *err)
{
	struct ib_err e;

	for (size_t i = 0; i < p->n_sigs; i++) {
		struct ib_sig_file *s = &p->sigs[i];
		int r = s->kind == IB_SIG_KEY ? judge_key(s, err) : 0;

		if (r < 0)
			return r;
		if (s->kind == IB_SIG_ROOT && (s->n != strlen(IB_EMPTY_TRUSTED_ROOT) || memcmp(s->data, IB_EMPTY_TRUSTED_ROOT, s->n) != 0))
			return ib_fail_at(err, IB_E_HASH, s->path, "'%s' is not the fixed file of packets", s->path);
		if (s->kind == IB_SIG_TIME) {
			ib_fail_at(&e, IB_E_UNSUPPORTED, s->path, "'%s' cannot be judged by this version", s->path);
			ib_packet_note(p, &e);
		}
	}
	return 0;
}

static struct ib_sig_file *find(struct ib_packet_reader *p, enum ib_sig_kind kind, unsigned long number)
{
	for (size_t i = 0; i < p->n_sigs; i++)
		if (p->sigs[i].kind == kind && (kind == IB_SIG_ROOT || p->sigs[i].number == number))
			return &p->sigs[i];
	return NULL;
}

/* Signers are 1, 2, 3 without gaps; *ret is their number. */
static int count_signers(struct ib_packet_reader *p, unsigned long *ret, struct ib_err *err)
{
	unsigned long n = 0;

	while (find(p, IB_SIG_BUNDLE, n + 1) || find(p, IB_SIG_SSH, n + 1))
		n++;
	for (size_t i = 0; i < p->n_sigs; i++)
		if (p->sigs[i].kind <= IB_SIG_TIME && p->sigs[i].number > n)
			return ib_fail_at(err, IB_E_MISSING, "signatures", "signature %lu is missing, but '%s' is there", n + 1, p->sigs[i].path);
	if (n > IB_SIGNERS_MAX)
		return ib_fail_at(err, IB_E_LIMIT, "signatures", "%lu signatures are more than the limit of %d", n, IB_SIGNERS_MAX);
	*ret = n;
	return 0;
}

static int check_payload(struct ib_packet_reader *p, const struct ib_bundle *b, struct ib_err *err)
{
	const struct ib_statement_facts facts = {
		.tagmanifest = p->ret->tagmanifest_sha256,
		.manifest = p->ret->manifest_sha256,
		.contract = ib_manifest_find(&p->manifest, "data/contract.yaml"),
		.ledger = ib_manifest_find(&p->manifest, "data/ledger.jsonl"),
		.report = ib_manifest_find(&p->manifest, "data/report/index.html"),
		.withheld = ib_manifest_find(&p->manifest, "data/withheld.json"),
		.study = p->ret->top.study,
		.seal = p->ret->top.seal,
	};
	ib_auto_statement struct ib_statement s = {0};
	int r = ib_statement_check(b->payload, b->payload_n, &facts, &s, err);

	if (r < 0)
		return r;
	if (p->payload && (p->payload_n != b->payload_n || memcmp(p->payload, b->payload, p->payload_n) != 0))
		return ib_fail(err, IB_E_BINDING, 0, "it signs another Statement than the first signature");
	if (p->payload)
		return 0;
	p->payload = ib_strndup(b->payload, b->payload_n);
	p->payload_n = b->payload_n;
	p->ret->statement = s;
	p->ret->has_statement = true;
	s = (struct ib_statement){0};
	return 0;
}

/* One key is one signer, in how many forms it signs. */
static struct ib_packet_signer *add_signer(struct ib_packet_reader *p, const struct ib_pubkey *k)
{
	struct ib_packet_result *ret = p->ret;
	struct ib_packet_signer *s;
	const char *principal = NULL;

	for (size_t i = 0; i < ret->n_signers; i++)
		if (ib_pubkey_equal(&ret->signers[i].key, k))
			return &ret->signers[i];
	ret->signers = ib_realloc(ret->signers, ret->n_signers + 1, sizeof(*ret->signers));
	s = &ret->signers[ret->n_signers++];
	*s = (struct ib_packet_signer){.key = *k, .trusted = p->opts->trust && ib_trust_has(p->opts->trust, k, &principal)};
	s->principal = ib_strdup(principal);
	return s;
}

static int judge_bundle(struct ib_packet_reader *p, const struct ib_sig_file *file, struct ib_err *err)
{
	ib_auto_bundle struct ib_bundle b;
	struct ib_sig_file *key = NULL;
	int r = ib_bundle_parse(file->data, file->n, &b, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_sigs && !key; i++)
		if (p->sigs[i].kind == IB_SIG_KEY && strcmp(p->sigs[i].key.fingerprint, b.keyid) == 0)
			key = &p->sigs[i];
	if (!key)
		return ib_fail(err, IB_E_MISSING, 0, "there is no key file for %s", b.keyid);
	if (key->used)
		return ib_fail(err, IB_E_DSSE, 0, "a second signature by the key %s", b.keyid);
	key->used = true;
	r = ib_bundle_verify(&b, &key->key, err);
	if (r < 0)
		return r;
	r = check_payload(p, &b, err);
	if (r == 0) /* a good signature under something else signs nothing here */
		add_signer(p, &key->key)->dsse = true;
	return r;
}

static int judge_ssh(struct ib_packet_reader *p, const struct ib_sig_file *file, struct ib_err *err)
{
	ib_auto_sshsig struct ib_sshsig s;
	struct ib_packet_signer *signer;
	int r = ib_sshsig_parse(file->data, file->n, &s, err);

	if (r == 0)
		r = ib_sshsig_verify(&s, IB_SSHSIG_NAMESPACE, p->tagmanifest, p->tagmanifest_n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_sigs; i++)
		if (p->sigs[i].kind == IB_SIG_KEY && ib_pubkey_equal(&p->sigs[i].key, &s.key))
			p->sigs[i].used = true;
	signer = add_signer(p, &s.key);
	if (signer->ssh)
		return ib_fail(err, IB_E_DUP, 0, "a second SSH signature by the key %s", s.key.fingerprint);
	signer->ssh = true;
	return 0;
}

static int at_file(const struct ib_sig_file *s, struct ib_err *err)
{
	ib_wrap(err, "'%s'", s->path);
	snprintf(err->where, sizeof(err->where), "%s", s->path);
	return err->code;
}

/* What cannot be judged is noted, and leaves the others their say. */
static int judge_signatures(struct ib_packet_reader *p, unsigned long n, struct ib_err *err)
{
	for (unsigned long i = 1; i <= n; i++) {
		const struct ib_sig_file *bundle = find(p, IB_SIG_BUNDLE, i), *ssh = find(p, IB_SIG_SSH, i);
		struct ib_err e;
		int r = bundle ? judge_bundle(p, bundle, err) : 0;

		if (r < 0)
			return at_file(bundle, err);
		r = ssh ? judge_ssh(p, ssh, &e) : 0;
		if (r < 0)
			at_file(ssh, &e);
		if (r == IB_E_UNSUPPORTED) {
			ib_packet_note(p, &e);
		} else if (r < 0) {
			*err = e;
			return r;
		}
	}
	for (size_t i = 0; i < p->n_sigs; i++)
		if (p->sigs[i].kind == IB_SIG_KEY && !p->sigs[i].used)
			return ib_fail_at(err, IB_E_KEY, p->sigs[i].path, "'%s' is there without a signature by its key", p->sigs[i].path);
	return 0;
}

static void judge_trust(struct ib_packet_reader *p)
{
	const struct ib_pubkey *first = &p->ret->signers[0].key;
	ib_auto_free char *why = NULL;
	struct ib_err e;

	for (size_t i = 0; i < p->ret->n_signers; i++) {
		if (p->ret->signers[i].trusted)
			return;
		if (!why && p->opts->trust)
			why = ib_trust_why(p->opts->trust, &p->ret->signers[i].key);
	}
	if (!p->opts->trust || ib_trust_empty(p->opts->trust))
		ib_fail_at(&e, IB_E_TRUST, "signatures",
			   "the signature verifies, but no trusted key was given: '--trust KEY.pub.pem' decides, with a key that comes from the signer "
			   "and not from the packet");
	else if (why)
		ib_fail_at(&e, IB_E_TRUST, "signatures", "the signature verifies, but its key is not trusted: %s", why);
	else
		ib_fail_at(&e, IB_E_TRUST, "signatures", "the signature verifies, but its key %s is none of the trusted ones", first->fingerprint);
	ib_packet_note(p, &e);
}

int ib_packet_signatures(struct ib_packet_reader *p, struct ib_err *err)
{
	unsigned long n = 0;
	bool bundles = false, others = false;
	struct ib_err e;
	int r = judge_files(p, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_sigs; i++) {
		bundles = bundles || p->sigs[i].kind == IB_SIG_BUNDLE;
		others = others || p->sigs[i].kind == IB_SIG_SSH || p->sigs[i].kind == IB_SIG_TIME;
	}
	if (!bundles && !others) {
		ib_fail_at(&e, IB_E_TRUST, "signatures", "the packet is not signed: nothing says whose it is");
		if (!p->opts->unsigned_ok)
			ib_packet_note(p, &e);
		return 0;
	}
	r = count_signers(p, &n, err);
	if (r < 0)
		return r;
	if (bundles && !find(p, IB_SIG_ROOT, 0))
		return ib_fail_at(err, IB_E_MISSING, "signatures/empty_trusted_root.json", "'signatures/empty_trusted_root.json' is missing");
	r = judge_signatures(p, n, err);
	if (r == 0 && p->ret->n_signers)
		judge_trust(p);
	return r;
}
