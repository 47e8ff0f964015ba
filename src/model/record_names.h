/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the record's enumerations, in the order of the enumerations; each list ends with NULL. */
#ifndef IB_MODEL_RECORD_NAMES_H
#define IB_MODEL_RECORD_NAMES_H

#include <stdbool.h>

static const char *const ib_workload_names[] __attribute__((unused)) = {"ok", "mismatch", "missing", NULL};
static const char *const ib_readiness_names[] __attribute__((unused)) = {"not_asked", "ready", "not_ready", NULL};
static const char *const ib_evidence_names[] __attribute__((unused)) = {"unconfirmed", "confirmed", "contradicted", NULL};
static const char *const ib_expectation_names[] __attribute__((unused)) = {"unknown", "met", "unmet", NULL};
static const char *const ib_condition_names[] __attribute__((unused)) = {"unspecified", "cold", "reset", "warm", "reuse", NULL};
/* The section's key, and whether it is an array (an object otherwise). */
static const struct {
	const char *key;
	bool list;
} ib_section_names[] __attribute__((unused)) = {
	{"sampler", false}, {"load", false},         {"server_identity", false}, {"server_logs", true}, {"nodes", true},
	{"output_check", false}, {"resources", false}, {"isolation", false},       {"residency", true},
};

#endif
