/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the archive of a sealed study: tag files, signature, data. */
#include "pack/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "sign/bundle.h"
#include "sign/statement.h"
#include "store/bag.h"
#include "store/codec.h"
#include "store/tar.h"

#define CHUNK (256u << 10)

static const char verify_md[] =
	"# How to check this packet\n"
	"\n"
	"K.pub.pem is the signer's public key. Get it from the signer, not from here.\n"
	"\n"
	"With ibtools (all of it: container, digests, signature, ledger, numbers):\n"
	"\n"
	"    ib-verify --trust K.pub.pem PACKET\n"
	"\n"
	"Without ibtools. Unpack into an empty directory, and go into the one directory that appears:\n"
	"\n"
	"    zstd -dc PACKET.tar.zst | tar xf -        (a plain one: tar xf PACKET.tar)\n"
	"\n"
	"The files are those that were sealed:\n"
	"\n"
	"    sha256sum --strict -c manifest-sha256.txt tagmanifest-sha256.txt\n"
	"    bagit.py --validate .\n"
	"\n"
	"The signer sealed them (a packet without signatures/ is not signed):\n"
	"\n"
	"    cosign verify-blob-attestation --bundle signatures/1.sigstore.json --key K.pub.pem \\\n"
	"      --insecure-ignore-tlog=true --type urn:ibtools:packet:v1 tagmanifest-sha256.txt\n"
	"\n"
	"cosign 2.6 also needs --new-bundle-format --trusted-root signatures/empty_trusted_root.json\n"
	"\n"
	"What was signed, in words: jq -r .dsseEnvelope.payload signatures/1.sigstore.json | base64 -d | jq .\n"
	"\n"
	"The file in signatures/keys/ is information, never a reason for trust. data/withheld.json lists what was not shipped, and why.\n"
	"The format is described in ib-packet(5).\n";

struct writer {
	const struct ib_pack_study *s;
	struct ib_packer *out;
	char top[64];
	uint32_t index;
};

static int put_header(struct writer *w, const char *path, bool executable, uint64_t bytes, struct ib_err *err)
{
	unsigned char header[IB_TAR_HEADER_MAX];
	ib_auto_free char *full = ib_asprintf("%s/%s", w->top, path);
	const struct ib_tar_meta m = {.path = full, .mode = executable ? 0755 : 0644, .bytes = bytes, .mtime = w->s->sealed_at, .index = w->index++};

	return ib_packer_write(w->out, header, ib_tar_encode(&m, header), err);
}

static int put_zeros(struct writer *w, size_t n, struct ib_err *err)
{
	static const unsigned char zeros[2 * IB_TAR_BLOCK];

	return ib_packer_write(w->out, zeros, n, err);
}

static int put_text(struct writer *w, const char *path, const char *data, size_t n, struct ib_err *err)
{
	int r = put_header(w, path, false, n, err);

	if (r == 0)
		r = ib_packer_write(w->out, data, n, err);
	return r < 0 ? r : put_zeros(w, ib_tar_padding(n), err);
}

static int changed(const char *path, struct ib_err *err)
{
	return ib_fail_at(err, IB_E_STATE, path, "'%s' changed while it was packed; pack again when nothing writes to the study", path);
}

