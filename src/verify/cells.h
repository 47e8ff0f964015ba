/* SPDX-License-Identifier: Apache-2.0 */
/* One row per cell for the verdict screen: repeats stand beside each other as a range, nothing is pooled. */
#ifndef IB_VERIFY_CELLS_H
#define IB_VERIFY_CELLS_H

#include "verify/study.h"

struct ib_range {
	double min, max;
	size_t n; /* 0: no repeat has a value */
};

struct ib_cell {
	const char *group, *cell; /* may be NULL */
	size_t runs;              /* started, whatever became of them */
	size_t measured;          /* with a client's result */
	int64_t succeeded, attempted; /* sums over the results that say both; attempted 0: none does */
	struct ib_range p50_s, p95_s, rate_hz;
	size_t confirmed, contradicted, unconfirmed;
	const char *condition; /* of the first record; NULL: none */
	bool mixed;            /* conditions differ */
};

/* In the order of their first run; *ret is allocated, free() it. */
size_t ib_study_cells(const struct ib_study_view *v, struct ib_cell **ret);

#endif
