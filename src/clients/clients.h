/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of the table in client.c, and what their readers share. */
#ifndef IB_CLIENTS_CLIENTS_H
#define IB_CLIENTS_CLIENTS_H

#include "clients/client.h"

extern const struct ib_client ib_client_aiperf, ib_client_guidellm;
extern const struct ib_client ib_client_requests, ib_client_vllm_bench;
extern const struct ib_client ib_client_inferencebench, ib_client_hyperfine, ib_client_pyperf, ib_client_llama_bench, ib_client_vllm_latency,
	ib_client_vllm_throughput, ib_client_mlperf;

extern const struct ib_client ib_client_sglang, ib_client_inference_perf, ib_client_genai_bench, ib_client_llmperf, ib_client_llmd, ib_client_genai_perf;

#define IB_SLURP_MAX (16u << 20)
/* Reads everything into b (within b->max, else IB_E_LIMIT): for readers of small files that need all bytes at once. */
IB_MUST int ib_client_slurp(const struct ib_source *in, const char *name, struct ib_buf *b, struct ib_err *err);

/* Reads the one object that the file holds (json/pick.h), to the end of the file. */
struct ib_stream;
struct ib_pick;
IB_MUST int ib_client_one_object(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err);

/* A source whose beginning was looked at: gives head, then the rest. */
struct ib_peeked {
	struct ib_source_mem head; /* IB_HEAD_MAX bytes at most, owned by the caller */
	const struct ib_source *rest;
};
/* Fills data, of n bytes, with the beginning of in. *ret then gives everything from the start; p and data must live as long as it is used. */
IB_MUST int ib_client_peek(const struct ib_source *in, char *data, size_t n, struct ib_peeked *p, struct ib_source *ret, struct ib_err *err);

#endif
