/* SPDX-License-Identifier: Apache-2.0 */
/* ib-verify as a library: a path in, verdicts and findings out. Never prints. */
#ifndef IB_VERIFY_VERIFY_H
#define IB_VERIFY_VERIFY_H

#include "base/ctx.h"
#include "model/finding.h"
#include "verify/extract.h"
#include "verify/audit.h"
#include "verify/rules.h"
#include "verify/sandbox.h"
#include "verify/study.h"

enum ib_kind { IB_KIND_UNKNOWN, IB_KIND_PACKET, IB_KIND_STUDY, IB_KIND_RUN, IB_KIND_FOLDER, IB_KIND_FILE };
enum ib_holds { IB_HOLDS_NOT_CHECKABLE, IB_HOLDS_YES, IB_HOLDS_NO }; /* zero: nothing was established */

/* What is open when the first byte of evidence is about to be read. */
struct ib_verify_open {
	int file;     /* the file given, or -1 */
	int dirs[2];  /* the directory given; the study that a single run lies in */
	size_t n_dirs;
};

struct ib_verify_opts {
	const char *const *trust; /* files of trusted keys ("-": standard input), n_trust of them */
	size_t n_trust;
	const char *const *fingerprints; /* "SHA256:…" */
	size_t n_fingerprints;
	const char *principal; /* whose of the trusted keys it must be, or NULL */
	int64_t at_ns; /* when keys with dates must be valid; 0: now */
	const char *expect_head; /* SHA-256 that the ledger's last line must have, or NULL */
	bool unsigned_ok, strict;
	const struct ib_rules *rules; /* levels of the audit's checks, or NULL */
	bool no_clients; /* do not re-read the clients' result files */
	/* Called once all of the above is read and before a byte of the evidence is, or NULL. Negative ends the verification. */
	int (*ready)(void *arg, const struct ib_verify_open *open, struct ib_sandbox *ret, struct ib_err *err);
	void *ready_arg;
	struct ib_extract *extract; /* begun: a packet that is intact is written there; NULL: none */
};

struct ib_signer {
	char *fingerprint; /* "SHA256:…" */
	char *key_type;    /* "ed25519", "ecdsa-p256" */
	char *principal;   /* from the trust file, or NULL */
	bool trusted;
	bool dsse, ssh;    /* the forms in which it signed */
};

struct ib_verdict {
	enum ib_kind kind;
	char *path, *sha256; /* sha256 of the file given: NULL for a directory */
	enum ib_holds intact, is_signed, trusted, time_stamped, consistent;
	struct ib_signer *signers;
	size_t n_signers;
	struct ib_findings findings;
	struct ib_study_view study; /* runs, contract, ledger; empty where nothing could be read. Print numbers of it only when intact */
	struct ib_audit_view audit; /* runs and results of any kind of evidence; empty where nothing could be read. Numbers: as of study */
	struct ib_run_counts counts;
	uint64_t files, bytes; /* of the study */
	struct ib_sandbox sandbox; /* what ready() gave; level "" without it */
	const struct ib_rules *rules; /* those of the options, or NULL */
	size_t rules_change; /* of them, how many give another level than the check's own */
	int exit; /* enum ib_exit, from the same findings */
};

/* Verifies a packet (.tar, .tar.zst: told by content), a study, one run's directory, a folder of loose result files or one of these. 0 with *ret filled,
 * whatever the verdict; negative only where nothing could be looked at: IB_E_IO (missing, unreadable), IB_E_USAGE (opts, trust files).
 * *ret is to be cleared in both cases. */
IB_MUST int ib_verify_path(const struct ib_ctx *ctx, const char *path, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err);
/* The same for an open study directory; name is for messages. */
IB_MUST int ib_study_verify(int dirfd, const char *name, const struct ib_verify_opts *opts, struct ib_verdict *ret, struct ib_err *err);
void ib_verdict_clear(struct ib_verdict *v);
#define ib_auto_verdict __attribute__((cleanup(ib_verdict_clear)))

const char *ib_holds_name(enum ib_holds h); /* "yes", "no", "not_checkable" */
const char *ib_kind_name(enum ib_kind k);
/* The findings document (urn:ibtools:findings:v1). New reference. */
json_t *ib_verdict_json(const struct ib_verdict *v);
/* Its object "verdicts" alone. New reference. */
json_t *ib_verdicts_json(const struct ib_verdict *v);
/* The verdict screen into b: at most 25 lines for an ordinary packet, no untrusted byte raw. */
void ib_verdict_screen(const struct ib_verdict *v, const struct ib_verify_opts *opts, bool color, struct ib_buf *b);
/* --requests: writes the records of one result to the new file path, as ib-requests JSON Lines or CSV by its ending. which names a run or a result's file,
 * NULL: the only one. IB_E_USAGE: none or several of that name; IB_E_STATE: the bytes are not intact; IB_E_EXISTS; nothing is left on failure. */
IB_MUST int ib_verdict_requests(const struct ib_verdict *v, const char *which, const char *path, struct ib_err *err);
/* --show RUN: one run in detail. IB_E_USAGE when there is no such run. */
IB_MUST int ib_verdict_show(const struct ib_verdict *v, const char *run_id, struct ib_buf *b, struct ib_err *err);

#endif
