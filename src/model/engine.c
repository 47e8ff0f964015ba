/* SPDX-License-Identifier: Apache-2.0 */
/* Engines by name, and the one whose names a contract gives. */
#include "model/engine.h"

#include <string.h>

#include "base/auto.h"

static const struct ib_engine *const engines[] = {&ib_engine_vllm, &ib_engine_sglang, &ib_engine_llamacpp};

const struct ib_engine *ib_engine_at(size_t i)
{
	return i < IB_LEN(engines) ? engines[i] : NULL;
}

static void take(const json_t *counters, const char *key, const char *ret[IB_ENGINE_NAMES])
{
	const json_t *names = json_object_get(counters, key);

	for (size_t i = 0; i < json_array_size(names) && i < IB_ENGINE_NAMES; i++)
		ret[i] = json_string_value(json_array_get(names, i));
}

bool ib_engine_of(const struct ib_contract_evidence *evidence, struct ib_engine *ret)
{
	*ret = (struct ib_engine){0};
	for (size_t i = 0; evidence->engine && i < IB_LEN(engines); i++)
		if (strcmp(engines[i]->name, evidence->engine) == 0) {
			*ret = *engines[i];
			return true;
		}
	if (!evidence->engine || strcmp(evidence->engine, "custom") != 0)
		return false;
	ret->name = "custom";
	take(evidence->counters, "queries", ret->queries);
	take(evidence->counters, "hits", ret->hits);
	take(evidence->counters, "output_tokens", ret->output_tokens);
	take(evidence->counters, "busy", ret->busy);
	return ret->queries[0] && ret->hits[0];
}
