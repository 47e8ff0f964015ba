/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the verdict screen only. */
#ifndef IB_VERIFY_SCREEN_H
#define IB_VERIFY_SCREEN_H

#include "verify/compare.h"
#include "verify/coverage.h"
#include "verify/verify.h"

struct screen {
	const struct ib_verdict *v;
	const struct ib_verify_opts *opts;
	bool color;
	bool loose;   /* a folder or a file: nothing vouches for its bytes */
	bool numbers; /* may be shown: the bytes are intact, or there is nobody who could say so */
	struct ib_comparisons compared;
	struct ib_coverage coverage;
	struct ib_buf *b;
};

size_t ib_screen_count(const struct ib_verdict *v, enum ib_level_of level, enum ib_status status);
bool ib_screen_holds(const struct ib_verdict *v); /* intact and consistent */
/* screen_rows.c: one row per cell or result; what is apart or not separable; what was wanted and is not there. */
#define IB_SCREEN_LINES 25
void ib_screen_cells(const struct screen *s, size_t others); /* others: lines that the rest of the screen takes */
void ib_screen_compared(const struct screen *s);
void ib_screen_coverage(const struct screen *s);
/* screen_findings.c */
void ib_screen_findings(const struct screen *s, const char *label, enum ib_level_of level, enum ib_status status, size_t max);
/* One line for each check that warns: its first warning, and how many more. */
void ib_screen_warnings(const struct screen *s, size_t max);
void ib_screen_not_checkable(const struct screen *s);
/* screen_next.c: the command that comes next, and what to ask the author for */
void ib_screen_next(const struct screen *s);

#endif
