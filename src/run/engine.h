/* SPDX-License-Identifier: Apache-2.0 */
/* The names under which a serving engine counts what happens to its prefix cache. One const struct an engine, in its own file. */
#ifndef IB_RUN_ENGINE_H
#define IB_RUN_ENGINE_H

#define IB_ENGINE_NAMES 4

struct ib_engine {
	const char *name; /* as in contracts */
	/* Counters whose sum is the prompt tokens looked up, those found in the cache, the output tokens. */
	const char *queries[IB_ENGINE_NAMES], *hits[IB_ENGINE_NAMES], *output_tokens[IB_ENGINE_NAMES];
	/* Gauges whose sum is the requests under way. */
	const char *busy[IB_ENGINE_NAMES];
	/* Kept in the record besides; a counter of which each value of the label by is kept on its own, or NULL. */
	const char *by_counter, *by_label;
};

extern const struct ib_engine ib_engine_vllm, ib_engine_llamacpp;

/* The engine called name, or NULL. */
const struct ib_engine *ib_engine_find(const char *name);

#endif
