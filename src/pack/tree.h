/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a study as a packet will hold them. */
#ifndef IB_PACK_TREE_H
#define IB_PACK_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "model/contract.h"

struct ib_tree_file {
	char *path; /* below the study's root */
	uint64_t bytes;
	bool executable;
	char sha256[IB_HEX_LEN]; /* once digested */
	const char *withheld;    /* the reason, or NULL; points into the contract */
};

struct ib_tree {
	struct ib_tree_file *v; /* sorted by the bytes of the paths */
	size_t n;
};

/* Walks the study. Refused: links, devices, sockets (IB_E_TYPE), files of 8 GiB and more (IB_E_LIMIT), the file key_dev/key_ino (IB_E_USAGE: a
 * private key in the study). Names are judged by ib_tree_check_names(). */
IB_MUST int ib_tree_walk(int dirfd, dev_t key_dev, ino_t key_ino, struct ib_tree *ret, struct ib_err *err);
/* Marks what the contract withholds; patterns may hold '*' and '?', which do not match '/'. IB_E_USAGE for files that a packet cannot do without. */
IB_MUST int ib_tree_withhold(struct ib_tree *t, const struct ib_contract *c, struct ib_err *err);
/* Does any file match the pattern? */
bool ib_tree_matched(const struct ib_tree *t, const char *pattern);
/* Every name that is not withheld must be one that a packet can hold below a top directory of top_n bytes; else an error that names a way out. */
IB_MUST int ib_tree_check_names(const struct ib_tree *t, size_t top_n, struct ib_err *err);
/* Digests of all files, withheld ones too. */
IB_MUST int ib_tree_digest(int dirfd, struct ib_tree *t, struct ib_err *err);
/* The file of that path, or NULL. */
struct ib_tree_file *ib_tree_find(const struct ib_tree *t, const char *path);
/* Digest that a seal has. */
void ib_tree_sha256(const struct ib_tree *t, char ret[IB_HEX_LEN]);
/* manifest-sha256.txt. */
void ib_tree_manifest(const struct ib_tree *t, struct ib_buf *b);
/* withheld.json. */
void ib_tree_withheld_json(const struct ib_tree *t, struct ib_buf *b);
void ib_tree_clear(struct ib_tree *t);
#define ib_auto_tree __attribute__((cleanup(ib_tree_clear)))

#endif
