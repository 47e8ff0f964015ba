/* SPDX-License-Identifier: Apache-2.0 */
/* The packet layer of verification (man/ib-packet.5): container, names, digests, closed world, signatures, ledger chain, bindings, in one pass. What
 * the study's documents say is not judged here: files go to an evidence sink once their digests matched. */
#ifndef IB_VERIFY_PACKET_H
#define IB_VERIFY_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "model/finding.h"
#include "sign/statement.h"
#include "sign/trust.h"
#include "store/bag.h"
#include "base/source.h"
#include "verify/evidence.h"

#define IB_SIGNERS_MAX 16

/* Gets every file of the archive as it is read, path without the top directory: before its digest is known. Negative ends the reading. */
struct ib_packet_copy {
	int (*begin)(void *arg, const char *path, unsigned mode, struct ib_err *err);
	int (*bytes)(void *arg, const void *data, size_t n, struct ib_err *err);
	int (*end)(void *arg, struct ib_err *err);
	void *arg;
};

struct ib_packet_opts {
	const struct ib_trust *trust;         /* NULL: none */
	bool unsigned_ok;                     /* a packet without any signature is no E_TRUST */
	const struct ib_packet_copy *copy;    /* NULL: none */
	const struct ib_evidence_sink *sink;  /* NULL: nobody wants the files. Fed also when E_TRUST is found: look at the class first */
};

struct ib_packet_signer {
	struct ib_pubkey key;
	char *principal; /* from the trust file, or NULL */
	bool trusted;
	bool dsse, ssh; /* in which forms it signed: over the Statement, over the tag manifest */
};

struct ib_packet_result {
	enum ib_code code;  /* the class: 0 when all holds. ib_code_exit() and ib_code_name() tell the rest */
	bool complete;      /* read to the end of the archive */
	bool zstd;
	struct ib_top top;  /* empty when none was read */
	uint64_t sealed_at; /* seconds since 1970: the time of all entries */
	struct ib_packet_signer *signers; /* whose signatures verified */
	size_t n_signers;
	bool has_statement;
	struct ib_statement statement; /* of the signers; empty without has_statement */
	char manifest_sha256[IB_HEX_LEN], tagmanifest_sha256[IB_HEX_LEN]; /* "": not read */
	char tree_sha256[IB_HEX_LEN];  /* of the manifest's lines, as a seal's tree_sha256 (valid with manifest_sha256) */
	char ledger_head[IB_HEX_LEN];  /* of the ledger in the packet, once its digest matched; "" otherwise */
	uint64_t ledger_length;
	uint64_t files, bytes;         /* of data/ */
};

/* Reads the packet from in. 0 with *ret filled, whatever the packet is; findings (one per fault, id the class) are appended to f. Negative only where
 * the bytes could not be read: IB_E_IO, IB_E_INTERNAL. *ret is to be cleared in both cases. */
IB_MUST int ib_packet_verify(const struct ib_source *in, const struct ib_packet_opts *opts, struct ib_packet_result *ret, struct ib_findings *f,
			     struct ib_err *err);
/* Reads a packet that was found sound once more and gives the files of data/ that sink->streams() asks for to sink->stream(). Negative: the archive is
 * no longer what it was, or cannot be read. */
IB_MUST int ib_packet_stream(const struct ib_source *in, const struct ib_evidence_sink *sink, struct ib_err *err);
void ib_packet_result_clear(struct ib_packet_result *r);
#define ib_auto_packet_result __attribute__((cleanup(ib_packet_result_clear)))

/* Does a file begin like a packet (n bytes of it)? A zstd frame, or a ustar header. */
bool ib_packet_looks_like(const void *data, size_t n);

#endif
