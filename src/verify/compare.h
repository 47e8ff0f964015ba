/* SPDX-License-Identifier: Apache-2.0 */
/* Which repeats may be taken together, which cells may be held against each other, and whether they can be told apart. */
#ifndef IB_VERIFY_COMPARE_H
#define IB_VERIFY_COMPARE_H

#include "verify/series.h"
#include "verify/spread.h"

/* Why two runs are not comparable: bits, each with a code that stands in documents and in the manual. */
enum ib_not_comparable {
	IB_NC_FORMULA = 1 << 0,   /* their times follow other formulas */
	IB_NC_CLIENT = 1 << 1,    /* another client, or version of it */
	IB_NC_AMENDED = 1 << 2,   /* the contract was amended between them */
	IB_NC_STATE = 1 << 3,     /* one did not go to its end, was excluded, or is diagnostic */
	IB_NC_SYNTHETIC = 1 << 4, /* one measured a stand-in */
	IB_NC_CACHE = 1 << 5,     /* other cache conditions, or other evidence for them */
	IB_NC_FAILURES = 1 << 6,  /* shares of failed requests differ by more than 1 percentage point: survivors only */
	IB_NC_WORKLOAD = 1 << 7,  /* another workload was sent */
	IB_NC_TOKENS = 1 << 8,    /* token totals differ by more than 1 %: not the same work */
	IB_NC_MODEL = 1 << 9,     /* another model was asked for */
	IB_NC_BUILD = 1 << 10,    /* another build of server, driver or kernel */
	IB_NC_HARDWARE = 1 << 11, /* another machine */
	IB_NC_OVERLAP = 1 << 12,  /* they were measured at the same time */
};

#define IB_NC_CODES 13
const char *ib_nc_code(size_t bit);   /* "NC_FORMULA", by the number of the bit */
const char *ib_nc_reason(size_t bit); /* "their times follow other formulas" */

/* Repeats of one cell that may be taken together. */
struct ib_pool {
	const struct ib_member **v;
	size_t n;
	unsigned why; /* why it is apart from the first pool of its cell; 0: it is the first */
};

/* All results of one cell (of a study: group and cell; of a folder: one command but for the seed). */
struct ib_compared {
	char *name;              /* the cell, or of a folder the first result's run */
	const struct ib_member *lead;
	struct ib_pool *pools;
	size_t n_pools;
	struct ib_range p50_s, interval_s, rate_hz; /* of the first pool: values of its repeats; bounds of all their intervals */
};

enum ib_order { IB_ORDER_UNKNOWN, IB_ORDER_NOT_SEPARABLE, IB_ORDER_LOWER, IB_ORDER_HIGHER };

/* A cell against the first one of its group. */
struct ib_pair {
	const struct ib_compared *base, *other;
	unsigned why;                     /* 0: comparable */
	enum ib_order ttft, rate;         /* of the other against the base */
	double ttft_ratio, rate_ratio;    /* other / base; NaN */
};

struct ib_comparisons {
	struct ib_members members;
	struct ib_compared *cells;
	size_t n_cells;
	struct ib_pair *pairs;
	size_t n_pairs;
};

void ib_compare(const struct ib_audit_view *v, struct ib_comparisons *ret);
void ib_comparisons_clear(struct ib_comparisons *c);
#define ib_auto_comparisons __attribute__((cleanup(ib_comparisons_clear)))
/* Appends "NC_CACHE NC_TOKENS" for a set of reasons. */
void ib_nc_list(struct ib_buf *b, unsigned why);
/* Members "cells" and "comparisons" of the findings document. New references. */
json_t *ib_compared_json(const struct ib_comparisons *c);
json_t *ib_pairs_json(const struct ib_comparisons *c);

#endif
