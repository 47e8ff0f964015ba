/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that a client sends on its own before it measures: warm-ups, a check that the endpoint answers. Its results do not count them, the server does;
 * and those of some clients repeat the first prompt that is then measured. */
#ifndef IB_CLIENTS_WARMUPS_H
#define IB_CLIENTS_WARMUPS_H

#include "clients/client.h"

struct ib_warmups {
	int64_t requests;       /* 0: none that is known */
	int64_t tokens;         /* prompt tokens of all of them; or IB_NOT_IN_FILE */
	int64_t perhaps_tokens; /* of one more, which this client sends in some versions only; 0: none; or IB_NOT_IN_FILE */
};

/* Of the command line argv and its results. */
void ib_warmups_of(const char *const *argv, size_t n, const struct ib_results *results, struct ib_warmups *ret);

#endif
