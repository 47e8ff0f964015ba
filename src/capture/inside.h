/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of this module that its own files share. */
#ifndef IB_CAPTURE_INSIDE_H
#define IB_CAPTURE_INSIDE_H

#include "collectors/collector.h"

#define IB_REPLAY_SCHEMA "urn:ibtools:replay:v1"

/* node.c: the replay document of a tree that the agentless recorder made, or NULL when it is none. */
IB_MUST int ib_node_load(struct ib_ctx *ctx, json_t **ret, struct ib_err *err);

#endif
