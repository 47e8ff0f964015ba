/* SPDX-License-Identifier: Apache-2.0 */
/* Result files as people keep them: plain, gzip or zstd, told by their first bytes. Lenient where packets are strict: any window up to 128 MiB, any number of
 * members or frames one after the other. */
#ifndef IB_STORE_INFLATE_H
#define IB_STORE_INFLATE_H

#include <stdint.h>

#include "base/source.h"

#define IB_INFLATE_WINDOW_LOG 27                   /* 128 MiB: as zstd(1) takes without being asked to */
#define IB_INFLATE_BYTES_MAX ((uint64_t)64 << 30)  /* of output */
#define IB_INFLATE_RATIO_MAX 10000                 /* output over input, once there is more than IB_INFLATE_RATIO_FROM of it; gzip reaches 1,032 */
#define IB_INFLATE_RATIO_FROM ((uint64_t)64 << 20)

struct ib_inflate;

/* Looks at the first bytes; what is neither gzip nor zstd is passed through as it is. in and name (for messages) must stay valid. Errors of in. */
IB_MUST int ib_inflate_open(const struct ib_source *in, const char *name, struct ib_inflate **ret, struct ib_err *err);
/* The contents, for as long as i lives. Reading fails with IB_E_SYNTAX: not well-formed, a wrong checksum, or something behind the last member that is none;
 * IB_E_TRUNC: the input ends within a member; IB_E_LIMIT: a larger window, too much output, too high a ratio. After an error every read fails with it. */
struct ib_source ib_inflate_source(struct ib_inflate *i);
const char *ib_inflate_format(const struct ib_inflate *i); /* "gzip", "zstd", or NULL: plain */
void ib_inflate_free(struct ib_inflate **i);
#define ib_auto_inflate __attribute__((cleanup(ib_inflate_free)))

#endif
