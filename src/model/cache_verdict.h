/* SPDX-License-Identifier: Apache-2.0 */
/* What a record's own numbers say of its cache condition, by the rules of man/ib-contract.5 (Cache conditions). ib-run writes the verdict, ib-verify
 * draws it again. */
#ifndef IB_MODEL_CACHE_VERDICT_H
#define IB_MODEL_CACHE_VERDICT_H

#include "model/contract.h"
#include "model/record.h"

/* From cache.counters, cache.expected_queries and the sections server_identity and residency; *ret_why is one sentence, allocated. What is asked for in
 * evidence and is not there is unconfirmed; one contradiction decides. */
enum ib_evidence_of ib_cache_verdict(const struct ib_contract_evidence *evidence, enum ib_condition condition, const struct ib_record *record, char **ret_why);

/* What the counters say of one sum of names: the difference; IB_NONE with *ret_why (allocated; may be NULL) where one is absent or went down. */
int64_t ib_cache_delta(const struct ib_record *record, const char *const *names, size_t n, const char *absent_is_0_with, char **ret_why);

/* The evidence of a group's cache in a contract's typed form; strings stay those of o. False: o is none. */
bool ib_cache_evidence(const json_t *o, struct ib_contract_evidence *ret);

#endif
