/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded buffer: grows up to a maximum set at the start. An addition beyond it is dropped and remembered, so that a
 * writer adds freely and asks once, at the end, with ib_buf_check(). */
#ifndef IB_BASE_BUF_H
#define IB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ib_buf {
	char *data; /* NUL-terminated once anything was added; NULL before */
	size_t len; /* bytes, without the NUL */
	size_t cap;
	size_t max;
	bool overflow;
};

#define IB_BUF(limit) ((struct ib_buf){.max = (limit)})

void ib_buf_add(struct ib_buf *b, const void *data, size_t n);
void ib_buf_adds(struct ib_buf *b, const char *s);
void ib_buf_addc(struct ib_buf *b, char c);
void ib_buf_addf(struct ib_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Makes room for n bytes behind len and returns the place, or NULL (overflow set). The caller then raises len itself. */
char *ib_buf_room(struct ib_buf *b, size_t n);
/* IB_E_LIMIT when something was dropped. what names the content in the message. */
IB_MUST int ib_buf_check(const struct ib_buf *b, const char *what, struct ib_err *err);
const char *ib_buf_str(const struct ib_buf *b); /* never NULL */
void ib_buf_reset(struct ib_buf *b);            /* empty, keeps the memory */
void ib_buf_clear(struct ib_buf *b);            /* frees */
char *ib_buf_steal(struct ib_buf *b);           /* the text, allocated, never NULL; b is empty afterwards */
#define ib_auto_buf __attribute__((cleanup(ib_buf_clear)))

#endif
