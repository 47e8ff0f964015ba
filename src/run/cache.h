/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence for a cache condition: server counters before and after the measured command, and what follows from them. */
#ifndef IB_RUN_CACHE_H
#define IB_RUN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/contract.h"
#include "model/record.h"

/* Judges a run by the rules of man/ib-contract.5 (Cache conditions). before and after are the pages of all endpoints, one behind the other, in Prometheus'
 * text form, or NULL where one of them could not be read (or there are no endpoints); input_tokens is what the client reports, or IB_NONE. The record's
 * sections server_identity and residency must be there, and record->cache.own_*. Fills record->cache (its condition stays) and record->server_output_tokens. */
void ib_cache_judge(const struct ib_contract_evidence *evidence, enum ib_condition condition, const char *before, const char *after, int64_t input_tokens,
		    struct ib_record *record);

/* Requests under way on the server, by its gauges; IB_NONE when it has none. */
int64_t ib_cache_busy(const struct ib_contract_evidence *evidence, const char *metrics);

#endif
