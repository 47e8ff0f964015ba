/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of per-request numbers. */
#include "metrics/columns.h"

#include <math.h>
#include <stdlib.h>

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

void ib_columns_clear(struct ib_columns *c)
{
	free(c->start_s);
	free(c->ttft_s);
	free(c->e2e_s);
	free(c->queue_s);
	free(c->itl_s);
	free(c->itl_at);
	free(c->input_tokens);
	free(c->output_tokens);
	free(c->input_asked);
	free(c->output_asked);
	free(c->outcome);
	free(c->warmup);
	*c = (struct ib_columns){0};
}
