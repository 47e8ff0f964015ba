/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads of clients that keep no prompts: recorded from what they send to a loopback endpoint. */
#ifndef IB_RUN_RECORDING_H
#define IB_RUN_RECORDING_H

#include "run/plan_inside.h"

#define IB_RECORDING_SCHEMA "urn:ibtools:recorded-workload:v1"

/* For each cell (and repeat, where its command depends on that) of the selected slots whose workload has "record": runs its command against a loopback
 * endpoint and keeps workload/recorded/<group>.<cell>[.rNN].jsonl, entered into the ledger. One that is there already is compared: the same requests, in
 * whatever order, are none the second time; others are kept beside it and told. *ret_exit: 0 all recorded, 1 some not, or not as before. */
IB_MUST int ib_recording(struct ib_plan *plan, bool bodies, int *ret_exit, struct ib_err *err);

/* What a recorder wrote: one digest for each request, in order of arrival. */
struct ib_recorded {
	struct ib_buf lines;       /* of the requests */
	char (*sha256)[IB_HEX_LEN];
	size_t n, prompts, unique, unique_prompts;
	char set_sha256[IB_HEX_LEN]; /* of the sorted digests, a line each: the same whatever the order */
};

/* Reads n bytes of record.jsonl, or of a kept recording (whose first line is passed over). IB_E_TRUNC: its end is missing; IB_E_SYNTAX. */
IB_MUST int ib_recorded_read(const char *data, size_t n, bool kept, struct ib_recorded *ret, struct ib_err *err);
void ib_recorded_clear(struct ib_recorded *r);
#define ib_auto_recorded __attribute__((cleanup(ib_recorded_clear)))
/* Requests of b that a does not have (each counted once for each time); *ret_first: the place in b of the first. */
size_t ib_recorded_differ(const struct ib_recorded *a, const struct ib_recorded *b, size_t *ret_first);

#endif
