/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of other machines that take part, each through the site's own launcher. */
#ifndef IB_RUN_NODES_H
#define IB_RUN_NODES_H

#include "json/json.h"
#include "run/run.h"

/* Captures each node of a contract's list (NULL: none) into the study, many at a time, each within its own time limit. A node that fails is an
 * entry with its reason and a warning, never an error. *ret: array of {name, status, why, node, capture}, a new reference; NULL without nodes. */
void ib_nodes_capture(const struct ib_ctx *ctx, struct ib_study *study, struct ib_signals *signals, const json_t *nodes, json_t **ret);

/* Puts what ib_nodes_capture() gave into a run's record, with a note for each node that has no capture; its digests go into the finish entry. */
void ib_nodes_note(struct ib_run *run, const json_t *captured);

#endif
