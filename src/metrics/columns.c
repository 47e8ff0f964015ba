/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of per-request numbers. */
#include "metrics/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

double *ib_columns_reals(size_t n)
{
	double *v = n ? ib_realloc(NULL, n, sizeof(*v)) : NULL;

	for (size_t i = 0; i < n; i++)
		v[i] = NAN;
	return v;
}

int64_t *ib_columns_ints(size_t n)
{
	int64_t *v = n ? ib_realloc(NULL, n, sizeof(*v)) : NULL;

	for (size_t i = 0; i < n; i++)
		v[i] = IB_NOT_IN_FILE;
	return v;
}

bool ib_columns_counts(const struct ib_columns *c, size_t i)
{
	return c->outcome && c->outcome[i] == IB_OUTCOME_SUCCEEDED && !(c->warmup && c->warmup[i]);
}

/* The columns that a row has a field for. */
enum sort { REAL, INT, HASH };

struct column {
	enum sort sort;
	size_t in_columns, in_row;
};

#define COLUMN(kind, name) {kind, offsetof(struct ib_columns, name), offsetof(struct ib_row, name)}

static const struct column columns[] = {
	COLUMN(REAL, start_s),       COLUMN(REAL, ttft_s),        COLUMN(REAL, last_s),        COLUMN(REAL, e2e_s),       COLUMN(REAL, queue_s),
	COLUMN(INT, input_tokens),   COLUMN(INT, output_tokens),  COLUMN(INT, input_server),   COLUMN(INT, output_server), COLUMN(INT, input_asked),
	COLUMN(INT, output_asked),   COLUMN(INT, chunks),         COLUMN(HASH, prompt_hash),   COLUMN(HASH, output_hash),
};

/* The pointer of a column, whatever its type: its cells are eight bytes wide. */
static char *get(const struct ib_columns *c, const struct column *which)
{
	char *v;

	memcpy(&v, (const char *)c + which->in_columns, sizeof(v));
	return v;
}

static void set(struct ib_columns *c, const struct column *which, char *v)
{
	memcpy((char *)c + which->in_columns, &v, sizeof(v));
}

/* Room for one element more: 16, then twice as many at every power of two. */
static void *room_for(void *v, size_t n, size_t size)
{
	if (n != 0 && (n < 16 || (n & (n - 1)) != 0))
		return v;
	return ib_realloc(v, n ? 2 * n : 16, size);
}

struct ib_row ib_row_empty(void)
{
	return (struct ib_row){
		.start_s = NAN,
		.ttft_s = NAN,
		.last_s = NAN,
		.e2e_s = NAN,
		.queue_s = NAN,
		.input_tokens = IB_NOT_IN_FILE,
		.output_tokens = IB_NOT_IN_FILE,
		.input_server = IB_NOT_IN_FILE,
		.output_server = IB_NOT_IN_FILE,
		.input_asked = IB_NOT_IN_FILE,
		.output_asked = IB_NOT_IN_FILE,
		.chunks = IB_NOT_IN_FILE,
	};
}

void ib_columns_add(struct ib_columns *c, const struct ib_row *row)
{
	for (size_t i = 0; i < IB_LEN(columns); i++) {
		char *v = room_for(get(c, &columns[i]), c->n, 8);

		memcpy(v + 8 * c->n, (const char *)row + columns[i].in_row, 8);
		set(c, &columns[i], v);
	}
	c->outcome = room_for(c->outcome, c->n, sizeof(*c->outcome));
	c->outcome[c->n] = (uint8_t)row->outcome;
	c->warmup = room_for(c->warmup, c->n, sizeof(*c->warmup));
	c->warmup[c->n] = row->warmup;
	if (!c->itl_at) {
		c->itl_at = ib_realloc(NULL, 17, sizeof(*c->itl_at));
		c->itl_at[0] = 0;
	} else if (c->n >= 16 && (c->n & (c->n - 1)) == 0) {
		c->itl_at = ib_realloc(c->itl_at, 2 * c->n + 1, sizeof(*c->itl_at));
	}
	c->itl_at[++c->n] = c->itl_n;
}

void ib_columns_gap(struct ib_columns *c, double gap_s)
{
	c->itl_s = room_for(c->itl_s, c->itl_n, sizeof(*c->itl_s));
	c->itl_s[c->itl_n++] = gap_s;
}

static bool recorded(const char *v, size_t n, enum sort sort)
{
	for (size_t i = 0; i < n; i++) {
		double real;
		int64_t whole;

		memcpy(&real, v + 8 * i, 8);
		memcpy(&whole, v + 8 * i, 8);
		if (sort == REAL ? !isnan(real) : sort == INT ? whole != IB_NOT_IN_FILE : whole != 0)
			return true;
	}
	return false;
}

void ib_columns_end(struct ib_columns *c)
{
	bool any = false;

	for (size_t i = 0; i < IB_LEN(columns); i++) {
		char *v = get(c, &columns[i]);

		if (v && recorded(v, c->n, columns[i].sort))
			continue;
		free(v);
		set(c, &columns[i], NULL);
	}
	for (size_t i = 0; i < c->n && c->warmup; i++)
		any = any || c->warmup[i];
	if (!any) {
		free(c->warmup);
		c->warmup = NULL;
	}
	if (!c->itl_n) {
		free(c->itl_at);
		c->itl_at = NULL;
	}
}

void ib_columns_clear(struct ib_columns *c)
{
	for (size_t i = 0; i < IB_LEN(columns); i++)
		free(get(c, &columns[i]));
	free(c->itl_s);
	free(c->itl_at);
	free(c->outcome);
	free(c->warmup);
	*c = (struct ib_columns){0};
}
