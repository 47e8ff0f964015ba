/* SPDX-License-Identifier: Apache-2.0 */
/* Where a plan stands, as one line for a terminal. */
#ifndef IB_RUN_PROGRESS_H
#define IB_RUN_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define IB_PROGRESS_MAX 256 /* room for any line */

struct ib_progress {
	size_t at, total;     /* this slot, from 1, of all */
	size_t left;          /* runs that are still to be made, with this one */
	int64_t *took_ns;     /* how long the finished runs of this plan took, ascending */
	size_t took_n;
};

/* A run has taken so long. */
void ib_progress_took(struct ib_progress *p, int64_t ns);
/* How long what is left takes, by the median of the finished runs, when the present one has taken elapsed_ns; IB_NONE: nobody knows. */
int64_t ib_progress_left_ns(const struct ib_progress *p, int64_t elapsed_ns);
/* "[3/30] short.cap-4 r02  1:23 elapsed, end in about 12:05", at most columns wide. */
void ib_progress_text(const struct ib_progress *p, const char *group, const char *cell, int repeat, int64_t elapsed_ns, int columns, char ret[IB_PROGRESS_MAX]);
void ib_progress_clear(struct ib_progress *p);

#endif
