/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the reader of vllm bench serve, for itself only. */
#ifndef IB_CLIENTS_VLLM_H
#define IB_CLIENTS_VLLM_H

#include "clients/result.h"
#include "json/stream.h"

/* --- vllm_read.c --- */
struct ib_vllm_object {
	json_t *scalars;           /* its members that are no arrays or objects; of those that tell the schema, a null */
	struct ib_columns columns; /* without outcomes */
	bool *errors;              /* does row i have an error text? NULL: the file does not say */
};
/* Reads the object that comes next in s, which must hash. IB_E_SYNTAX: arrays of different lengths, values of wrong types. */
IB_MUST int ib_vllm_read(struct ib_stream *s, struct ib_vllm_object *ret, struct ib_err *err);
void ib_vllm_object_clear(struct ib_vllm_object *o);
#define ib_auto_vllm __attribute__((cleanup(ib_vllm_object_clear)))

/* --- vllm_claims.c --- */

/* Adds every number of o that has a formula to r's claims, beside what r's columns give. IB_E_LIMIT: more than any client writes. */
IB_MUST int ib_vllm_claims(json_t *o, struct ib_result *r, struct ib_err *err);

#endif
