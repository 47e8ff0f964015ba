/* SPDX-License-Identifier: Apache-2.0 */
/* From a packet's bytes to a verdict. The study is judged only when its bytes are those that were listed. */
#include "verify/verify_packet.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "clients/client.h"
#include "verify/check.h"
#include "verify/folder.h"
#include "verify/loose.h"
#include "verify/packet.h"
#include "verify/settle.h"

static const char *const run_keys[] = {"planned",   "started",     "completed", "failed",  "timed_out",
				       "interrupted", "abandoned", "refused",   "excluded", "imported"};

static void take_signers(struct ib_verdict *v, const struct ib_packet_result *res, const struct ib_anchors *anchors)
{
	v->signers = ib_alloc((res->n_signers + 1) * sizeof(*v->signers));
	for (size_t i = 0; i < res->n_signers; i++) {
		const struct ib_packet_signer *from = &res->signers[i];
		struct ib_signer *to = &v->signers[v->n_signers++];

		to->fingerprint = ib_strdup(from->key.fingerprint);
		to->key_type = ib_strdup(ib_key_type_name(from->key.type));
		to->principal = ib_strdup(from->principal);
		to->trusted = from->trusted;
		to->dsse = from->dsse;
		to->ssh = from->ssh;
		if (from->trusted)
			v->trusted = IB_HOLDS_YES;
	}
	if (v->n_signers && v->trusted != IB_HOLDS_YES && anchors->n)
		v->trusted = IB_HOLDS_NO;
	v->is_signed = v->n_signers ? IB_HOLDS_YES : IB_HOLDS_NO;
}

/* What was not established is not wrong: it is undecided, or, where no signature is required, of no consequence. */
static void leave_open(struct ib_verdict *v, const struct ib_verify_opts *opts)
{
	for (size_t i = 0; i < v->findings.n; i++) {
		struct ib_finding *one = &v->findings.v[i];

		if (one->code != IB_E_TRUST && one->code != IB_E_UNSUPPORTED)
			continue;
		one->status = IB_NOT_CHECKABLE;
		if (one->code == IB_E_TRUST && opts->unsigned_ok)
			one->level = IB_FINDING_I;
	}
}

static void apply_time(struct ib_verdict *v, const struct ib_packet_result *res, const struct ib_anchors *anchors)
{
	for (size_t i = 0; i < res->n_signers; i++)
		if (ib_trust_dated(&anchors->all, &res->signers[i].key))
			return;
	ib_findings_add(&v->findings, "E_TRUST", IB_FINDING_E, IB_NOT_CHECKABLE,
			"'--verify-time' does not apply: no key of a signer has dates in what you trust")
		->code = IB_E_TRUST;
}

/* Every anchor that was given must apply: one that is silently passed over would look like trust. */
static void apply_anchors(struct ib_verdict *v, const struct ib_packet_result *res, const struct ib_anchors *anchors)
{
	for (size_t a = 0; a < anchors->n && res->n_signers; a++) {
		ib_auto_free char *why = NULL;
		bool applies = false;

		for (size_t i = 0; i < res->n_signers; i++) {
			applies = applies || ib_trust_has(&anchors->each[a], &res->signers[i].key, NULL);
			if (!applies && !why)
				why = ib_trust_why(&anchors->each[a], &res->signers[i].key);
		}
		if (!applies)
			ib_findings_add(&v->findings, "E_TRUST", IB_FINDING_E, IB_NOT_CHECKABLE, "'%s' does not apply: %s", anchors->names[a],
					why ? why : "it holds the key of no signature of this packet")
				->code = IB_E_TRUST;
	}
	if (!anchors->n || res->n_signers)
		return;
	ib_findings_add(&v->findings, "E_TRUST", IB_FINDING_E, IB_NOT_CHECKABLE, "'%s' does not apply: the packet has no signature that verifies", anchors->names[0])
		->code = IB_E_TRUST;
}

static void bind(struct ib_verdict *v, const char *file, const char *what, const char *expected, const char *found)
{
	struct ib_finding *one;

	if (ib_streq(expected, found))
		return;
	one = ib_findings_add(&v->findings, "E_BINDING", IB_FINDING_E, IB_FAIL, "%s", what);
	one->code = IB_E_BINDING;
	one->file = ib_strdup(file);
	one->expected = ib_strdup(expected);
	one->found = ib_strdup(found);
}

/* The name and the time of the packet are those of its seal, with or without a signature. */
static void bind_seal(struct ib_verdict *v, const struct ib_packet_result *res)
{
	const struct ib_study_entry *seal = v->study.seal;
	char want[32], got[32], head[9];

	if (!seal)
		return;
	snprintf(want, sizeof(want), "%" PRIu64, res->sealed_at);
	snprintf(got, sizeof(got), "%lld", (long long)(seal->e.wall_ns / IB_NS));
	snprintf(head, sizeof(head), "%.8s", v->study.chain.head);
	bind(v, "data/ledger.jsonl", "the time of the files is not the second of the seal", want, got);
	bind(v, "data/ledger.jsonl", "the ledger's head is not the one in the name of the top directory", res->top.seal, head);
}

/* What the signer said of the study against what the study says. */
static void bind_statement(struct ib_verdict *v, const struct ib_packet_result *res)
{
	const struct ib_study_view *s = &v->study;
	const struct ib_run_counts *c = s->seal ? &s->seal->e.runs : NULL;

	if (s->n_registrations)
		bind(v, "data/ledger.jsonl", "the ledger is of another study than the packet is named for", res->top.study, s->registrations[0]->e.study);
	if (!res->has_statement || !c)
		return;
	{
		const int64_t sealed[] = {c->planned,     c->started,   c->completed, c->failed,   c->timed_out,
					  c->interrupted, c->abandoned, c->refused,   c->excluded, c->imported};

		for (size_t i = 0; res->statement.has_runs && i < IB_LEN(sealed); i++) {
			ib_auto_free char *what = ib_asprintf("the signed number of %s runs is not the seal's", run_keys[i]);
			char want[32], got[32];

			snprintf(want, sizeof(want), "%" PRIu64, res->statement.runs[i]);
			snprintf(got, sizeof(got), "%" PRId64, sealed[i]);
			bind(v, "data/ledger.jsonl", what, want, got);
		}
	}
}

