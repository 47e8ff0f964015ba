/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a client's result and says how it came to be: the command line, the printed configuration, the server's counters before and after.
 * Told by content, in a study as in a folder of loose files. */
#ifndef IB_VERIFY_CONTEXT_H
#define IB_VERIFY_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/client.h"

enum ib_counter {
	IB_COUNTER_PROMPT_TOKENS,
	IB_COUNTER_OUTPUT_TOKENS,
	IB_COUNTER_CACHE_QUERIES, /* prompt tokens looked up in the prefix cache */
	IB_COUNTER_CACHE_HITS,    /* of these, found */
	IB_COUNTER_DONE_STOP,     /* requests by finish reason */
	IB_COUNTER_DONE_LENGTH,
	IB_COUNTER_DONE_ABORT,
	IB_COUNTER_DONE_ERROR,
	IB_COUNTER_PREEMPTIONS,
	IB_COUNTER_RUNNING, /* gauges */
	IB_COUNTER_WAITING,
	IB_COUNTER_STARTED_AT, /* of the server's process, seconds since 1970 */
	IB_COUNTERS,
};

/* One page of a server's metrics (Prometheus text). */
struct ib_counters {
	char *file;          /* NULL: there is none */
	const char *engine;  /* "vllm", "sglang", "llamacpp" (static text) */
	double v[IB_COUNTERS]; /* NaN: not on the page */
	char *model;           /* the name that it is served by; what the page says of its settings; or NULL */
	char *prefix_caching, *cache_dtype;
};

/* A log of the client or the server. */
struct ib_log_count {
	char *file;
	int64_t refusals; /* lines that tell of an answer with status 429 or 500 to 504 */
};

struct ib_context {
	struct ib_settings settings;
	const struct ib_client *client; /* that the command line is of, or NULL */
	char *command_file, *log_file;  /* where the settings are from, or NULL */
	struct ib_counters before, after;
	struct ib_log_count *logs; /* of this directory, or run */
	size_t n_logs;
	char *logs_left;           /* the first that is too large to be read, or NULL */
	char *counters_problem; /* why pages of metrics that are there cannot be told apart or used, or NULL */
};

void ib_context_clear(struct ib_context *c);
/* Is it a page of metrics of a known inference server? Fills *ret (file as given). */
bool ib_counters_read(const char *text, const char *file, struct ib_counters *ret);
void ib_counters_clear(struct ib_counters *c);
/* after - before, NaN where either is not known. Negative: the server was restarted between. */
double ib_counter_delta(const struct ib_context *c, enum ib_counter which);
const char *ib_counter_name(enum ib_counter which); /* "cache_hits" */

/* Takes one more small text file that stands beside a result (n bytes with a byte 0 behind them): a page of metrics, a command line, a log with a printed
 * configuration; anything else is passed over. Which page is before and which after is told by which (0 unknown, 1 before, 2 after); with 0, pages are
 * ordered by their counters, which only grow. */
void ib_context_take(struct ib_context *c, const char *file, const char *text, size_t n, int which);
/* Adds a log that was read; refusals < 0: one that was not. */
void ib_context_take_log(struct ib_context *c, const char *file, int64_t refusals);
/* Fills gaps of c with what to_the_root says of the directories around it. */
void ib_context_inherit(struct ib_context *c, const struct ib_context *outer);

#endif
