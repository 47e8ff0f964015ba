/* SPDX-License-Identifier: Apache-2.0 */
/* What a check looks at and what a number means, in words: the texts are those of the checks and formulas themselves. */
#ifndef IB_VERIFY_EXPLAIN_H
#define IB_VERIFY_EXPLAIN_H

#include "base/buf.h"

/* Explains a check ("A15"), a formula by its name ("tpot_excl_first"), or all formulas of a metric ("tpot"), in any case of letters. IB_E_USAGE: there is
 * none of that name; the message names the nearest. */
IB_MUST int ib_explain(const char *name, struct ib_buf *b, struct ib_err *err);
/* One paragraph for each client whose results can be read, with its schemas. */
void ib_explain_clients(struct ib_buf *b);

#endif
