/* SPDX-License-Identifier: Apache-2.0 */
/* What a record's section "load" says: how busy client and machine were while the command ran, and what energy counters moved by. */
#ifndef IB_VERIFY_LOAD_H
#define IB_VERIFY_LOAD_H

#include "metrics/formula.h"
#include "verify/audit.h"

struct ib_load_facts {
	bool known;         /* the section is there and has the shape that it must have */
	int saturated;      /* was the client? 1, 0, or another value: not known */
	double share;       /* of the samples in which it was; NAN */
	double thread_max;  /* cores that its busiest thread used; NAN */
	double cpus, outside_mean, steal_mean; /* processors; NAN */
	const char *busiest; /* outside the run, or NULL */
	int64_t throttles, gpu_reasons;        /* 0: none seen, or not known */
};
void ib_load_facts(const struct ib_record *r, struct ib_load_facts *ret);

/* The energy counter that covers most of what served the run's requests: of its GPUs, else of the processor packages. False, with the reason (static text):
 * there is none, or it is of another machine than the server's, or it did not cover the run. */
bool ib_load_energy(const struct ib_record *r, struct ib_energy *ret, const char **ret_why);
/* Energy per output token of a result of that run. */
struct ib_stat ib_load_energy_per_token(const struct ib_audit_run *run, const struct ib_result *res);

#endif
