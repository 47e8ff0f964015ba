/* SPDX-License-Identifier: Apache-2.0 */
/* From findings to verdicts and exit status. */
#ifndef IB_VERIFY_SETTLE_H
#define IB_VERIFY_SETTLE_H

#include "verify/verify.h"

/* Counts files and bytes of a directory's view. */
void ib_verdict_size(struct ib_verdict *v);
/* Adds the finding that trust was given for something that carries no signature. */
void ib_trust_does_not_apply(struct ib_verdict *v, const struct ib_verify_opts *opts);
/* Lowers intact and consistent (set to yes before by whoever looked at everything) by the failing E findings, and sets exit. */
void ib_verdict_settle(struct ib_verdict *v, const struct ib_verify_opts *opts);

#endif
