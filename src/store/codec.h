/* SPDX-License-Identifier: Apache-2.0 */
/* The transport around a packet's tar: none, or one zstd frame in exactly one form (man/ib-packet.5, Container). */
#ifndef IB_STORE_CODEC_H
#define IB_STORE_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"

/* Reading: the bytes decide whether it is a zstd frame. */
struct ib_unpacker;
/* Looks at the first bytes. IB_E_CONTAINER: a frame of another form; IB_E_TRUNC. *ret is to be freed. in must stay valid. */
IB_MUST int ib_unpacker_open(const struct ib_source *in, struct ib_unpacker **ret, struct ib_err *err);
bool ib_unpacker_is_zstd(const struct ib_unpacker *u);
/* Fills data with n bytes; *ret_n < n only at the end, which includes the end of the frame, its checksum and of the input: IB_E_TRUNC,
 * IB_E_TRAILING, IB_E_CONTAINER. Memory: the window of 8 MiB and a buffer. */
IB_MUST int ib_unpacker_read(struct ib_unpacker *u, void *data, size_t n, size_t *ret_n, struct ib_err *err);
void ib_unpacker_free(struct ib_unpacker **u);
#define ib_auto_unpacker __attribute__((cleanup(ib_unpacker_free)))

/* Writing: plain, or zstd with fixed parameters (one thread), so that equal libraries give equal bytes. */
struct ib_packer;
struct ib_packer *ib_packer_new(const struct ib_drain *out, bool zstd);
IB_MUST int ib_packer_write(struct ib_packer *p, const void *data, size_t n, struct ib_err *err);
IB_MUST int ib_packer_end(struct ib_packer *p, struct ib_err *err);
void ib_packer_free(struct ib_packer **p);
#define ib_auto_packer __attribute__((cleanup(ib_packer_free)))

#endif
