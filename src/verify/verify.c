/* SPDX-License-Identifier: Apache-2.0 */
/* A path in, a verdict out: studies, single runs and packets, told by what they are. */
#include "verify/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "base/str.h"
#include "verify/check.h"
#include "verify/dir.h"
#include "verify/folder.h"
#include "verify/run_dir.h"
#include "verify/settle.h"
#include "verify/verify_packet.h"

static const struct ib_verify_opts no_opts;

static void begin(struct ib_verdict *v, enum ib_kind kind, const char *path, const struct ib_verify_opts *opts)
{
	*v = (struct ib_verdict){.kind = kind, .path = ib_strdup(path)};
	ib_study_view_init(&v->study);
	v->study.expect_head = opts->expect_head;
	v->study.no_clients = opts->no_clients;
}

/* A limit that the walk ran into is a finding; that nothing could be read at all is not. */
static int walk(int dirfd, const char *name, struct ib_verdict *v, struct ib_err *err)
{
	const struct ib_evidence_sink sink = ib_study_view_sink(&v->study);
	int r = ib_dir_walk(dirfd, name, "S00", &sink, &v->findings, err);

	if (r == IB_E_LIMIT) {
		ib_findings_add_err(&v->findings, err);
		return 0;
	}
	return r;
}

int ib_study_verify(int dirfd, const char *name, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	int r;

	opts = opts ? opts : &no_opts;
	begin(ret, IB_KIND_STUDY, name, opts);
	r = walk(dirfd, name, ret, err);
	ib_study_view_end(&ret->study);
	if (r < 0)
		return r;
	ib_structure_check(&ret->study, &ret->findings);
	ib_audit_of_study(&ret->study, NULL, &ret->audit);
	ib_audit_check(&ret->audit, &ret->findings);
	ib_study_count(&ret->study, &ret->counts);
	ib_verdict_size(ret);
	ib_trust_does_not_apply(ret, opts);
	ret->intact = ret->consistent = IB_HOLDS_YES;
	ret->is_signed = ret->time_stamped = IB_HOLDS_NO;
	ib_verdict_settle(ret, opts);
	return 0;
}

void ib_verdict_size(struct ib_verdict *v)
{
	v->files = v->study.n_files;
	v->bytes = 0;
	for (size_t i = 0; i < v->study.n_files; i++)
		v->bytes += v->study.files[i].bytes;
}

void ib_trust_does_not_apply(struct ib_verdict *v, const struct ib_verify_opts *opts)
{
	if (opts->n_trust || opts->n_fingerprints)
		ib_findings_add(&v->findings, "E_TRUST", IB_FINDING_E, IB_NOT_CHECKABLE,
				"--trust and --fingerprint do not apply: a %s carries no signature; only a packet does", ib_kind_name(v->kind))
			->code = IB_E_TRUST;
}

static bool has(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static int verify_kind(int fd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	if (has(fd, "ledger.jsonl"))
		return ib_study_verify(fd, path, opts, ret, err);
	if (has(fd, "record.json")) {
		begin(ret, IB_KIND_RUN, path, opts);
		return ib_run_dir_verify(fd, path, opts, ret, err);
	}
	begin(ret, IB_KIND_FOLDER, path, opts);
	return ib_folder_verify(fd, path, opts, ret, err);
}

static int ready(const struct ib_verify_opts *opts, const struct ib_verify_open *open, struct ib_sandbox *ret, struct ib_err *err)
{
	return opts->ready ? opts->ready(opts->ready_arg, open, ret, err) : 0;
}

static int verify_dir(int fd, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	/* a run's entry is in the ledger of its study */
	bool within = has(fd, "record.json") && !has(fd, "ledger.jsonl") && has(fd, "../../ledger.jsonl");
	ib_auto_fd int around = within ? openat(fd, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const struct ib_verify_open open = {.file = -1, .dirs = {fd, around}, .n_dirs = around < 0 ? 1 : 2};
	struct ib_sandbox sandbox = {0};
	int r = ready(opts, &open, &sandbox, err);

	if (r == 0)
		r = verify_kind(fd, path, opts, ret, err);
	ret->sandbox = sandbox;
	return r;
}

int ib_verify_path(const struct ib_ctx *ctx, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err)
{
	ib_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ib_auto_anchors struct ib_anchors anchors = {0};
	struct ib_sandbox sandbox = {0};
	struct stat st;
	int r;

	opts = opts ? opts : &no_opts;
	*ret = (struct ib_verdict){0};
	r = ib_anchors_load(ctx, opts, &anchors, err);
	if (r < 0)
		return r;
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot inspect '%s'", path);
	if (S_ISDIR(st.st_mode))
		return verify_dir(fd, path, opts, ret, err);
	begin(ret, IB_KIND_FILE, path, opts);
	if (!S_ISREG(st.st_mode))
		return ib_fail(err, IB_E_TYPE, 0, "'%s' is neither a directory nor a regular file", path);
	r = ready(opts, &(struct ib_verify_open){.file = fd}, &sandbox, err);
	if (r == 0)
		r = ib_file_verify(fd, path, opts, &anchors, ret, err);
	ret->sandbox = sandbox;
	return r;
}

void ib_verdict_clear(struct ib_verdict *v)
{
	free(v->path);
	free(v->sha256);
	for (size_t i = 0; i < v->n_signers; i++) {
		free(v->signers[i].fingerprint);
		free(v->signers[i].key_type);
		free(v->signers[i].principal);
	}
	free(v->signers);
	ib_findings_clear(&v->findings);
	ib_audit_view_clear(&v->audit);
	ib_study_view_clear(&v->study);
	*v = (struct ib_verdict){0};
}

const char *ib_holds_name(enum ib_holds h)
{
	static const char *const names[] = {[IB_HOLDS_NOT_CHECKABLE] = "not_checkable", [IB_HOLDS_YES] = "yes", [IB_HOLDS_NO] = "no"};

	return names[h];
}

const char *ib_kind_name(enum ib_kind k)
{
	static const char *const names[] = {[IB_KIND_UNKNOWN] = "unknown", [IB_KIND_PACKET] = "packet", [IB_KIND_STUDY] = "study",
					    [IB_KIND_RUN] = "run",         [IB_KIND_FOLDER] = "folder", [IB_KIND_FILE] = "file"};

	return names[k];
}
