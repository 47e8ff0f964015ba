/* SPDX-License-Identifier: Apache-2.0 */
/* Within the reader of genai-perf's files: the summary and the profile beside it. */
#ifndef IB_CLIENTS_GENAI_PERF_H
#define IB_CLIENTS_GENAI_PERF_H

#include "clients/client.h"
#include "json/stream.h"

/* Reads the profile ("experiments", each with its requests): one result an experiment. */
int ib_genai_perf_profile(struct ib_stream *s, const char *name, struct ib_results *ret, struct ib_err *err);

extern const char *const ib_genai_perf_schemas[]; /* the summary, the profile */

#endif
