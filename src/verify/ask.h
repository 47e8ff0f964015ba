/* SPDX-License-Identifier: Apache-2.0 */
/* What to ask the author of loose files for, so that what they measured can be established. */
#ifndef IB_VERIFY_ASK_H
#define IB_VERIFY_ASK_H

#include "model/finding.h"

/* Requests in plain words, the most telling first, for what the findings could not check; static text, at most n of them into ret. Returns how many. */
size_t ib_ask(const struct ib_findings *f, const char **ret, size_t n);

#endif
