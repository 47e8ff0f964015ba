/* SPDX-License-Identifier: Apache-2.0 */
/* ib-load: a small load generator for OpenAI-compatible endpoints that writes ib-requests(5). */
#ifndef IB_EXAMPLES_LOOPBACK_LOAD_H
#define IB_EXAMPLES_LOOPBACK_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "json/json.h"

#define LD_WORKERS_MAX 256        /* connections at once, also where no cap is asked */
#define LD_REQUESTS_MAX 1000000
#define LD_NONE INT64_MIN         /* a number that was not measured; written as null */

struct ld_config {
	const char *url;              /* http://HOST:PORT */
	bool chat;
	const char *model;            /* NULL: the endpoint's first */
	int64_t seed;
	int64_t num_prompts;          /* LD_NONE: all of the workload, or 40 */
	int64_t num_warmups;
	int64_t max_concurrency;      /* LD_NONE: no cap */
	double request_rate_hz;       /* 0: as fast as the cap allows */
	int64_t input_tokens, output_tokens; /* of generated prompts */
	int64_t timeout_ns;           /* of each request */
	const char *workload;         /* file, or NULL */
	const char *output;           /* file, or NULL */
	bool warm_only;               /* send each prompt once for one token, measure nothing */
	const char *write_workload;   /* write the prompts there, send nothing */
};

enum ld_outcome { LD_INCOMPLETE, LD_OK, LD_ERROR, LD_TIMEOUT }; /* zero: whatever was not finished is incomplete */

struct ld_request {
	/* asked */
	bool warmup;
	int64_t index;
	char *prompt;
	int64_t input_tokens_asked, output_tokens_asked;
	int64_t due_ns; /* from the start of its phase; LD_NONE in a closed loop */
	/* seen */
	int64_t start_ns, end_ns, queue_ns, ttft_ns, e2e_ns; /* start and end on the monotonic clock */
	int64_t *itl_ns;
	size_t itl_n, itl_cap;
	int64_t pieces;
	int64_t input_tokens, output_tokens; /* from usage */
	enum ld_outcome outcome;
	int http_status; /* 0: none */
	char error_class[24], error[192], finish_reason[32], fingerprint[128];
};

struct ld_plan {
	struct ld_request *v; /* warm-ups first */
	size_t warmups_n, n;
	char workload_sha256[65]; /* "" without a file */
	int64_t workload_prompts;
};

/* What all workers share. */
struct ld_run {
	const struct ld_config *config;
	struct ld_plan *plan;
	struct sockaddr_storage addr;
	socklen_t addr_n;
	char host[300];               /* for the Host header */
	char *model;                  /* or NULL */
	char version[128];            /* what /version said, or "" */
	int64_t origin_wall_ns, origin_ns;
	int64_t window_start_ns, window_end_ns; /* monotonic; LD_NONE before */
	int stop_fd;                  /* readable once the client is to stop */
	int signal;                   /* that ended it, or 0 */
	atomic_size_t next;           /* request to be taken next */
	size_t phase_end;
	int64_t phase_ns;             /* start of the phase */
};

int64_t ld_now_ns(void);

/* --- load_plan.c: prompts, arrivals, workload files --- */
IB_MUST int ld_plan_make(struct ld_plan *p, const struct ld_config *c, struct ib_err *err);
/* One line {"prompt","input_tokens","output_tokens"} for each prompt into a new file; the digest of its bytes. */
IB_MUST int ld_plan_save(const struct ld_plan *p, const char *path, char ret_hex[65], struct ib_err *err);
void ld_plan_clear(struct ld_plan *p);

/* --- load_http.c: one connection, kept open between requests --- */
struct ld_link {
	const struct ld_run *run;
	int fd; /* -1: not connected */
};

struct ld_reply {
	int status;
	bool chunked, close;
	int64_t length, taken; /* Content-Length or LD_NONE; body bytes so far */
	int phase;             /* of load_http.c */
	int64_t chunk_left;
	struct ib_buf in, body;
};

enum ld_end { LD_DONE, LD_CONNECT, LD_CUT, LD_MALFORMED, LD_LATE, LD_STOPPED };

/* Sends text and reads the whole reply. on_data is called after each arrival with the moment it was read; it may take from
 * reply->body what it has used. The reply's buffers belong to the caller (ld_reply_clear). */
enum ld_end ld_http(struct ld_link *l, const char *text, size_t n, int64_t deadline_ns, struct ld_reply *reply,
		    void (*on_data)(void *arg, struct ld_reply *reply, int64_t now_ns), void *arg);
void ld_reply_clear(struct ld_reply *r);
void ld_link_close(struct ld_link *l);
/* Waits until a descriptor (-1: none) is ready or a moment has come: LD_DONE, LD_LATE, or LD_STOPPED. */
enum ld_end ld_wait(const struct ld_run *run, int fd, short events, int64_t deadline_ns);
/* GET path as JSON; NULL when there is none to be had. */
json_t *ld_get_json(struct ld_link *l, const char *path);

/* --- load_request.c: sends one request and fills in what was seen --- */
void ld_request_send(struct ld_link *l, struct ld_request *q);

/* --- load_run.c --- */
IB_MUST int ld_run_open(struct ld_run *r, const struct ld_config *c, struct ld_plan *p, struct ib_err *err);
/* Warm-ups, then the measured requests. A signal stops it; r->signal then holds it. */
IB_MUST int ld_run_go(struct ld_run *r, struct ib_err *err);
void ld_run_close(struct ld_run *r);

/* --- load_write.c --- */
/* Writes ib-requests to a new file. */
IB_MUST int ld_write(const struct ld_run *r, const char *path, struct ib_err *err);
/* A few lines for people on stdout. */
void ld_summary(const struct ld_run *r);

#endif
