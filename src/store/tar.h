/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical tar profile of packets (man/ib-packet.5, Container): one encoder, and a reader that encodes each header anew and compares. */
#ifndef IB_STORE_TAR_H
#define IB_STORE_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "store/codec.h"
#include "store/names.h"

#define IB_TAR_BLOCK 512
#define IB_TAR_SIZE_MAX (64ULL << 30)
#define IB_TAR_FILE_MAX ((8ULL << 30) - 1)
#define IB_TAR_HEADER_MAX 4096 /* pax header, its data and the header */

struct ib_tar_meta {
	const char *path; /* with the top directory */
	unsigned mode;    /* 0644 or 0755 */
	uint64_t bytes;
	uint64_t mtime;
	uint32_t index; /* number of the file, from 0 */
};

/* All header blocks of a file; returns how many bytes of ret they take. The path must have passed ib_name_check(). */
size_t ib_tar_encode(const struct ib_tar_meta *m, unsigned char ret[IB_TAR_HEADER_MAX]);
/* Zero bytes behind n bytes of content. */
size_t ib_tar_padding(uint64_t n);

struct ib_tar;
/* u must stay valid. */
struct ib_tar *ib_tar_new(struct ib_unpacker *u);
/* Next file into *ret (path valid until the next call), or *ret_end. What was left unread of the previous file is passed over. Refused:
 * IB_E_TAR, TYPE, MODE, PATH, DUP, LIMIT, TRUNC, TRAILING and what the unpacker says. */
IB_MUST int ib_tar_next(struct ib_tar *t, struct ib_tar_meta *ret, bool *ret_end, struct ib_err *err);
/* Up to n bytes of the file; *ret_n is 0 at its end only. */
IB_MUST int ib_tar_read(struct ib_tar *t, void *data, size_t n, size_t *ret_n, struct ib_err *err);
uint64_t ib_tar_left(const struct ib_tar *t); /* unread bytes of the file */
void ib_tar_free(struct ib_tar **t);
#define ib_auto_tar __attribute__((cleanup(ib_tar_free)))

#endif
