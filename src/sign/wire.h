/* SPDX-License-Identifier: Apache-2.0 */
/* The SSH wire format (RFC 4251, section 5): bytes in order, strings behind their length. */
#ifndef IB_SIGN_WIRE_H
#define IB_SIGN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct ib_wire {
	const uint8_t *p;
	size_t left;
};

/* Takes one off the front; false when it is not all there. The bytes stay the caller's. */
bool ib_wire_string(struct ib_wire *w, const uint8_t **ret, size_t *ret_n);
bool ib_wire_u32(struct ib_wire *w, uint32_t *ret);
bool ib_wire_byte(struct ib_wire *w, uint8_t *ret);
/* A string that must be these characters; what is there is taken only then. */
bool ib_wire_is(struct ib_wire *w, const char *text);

void ib_wire_add_string(struct ib_buf *b, const void *data, size_t n);

#endif
