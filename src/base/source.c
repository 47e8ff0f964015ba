/* SPDX-License-Identifier: Apache-2.0 */
/* Sources and drains over descriptors and memory. */
#include "base/source.h"

#include <string.h>

#include "base/io.h"

static int read_fd(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	const struct ib_source_fd *s = arg;

	return ib_read_upto(s->fd, data, n, s->name, ret_n, err);
}

struct ib_source ib_source_from_fd(struct ib_source_fd *s)
{
	return (struct ib_source){.read = read_fd, .arg = s};
}

static int read_mem(void *arg, void *data, size_t n, size_t *ret_n, struct ib_err *err)
{
	struct ib_source_mem *s = arg;
	size_t k = s->n - s->at < n ? s->n - s->at : n;

	(void)err;
	if (k)
		memcpy(data, s->data + s->at, k);
	s->at += k;
	*ret_n = k;
	return 0;
}

struct ib_source ib_source_from_mem(struct ib_source_mem *s)
{
	return (struct ib_source){.read = read_mem, .arg = s};
}

static int write_fd(void *arg, const void *data, size_t n, struct ib_err *err)
{
	const struct ib_source_fd *s = arg;

	return ib_write_all(s->fd, data, n, s->name, err);
}

struct ib_drain ib_drain_to_fd(struct ib_source_fd *s)
{
	return (struct ib_drain){.write = write_fd, .arg = s};
}

static int write_buf(void *arg, const void *data, size_t n, struct ib_err *err)
{
	struct ib_buf *b = arg;

	ib_buf_add(b, data, n);
	return ib_buf_check(b, "output", err);
}

struct ib_drain ib_drain_to_buf(struct ib_buf *b)
{
	return (struct ib_drain){.write = write_buf, .arg = b};
}
