/* SPDX-License-Identifier: Apache-2.0 */
/* Where a plan stands. */
#include "run/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/record.h"

void ib_progress_took(struct ib_progress *p, int64_t ns)
{
	size_t at = p->took_n;

	p->took_ns = ib_realloc(p->took_ns, p->took_n + 1, sizeof(*p->took_ns));
	for (; at > 0 && p->took_ns[at - 1] > ns; at--)
		p->took_ns[at] = p->took_ns[at - 1];
	p->took_ns[at] = ns;
	p->took_n++;
}

int64_t ib_progress_left_ns(const struct ib_progress *p, int64_t elapsed_ns)
{
	int64_t median, others;

	if (!p->took_n || !p->left)
		return p->left ? IB_NONE : 0;
	median = p->took_ns[(p->took_n - 1) / 2];
	others = (int64_t)p->left - 1;
	if (others && median > INT64_MAX / 2 / others)
		return IB_NONE;
	return median * others + (elapsed_ns < median ? median - elapsed_ns : 0);
}

static void clock_text(int64_t ns, char ret[32])
{
	int64_t s = ns / IB_NS;

	if (s < 3600)
		snprintf(ret, 32, "%" PRId64 ":%02" PRId64, s / 60, s % 60);
	else
		snprintf(ret, 32, "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600, s / 60 % 60, s % 60);
}

void ib_progress_text(const struct ib_progress *p, const char *group, const char *cell, int repeat, int64_t elapsed_ns, int columns, char ret[IB_PROGRESS_MAX])
{
	int64_t left = ib_progress_left_ns(p, elapsed_ns);
	char elapsed[32], end[32] = "-";

	clock_text(elapsed_ns, elapsed);
	if (left != IB_NONE)
		clock_text(left, end);
	snprintf(ret, IB_PROGRESS_MAX, "[%zu/%zu] %s%s%s r%02d  %s elapsed, %s%s", p->at, p->total, group ? group : "", cell ? "." : "", cell ? cell : "", repeat,
		 elapsed, left != IB_NONE ? "end in about " : "end ", end);
	if (columns > 0 && (size_t)columns < strlen(ret))
		ret[columns] = '\0';
}

void ib_progress_clear(struct ib_progress *p)
{
	free(p->took_ns);
	*p = (struct ib_progress){0};
}
