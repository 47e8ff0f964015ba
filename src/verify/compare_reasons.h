/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of compare.h only. */
#ifndef IB_VERIFY_COMPARE_REASONS_H
#define IB_VERIFY_COMPARE_REASONS_H

#include "verify/compare.h"

/* Why a and b cannot be taken together or held against each other, but for what the group of b means to vary when across is true. */
unsigned ib_compare_reasons(const struct ib_audit_view *v, const struct ib_member *a, const struct ib_member *b, bool across);

/* Did the run not go to its end, or was it excluded? It is taken together with nothing. Of a folder's run: no. */
bool ib_compare_aside(const struct ib_audit_run *run);

#endif
