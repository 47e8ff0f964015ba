/* SPDX-License-Identifier: Apache-2.0 */
/* Documents beside the runs that the ledger holds: results of quality checks, analyses, ceilings. */
#ifndef IB_VERIFY_BESIDE_H
#define IB_VERIFY_BESIDE_H

#include "verify/study.h"

/* Is a file of that path one? */
bool ib_beside_is(const char *path);
/* A new place among them for the document of these bytes; NULL when no entry of the ledger holds it (S17 and S18 say so), or when there are too many. */
struct ib_study_doc *ib_beside_add(struct ib_study_view *v, const char *path, const char *sha256);

#endif
