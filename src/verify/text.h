/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text on its way to a terminal. */
#ifndef IB_VERIFY_TEXT_H
#define IB_VERIFY_TEXT_H

#include <stdint.h>

#include "base/buf.h"

/* Appends s with every byte that is not printable ASCII, and the backslash, as \xHH; at most max bytes of s, then "...". NULL gives a dash. */
void ib_text_safe(struct ib_buf *b, const char *s, size_t max);
/* "  label       text" with the text wrapped at 80 columns, its later lines below its first. For texts of our own. NULL: nothing. */
void ib_text_wrap(struct ib_buf *b, const char *label, const char *text);
/* "1.2 MB" in 1000s. */
void ib_text_bytes(struct ib_buf *b, uint64_t n);

#endif
