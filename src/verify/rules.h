/* SPDX-License-Identifier: Apache-2.0 */
/* A reviewer's own levels for the audit's checks (urn:ibtools:rules:v1): what weighs more or less for his purpose. Nothing is hidden by them. */
#ifndef IB_VERIFY_RULES_H
#define IB_VERIFY_RULES_H

#include "base/digest.h"
#include "model/finding.h"

struct ib_check;

struct ib_rule_level {
	const struct ib_check *check;
	enum ib_level_of level;
};

struct ib_rules {
	char *file; /* as given; NULL: no rules */
	char sha256[IB_HEX_LEN];
	struct ib_rule_level *v;
	size_t n;
};

/* Strict: an unknown key, check or level is IB_E_USAGE and named. Only checks of the audit (A01 …) can be weighed anew: what bytes, ledger and signatures say
 * cannot. *ret needs no init; cleared on failure. */
IB_MUST int ib_rules_load(const char *path, struct ib_rules *ret, struct ib_err *err);
void ib_rules_clear(struct ib_rules *r);
#define ib_auto_rules __attribute__((cleanup(ib_rules_clear)))
/* Gives findings that pass or fail the level of their check's rule; what is not checkable stays as it is. Returns how many rules change a level. */
size_t ib_rules_apply(const struct ib_rules *r, struct ib_findings *f);
/* Member "rules" of the findings document. New reference; NULL without rules. */
json_t *ib_rules_json(const struct ib_rules *r);

#endif
