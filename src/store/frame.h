/* SPDX-License-Identifier: Apache-2.0 */
/* Walk over the blocks of one zstd frame beside the decoder, for what decoders pass over: reserved bits. */
#ifndef IB_STORE_FRAME_H
#define IB_STORE_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"

struct ib_frame {
	enum { IB_FRAME_BLOCK, IB_FRAME_LITERALS, IB_FRAME_SKIP, IB_FRAME_SEQUENCES, IB_FRAME_END } state;
	bool last, in_block; /* in_block: what is skipped are literals, sequences follow */
	unsigned char head[8]; /* header being gathered */
	size_t head_n;
	size_t skip, left; /* bytes to pass over; bytes of the block behind them */
};

/* Takes the next bytes behind the frame's header. IB_E_CONTAINER on a reserved block type or reserved bit; sizes that make no sense are left
 * to the decoder. */
IB_MUST int ib_frame_feed(struct ib_frame *f, const unsigned char *data, size_t n, struct ib_err *err);

#endif
