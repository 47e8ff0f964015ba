/* SPDX-License-Identifier: Apache-2.0 */
/* The BagIt files of a packet, in their one form: bagit.txt, bag-info.txt, manifests; the top directory's name. */
#ifndef IB_STORE_BAG_H
#define IB_STORE_BAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "store/names.h"

#define IB_BAGIT_TXT "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
#define IB_TAG_FILES 5
#define IB_MANIFEST_MAX (256u << 20)
#define IB_DOCUMENT_MAX (16u << 20)
#define IB_DATE_LEN 11 /* YYYY-MM-DD and a NUL */

/* bagit.txt, bag-info.txt, VERIFY.md, manifest-sha256.txt, tagmanifest-sha256.txt: as they stand in the archive. */
extern const char *const ib_tag_files[IB_TAG_FILES];

struct ib_top {
	char name[64];     /* the whole */
	char study[33];
	char date[9];      /* YYYYMMDD */
	char seal[9];      /* 8 hex digits */
};

/* Parses the name of a top directory of n bytes; false when it is none. */
bool ib_top_parse(const char *s, size_t n, struct ib_top *ret);
/* UTC date of an mtime. */
void ib_bag_date(uint64_t mtime, char ret[IB_DATE_LEN]);

/* bag-info.txt; ret is allocated. */
char *ib_bag_info(const char *top, uint64_t mtime, uint64_t bytes, uint64_t files);
/* Takes the numbers of Payload-Oxum out of a bag-info.txt of the right form; IB_E_MANIFEST otherwise. Compare with ib_bag_info() then. */
IB_MUST int ib_bag_info_parse(const char *text, size_t n, uint64_t *ret_bytes, uint64_t *ret_files, struct ib_err *err);

/* A manifest, held as its text and the place of each line's path. */
struct ib_manifest {
	char *text;     /* owned; lines are NUL-terminated after parsing */
	uint32_t *line; /* offsets of the paths; the digest begins 66 bytes before */
	size_t n;
};

/* Parses text (n bytes, NUL behind them), which it takes over. name: the file in messages. top: the top directory that counts towards the length
 * of paths. payload: all paths must be in data/. IB_E_MANIFEST, IB_E_PATH, IB_E_DUP, IB_E_LIMIT. *ret is to be cleared in any case. */
IB_MUST int ib_manifest_parse(char *text, size_t n, const char *name, const char *top, bool payload, struct ib_manifest *ret, struct ib_err *err);
const char *ib_manifest_path(const struct ib_manifest *m, size_t i);
const char *ib_manifest_sha256(const struct ib_manifest *m, size_t i); /* NUL-terminated hex */
/* Digest of a path, or NULL. */
const char *ib_manifest_find(const struct ib_manifest *m, const char *path);
void ib_manifest_clear(struct ib_manifest *m);
#define ib_auto_manifest __attribute__((cleanup(ib_manifest_clear)))

/* True when a path below the study's root is part of what a seal's tree_sha256 covers. */
bool ib_tree_covers(const char *path);
/* Does a verdict rest on this file of a study, so that it cannot be withheld? */
bool ib_tree_needed(const char *path);

#endif
