/* SPDX-License-Identifier: Apache-2.0 */
/* State of one reading of a packet, shared by packet.c (the order of the archive, data/) and packet_sign.c (signatures/). */
#ifndef IB_VERIFY_PACKET_READ_H
#define IB_VERIFY_PACKET_READ_H

#include "ledger/chain.h"
#include "sign/bundle.h"
#include "store/tar.h"
#include "verify/packet.h"

#define IB_SIG_FILES_MAX 65
#define IB_SIG_BYTES_MAX (64u << 20)

enum ib_sig_kind { IB_SIG_BUNDLE, IB_SIG_SSH, IB_SIG_TIME, IB_SIG_KEY, IB_SIG_ROOT };

/* A file of signatures/. */
struct ib_sig_file {
	enum ib_sig_kind kind;
	unsigned long number; /* of a bundle, SSH signature or time stamp */
	char path[128];
	char *data;
	size_t n;
	struct ib_pubkey key; /* of a key file, once judged */
	bool used;            /* a key file: a signature is its */
};

struct ib_packet_reader {
	const struct ib_packet_opts *opts;
	struct ib_packet_result *ret;
	struct ib_findings *findings;
	struct ib_tar *tar;
	struct ib_sha256 *sha;
	enum { IB_STAGE_TAGS, IB_STAGE_SIGNATURES, IB_STAGE_DATA } stage;
	char last[IB_PATH_MAX + 1]; /* path before, without the top directory */
	size_t tags;                /* tag files read */
	char tag_sha[IB_TAG_FILES][IB_HEX_LEN];
	char *tag_text[IB_TAG_FILES];
	size_t tag_n[IB_TAG_FILES];
	uint64_t oxum_bytes, oxum_files;
	struct ib_manifest manifest;
	size_t cursor; /* next line of the manifest */
	struct ib_sig_file *sigs;
	size_t n_sigs, sig_bytes;
	char *tagmanifest; /* its bytes: what an SSH signature is over */
	size_t tagmanifest_n;
	char *payload; /* Statement of the first signer */
	size_t payload_n;
	enum ib_code worst; /* class of what was collected, by rank */
};

/* Collects a fault; reading goes on. */
void ib_packet_note(struct ib_packet_reader *p, const struct ib_err *e);
/* Sorts a name into the kinds of signatures/; false when none may have it. */
bool ib_sig_name(const char *path, struct ib_sig_file *ret);
/* All files of signatures/ are read: judges them. Negative: a fault that ends the reading. */
IB_MUST int ib_packet_signatures(struct ib_packet_reader *p, struct ib_err *err);

#endif
