/* SPDX-License-Identifier: Apache-2.0 */
/* What was wanted and what is there: every metric and every planned cell of the contract. */
#ifndef IB_VERIFY_COVERAGE_H
#define IB_VERIFY_COVERAGE_H

#include "verify/audit.h"

enum ib_covered { IB_COVERED_MISSING, IB_COVERED_CLAIMED, IB_COVERED_DERIVED };

/* A metric that the contract wants. */
struct ib_wanted {
	const char *metric;   /* as the contract calls it */
	enum ib_covered how;  /* derived: from the records of every measured run */
	size_t derived, claimed, results; /* results from whose records it comes; that only state it; all */
	const char *formula;  /* of the first result with it, or NULL */
	bool unknown;         /* no metric of this name is known */
};

enum ib_resolution { IB_CELL_UNRUN, IB_CELL_COMPLETED, IB_CELL_PARTLY, IB_CELL_FAILED, IB_CELL_UNSUPPORTED, IB_CELL_EXCLUDED };

/* A planned cell: what became of it. */
struct ib_planned {
	const char *group, *cell;
	size_t planned, completed, failed, excluded; /* runs */
	enum ib_resolution how;
	const char *run; /* that shows it: the last failed, unsupported or excluded one; or NULL */
	const char *why; /* the reason given in the ledger, or NULL */
};

struct ib_coverage {
	struct ib_wanted *metrics;
	size_t n_metrics;
	struct ib_planned *cells;
	size_t n_cells;
};

void ib_coverage(const struct ib_audit_view *v, struct ib_coverage *ret);
void ib_coverage_clear(struct ib_coverage *c);
#define ib_auto_coverage __attribute__((cleanup(ib_coverage_clear)))
const char *ib_covered_name(enum ib_covered c);       /* "derived", "claimed", "missing" */
const char *ib_resolution_name(enum ib_resolution r); /* "completed", "partly", "failed", "unsupported", "excluded", "unrun" */
/* Members "coverage" and "planned" of the findings document. New references; NULL without a contract. */
json_t *ib_coverage_json(const struct ib_audit_view *v, const struct ib_coverage *c);
json_t *ib_planned_json(const struct ib_audit_view *v, const struct ib_coverage *c);

#endif