/* A file of the study, which must still be what was digested. */
static int put_file(struct writer *w, const struct ib_tree_file *f, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("data/%s", f->path), *chunk = ib_alloc(CHUNK);
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	ib_auto_fd int fd = openat(w->s->fd, f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t left = f->bytes;
	char hex[IB_HEX_LEN];
	size_t n;
	int r;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", f->path);
	r = put_header(w, path, f->executable, f->bytes, err);
	for (; r == 0 && left; left -= n) {
		size_t want = left < CHUNK ? (size_t)left : CHUNK;

		r = ib_read_upto(fd, chunk, want, f->path, &n, err);
		if (r == 0 && n < want)
			return changed(f->path, err);
		ib_sha256_add(sha, chunk, r == 0 ? n : 0);
		if (r == 0)
			r = ib_packer_write(w->out, chunk, n, err);
	}
	if (r < 0)
		return r;
	ib_sha256_hex(sha, hex);
	if (strcmp(hex, f->sha256) != 0)
		return changed(f->path, err);
	return put_zeros(w, ib_tar_padding(f->bytes), err);
}

static const char *digest_of(const struct ib_pack_study *s, const char *path)
{
	const struct ib_tree_file *f = ib_tree_find(&s->tree, path);

	return f && !f->withheld ? f->sha256 : NULL;
}

static int make_statement(const struct writer *w, const char *tagmanifest, const char *manifest, struct ib_buf *b, struct ib_err *err)
{
	const struct ib_ledger_view *l = &w->s->ledger;
	const struct ib_run_counts *c = &l->seal_runs;
	const int64_t runs[IB_STATEMENT_RUNS] = {c->planned,     c->started,   c->completed, c->failed,   c->timed_out,
						 c->interrupted, c->abandoned, c->refused,   c->excluded, c->imported};
	char seal[9], name[] = "ib-pack", version[] = PACKAGE_VERSION, commit[] = IB_COMMIT;
	struct ib_statement st = {.question = w->s->question, .length = (uint64_t)l->length, .has_runs = true, .tool_name = name, .tool_version = version,
				  .tool_commit = commit[0] ? commit : NULL};
	const struct ib_statement_facts facts = {
		.tagmanifest = tagmanifest, .manifest = manifest, .contract = digest_of(w->s, "contract.yaml"), .ledger = digest_of(w->s, "ledger.jsonl"),
		.report = digest_of(w->s, "report/index.html"), .withheld = digest_of(w->s, "withheld.json"), .study = l->study, .seal = seal,
	};

	memcpy(st.head, l->head, IB_HEX_LEN);
	snprintf(seal, sizeof(seal), "%.8s", l->head);
	for (int i = 0; i < IB_STATEMENT_RUNS; i++)
		st.runs[i] = (uint64_t)runs[i];
	return ib_statement_make(&facts, &st, b, err);
}

static int put_signature(struct writer *w, const struct ib_privkey *key, const char *tagmanifest, const char *manifest, struct ib_err *err)
{
	ib_auto_buf struct ib_buf payload = IB_BUF(IB_DOCUMENT_MAX / 2), bundle = IB_BUF(IB_DOCUMENT_MAX), pem = IB_BUF(4096);
	ib_auto_free char *key_path = NULL;
	int r = make_statement(w, tagmanifest, manifest, &payload, err);

	if (r == 0)
		r = ib_bundle_make(key, payload.data, payload.len, &bundle, err);
	if (r < 0)
		return r;
	ib_pubkey_pem(ib_privkey_public(key), &pem);
	key_path = ib_asprintf("signatures/keys/%s.pem", ib_privkey_public(key)->sha256);
	r = put_text(w, "signatures/1.sigstore.json", bundle.data, bundle.len, err);
	if (r == 0)
		r = put_text(w, "signatures/empty_trusted_root.json", IB_EMPTY_TRUSTED_ROOT, strlen(IB_EMPTY_TRUSTED_ROOT), err);
	return r < 0 ? r : put_text(w, key_path, pem.data, pem.len, err);
}

/* bagit.txt … tagmanifest-sha256.txt, then the signature. */
static int put_tags(struct writer *w, const struct ib_privkey *key, struct ib_pack_written *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf manifest = IB_BUF(IB_MANIFEST_MAX), tagmanifest = IB_BUF(4096);
	ib_auto_free char *info = ib_bag_info(w->top, w->s->sealed_at, ret->bytes, ret->files);
	static const int sorted[] = {2, 1, 0, 3};
	struct {
		const char *data;
		size_t n;
	} tags[IB_TAG_FILES];
	char hex[IB_HEX_LEN], manifest_hex[IB_HEX_LEN];
	int r;

	ib_tree_manifest(&w->s->tree, &manifest);
	r = ib_buf_check(&manifest, "manifest-sha256.txt", err);
	if (r < 0)
		return r;
	tags[0].data = IB_BAGIT_TXT;
	tags[1].data = info;
	tags[2].data = verify_md;
	tags[3].data = ib_buf_str(&manifest);
	for (int i = 0; i < 4; i++)
		tags[i].n = strlen(tags[i].data);
	for (int i = 0; i < 4; i++) {
		ib_sha256_of(tags[sorted[i]].data, tags[sorted[i]].n, hex);
		ib_buf_addf(&tagmanifest, "%s  %s\n", hex, ib_tag_files[sorted[i]]);
	}
	memcpy(manifest_hex, hex, IB_HEX_LEN);
	tags[4].data = ib_buf_str(&tagmanifest);
	tags[4].n = tagmanifest.len;
	ib_sha256_of(tags[4].data, tags[4].n, ret->tagmanifest_sha256);
	for (int i = 0; r == 0 && i < IB_TAG_FILES; i++)
		r = put_text(w, ib_tag_files[i], tags[i].data, tags[i].n, err);
	return r < 0 || !key ? r : put_signature(w, key, ret->tagmanifest_sha256, manifest_hex, err);
}

static void name_top(struct writer *w)
{
	char date[IB_DATE_LEN];

	ib_bag_date(w->s->sealed_at, date);
	snprintf(w->top, sizeof(w->top), "%.32s-%.4s%.2s%.2s-%.8s", w->s->ledger.study, date, date + 5, date + 8, w->s->ledger.head);
}

int ib_pack_write(const struct ib_pack_study *s, const struct ib_privkey *key, const struct ib_drain *out, bool zstd, struct ib_pack_written *ret,
		  struct ib_err *err)
{
	ib_auto_packer struct ib_packer *p = ib_packer_new(out, zstd);
	struct writer w = {.s = s, .out = p};
	int r;

	*ret = (struct ib_pack_written){0};
	for (size_t i = 0; i < s->tree.n; i++) {
		const struct ib_tree_file *f = &s->tree.v[i];

		ret->withheld += f->withheld != NULL;
		ret->files += !f->withheld;
		ret->bytes += f->withheld ? 0 : f->bytes;
	}
	name_top(&w);
	memcpy(ret->top, w.top, sizeof(ret->top));
	r = put_tags(&w, key, ret, err);
	for (size_t i = 0; r == 0 && i < s->tree.n; i++)
		if (!s->tree.v[i].withheld)
			r = put_file(&w, &s->tree.v[i], err);
	if (r == 0)
		r = put_zeros(&w, 2 * IB_TAR_BLOCK, err);
	return r < 0 ? r : ib_packer_end(p, err);
}
