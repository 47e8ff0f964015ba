/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: what a check says. One list feeds screen, JSON, tally and exit status. */
#ifndef IB_MODEL_FINDING_H
#define IB_MODEL_FINDING_H

#include <stddef.h>

#include "base/err.h"
#include "json/json.h"

enum ib_level_of { IB_FINDING_E, IB_FINDING_W, IB_FINDING_I };
enum ib_status { IB_NOT_CHECKABLE, IB_PASS, IB_FAIL }; /* zero is "not checkable": a check that did not run passes nothing */

struct ib_finding {
	char *id; /* an error class ("E_HASH") or a check ("A07") */
	enum ib_level_of level;
	enum ib_status status;
	enum ib_code code; /* the class of a failing packet or study check, else 0 */
	char *file, *where, *expected, *found; /* each may be NULL */
	char *message;                         /* one plain sentence */
};

struct ib_findings {
	struct ib_finding *v;
	size_t n;
	/* private */
	size_t kept[2], marker[2]; /* E findings, others: how many are kept; where the one stands that says that more were dropped, plus 1 */
};

/* Appends a finding and returns it so that file, where, expected, found can be set (with ib_strdup); message by format. The pointer is valid until the
 * next addition. At most 10,000 E findings and 10,000 others are kept; of each sort, later ones share one that fails and says so. */
struct ib_finding *ib_findings_add(struct ib_findings *f, const char *id, enum ib_level_of level, enum ib_status status, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* A failing E finding for an error: id is the code's name, file err->where, message err->text. */
void ib_findings_add_err(struct ib_findings *f, const struct ib_err *err);
size_t ib_findings_count(const struct ib_findings *f, enum ib_level_of level, enum ib_status status);
/* The array "findings" and the object "tally" of the findings document. New references. */
json_t *ib_findings_json(const struct ib_findings *f);
json_t *ib_findings_tally(const struct ib_findings *f);
void ib_findings_clear(struct ib_findings *f);

#endif
