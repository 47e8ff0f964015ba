/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture and an endpoint's own pages say of machine, software, source and model, as short texts that can be compared. */
#ifndef IB_VERIFY_FACTS_H
#define IB_VERIFY_FACTS_H

#include "base/digest.h"
#include "json/json.h"

enum ib_fact_key {
	IB_FACT_NODE, /* keyed labels: equal means the same */
	IB_FACT_BOOT,
	IB_FACT_OS,
	IB_FACT_KERNEL,
	IB_FACT_CLOCKSOURCE,
	IB_FACT_CPU, /* "2 x Intel(R) Xeon(R) Processor" */
	IB_FACT_CORES,
	IB_FACT_NUMA, /* number of nodes */
	IB_FACT_MEMORY_BYTES,
	IB_FACT_GPU, /* "1 x NVIDIA H200"; "none": looked for and not there */
	IB_FACT_GPU_UUIDS,
	IB_FACT_GPU_DRIVER,
	IB_FACT_CUDA,
	IB_FACT_GIT_COMMIT,
	IB_FACT_GIT_STATE, /* "clean", "dirty", "dirty, not digested"; "none": no repository; else why git could not be read */
	IB_FACT_GIT_DIRTY_SHA256,
	IB_FACT_GIT_SUBMODULES, /* those that are not at their commit */
	/* what moves from moment to moment */
	IB_FACT_LOAD,
	IB_FACT_FREQUENCY_HZ, /* "min..max" */
	IB_FACT_CORE_THROTTLES,
	IB_FACT_PACKAGE_THROTTLES,
	IB_FACT_SWAP_FREE_BYTES,
	IB_FACT_CPU_PRESSURE_US,
	/* what the endpoint says of itself */
	IB_FACT_SERVER_VERSION,
	IB_FACT_SERVED_MODEL,
	IB_FACT_CONTEXT_LENGTH,
	IB_FACT_KEYS,
};

/* NULL: not said. */
struct ib_facts {
	char *v[IB_FACT_KEYS];
};

const char *ib_fact_key_name(enum ib_fact_key k); /* "gpu_driver" */
/* Fills gaps of f from a capture (urn:ibtools:capture:v1), from /version and /v1/models. What has another shape is passed over. */
void ib_facts_of_capture(const json_t *capture, struct ib_facts *f);
void ib_facts_of_endpoint(const json_t *page, struct ib_facts *f);
void ib_facts_clear(struct ib_facts *f);

/* Facts of a stored capture, by its digest. */
struct ib_capture_facts {
	char sha256[IB_HEX_LEN];
	struct ib_facts facts;
};

#endif
