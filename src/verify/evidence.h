/* SPDX-License-Identifier: Apache-2.0 */
/* What a source of evidence (a packet being read, a study directory being walked) hands to the checks: every file once, with its digest; of
 * some files, the bytes too. Nothing is handed over before its digest was established. */
#ifndef IB_VERIFY_EVIDENCE_H
#define IB_VERIFY_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/source.h"

struct ib_evidence_sink {
	/* Does the sink want the bytes of this file (path below the study's root, size known)? Files of at most 16 MiB only. */
	bool (*wants)(void *arg, const char *path, uint64_t size);
	/* One file, after its digest was established (in a packet: after it matched the manifest). data is NULL unless wanted. A packet gives
	 * its files in byte order; a directory gives ledger.jsonl first, and record.json first within a run. */
	void (*file)(void *arg, const char *path, uint64_t size, const char *sha256, const char *data);
	/* Directories only, may be NULL: a directory that was entered, with its open descriptor. */
	void (*dir)(void *arg, const char *path, int fd);
	/* The next three are NULL together where nobody wants files of any size. Does the sink want to read this one as a stream? A directory asks right
	 * after file() was called without data, a packet in a second reading of the archive (ib_packet_stream()), when all digests are known. */
	bool (*streams)(void *arg, const char *path, uint64_t size);
	/* Its bytes once more. false: the sink left it, streamed() is not called. */
	bool (*stream)(void *arg, const char *path, const struct ib_source *in);
	/* After stream(): the digest of the bytes that were read this time, to be compared with the one that was established; "" when they could not be
	 * read to their end. */
	void (*streamed)(void *arg, const char *path, const char *sha256);
	void *arg;
};

#endif
