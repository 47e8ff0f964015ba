/* SPDX-License-Identifier: Apache-2.0 */
/* A directory as a source of evidence: walked without following a link, every file read once and digested. */
#ifndef IB_VERIFY_DIR_H
#define IB_VERIFY_DIR_H

#include "model/finding.h"
#include "verify/evidence.h"

#define IB_DIR_DEPTH 64
#define IB_DIR_FILES (1u << 20)

/* Gives every regular file below dirfd to the sink, ledger.jsonl first, then by bytes of name (record.json first within a directory). Links, devices,
 * sockets and pipes are never opened: each is a failing finding of class E_TYPE under the check's id. A file that cannot be read is a finding of class E_IO
 * (not checkable) and reaches the sink with the digest "". IB_E_IO when dirfd itself cannot be read, IB_E_LIMIT beyond
 * IB_DIR_DEPTH levels or IB_DIR_FILES files. dirfd stays open. */
IB_MUST int ib_dir_walk(int dirfd, const char *name, const char *check, const struct ib_evidence_sink *sink, struct ib_findings *f, struct ib_err *err);

#endif
