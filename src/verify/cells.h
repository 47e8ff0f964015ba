/* SPDX-License-Identifier: Apache-2.0 */
/* One row per cell of a study, per result of a folder: its repeats beside each other, nothing pooled. */
#ifndef IB_VERIFY_CELLS_H
#define IB_VERIFY_CELLS_H

#include "verify/audit.h"
#include "verify/spread.h"

struct ib_cell {
	const char *group, *cell; /* of a study; may be NULL */
	const struct ib_audit_run *run; /* of a folder */
	const char *label;        /* part of a sweep within one result, or NULL */
	const struct ib_result *res; /* of a folder: the result */
	const struct ib_entry *contract; /* in force when its runs began: runs from before and after an amendment are never one cell; NULL: none */
	bool amended;             /* another contract is in force since */
	bool diagnostic;          /* of a diagnostic group: no headline */
	size_t runs;              /* started, whatever became of them */
	size_t excluded;          /* of these; in no number below */
	size_t measured;          /* results */
	int64_t succeeded, attempted; /* sums over the results that say both; attempted 0: none does */
	double got, asked;        /* output tokens, of the succeeded; asked NaN: not said by all of them */
	const struct ib_formula *ttft; /* of all its results; NULL: none, or of different formulas */
	bool formulas_differ;
	struct ib_range p50_s, p95_s, rate_hz;
	struct ib_range interval_s; /* from the lowest to the highest bound of the repeats' p50 */
	struct ib_range cap, peak;  /* concurrency asked for, and reached */
	size_t confirmed, contradicted, unconfirmed;
	const char *condition; /* of the first record; NULL: none */
	bool mixed;            /* conditions differ */
	double hit_share;      /* of a folder's result: by its pages of metrics; NaN: not known */
};

/* What a folder calls a result: the run's directory, or the file where it stands in the folder itself or beside others, with its number there. Allocated. */
char *ib_loose_name(const struct ib_audit_run *run, const struct ib_result *res);
/* In the order of their first run, those of diagnostic groups last; *ret is allocated, free() it. */
size_t ib_audit_cells(const struct ib_audit_view *v, struct ib_cell **ret);

#endif
