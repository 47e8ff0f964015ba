/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a tool hands to the library: no globals, so that tests inject all of it. */
#ifndef IB_BASE_CTX_H
#define IB_BASE_CTX_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/err.h"

struct ib_root; /* base/root.h */
struct ib_redactor; /* redact/redact.h */
struct ib_live; /* collectors/collector.h: facts that have no path (uname, NVML, child commands) */

enum ib_level { IB_LOG_INFO, IB_LOG_WARNING };

struct ib_ctx {
	const struct ib_clock *clock;
	char *const *env;            /* NULL-terminated copy of the environment */
	const struct ib_redactor *redact; /* labels and secrets; NULL where nothing is recorded */
	struct ib_root *root;        /* where host reads start; NULL: the live system's "/" */
	const struct ib_live *live;  /* NULL under a recorded root */
	void (*log)(void *arg, enum ib_level level, const char *line); /* chatter for the user; NULL: none */
	void *log_arg;
};

/* One line of chatter to ctx->log, formatted; nothing when there is no sink. */
void ib_log(const struct ib_ctx *ctx, enum ib_level level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Value of NAME in ctx->env, or NULL. */
const char *ib_env(const struct ib_ctx *ctx, const char *name);

#endif
