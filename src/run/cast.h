/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.cast: what a terminal showed, with times, as asciicast version 2. A view: the bytes themselves are in stdout.log. */
#ifndef IB_RUN_CAST_H
#define IB_RUN_CAST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

struct ib_cast {
	int fd;               /* -1: none, or given up */
	int sys;              /* errno of the write that failed, or 0 */
	int64_t start_ns;
	struct winsize size;
	unsigned char part[4]; /* the beginning of a character whose end has not come yet */
	size_t part_n;
};

/* Writes the header to fd, which it takes over. wall_s: seconds since 1970. */
void ib_cast_begin(struct ib_cast *c, int fd, struct winsize size, int64_t wall_s);
/* One event with these bytes; what is no UTF-8 becomes U+FFFD. At most 64 KiB in one call. */
void ib_cast_output(struct ib_cast *c, const char *data, size_t n);
/* An event when the size is another one. */
void ib_cast_resize(struct ib_cast *c, struct winsize size);
/* Writes what was kept back, and closes. */
void ib_cast_end(struct ib_cast *c);

#endif
