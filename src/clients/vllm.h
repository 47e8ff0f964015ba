/* SPDX-License-Identifier: Apache-2.0 */
/* The claims of vllm bench serve (vllm_claims.c), for its reader only. */
#ifndef IB_CLIENTS_VLLM_H
#define IB_CLIENTS_VLLM_H

#include "clients/result.h"

/* Adds every number of o that has a formula to r's claims, beside what r's columns give. IB_E_LIMIT: more than any client writes. */
IB_MUST int ib_vllm_claims(json_t *o, struct ib_result *r, struct ib_err *err);

#endif
