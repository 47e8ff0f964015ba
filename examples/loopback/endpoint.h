/* SPDX-License-Identifier: Apache-2.0 */
/* The loopback endpoint: an OpenAI-compatible server on 127.0.0.1 that answers with made-up words at a chosen speed. */
#ifndef IB_EXAMPLES_LOOPBACK_ENDPOINT_H
#define IB_EXAMPLES_LOOPBACK_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"

#define LB_CONNECTIONS 128         /* more are answered with 503 */
#define LB_HEAD_MAX (16u << 10)    /* bytes of request line and headers */
#define LB_BODY_MAX (4u << 20)     /* bytes of a request body */
#define LB_PROMPT_MAX (1u << 20)   /* tokens of a prompt, whatever the context length */

/* What may go wrong with a generation request. Those of a share come first; truth logs have their names. */
enum lb_fault {
	LB_FAULT_NONE,
	LB_FAULT_HTTP500,      /* status 500 */
	LB_FAULT_HTTP503,      /* status 503 without a reason phrase */
	LB_FAULT_STREAM_ERROR, /* status 200, half the tokens, then an error as an event, and the end mark */
	LB_FAULT_STREAM_CUT,   /* half the tokens, then the connection ends */
	LB_FAULT_EARLY_STOP,   /* half the tokens, then a regular end with finish_reason "stop" */
	LB_FAULT_BUNDLED,      /* several tokens a chunk */
	LB_FAULT_NO_USAGE,     /* no token counts, also where asked for */
	LB_FAULT_HANG,         /* no byte of an answer */
	LB_FAULT_LATE,         /* begins to be served only after a while */
	LB_FAULT_SLOW_START,   /* came while the endpoint pretended to start: status 503 */
	LB_FAULTS,
	LB_FAULTS_SHARED = LB_FAULT_SLOW_START,
};

#define LB_BUNDLE 4 /* tokens of a bundled chunk */

struct lb_config {
	int64_t port;              /* 0: any free one */
	int64_t block_tokens;      /* tokens of a prefix-cache block */
	int64_t cache_blocks;      /* blocks that the prefix cache holds */
	int64_t prefill_base_ns;   /* cost of a request before its first token */
	int64_t prefill_token_ns;  /* and of each prompt token that is not in the cache */
	int64_t decode_token_ns;   /* cost of each output token after the first */
	int64_t slowdown_pct;      /* how much each further running request slows the others */
	int64_t max_running;       /* requests that run at once; others wait in order of arrival */
	int64_t max_model_len;     /* prompt and output tokens together */
	int64_t seed;              /* of texts and faults */
	int64_t fault_ppm[LB_FAULTS]; /* share of generation requests, in millionths */
	int64_t late_ns;           /* delay of LB_FAULT_LATE */
	int64_t slow_listen_ns;    /* connections are refused until then after the start */
	int64_t slow_start_ns;     /* and answered with status 503 until then */
	int64_t lifetime_ns;       /* ends by itself after that; 0: never */
	const char *model;
	const char *port_file;     /* or NULL */
	const char *truth_file;    /* or NULL */
	const char *record_file;   /* or NULL */
	bool record_bodies;
	bool any_model;            /* whatever model a request names is this one */
	char version[64];
	char fingerprint[96];
};

/* --- prefix cache (endpoint_cache.c): the caller holds the server's lock --- */
struct lb_cache;
struct lb_cache *lb_cache_new(size_t blocks, size_t block_tokens);
/* Looks a prompt up block by block, then stores its full blocks. Returns how many leading tokens were there: whole blocks
 * only, and never the last token, which is always computed. */
size_t lb_cache_use(struct lb_cache *c, const uint32_t *tokens, size_t n);
void lb_cache_reset(struct lb_cache *c);
void lb_cache_free(struct lb_cache **c);

enum lb_finish { LB_STOP, LB_LENGTH, LB_ABORT, LB_ERROR, LB_REPETITION, LB_FINISHES };

struct lb_metrics {
	uint64_t prompt_tokens, generation_tokens;
	uint64_t cache_queries, cache_hits; /* tokens */
	uint64_t finished[LB_FINISHES];
	uint64_t running, waiting;
};

struct lb_server {
	struct lb_config config;
	int listen_fd;
	bool listening;
	int64_t started_wall_ns, started_ns;
	atomic_bool stopping;

	pthread_mutex_t lock; /* everything below */
	pthread_cond_t turn;  /* a slot became free, or the server stops */
	pthread_cond_t quiet; /* a connection ended */
	struct lb_cache *cache;
	struct lb_metrics metrics;
	uint64_t arrivals;            /* generation requests so far */
	uint64_t tickets, admitted;   /* order of waiting */
	int fds[LB_CONNECTIONS];      /* open connections, -1: free */
	unsigned connections;
	int truth_fd;                 /* -1: none */
	uint64_t truth_lines;
	int record_fd;                /* -1: none */
	uint64_t record_lines;
	bool record_broken;
};

/* --- one connection, one request (endpoint_http.c) --- */
struct lb_conn {
	struct lb_server *server;
	int fd;
	struct ib_buf in;  /* bytes received and not yet used */
	bool gone;         /* a send failed: the client is not there any more */
};

struct lb_request {
	char method[12];
	char path[256];    /* without the query */
	bool http10;
	bool keep_alive;
	bool wants_continue;
	int64_t body_n;    /* as announced */
	const char *body;  /* points into conn->in until the next read */
	size_t used;       /* bytes of conn->in that the request takes */
	int status;        /* of a request that cannot be served, else 0 */
	const char *why;
};

