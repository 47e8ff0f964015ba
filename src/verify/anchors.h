/* SPDX-License-Identifier: Apache-2.0 */
/* What the reviewer trusts, option by option: each must apply to a signature at hand, or the verdict says that it does not. */
#ifndef IB_VERIFY_ANCHORS_H
#define IB_VERIFY_ANCHORS_H

#include "sign/trust.h"
#include "verify/verify.h"

struct ib_anchors {
	struct ib_trust all;
	struct ib_trust *each; /* one for each option … */
	char **names;          /* … as the user gave it */
	size_t n;
};

/* Reads opts->trust ("-": standard input, once) and opts->fingerprints; dates are judged at opts->at_ns. IB_E_IO,
 * IB_E_USAGE, IB_E_UNSUPPORTED. Clear in any case. */
IB_MUST int ib_anchors_load(const struct ib_ctx *ctx, const struct ib_verify_opts *opts, struct ib_anchors *ret, struct ib_err *err);
void ib_anchors_clear(struct ib_anchors *a);
#define ib_auto_anchors __attribute__((cleanup(ib_anchors_clear)))

#endif
