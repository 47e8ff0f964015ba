/* SPDX-License-Identifier: Apache-2.0 */
/* Which results may be held against each other: those of one command, those of the same work. And what the server counted around them. */
#ifndef IB_VERIFY_SERIES_H
#define IB_VERIFY_SERIES_H

#include "verify/audit.h"

/* One result, with the key by which it belongs to others. */
struct ib_member {
	const struct ib_audit_run *run;
	const struct ib_result *res;
	char *key;
	size_t place; /* of the run in the view */
};

/* Sorted by key, then by place. */
struct ib_members {
	struct ib_member *v;
	size_t n;
};

enum ib_sameness {
	IB_SAME_CLIENT,  /* of a study's group, or of a folder: one client */
	IB_SAME_WORK,    /* and what was asked for: model, workload, number and lengths of requests */
	IB_SAME_CELL,    /* of a study: group and cell; of a folder: one command, but for the seed */
	IB_SAME_COMMAND, /* and everything else that is known of the settings, the seed among it */
};

/* The results of LLM requests of a known version that stand for themselves (no stages of another result). */
void ib_members_gather(const struct ib_audit_view *v, enum ib_sameness by, struct ib_members *ret);
/* First place behind from with another key. */
size_t ib_members_end(const struct ib_members *m, size_t from);
void ib_members_clear(struct ib_members *m);
#define ib_auto_members __attribute__((cleanup(ib_members_clear)))

/* A pair of pages of metrics and the sums over all results between them; numbers NaN where one of the results does not hold them. */
struct ib_window {
	const struct ib_context *context;
	const char *file; /* of the page behind the runs */
	size_t runs, results;
	size_t first, last; /* places of its first and last run */
	double succeeded, failed, input_tokens, output_tokens; /* failed: and cut off */
	double warmups;   /* asked for; NaN: not known */
	double longest;   /* output tokens asked a request at most, else got at most; NaN: not known */
	bool complete;    /* every result was read and every run went to its end */
};

struct ib_windows {
	struct ib_window *v;
	size_t n;
};

/* One window for each pair of pages, in the order of the runs. */
void ib_windows_gather(const struct ib_audit_view *v, struct ib_windows *ret);
void ib_windows_clear(struct ib_windows *w);
#define ib_auto_windows __attribute__((cleanup(ib_windows_clear)))
/* Prompt tokens that went through the server, whether found in its cache or computed; of these, found; requests that it finished. NaN: not counted. */
double ib_window_queries(const struct ib_window *w);
double ib_window_hits(const struct ib_window *w);
double ib_window_finished(const struct ib_window *w);
/* The pages are there and neither problem nor standstill speaks against them: why they say nothing (static text or of the context), or NULL. */
const char *ib_window_trouble(const struct ib_window *w);

#endif
