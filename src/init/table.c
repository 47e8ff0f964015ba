/* SPDX-License-Identifier: Apache-2.0 */
/* The clients and servers that a contract can be begun for. */
#include "init/table.h"

#include <stddef.h>
#include <string.h>

const struct ib_init_client *const ib_init_clients[] = {
	&ib_init_vllm, &ib_init_guidellm, &ib_init_aiperf, &ib_init_sglang, &ib_init_inference_perf, &ib_init_llama_bench, &ib_init_command, NULL,
};

const struct ib_init_server ib_init_servers[] = {
	{.name = "vllm",
	 .engine = "vllm",
	 .evidence = "vllm",
	 .endpoint = "http://127.0.0.1:8000",
	 .reset_path = "/reset_prefix_cache",
	 .reset_why = "there only where the server was started with VLLM_SERVER_DEV_MODE=1, which opens other routes too: loopback only",
	 .backend = "vllm"},
	{.name = "sglang",
	 .engine = "sglang",
	 .evidence = "sglang",
	 .endpoint = "http://127.0.0.1:30000",
	 .reset_path = "/flush_cache",
	 .reset_why = "fails while requests run; the server needs --enable-metrics for the counters below",
	 .backend = "sglang"},
	{.name = "llamacpp",
	 .engine = "llama.cpp",
	 .evidence = "llamacpp",
	 .endpoint = "http://127.0.0.1:8080",
	 .reset_restarts = true,
	 .reset_why = "EDIT: a script that restarts the server and ends once it is up; erasing slots leaves the host's prompt cache. It needs --metrics",
	 .backend = "sglang-oai"},
	{.name = "other",
	 .endpoint = "http://127.0.0.1:8000",
	 .reset_why = "EDIT: a script that empties the prefix cache, for example by a restart",
	 .backend = "sglang-oai"},
	{0},
};

const struct ib_init_client *ib_init_client_find(const char *name)
{
	for (size_t i = 0; ib_init_clients[i]; i++)
		if (strcmp(ib_init_clients[i]->name, name) == 0)
			return ib_init_clients[i];
	return NULL;
}

const struct ib_init_server *ib_init_server_find(const char *name)
{
	for (const struct ib_init_server *s = ib_init_servers; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
