/* SPDX-License-Identifier: Apache-2.0 */
/* From a study to a packet in its place. */
#include "pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "pack/secrets.h"
#include "pack/write.h"
#include "store/names.h"
#include "verify/packet.h"
#include "verify/verify.h"

#define KEY_MAX 16384u

/* The packet on its way: a file without a name, where the file system can; else one beside its final name, removed unless it gets there. */
struct part {
	int dirfd, fd;
	char *dir, *name, *temp; /* name and temp below dir; temp NULL: no name */
	bool zstd;
};

static void part_clear(struct part *p)
{
	if (p->temp && p->dirfd >= 0)
		unlinkat(p->dirfd, p->temp, 0);
	if (p->fd >= 0)
		close(p->fd);
	if (p->dirfd >= 0)
		close(p->dirfd);
	free(p->dir);
	free(p->name);
	free(p->temp);
}

static int exists(const char *path, struct ib_err *err)
{
	return ib_fail_at(err, IB_E_EXISTS, path, "'%s' exists and is not overwritten; choose another name, or move it away", path);
}

/* The directory of the packet must not be part of the study. */
static int check_outside(int dirfd, int study_fd, const char *out, struct ib_err *err)
{
	ib_auto_fd int fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
	struct stat study, here, up;

	if (fd < 0 || fstat(study_fd, &study) < 0 || fstat(fd, &here) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect the directory of '%s'", out);
	for (;;) {
		int parent;

		if (here.st_dev == study.st_dev && here.st_ino == study.st_ino)
			return ib_fail(err, IB_E_USAGE, 0, "'%s' would lie in the study that it packs; write it elsewhere, '-o ../NAME.tar.zst' for example", out);
		parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (parent < 0 || fstat(parent, &up) < 0) {
			if (parent >= 0)
				close(parent);
			return 0; /* above what we may read nothing of the study can be */
		}
		close(fd);
		fd = parent;
		if (up.st_dev == here.st_dev && up.st_ino == here.st_ino)
			return 0;
		here = up;
	}
}

/* Judges the name before any work is done. */
static int part_open(const char *out, int study_fd, struct part *p, struct ib_err *err)
{
	const char *slash = strrchr(out, '/');
	struct stat st;
	int r;

	p->zstd = ib_ends(out, ".tar.zst");
	p->dir = slash ? ib_strndup(out, (size_t)(slash - out) + 1) : ib_strdup(".");
	p->name = ib_strdup(slash ? slash + 1 : out);
	if (!p->zstd && !ib_ends(out, ".tar"))
		return ib_fail(err, IB_E_USAGE, 0, "'%s' must end with '.tar' or '.tar.zst'", out);
	r = ib_open_dir(AT_FDCWD, p->dir, &p->dirfd, err);
	if (r < 0)
		return r;
	if (fstatat(p->dirfd, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return exists(out, err);
	return check_outside(p->dirfd, study_fd, out, err);
}

static int part_create(struct part *p, struct ib_err *err)
{
	char *temp;

	if (access("/proc/self/fd", X_OK) == 0)
		p->fd = openat(p->dirfd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0644);
	if (p->fd >= 0)
		return 0;
	temp = ib_asprintf(".%s.%ld.part", p->name, (long)getpid());
	p->fd = openat(p->dirfd, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p->fd < 0) {
		int sys = errno;

		free(temp);
		return ib_fail(err, IB_E_IO, sys, "cannot create a file in '%s'", p->dir);
	}
	p->temp = temp;
	return 0;
}

static int part_commit(struct part *p, const char *out, struct ib_err *err)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
	if (!p->temp && linkat(AT_FDCWD, self, p->dirfd, p->name, AT_SYMLINK_FOLLOW) < 0)
		return errno == EEXIST ? exists(out, err) : ib_fail(err, IB_E_IO, errno, "cannot move '%s' into place", out);
	if (p->temp && renameat2(p->dirfd, p->temp, p->dirfd, p->name, 1 /* RENAME_NOREPLACE */) < 0) {
		if (errno == EEXIST)
			return exists(out, err);
		if (errno != EINVAL)
			return ib_fail(err, IB_E_IO, errno, "cannot move '%s' into place", out);
		if (linkat(p->dirfd, p->temp, p->dirfd, p->name, 0) < 0) /* file systems without RENAME_NOREPLACE */
			return errno == EEXIST ? exists(out, err) : ib_fail(err, IB_E_IO, errno, "cannot move '%s' into place", out);
		unlinkat(p->dirfd, p->temp, 0);
	}
	free(p->temp);
	p->temp = NULL;
	return ib_sync_dir(p->dirfd, p->dir, err);
}

/* --- the study --- */

static int open_study(const struct ib_pack_opts *opts, struct ib_pack_study *s, struct ib_err *err)
{
	const char *path = opts->study;

	if (!path)
		path = access("ledger.jsonl", F_OK) == 0 ? "." : "./ib-study";
	s->name = ib_strdup(path);
	if (!opts->study && access(path, F_OK) < 0)
		return ib_fail(err, IB_E_STATE, 0, "there is no study here: neither 'ledger.jsonl' nor 'ib-study'; name one with '-C STUDY'");
	return ib_open_dir(AT_FDCWD, path, &s->fd, err);
}

static int load_key(const struct ib_ctx *ctx, const char *path, struct ib_privkey **ret, struct stat *st, struct ib_err *err)
{
	char pem[KEY_MAX];
	ib_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	int r;

	if (fd < 0 && errno == ENOENT)
		return ib_fail(err, IB_E_USAGE, 0, "there is no key '%s'; 'ib-pack --new-key NAME' makes NAME.pem", path);
	if (fd < 0 || fstat(fd, st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open key '%s'", path);
	if (st->st_mode & (S_IRGRP | S_IROTH))
		ib_log(ctx, IB_LOG_WARNING, "key '%s' can be read by others; 'chmod 600 %s' keeps it yours", path, path);
	r = ib_read_upto(fd, pem, sizeof(pem), path, &n, err);
	if (r == 0 && n == sizeof(pem))
		r = ib_fail(err, IB_E_USAGE, 0, "key '%s' is larger than %u bytes", path, KEY_MAX - 1);
	if (r == 0)
		r = ib_privkey_from_pem(pem, n, path, ret, err);
	explicit_bzero(pem, sizeof(pem)); /* read here, so that no copy stays in a buffer that grew */
	if (r == IB_E_KEY) /* the wrong key is wrong use, not evidence that fails */
		err->code = IB_E_USAGE;
	return r == IB_E_KEY ? IB_E_USAGE : r;
}

/* The first failing E finding, but for those of the check named except (may be NULL), as an error. */
static int refuse(const struct ib_findings *f, const char *except, const char *what, struct ib_err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct ib_finding *one = &f->v[i];
		const char *file = one->file ? one->file : "";

		if (one->level != IB_FINDING_E || one->status != IB_FAIL || ib_streq(one->id, except))
			continue;
		return ib_fail_at(err, one->code ? one->code : IB_E_BINDING, file, "%s does not verify: %s%s%s%s: %s", what, one->id, *file ? " '" : "", file,
				  *file ? "'" : "", one->message);
	}
	return 0;
}

/* A tree that differs from an earlier seal's (S12) is what a new seal is for. */
static int verify_study(struct ib_pack_study *s, struct ib_run_counts *ret, struct ib_err *err)
{
	const struct ib_verify_opts opts = {0};
	ib_auto_verdict struct ib_verdict v = {0};
	int r = ib_study_verify(s->fd, s->name, &opts, &v, err);

	if (r < 0)
		return r;
	*ret = v.counts;
	return refuse(&v.findings, "S12", "the study", err);
}

/* --- what was written --- */

struct relist {
	const struct ib_pack_study *s;
	const char *top;
	size_t at; /* next file of the study */
	uint64_t entries;
};

/* The second reader must see the study's files, in order and with their sizes, behind the tag files and signatures. */
static int relist(void *arg, const char *path, uint64_t bytes, struct ib_err *err)
{
	struct relist *l = arg;
	size_t n = strlen(l->top);

	l->entries++;
	if (strncmp(path, l->top, n) != 0 || path[n] != '/')
		return ib_fail(err, IB_E_INTERNAL, 0, "libarchive reads another name in the packet: '%s'", path);
	if (!ib_starts(path + n, "/data/"))
		return 0;
	while (l->at < l->s->tree.n && l->s->tree.v[l->at].withheld)
		l->at++;
	if (l->at >= l->s->tree.n || strcmp(l->s->tree.v[l->at].path, path + n + 6) != 0 || l->s->tree.v[l->at].bytes != bytes)
		return ib_fail(err, IB_E_INTERNAL, 0, "libarchive reads another file in the packet: '%s' of %" PRIu64 " bytes", path, bytes);
	l->at++;
	return 0;
}

/* The packet through the verifier: as a packet, and as the study that it holds. */
static int reverify(const struct part *p, const struct ib_privkey *key, struct ib_err *err)
{
	__attribute__((cleanup(ib_study_view_clear))) struct ib_study_view view;
	__attribute__((cleanup(ib_findings_clear))) struct ib_findings f = {0};
	ib_auto_packet_result struct ib_packet_result result;
	ib_auto_trust struct ib_trust trust = {0};
	struct ib_source_fd file = {.fd = p->fd, .name = p->name};
	const struct ib_source in = ib_source_from_fd(&file);
	struct ib_evidence_sink sink;
	int r = 0;

	ib_study_view_init(&view);
	view.anchored = true;
	sink = ib_study_view_sink(&view);
	if (key)
		r = ib_trust_add_fingerprint(&trust, ib_privkey_public(key)->fingerprint, err);
	if (r == 0)
		r = ib_packet_verify(&in, &(struct ib_packet_opts){.trust = &trust, .unsigned_ok = !key, .sink = &sink}, &result, &f, err);
	if (r == 0 && ib_study_view_unread(&view)) /* results too large to be held */
		r = lseek(p->fd, 0, SEEK_SET) < 0 ? ib_fail(err, IB_E_IO, errno, "cannot read the packet back") : ib_packet_stream(&in, &sink, err);
	ib_study_view_end(&view);
	if (r < 0)
		return r;
	ib_study_check(&view, &f);
	r = refuse(&f, NULL, "the packet just written", err);
	if (r == 0 && (result.code != IB_OK || !result.complete))
		return ib_fail(err, IB_E_INTERNAL, 0, "the packet just written does not verify");
	return r;
}

static int read_back(const struct ib_pack_opts *opts, const struct ib_pack_study *s, const struct part *p, const struct ib_privkey *key,
		     const struct ib_pack_written *w, struct ib_err *err)
{
	struct relist l = {.s = s, .top = w->top};
	int r;

	if (lseek(p->fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read the packet back");
	r = reverify(p, key, err);
	if (r < 0 || !opts->list)
		return r;
	if (lseek(p->fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read the packet back");
	r = opts->list(p->fd, relist, &l, err);
	if (r < 0)
		return r;
	while (l.at < s->tree.n && s->tree.v[l.at].withheld)
		l.at++;
	if (l.at != s->tree.n || l.entries != w->files + 5 + (key ? 3 : 0))
		return ib_fail(err, IB_E_INTERNAL, 0, "libarchive reads %" PRIu64 " files in the packet, which holds others", l.entries);
	return 0;
}

static int write_packet(const struct ib_pack_opts *opts, const struct ib_pack_study *s, struct part *p, const struct ib_privkey *key,
			struct ib_pack_result *ret, struct ib_err *err)
{
	struct ib_source_fd file;
	struct ib_drain out = ib_drain_to_fd(&file);
	struct ib_pack_written w;
	struct stat st;
	int r = part_create(p, err);

	if (r < 0)
		return r;
	file = (struct ib_source_fd){.fd = p->fd, .name = opts->out};
	r = ib_pack_write(s, key, &out, p->zstd, &w, err);
	if (r < 0)
		return r;
	if (fsync(p->fd) < 0 || fstat(p->fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot write '%s'", opts->out);
	r = read_back(opts, s, p, key, &w, err);
	if (r == 0)
		r = part_commit(p, opts->out, err);
	if (r < 0)
		return r;
	*ret = (struct ib_pack_result){.files = w.files, .bytes = w.bytes, .withheld = w.withheld, .packet_bytes = (uint64_t)st.st_size, .sealed_now = s->sealed_now,
				       .ledger_length = (uint64_t)s->ledger.length};
	memcpy(ret->top, w.top, sizeof(ret->top));
	memcpy(ret->tagmanifest_sha256, w.tagmanifest_sha256, IB_HEX_LEN);
	memcpy(ret->head, s->ledger.head, IB_HEX_LEN);
	if (key)
		snprintf(ret->fingerprint, sizeof(ret->fingerprint), "%s", ib_privkey_public(key)->fingerprint);
	return 0;
}

static int check_study_name(const struct ib_pack_study *s, struct ib_err *err)
{
	const char *name = s->ledger.study ? s->ledger.study : "";

	if (ib_name_is_plain(name, strlen(name)))
		return 0;
	return ib_fail(err, IB_E_PATH, 0,
		       "the study's name '%s' does not fit a packet: 1 to 32 of a-z, 0-9, '_' and '-', the first a letter or digit; "
		       "a contract's 'study:' sets it, or the name of the directory before its first run",
		       name);
}

int ib_pack(const struct ib_ctx *ctx, const struct ib_pack_opts *opts, struct ib_pack_result *ret, struct ib_err *err)
{
	__attribute__((cleanup(ib_pack_study_clear))) struct ib_pack_study s = {.fd = -1};
	__attribute__((cleanup(part_clear))) struct part p = {.dirfd = -1, .fd = -1};
	ib_auto_privkey struct ib_privkey *key = NULL;
	struct ib_run_counts counts = {0};
	struct stat st = {0};
	int r;

	if (!opts->key && !opts->is_unsigned)
		return ib_fail(err, IB_E_USAGE, 0, "no key: '--key NAME.pem' signs ('--new-key NAME' makes one), '--unsigned' packs without saying whose it is");
	r = open_study(opts, &s, err);
	if (r == 0)
		r = part_open(opts->out, s.fd, &p, err);
	if (r == 0 && opts->key)
		r = load_key(ctx, opts->key, &key, &st, err);
	if (r == 0)
		r = ib_pack_account(ctx, &s, err);
	if (r == 0)
		r = check_study_name(&s, err);
	if (r == 0)
		r = ib_pack_gather(ctx, &s, st.st_dev, st.st_ino, err);
	if (r == 0)
		r = ib_pack_secrets(ctx, s.fd, &s.tree, opts->allow_secret, opts->allow_secret_n, err);
	if (r == 0)
		r = verify_study(&s, &counts, err);
	if (r == 0)
		r = ib_pack_seal(ctx, &s, &counts, err);
	return r < 0 ? r : write_packet(opts, &s, &p, key, ret, err);
}
