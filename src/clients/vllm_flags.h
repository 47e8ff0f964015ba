/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of vLLM's benchmark programs. */
#ifndef IB_CLIENTS_VLLM_FLAGS_H
#define IB_CLIENTS_VLLM_FLAGS_H

#include "clients/client.h"

extern const char *const ib_vllm_serve_command[], *const ib_vllm_latency_command[], *const ib_vllm_throughput_command[];
extern const struct ib_client_flag ib_vllm_serve_flags[], ib_vllm_latency_flags[], ib_vllm_throughput_flags[];
/* Random prompts ask for the length given, unless it varies. */
bool ib_vllm_fixed_output(const struct ib_settings *s);

#endif
