/* SPDX-License-Identifier: Apache-2.0 */
/* The counters on the pages of metrics that are kept with a run, each by its own name, to be held against those of its record. */
#ifndef IB_VERIFY_PAGES_H
#define IB_VERIFY_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "json/json.h"

struct ib_page_counter {
	char *name;
	bool there[2];
	double v[2]; /* before and after: summed over all pages of that moment; NAN: on none of them, or no number */
};

struct ib_pages {
	struct ib_page_counter *v;
	size_t n;
	size_t pages[2]; /* that were read */
};

/* What is looked for from now on: counters of the engines that are known, and those whose names a contract (typed form) gives. */
void ib_pages_names(struct ib_pages *p, const json_t *contract);
/* Adds a page of one moment (0 before, 1 after). */
void ib_pages_take(struct ib_pages *p, const char *text, int moment);
/* The counter called name, or NULL: nobody asked for it. */
const struct ib_page_counter *ib_pages_find(const struct ib_pages *p, const char *name);
void ib_pages_clear(struct ib_pages *p);

#endif
