/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the typed form key by key: what is read after a first error is nothing, so that a list of keys needs no test a line. */
#ifndef IB_MODEL_CONTRACT_IN_H
#define IB_MODEL_CONTRACT_IN_H

#include "model/contract.h"

#define IB_IN_COUNT_MAX 1000000000000LL

/* Remembers the first error in r. */
struct ib_in {
	const json_t *o;
	const char *where;
	struct ib_err *err;
	int r;
};

const char *ib_in_text(struct ib_in *in, const char *key, bool required);
const char *ib_in_name(struct ib_in *in, const char *key, bool required);
int64_t ib_in_number(struct ib_in *in, const char *key, int64_t min, int64_t max, int64_t fallback);
/* NAN where it is null or absent. */
double ib_in_real(struct ib_in *in, const char *key);
bool ib_in_truth(struct ib_in *in, const char *key);
/* fallback where the key is absent: forms written before there was such a key. */
bool ib_in_truth_opt(struct ib_in *in, const char *key, bool fallback);
enum ib_condition ib_in_condition(struct ib_in *in, const char *key);
/* An object below the current one; o is NULL where it is null. */
struct ib_in ib_in_inner(struct ib_in *in, const char *key);
const json_t *ib_in_array(struct ib_in *in, const char *key);
/* An array of objects; NULL where it is null, absent or empty. */
const json_t *ib_in_objects(struct ib_in *in, const char *key);
/* An array of strings, not empty; NULL where it is null, absent or empty. */
const json_t *ib_in_strings(struct ib_in *in, const char *key);
/* An array of strings, not empty. */
const json_t *ib_in_command(struct ib_in *in, const char *key, bool required);
/* An object of strings (or of arrays of strings). */
const json_t *ib_in_object_of(struct ib_in *in, const char *key, bool arrays);

/* contract_read_group.c: one group. */
IB_MUST int ib_contract_read_group(struct ib_in *in, struct ib_contract_group *ret);

#endif
