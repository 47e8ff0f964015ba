/* SPDX-License-Identifier: Apache-2.0 */
/* The packet layer: one pass over the archive in its order. Faults up to the end of signatures/ end the reading, in data/ refusals do. */
#include "verify/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "verify/packet_read.h"

#define WANTED_MAX (16u << 20)
#define CHUNK (256u << 10)

/* How much a collected fault outranks others: the first of equals counts. */
static int rank(enum ib_code c)
{
	switch (c) {
	case IB_E_HASH:
	case IB_E_MISSING:
	case IB_E_EXTRA:
		return 5;
	case IB_E_LEDGER:
		return 4;
	case IB_E_BINDING:
		return 3;
	case IB_E_UNSUPPORTED:
		return 2;
	case IB_E_TRUST:
		return 1;
	default:
		return 0;
	}
}

void ib_packet_note(struct ib_packet_reader *p, const struct ib_err *e)
{
	ib_findings_add_err(p->findings, e);
	if (rank(e->code) > rank(p->worst))
		p->worst = e->code;
}

__attribute__((format(printf, 4, 5))) static void note(struct ib_packet_reader *p, enum ib_code code, const char *path, const char *fmt, ...)
{
	struct ib_err e;
	char text[sizeof(e.text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ib_fail_at(&e, code, path, "%s", text);
	ib_packet_note(p, &e);
}

static int copy_bytes(const struct ib_packet_reader *p, const void *data, size_t n, struct ib_err *err)
{
	const struct ib_packet_copy *c = p->opts->copy;

	return c && n ? c->bytes(c->arg, data, n, err) : 0;
}

/* The whole body of the current file, with a NUL behind it. */
static int read_body(struct ib_packet_reader *p, const char *path, uint64_t size, uint64_t max, char **ret, struct ib_err *err)
{
	ib_auto_free char *data = NULL;
	size_t n = 0, k;
	int r;

	if (size > max)
		return ib_fail_at(err, IB_E_LIMIT, path, "'%s' is larger than the limit for it, %llu bytes", path, (unsigned long long)max);
	while (n < size) { /* memory follows the bytes that came, not the size that was claimed */
		size_t step = size - n < (1u << 20) ? (size_t)(size - n) : 1u << 20;

		data = ib_realloc(data, n + step + 1, 1);
		r = ib_tar_read(p->tar, data + n, step, &k, err);
		if (r == 0)
			r = copy_bytes(p, data + n, k, err);
		if (r < 0)
			return r;
		n += k;
	}
	data = ib_realloc(data, n + 1, 1);
	data[n] = '\0';
	*ret = ib_steal(&data);
	return 0;
}

/* --- tag files --- */

static int check_tagmanifest(struct ib_packet_reader *p, struct ib_err *err)
{
	static const char *const listed[] = {"VERIFY.md", "bag-info.txt", "bagit.txt", "manifest-sha256.txt"};
	ib_auto_manifest struct ib_manifest m;
	int r;

	p->tagmanifest = ib_strndup(p->tag_text[4], p->tag_n[4]);
	p->tagmanifest_n = p->tag_n[4];
	r = ib_manifest_parse(ib_steal(&p->tag_text[4]), p->tag_n[4], ib_tag_files[4], p->ret->top.name, false, &m, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < IB_LEN(listed); i++)
		if (m.n != IB_LEN(listed) || strcmp(ib_manifest_path(&m, i), listed[i]) != 0)
			return ib_fail_at(err, IB_E_MANIFEST, ib_tag_files[4], "'%s' does not list the four tag files in order", ib_tag_files[4]);
	for (size_t i = 0; i < 4; i++) {
		const char *want = ib_manifest_find(&m, ib_tag_files[i]);

		if (!want || strcmp(want, p->tag_sha[i]) != 0)
			return ib_fail_at(err, IB_E_HASH, ib_tag_files[i], "the digest of '%s' differs from tagmanifest-sha256.txt", ib_tag_files[i]);
	}
	return 0;
}

static int check_bag_info(struct ib_packet_reader *p, struct ib_err *err)
{
	ib_auto_free char *want = NULL;
	char date[IB_DATE_LEN], compact[9];
	int r;

	if (strcmp(p->tag_text[0], IB_BAGIT_TXT) != 0 || p->tag_n[0] != strlen(IB_BAGIT_TXT))
		return ib_fail_at(err, IB_E_MANIFEST, "bagit.txt", "'bagit.txt' is not the two lines of BagIt 1.0");
	r = ib_bag_info_parse(p->tag_text[1], p->tag_n[1], &p->oxum_bytes, &p->oxum_files, err);
	if (r < 0)
		return r;
	want = ib_bag_info(p->ret->top.name, p->ret->sealed_at, p->oxum_bytes, p->oxum_files);
	ib_bag_date(p->ret->sealed_at, date);
	snprintf(compact, sizeof(compact), "%.4s%.2s%.2s", date, date + 5, date + 8);
	if (strcmp(want, p->tag_text[1]) != 0 || strcmp(compact, p->ret->top.date) != 0)
		return ib_fail_at(err, IB_E_BINDING, "bag-info.txt", "date or name in 'bag-info.txt', in the top directory '%s' and in the time of the files differ",
				  p->ret->top.name);
	return 0;
}

/* Digest of the manifest's lines that a seal covers. */
static void digest_tree(struct ib_packet_reader *p)
{
	for (size_t i = 0; i < p->manifest.n; i++) {
		const char *path = ib_manifest_path(&p->manifest, i);

		if (!ib_tree_covers(path + strlen("data/")))
			continue;
		ib_sha256_add(p->sha, ib_manifest_sha256(&p->manifest, i), 64);
		ib_sha256_add(p->sha, "  ", 2);
		ib_sha256_add(p->sha, path, strlen(path));
		ib_sha256_add(p->sha, "\n", 1);
	}
	ib_sha256_hex(p->sha, p->ret->tree_sha256);
}

static int end_of_tags(struct ib_packet_reader *p, struct ib_err *err)
{
	int r = check_tagmanifest(p, err);

	if (r == 0)
		r = check_bag_info(p, err);
	if (r == 0)
		r = ib_manifest_parse(ib_steal(&p->tag_text[3]), p->tag_n[3], ib_tag_files[3], p->ret->top.name, true, &p->manifest, err);
	if (r < 0)
		return r;
	memcpy(p->ret->manifest_sha256, p->tag_sha[3], IB_HEX_LEN);
	memcpy(p->ret->tagmanifest_sha256, p->tag_sha[4], IB_HEX_LEN);
	digest_tree(p);
	for (size_t i = 0; i < IB_TAG_FILES; i++) {
		free(p->tag_text[i]);
		p->tag_text[i] = NULL;
	}
	p->stage = IB_STAGE_SIGNATURES;
	return 0;
}

static int plain_mode(const struct ib_tar_meta *m, const char *path, struct ib_err *err)
{
	if (m->mode != 0644)
		return ib_fail_at(err, IB_E_MODE, path, "'%s' is executable: only files in data/ may be", path);
	return 0;
}

static int take_tag(struct ib_packet_reader *p, const struct ib_tar_meta *m, const char *path, struct ib_err *err)
{
	const char *want = ib_tag_files[p->tags];
	int r;

	if (strcmp(path, want) != 0)
		return ib_fail_at(err, IB_E_TAR, path, "'%s' stands where '%s' belongs", path, want);
	r = plain_mode(m, path, err);
	if (r == 0)
		r = read_body(p, path, m->bytes, p->tags == 3 ? IB_MANIFEST_MAX : IB_DOCUMENT_MAX, &p->tag_text[p->tags], err);
	if (r < 0)
		return r;
	p->tag_n[p->tags] = (size_t)m->bytes;
	ib_sha256_of(p->tag_text[p->tags], (size_t)m->bytes, p->tag_sha[p->tags]);
	return ++p->tags == IB_TAG_FILES ? end_of_tags(p, err) : 0;
}

/* --- signatures/ --- */

static int take_signature(struct ib_packet_reader *p, const struct ib_tar_meta *m, const char *path, struct ib_err *err)
{
	struct ib_sig_file s = {0};
	int r;

	if (!ib_sig_name(path, &s))
		return ib_fail_at(err, IB_E_EXTRA, path, "'%s' is not a name that signatures/ may hold", path);
	r = plain_mode(m, path, err);
	if (r < 0)
		return r;
	if (p->n_sigs >= IB_SIG_FILES_MAX || m->bytes > IB_SIG_BYTES_MAX || p->sig_bytes + m->bytes > IB_SIG_BYTES_MAX)
		return ib_fail_at(err, IB_E_LIMIT, path, "signatures/ holds more than the limit of %d files or 64 MiB", IB_SIG_FILES_MAX);
	r = read_body(p, path, m->bytes, IB_DOCUMENT_MAX, &s.data, err);
	if (r < 0)
		return r;
	s.n = (size_t)m->bytes;
	p->sig_bytes += s.n;
	p->sigs = ib_realloc(p->sigs, p->n_sigs + 1, sizeof(*p->sigs));
	p->sigs[p->n_sigs++] = s;
	return 0;
}

static int end_of_signatures(struct ib_packet_reader *p, struct ib_err *err)
{
	int r = ib_packet_signatures(p, err);

	p->stage = IB_STAGE_DATA;
	p->last[0] = '\0';
	for (size_t i = 0; i < p->n_sigs; i++)
		free(p->sigs[i].data);
	free(p->sigs);
	p->sigs = NULL;
	p->n_sigs = 0;
	return r;
}

/* --- data/ --- */

static void end_of_ledger(struct ib_packet_reader *p, struct ib_chain *c, const char *path)
{
	const struct ib_statement *s = &p->ret->statement;

	ib_chain_end(c);
	memcpy(p->ret->ledger_head, c->head, IB_HEX_LEN);
	p->ret->ledger_length = c->length;
	if (c->why[0])
		note(p, IB_E_LEDGER, path, "the ledger's chain is broken at %s", c->why);
	else if (p->ret->has_statement && (strcmp(s->head, c->head) != 0 || s->length != c->length))
		note(p, IB_E_BINDING, path, "the signed head of the ledger is %.16s... of %llu entries, but it ends with %.16s... of %llu", s->head,
		     (unsigned long long)s->length, c->head, (unsigned long long)c->length);
}

/* Reads the body through the digest; into *ret_data (allocated, NUL behind) if wanted, through the chain if it is the ledger. */
static int digest_body(struct ib_packet_reader *p, uint64_t size, bool wanted, struct ib_chain *chain, char **ret_data, char hex[IB_HEX_LEN],
		       struct ib_err *err)
{
	ib_auto_free char *chunk = ib_alloc(CHUNK), *data = NULL;
	size_t n = 0, k = 0;

	if (wanted)
		data = ib_alloc((size_t)size + 1);
	do {
		int r = ib_tar_read(p->tar, chunk, CHUNK, &k, err);

		if (r == 0)
			r = copy_bytes(p, chunk, k, err);
		if (r == 0 && chain)
			r = ib_chain_feed(chain, chunk, k, err);
		if (r < 0)
			return r;
		ib_sha256_add(p->sha, chunk, k);
		if (wanted)
			memcpy(data + n, chunk, k);
		n += k;
	} while (k);
	ib_sha256_hex(p->sha, hex);
	*ret_data = ib_steal(&data);
	return 0;
}

static void missing(struct ib_packet_reader *p)
{
	const char *path = ib_manifest_path(&p->manifest, p->cursor++);

	note(p, IB_E_MISSING, path, "'%.300s' is listed in the manifest, but is not in the packet", path);
}

static int take_data(struct ib_packet_reader *p, const struct ib_tar_meta *m, const char *path, struct ib_err *err)
{
	const struct ib_evidence_sink *sink = p->opts->sink;
	const char *below = path + strlen("data/");
	bool is_ledger = strcmp(path, "data/ledger.jsonl") == 0, listed, wanted;
	ib_auto_chain struct ib_chain chain;
	ib_auto_free char *data = NULL;
	char hex[IB_HEX_LEN];
	int r;

	ib_chain_init(&chain, NULL, NULL);
	p->ret->files++;
	p->ret->bytes += m->bytes;
	while (p->cursor < p->manifest.n && strcmp(ib_manifest_path(&p->manifest, p->cursor), path) < 0)
		missing(p);
	listed = p->cursor < p->manifest.n && strcmp(ib_manifest_path(&p->manifest, p->cursor), path) == 0;
	wanted = listed && sink && m->bytes <= WANTED_MAX && sink->wants(sink->arg, below, m->bytes);
	r = digest_body(p, m->bytes, wanted, is_ledger ? &chain : NULL, &data, hex, err);
	if (r < 0)
		return r;
	if (!listed) {
		note(p, IB_E_EXTRA, path, "'%.300s' is in the packet, but not listed in the manifest", path);
		return 0;
	}
	if (strcmp(hex, ib_manifest_sha256(&p->manifest, p->cursor++)) != 0) {
		note(p, IB_E_HASH, path, "the digest of '%.300s' differs from the manifest", path);
		return 0;
	}
	if (is_ledger)
		end_of_ledger(p, &chain, path);
	if (sink)
		sink->file(sink->arg, below, m->bytes, hex, data);
	return 0;
}

/* --- the order of the archive --- */

static int split_top(struct ib_packet_reader *p, const struct ib_tar_meta *m, const char **ret_path, struct ib_err *err)
{
	const char *slash = strchr(m->path, '/');
	size_t n = slash ? (size_t)(slash - m->path) : strlen(m->path);

	if (!p->ret->top.name[0]) {
		if (!ib_top_parse(m->path, n, &p->ret->top))
			return ib_fail_at(err, IB_E_PATH, m->path, "the top directory of '%.300s' is not STUDY-YYYYMMDD-SEAL", m->path);
		p->ret->sealed_at = m->mtime;
	}
	if (!slash || strlen(p->ret->top.name) != n || memcmp(p->ret->top.name, m->path, n) != 0)
		return ib_fail_at(err, IB_E_PATH, m->path, "'%.300s' is not below the one top directory '%s'", m->path, p->ret->top.name);
	*ret_path = slash + 1;
	return 0;
}

static int take_entry(struct ib_packet_reader *p, const struct ib_tar_meta *m, struct ib_err *err)
{
	const char *path = NULL;
	bool data;
	int r = split_top(p, m, &path, err);

	if (r < 0)
		return r;
	if (p->stage == IB_STAGE_TAGS)
		return take_tag(p, m, path, err);
	data = ib_starts(path, "data/");
	if (data && p->stage == IB_STAGE_SIGNATURES)
		r = end_of_signatures(p, err);
	if (r < 0)
		return r;
	if (!data && !ib_starts(path, "signatures/"))
		return ib_fail_at(err, IB_E_EXTRA, path, "'%.300s' is not a file that a packet may hold", path);
	if ((!data && p->stage == IB_STAGE_DATA) || strcmp(path, p->last) <= 0)
		return ib_fail_at(err, IB_E_TAR, path, "'%.300s' is not in its place: files stand in byte order", path);
	snprintf(p->last, sizeof(p->last), "%s", path);
	return data ? take_data(p, m, path, err) : take_signature(p, m, path, err);
}

/* The same, and a copy of it for whoever wants one. */
static int take_and_copy(struct ib_packet_reader *p, const struct ib_tar_meta *m, struct ib_err *err)
{
	const struct ib_packet_copy *c = p->opts->copy;
	const char *slash = strchr(m->path, '/');
	int r = c && slash ? c->begin(c->arg, slash + 1, m->mode, err) : 0;

	if (r == 0)
		r = take_entry(p, m, err);
	return r == 0 && c && slash ? c->end(c->arg, err) : r;
}

static int end_of_archive(struct ib_packet_reader *p, struct ib_err *err)
{
	int r = 0;

	if (p->stage == IB_STAGE_TAGS)
		return ib_fail_at(err, IB_E_MISSING, ib_tag_files[p->tags], "'%s' is not in the packet", ib_tag_files[p->tags]);
	if (p->stage == IB_STAGE_SIGNATURES)
		r = end_of_signatures(p, err);
	if (r < 0)
		return r;
	while (p->cursor < p->manifest.n)
		missing(p);
	if (rank(p->worst) <= rank(IB_E_UNSUPPORTED) && (p->ret->bytes != p->oxum_bytes || p->ret->files != p->oxum_files))
		note(p, IB_E_BINDING, "bag-info.txt", "Payload-Oxum in 'bag-info.txt' is not the size of data/");
	p->ret->complete = true;
	return 0;
}

static int read_archive(struct ib_packet_reader *p, struct ib_err *err)
{
	struct ib_tar_meta m;
	bool end = false;

	for (;;) {
		int r = ib_tar_next(p->tar, &m, &end, err);

		if (r == 0)
			r = end ? end_of_archive(p, err) : take_and_copy(p, &m, err);
		if (r < 0 || end)
			return r;
	}
}

static void reader_clear(struct ib_packet_reader *p)
{
	for (size_t i = 0; i < IB_TAG_FILES; i++)
		free(p->tag_text[i]);
	for (size_t i = 0; i < p->n_sigs; i++)
		free(p->sigs[i].data);
	free(p->sigs);
	free(p->payload);
	free(p->tagmanifest);
	ib_manifest_clear(&p->manifest);
	ib_sha256_free(&p->sha);
	ib_tar_free(&p->tar);
}

/* What ended the reading stands before what was collected until then. */
static void add_first(struct ib_findings *f, size_t first, const struct ib_err *e)
{
	struct ib_finding last;

	ib_findings_add_err(f, e);
	last = f->v[f->n - 1];
	memmove(f->v + first + 1, f->v + first, (f->n - 1 - first) * sizeof(*f->v));
	f->v[first] = last;
}

int ib_packet_verify(const struct ib_source *in, const struct ib_packet_opts *opts, struct ib_packet_result *ret, struct ib_findings *f,
		     struct ib_err *err)
{
	ib_auto_unpacker struct ib_unpacker *u = NULL;
	__attribute__((cleanup(reader_clear))) struct ib_packet_reader p = {.opts = opts, .ret = ret, .findings = f, .sha = ib_sha256_new()};
	size_t first = f->n;
	struct ib_err e;
	int r;

	*ret = (struct ib_packet_result){0};
	r = ib_unpacker_open(in, &u, &e);
	if (r == 0) {
		ret->zstd = ib_unpacker_is_zstd(u);
		p.tar = ib_tar_new(u);
		r = read_archive(&p, &e);
	}
	if (r == IB_E_IO || r == IB_E_INTERNAL) {
		if (err)
			*err = e;
		return r;
	}
	if (r < 0)
		add_first(f, first, &e);
	ret->code = r < 0 ? e.code : p.worst;
	return 0;
}

void ib_packet_result_clear(struct ib_packet_result *r)
{
	for (size_t i = 0; i < r->n_signers; i++)
		free(r->signers[i].principal);
	free(r->signers);
	ib_statement_clear(&r->statement);
	*r = (struct ib_packet_result){0};
}

bool ib_packet_looks_like(const void *data, size_t n)
{
	const unsigned char *p = data;

	return (n >= 4 && memcmp(p, "\x28\xB5\x2F\xFD", 4) == 0) || (n >= 4 && (p[0] & 0xF0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0) ||
	       (n >= 262 && memcmp(p + 257, "ustar", 5) == 0);
}