/* Are the bytes those of the manifests, so that what they say may be judged? */
static bool whole(const struct ib_packet_result *res)
{
	return res->complete && (res->code == IB_OK || res->code == IB_E_TRUST || res->code == IB_E_UNSUPPORTED || res->code == IB_E_BINDING);
}

static void judge_study(struct ib_verdict *v, const struct ib_packet_result *res)
{
	if (!whole(res)) {
		ib_findings_add(&v->findings, "S00", IB_FINDING_I, IB_NOT_CHECKABLE, "what the study says was not judged: its bytes are not those of a sound packet");
		return;
	}
	v->study.signed_head = v->trusted == IB_HOLDS_YES; /* anybody can sign a shortened ledger anew */
	ib_structure_check(&v->study, &v->findings);
	ib_audit_of_study(&v->study, NULL, &v->audit);
	v->audit.is_signed = v->is_signed == IB_HOLDS_YES;
	v->audit.trusted = v->trusted == IB_HOLDS_YES;
	ib_audit_check(&v->audit, &v->findings);
	ib_study_count(&v->study, &v->counts);
	bind_seal(v, res);
	bind_statement(v, res);
	v->consistent = IB_HOLDS_YES;
	v->intact = IB_HOLDS_YES;
}

/* Results too large to be held: once more through the archive, now that every digest is known. */
static void read_large(int fd, const struct ib_source *in, const struct ib_packet_result *res, const struct ib_evidence_sink *sink, struct ib_verdict *v)
{
	struct ib_err e;
	int r = 0;

	if (!whole(res) || !ib_study_view_unread(&v->study))
		return;
	if (lseek(fd, 0, SEEK_SET) < 0)
		r = ib_fail(&e, IB_E_IO, errno, "cannot read the packet a second time");
	else
		r = ib_packet_stream(in, sink, &e);
	if (r < 0)
		ib_findings_add(&v->findings, "E_IO", IB_FINDING_E, IB_NOT_CHECKABLE, "large results could not be read: %s", e.text)->code = IB_E_IO;
}

/* Only what is intact, whoever signed it: the verdict says whose it is. */
static int extract(int fd, const struct ib_source *in, const struct ib_packet_opts *how, const struct ib_packet_result *res,
		   const struct ib_verify_opts *opts, const struct ib_verdict *v, struct ib_err *err)
{
	if (v->intact != IB_HOLDS_YES)
		return 0;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read the packet a second time");
	return ib_extract_packet(in, how, res, opts->extract, err);
}

static int packet(int fd, const char *path, const struct ib_verify_opts *opts, const struct ib_anchors *anchors, struct ib_verdict *v, struct ib_err *err)
{
	struct ib_source_fd from = {.fd = fd, .name = path};
	const struct ib_source in = ib_source_from_fd(&from);
	const struct ib_evidence_sink sink = ib_study_view_sink(&v->study);
	const struct ib_packet_opts how = {.trust = &anchors->all, .unsigned_ok = opts->unsigned_ok, .sink = &sink};
	ib_auto_packet_result struct ib_packet_result res;
	int r;

	v->kind = IB_KIND_PACKET;
	v->study.anchored = true;
	r = ib_packet_verify(&in, &how, &res, &v->findings, err);
	if (r == 0)
		read_large(fd, &in, &res, &sink, v);
	ib_study_view_end(&v->study);
	if (r < 0)
		return r;
	take_signers(v, &res, anchors);
	leave_open(v, opts);
	if (res.code == IB_E_SIG || res.code == IB_E_KEY || res.code == IB_E_DSSE)
		v->trusted = IB_HOLDS_NOT_CHECKABLE;
	v->time_stamped = IB_HOLDS_NO;
	v->files = res.files;
	v->bytes = res.bytes;
	apply_anchors(v, &res, anchors);
	if (opts->at_ns)
		apply_time(v, &res, anchors);
	judge_study(v, &res);
	ib_verdict_settle(v, opts);
	return opts->extract ? extract(fd, &in, &how, &res, opts, v, err) : 0;
}

static void refuse(struct ib_verdict *v, const char *path, const struct ib_verify_opts *opts)
{
	struct ib_err e;

	ib_fail(&e, IB_E_CONTAINER, 0, "'%s' is neither a packet (a tar archive, a zstd frame) nor a result of a known client ('ib-verify --list-clients')", path);
	ib_findings_add_err(&v->findings, &e);
	ib_verdict_settle(v, opts);
}

int ib_file_verify(int fd, const char *path, const struct ib_verify_opts *opts, const struct ib_anchors *anchors, struct ib_verdict *ret, struct ib_err *err)
{
	enum ib_loose kind = IB_LOOSE_OTHER;
	char head[512];
	size_t n;
	int r = ib_loose_look(fd, path, &kind, err);

	if (r < 0)
		return r;
	if (kind == IB_LOOSE_RESULT)
		return ib_loose_verify(fd, path, opts, ret, err);
	r = ib_read_upto(fd, head, sizeof(head), path, &n, err);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot read '%s' from its start", path);
	if (ib_packet_looks_like(head, n))
		return packet(fd, path, opts, anchors, ret, err);
	refuse(ret, path, opts);
	return 0;
}
