/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of clients and servers: one const struct each, one file a client. */
#ifndef IB_INIT_TABLE_H
#define IB_INIT_TABLE_H

#include <stdbool.h>

/* Some words of a command and why they are there. Words are separated by one space, and written as a contract takes them ("{{" for a brace); @name@
 * stands for: endpoint, model, tokenizer, input, output, prompts, seed, cap, backend, out (the directory of results). */
struct ib_init_row {
	const char *words;
	const char *why;  /* comment, or NULL */
	bool result_only; /* not in a warm-up, whose results nobody wants */
};

struct ib_init_client {
	const char *name, *title;
	const char *server;                /* name of the server that it goes with */
	bool in_process;                   /* there is no server: the client runs the model itself */
	const char *const *about;          /* lines of comment, ends with NULL */
	const struct ib_init_row *command; /* ends with words NULL; NULL: the user's own words */
	const char *convert;               /* words, or NULL */
	const char *grace;                 /* what it takes to end, or NULL */
	const char *const *limits;         /* limitations, ends with NULL */
};

struct ib_init_server {
	const char *name, *engine; /* engine: as serving.engine has it; NULL: not known */
	const char *evidence;      /* cache.evidence.engine, or NULL: its counters are not known */
	const char *endpoint;      /* where it listens unless told */
	const char *reset_path;    /* POST empties the prefix cache; NULL: a command does */
	bool reset_restarts;       /* that command makes a new process */
	const char *reset_why;
	const char *backend;       /* what SGLang's client calls it */
};

extern const struct ib_init_client ib_init_vllm, ib_init_guidellm, ib_init_aiperf, ib_init_sglang, ib_init_inference_perf, ib_init_llama_bench, ib_init_command;
extern const struct ib_init_client *const ib_init_clients[]; /* ends with NULL */
extern const struct ib_init_server ib_init_servers[];        /* ends with name NULL */

/* NULL: there is none of that name. */
const struct ib_init_client *ib_init_client_find(const char *name);
const struct ib_init_server *ib_init_server_find(const char *name);

#endif
