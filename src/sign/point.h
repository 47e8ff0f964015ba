/* SPDX-License-Identifier: Apache-2.0 */
/* Ed25519 encodings that libcrypto takes and that must not be taken. */
#ifndef IB_SIGN_POINT_H
#define IB_SIGN_POINT_H

#include <stdbool.h>
#include <stdint.h>

/* True for the canonical encoding of a point on the curve whose order is not 1, 2, 4 or 8. */
bool ib_ed25519_point_ok(const uint8_t p[32]);
/* True when the scalar is below the order of the group. */
bool ib_ed25519_scalar_ok(const uint8_t s[32]);

#endif
