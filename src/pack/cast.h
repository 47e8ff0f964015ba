/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording of a terminal (asciicast, version 2) showed, as one text. */
#ifndef IB_PACK_CAST_H
#define IB_PACK_CAST_H

#include <stdbool.h>

#include "base/source.h"

struct ib_cast_text {
	struct ib_source from; /* of the recording's bytes */
	bool ended;
	char in[16384];
	size_t at, n;
	bool line_start, event, in_string; /* of this line: it begins, it is an event, we are in a string of it */
	int strings;           /* which one */
	bool resize;           /* the event says no text */
	enum { IB_CAST_PLAIN, IB_CAST_ESCAPE, IB_CAST_HEX } state;
	unsigned code; /* of "\\uXXXX" */
	int digits;
};

/* A source of the texts of all events, escapes undone and one directly behind the other: so a word is seen that was written in pieces or behind an
 * escape. Any bytes are taken; what is no event gives no text. t must live as long as the source is used. */
struct ib_source ib_cast_text_source(struct ib_cast_text *t, struct ib_source from);

#endif
