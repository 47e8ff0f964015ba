/* SPDX-License-Identifier: Apache-2.0 */
/* Where bytes come from, and where they go: a callback each, so that files, pipes and memory are alike. */
#ifndef IB_BASE_SOURCE_H
#define IB_BASE_SOURCE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct ib_source {
	/* Fills data with n bytes; *ret_n < n only at the end. */
	int (*read)(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err);
	void *arg;
};

struct ib_source_fd {
	int fd;
	const char *name; /* for messages */
};

struct ib_source_mem {
	const char *data;
	size_t n, at;
};

/* s must live as long as the source is used. */
struct ib_source ib_source_from_fd(struct ib_source_fd *s);
struct ib_source ib_source_from_mem(struct ib_source_mem *s);

struct ib_drain {
	int (*write)(void *arg, const void *data, size_t n, struct ib_err *err);
	void *arg;
};

struct ib_drain ib_drain_to_fd(struct ib_source_fd *s);
struct ib_drain ib_drain_to_buf(struct ib_buf *b); /* IB_E_LIMIT beyond b->max */

#endif
