/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of many samples without sorting or copying them: a histogram over the range of their bit patterns, which are ordered as the numbers
 * are, says which of a million cells a rank falls into; then only the samples of those cells are looked at. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/stat.h"

#define CELLS (1u << 20) /* over 2,000 octaves, should zero and large numbers meet: 500 an octave */
#define FEW 4096         /* so many samples are sorted */
#define GATHER (1u << 19) /* so many samples of one round's cells are gathered and sorted; beyond it a cell has a round of its own */

/* Larger numbers have larger keys; -0 and 0 have the same. */
static uint64_t key_of(double v)
{
	uint64_t u;

	v += 0.0;
	memcpy(&u, &v, sizeof(u));
	return u >> 63 ? ~u : u | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
	uint64_t u = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
	double v;

	memcpy(&v, &u, sizeof(v));
	return v;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A rank that is asked for; where its value goes. */
struct wanted {
	size_t rank;
	double *to;
};

static int by_rank(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Samples with keys low … high, of which `below` come before them; the ranks asked for among them. */
struct round {
	const struct ib_series *s;
	uint64_t low, high;
	unsigned shift;
	size_t below;
	const struct wanted *wanted;
	size_t n_wanted;
};

static unsigned shift_for(uint64_t range)
{
	unsigned shift = 0;

	while (range >> shift >= CELLS)
		shift++;
	return shift;
}

/* Number of the samples in each cell of the round: 32 bits, as columns of 2^32 samples would not fit into memory. */
static uint32_t *histogram(const struct round *r)
{
	uint32_t *cells = ib_alloc(CELLS * sizeof(*cells));

	for (size_t k = 0; k < r->s->n_pieces; k++)
		for (size_t i = 0; i < r->s->pieces[k].n; i++) {
			uint64_t at = key_of(r->s->pieces[k].v[i]) - r->low;

			if (at <= r->high - r->low)
				cells[at >> r->shift]++;
		}
	return cells;
}

/* A cell that holds a rank asked for. */
struct cell {
	uint64_t index;
	size_t n, below;
	size_t first, n_wanted;
	size_t offset; /* of its samples among those gathered */
	bool gathered;
};

/* The cells of the round that hold ranks asked for, in ascending order. */
static struct cell *cells_wanted(const struct round *r, size_t *ret_n)
{
	ib_auto_free uint32_t *count = histogram(r);
	struct cell *cells = ib_realloc(NULL, r->n_wanted, sizeof(*cells));
	size_t below = r->below, n = 0, offset = 0, w = 0;

	for (size_t i = 0; i < CELLS && w < r->n_wanted; below += count[i++]) {
		size_t from = w;

		while (w < r->n_wanted && r->wanted[w].rank < below + count[i])
			w++;
		if (w == from)
			continue;
		cells[n] = (struct cell){.index = i, .n = count[i], .below = below, .first = from, .n_wanted = w - from, .offset = offset};
		cells[n].gathered = offset + count[i] <= GATHER;
		offset += cells[n].gathered ? count[i] : 0;
		n++;
	}
	*ret_n = n;
	return cells;
}

/* The samples of the cells that are gathered, each cell's at its offset, sorted. */
static double *gather(const struct round *r, struct cell *cells, size_t n_cells)
{
	ib_auto_free uint32_t *slot = ib_alloc(CELLS * sizeof(*slot)); /* of a cell: 1 + its place in cells; 0: not gathered */
	ib_auto_free size_t *at = ib_realloc(NULL, n_cells, sizeof(*at));
	double *v;
	size_t n = 0;

	for (size_t i = 0; i < n_cells; i++) {
		at[i] = cells[i].offset;
		n += cells[i].gathered ? cells[i].n : 0;
		slot[cells[i].index] = cells[i].gathered ? (uint32_t)i + 1 : 0;
	}
	v = ib_realloc(NULL, n + 1, sizeof(*v));
	for (size_t k = 0; n && k < r->s->n_pieces; k++)
		for (size_t i = 0; i < r->s->pieces[k].n; i++) {
			uint64_t key = key_of(r->s->pieces[k].v[i]) - r->low;
			uint32_t s = key <= r->high - r->low ? slot[key >> r->shift] : 0;

			if (s)
				v[at[s - 1]++] = r->s->pieces[k].v[i];
		}
	for (size_t i = 0; i < n_cells; i++)
		if (cells[i].gathered)
			qsort(v + cells[i].offset, cells[i].n, sizeof(*v), ascending);
	return v;
}

static void answer(const struct round *r, const struct cell *c, const double *sorted)
{
	for (size_t i = 0; i < c->n_wanted; i++) {
		const struct wanted *w = &r->wanted[c->first + i];

		*w->to = sorted[w->rank - c->below];
	}
}

/* Each round divides the range of keys by a million: there are four at most, one below the other. */
static void play(struct round r) /* NOLINT(misc-no-recursion) */
{
	size_t n_cells;
	ib_auto_free struct cell *cells = NULL;
	ib_auto_free double *v = NULL;

	if (r.low == r.high) {
		for (size_t i = 0; i < r.n_wanted; i++)
			*r.wanted[i].to = value_of(r.low);
		return;
	}
	r.shift = shift_for(r.high - r.low);
	cells = cells_wanted(&r, &n_cells);
	v = gather(&r, cells, n_cells);
	for (size_t i = 0; i < n_cells; i++) {
		const struct cell *c = &cells[i];
		uint64_t low = r.low + (c->index << r.shift), width = (UINT64_C(1) << r.shift) - 1;

		if (c->gathered)
			answer(&r, c, v + c->offset);
		else
			play((struct round){.s = r.s,
					    .low = low,
					    .high = r.high - low < width ? r.high : low + width,
					    .below = c->below,
					    .wanted = r.wanted + c->first,
					    .n_wanted = c->n_wanted});
	}
}

static void sort_few(const struct ib_series *s, const struct wanted *wanted, size_t n)
{
	ib_auto_free double *v = ib_realloc(NULL, s->n, sizeof(*v));
	size_t at = 0;

	for (size_t k = 0; k < s->n_pieces; k++) {
		memcpy(v + at, s->pieces[k].v, s->pieces[k].n * sizeof(*v));
		at += s->pieces[k].n;
	}
	qsort(v, s->n, sizeof(*v), ascending);
	for (size_t i = 0; i < n; i++)
		*wanted[i].to = v[wanted[i].rank];
}

void ib_series_select(const struct ib_series *s, const size_t *ranks, double *ret_values, size_t n)
{
	ib_auto_free struct wanted *wanted = ib_realloc(NULL, n + 1, sizeof(*wanted));
	struct round r = {.s = s, .low = UINT64_MAX, .wanted = wanted, .n_wanted = n};

	if (n == 0 || s->n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		wanted[i] = (struct wanted){ranks[i], &ret_values[i]};
	qsort(wanted, n, sizeof(*wanted), by_rank);
	if (s->n <= FEW) {
		sort_few(s, wanted, n);
		return;
	}
	for (size_t k = 0; k < s->n_pieces; k++)
		for (size_t i = 0; i < s->pieces[k].n; i++) {
			uint64_t key = key_of(s->pieces[k].v[i]);

			r.low = key < r.low ? key : r.low;
			r.high = key > r.high ? key : r.high;
		}
	play(r);
}
