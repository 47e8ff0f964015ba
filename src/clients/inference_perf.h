/* SPDX-License-Identifier: Apache-2.0 */
/* Within the reader of inference-perf's reports: summaries, records, configuration. */
#ifndef IB_CLIENTS_INFERENCE_PERF_H
#define IB_CLIENTS_INFERENCE_PERF_H

#include "clients/client.h"
#include "clients/head.h"

/* The per-request file: an array of records. */
bool ib_inference_perf_is_records(const struct ib_head *h);
int ib_inference_perf_records(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err);
/* config.yaml: what was asked for. Nothing else is taken from it: it holds keys to the server. */
bool ib_inference_perf_is_config(const struct ib_head *h);
int ib_inference_perf_config(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err);
bool ib_inference_perf_fixed_output(const struct ib_settings *s);

/* The summary's number of requests that the server and the client count differently. */
#define IB_INFERENCE_PERF_MISMATCHES "token_count_mismatches"

/* Which rows a stage covers, and whose token counts a report rests on. */
void ib_inference_perf_view(const struct ib_results *all, const struct ib_result *summary, const struct ib_result *records, struct ib_view *view);

/* Schema ids. */
enum { IB_INFERENCE_PERF_SUMMARY, IB_INFERENCE_PERF_STAGE, IB_INFERENCE_PERF_OLDER, IB_INFERENCE_PERF_RECORDS, IB_INFERENCE_PERF_CONFIG };
extern const char *const ib_inference_perf_schemas[];

#endif