enum lb_read { LB_READ_REQUEST, LB_READ_BAD, LB_READ_END };

/* Waits for one request. LB_READ_BAD: answer with q->status and q->why, then close. LB_READ_END: close. */
enum lb_read lb_http_read(struct lb_conn *c, struct lb_request *q);
/* Drops what lb_http_read() gave. */
void lb_http_done(struct lb_conn *c, const struct lb_request *q);
void lb_http_reply(struct lb_conn *c, const struct lb_request *q, int status, const char *type, const char *body, size_t n);
void lb_http_json(struct lb_conn *c, const struct lb_request *q, int status, const json_t *j);
/* A status line without a reason phrase, and no body. */
void lb_http_bare(struct lb_conn *c, const struct lb_request *q, int status);
/* {"error":{"message","type","code"}}, as OpenAI's API words it. */
void lb_http_error(struct lb_conn *c, const struct lb_request *q, int status, const char *message);
/* A streamed body: head, pieces, end. After a failed send the rest is silent and c->gone is set. */
void lb_stream_begin(struct lb_conn *c, const struct lb_request *q);
void lb_stream_add(struct lb_conn *c, const struct lb_request *q, const char *data, size_t n);
void lb_stream_end(struct lb_conn *c, const struct lb_request *q);

/* --- routes (endpoint_routes.c): answers one request --- */
void lb_route(struct lb_conn *c, struct lb_request *q);

/* --- engine (endpoint_engine.c) --- */
struct lb_job {
	uint32_t *tokens; /* of the prompt */
	size_t tokens_n;
	size_t cached;    /* of them, found in the prefix cache */
	uint64_t number;  /* position in the order of arrival */
	int64_t arrived_ns, due_ns;
};

/* Counts an arrival, and says what is to go wrong with it. */
enum lb_fault lb_engine_arrive(struct lb_server *s, struct lb_job *job);
/* Sleeps until a moment; false: the server stops. */
bool lb_engine_sleep(const struct lb_server *s, int64_t due_ns);
/* Waits for a slot, looks the prompt up, and spends the time of its prefill. False: the server stops. */
bool lb_engine_start(struct lb_server *s, struct lb_job *job);
/* Counts one output token, after spending its time (the first is part of the prefill). False: the server stops. */
bool lb_engine_token(struct lb_server *s, struct lb_job *job, bool first);
/* Gives the slot back. */
void lb_engine_finish(struct lb_server *s, enum lb_finish how);
/* Empties the prefix cache; false while requests run or wait. */
bool lb_engine_reset(struct lb_server *s);

/* --- faults (endpoint_faults.c) --- */
const char *lb_fault_name(enum lb_fault f); /* NULL for LB_FAULT_NONE */
/* "NAME=SHARE" into config->fault_ppm; a fault of its own each time it is called, all shares together at most 1. */
IB_MUST int lb_fault_parse(const char *arg, struct lb_config *config, struct ib_err *err);
/* The fault of the arrival with that number. A share alone is exact: any N consecutive arrivals hold N x share of them, rounded up or down; the seed says
 * which. Of several, each takes its share of what those before it in the enumeration left. */
enum lb_fault lb_fault_of(const struct lb_config *config, uint64_t number);
/* The endpoint pretends to start. */
bool lb_fault_starting(const struct lb_server *s);
/* Keeps silent until the client goes away (c->gone) or the server stops. */
void lb_fault_hang(struct lb_conn *c);

/* --- completions (endpoint_generate.c) --- */
void lb_generate(struct lb_conn *c, struct lb_request *q, bool chat);
/* Token ids of a body's "prompt" or "messages", and the SHA-256 of the text. IB_E_SYNTAX says what is wrong.
 * job->tokens is allocated. */
IB_MUST int lb_prompt_tokens(const json_t *body, bool chat, struct lb_job *job, char ret_hex[65], struct ib_err *err);

/* --- metrics (endpoint_metrics.c): Prometheus text under vLLM's names --- */
const char *lb_finish_name(enum lb_finish how);
void lb_metrics_text(struct lb_server *s, struct ib_buf *b);

/* --- truth log (endpoint_truth.c): one line for each generation request and cache reset, written after the last byte was
 * sent --- */
void lb_truth(struct lb_server *s, json_t *line); /* steals line */

/* --- recording (endpoint_record.c): one line for each generation request, written when it arrives --- */
extern const char *const lb_volatile_keys[]; /* left out of the canonical form; ends with NULL */
IB_MUST int lb_record_open(struct lb_server *s, struct ib_err *err);
/* data: n bytes of the body; body: the same parsed, or NULL; prompt_sha256 may be "". */
void lb_record(struct lb_server *s, const char *path, const char *data, size_t n, const json_t *body, const char *prompt_sha256);
void lb_record_close(struct lb_server *s);

/* --- serving (endpoint_serve.c) --- */
/* Listens, opens the truth log, writes the port file. */
IB_MUST int lb_server_open(struct lb_server *s, const struct lb_config *config, int64_t *ret_port, struct ib_err *err);
/* Serves until SIGTERM, SIGINT or the end of its lifetime; returns when every connection is closed. */
IB_MUST int lb_server_run(struct lb_server *s, struct ib_err *err);
void lb_server_close(struct lb_server *s);

int64_t lb_now_ns(void); /* CLOCK_MONOTONIC */

#endif
