/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of a log, of whatever size, becomes a file of the run: redacted line by line, past the gate, in bounded memory. */
#ifndef IB_RUN_SLICE_H
#define IB_RUN_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "redact/redact.h"

/* Bytes [from, to) of an open file. */
struct ib_segment {
	int fd;
	uint64_t from, to;
};

struct ib_slice {
	uint64_t bytes, lines;   /* of the slice as it was read; lines IB_SLICE_UNKNOWN when its middle was not read */
	uint64_t kept_bytes;     /* of the file, marks included */
	uint64_t gap_bytes;      /* of the slice's middle that the file does not hold */
	char sha256[IB_HEX_LEN]; /* of the whole slice, redacted; "": its middle was not read */
	bool redacted;           /* something was replaced */
};

#define IB_SLICE_UNKNOWN UINT64_MAX
#define IB_SLICE_READ_MAX (1ull << 30) /* of a larger slice the middle is not read */

/* Writes the segments, in order, redacted, as path below dir_fd (which must not exist). Of a slice of more than max bytes only the head and the tail
 * are kept, about half of max each, in whole lines, with a line between that says how much is left out. An empty slice makes no file. IB_E_STATE: the
 * gate refused; on a failure nothing is left. */
IB_MUST int ib_slice_keep(const struct ib_redactor *redactor, const struct ib_segment *segments, size_t n, uint64_t max, int dir_fd, const char *path,
			  struct ib_slice *ret, struct ib_err *err);

#endif
