/* SPDX-License-Identifier: Apache-2.0 */
/* The names under which a serving engine counts what it does: for evidence of a cache condition, for samples of its load, for the audit. One const struct an
 * engine, in its own file; nowhere else do these names stand. */
#ifndef IB_MODEL_ENGINE_H
#define IB_MODEL_ENGINE_H

#include "model/contract.h"

#include <stdbool.h>
#include <stddef.h>

#define IB_ENGINE_NAMES 8
#define IB_ENGINE_STARTED "process_start_time_seconds" /* of every server whose client library for metrics has it */

struct ib_engine {
	const char *name; /* as in contracts */
	/* Counters whose sum is the prompt tokens looked up, those found in the cache, the output tokens. */
	const char *queries[IB_ENGINE_NAMES], *hits[IB_ENGINE_NAMES], *output_tokens[IB_ENGINE_NAMES];
	/* Gauges whose sum is the requests under way; busy_apart: the first is of those that run, the second of those that wait. */
	const char *busy[IB_ENGINE_NAMES];
	bool busy_apart;
	/* Or NULL. Prompt tokens (of an engine that counts those from its cache apart: the others), requests put off, the share of the cache in use (0 to 1). */
	const char *prompt_tokens, *preemptions, *kv_cache_use;
	/* Counters kept in the record besides, where the server has them. */
	const char *also[IB_ENGINE_NAMES];
	/* Kept in the record besides; a counter of which each value of the label by is kept on its own, or NULL. */
	const char *by_counter, *by_label;
	/* A counter of hits that is absent is 0 where this counter is there: the two are made together, and a counter with labels is on no page before its
	 * first count. NULL: an absent counter says nothing. */
	const char *hits_with;
};

extern const struct ib_engine ib_engine_vllm, ib_engine_sglang, ib_engine_llamacpp;

/* The engine number i (0, 1 ...), or NULL: there are no more. Each has a name; its counters begin with that and a colon. */
const struct ib_engine *ib_engine_at(size_t i);
/* The engine of the evidence: a copy of the one of that name, or what its counters say (custom; strings of the contract). False: unknown. */
bool ib_engine_of(const struct ib_contract_evidence *evidence, struct ib_engine *ret);

#endif
