/* SPDX-License-Identifier: Apache-2.0 */
/* One loose file of anybody: what it is, told by its first bytes, and what a client wrote in it. */
#ifndef IB_VERIFY_LOOSE_H
#define IB_VERIFY_LOOSE_H

#include "base/digest.h"
#include "clients/result.h"

enum ib_loose {
	IB_LOOSE_OTHER,
	IB_LOOSE_TEXT,   /* text, as far as its beginning shows */
	IB_LOOSE_JSON,   /* JSON, as far as its beginning shows, and no known client's */
	IB_LOOSE_ARCHIVE, /* may hold results, and is not read: zip, tar, 7z, xz, bzip2, gzip or zstd within gzip or zstd, UTF-16 */
	IB_LOOSE_RESULT, /* a known client's */
	IB_LOOSE_RECORD, /* of a run, as ib-run writes it */
};

/* Looks at the first 64 KiB of what fd holds, decompressed where it is gzip or zstd. The position of fd is at its start afterwards. IB_E_IO. */
IB_MUST int ib_loose_look(int fd, const char *name, enum ib_loose *ret, struct ib_err *err);
/* Reads a result file of any size from its start; claims are not derived yet. ret_hex gets the SHA-256 of the file's own bytes, also where it is torn.
 * Errors as ib_client_read_source(). */
IB_MUST int ib_loose_read(int fd, const char *name, struct ib_results *ret, char ret_hex[IB_HEX_LEN], struct ib_err *err);

#endif
