/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of timings share. */
#include "clients/samples.h"

#include <math.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "json/pick.h"

#define FIRST_TIMES 2.0 /* the first run stands out when it took longer than so many medians of the others */
#define FIRST_NEEDS 4   /* runs, before anything is said of the first */

void ib_samples_begin(struct ib_result *r)
{
	r->any_benchmark = true;
	r->tpot = NULL;
	r->itl = NULL;
	r->e2e = &ib_sample_time;
}

void ib_samples_add(struct ib_result *r, double s, bool warmup, enum ib_outcome outcome, int64_t in, int64_t out)
{
	struct ib_row row = ib_row_empty();

	row.e2e_s = s;
	row.warmup = warmup;
	row.outcome = outcome;
	row.input_tokens = in >= 0 && in <= INT32_MAX ? in : IB_NOT_IN_FILE;
	row.output_tokens = out >= 0 && out <= INT32_MAX ? out : IB_NOT_IN_FILE;
	ib_columns_add(&r->columns, &row);
}

/* Index of the first measured run, or n. */
static size_t first_of(const struct ib_columns *c)
{
	size_t i = 0;

	while (i < c->n && c->warmup && c->warmup[i])
		i++;
	return i;
}

static void check_first(struct ib_result *r)
{
	const struct ib_columns *c = &r->columns;
	ib_auto_series struct ib_series s = {0};
	size_t first = first_of(c);
	double ratio, median;

	ib_sample_time.series(c, &s);
	if (s.state != IB_STAT_VALUE || s.n < FIRST_NEEDS || first == c->n || isnan(c->e2e_s[first]))
		return;
	median = ib_series_percentile(&s, 50, IB_RULE_LINEAR).value;
	ratio = c->e2e_s[first] / median;
	if (ratio > FIRST_TIMES && isfinite(ratio)) {
		ib_auto_free char *found = ib_asprintf("%.2f times the median", ratio);

		ib_result_hint(r, "A18", NULL, "about the median", found, "the first measured run took %s of all %zu: a warm-up is missing or was too short", found, s.n);
	}
}

void ib_samples_end(struct ib_result *r)
{
	ib_columns_end(&r->columns);
	if (!r->columns.n)
		return;
	ib_result_count(r);
	r->requests.short_output = IB_NOT_IN_FILE;
	r->input_tokens = IB_NOT_IN_FILE;
	r->output_tokens = IB_NOT_IN_FILE;
	check_first(r);
}

struct ib_claim *ib_samples_claim(struct ib_result *r, const char *name, const struct ib_formula *f, enum ib_measure m, double p, double scale,
				  double claimed, double tolerance)
{
	ib_auto_free char *key = ib_asprintf("/%s", name);
	struct ib_claim *c = ib_result_expect(r, name, key, f, m, scale, claimed, tolerance);

	if (!c)
		return NULL;
	if (m == IB_MEASURE_PERCENTILE)
		c->p = p;
	c->headline = m == IB_MEASURE_MEAN || m == IB_MEASURE_PERCENTILE;
	return c;
}

void ib_samples_stated(struct ib_result *r, const char *name, double claimed)
{
	ib_samples_claim(r, name, &ib_claimed_only, IB_MEASURE_SCALAR, 0, 1, claimed, 0);
}

int ib_client_one_object(struct ib_stream *s, const struct ib_pick *table, void *row, struct ib_strv *missing, struct ib_err *err)
{
	struct ib_token end;
	bool more;
	int r = ib_stream_document(s, &more, err);

	if (r == 0 && !more)
		return ib_stream_fail(s, err, IB_E_SYNTAX, "the file is empty");
	if (r == 0)
		r = ib_pick(s, table, row, missing, err);
	if (r == 0)
		r = ib_stream_next(s, &end, err);
	return r < 0 ? r : ib_stream_document(s, &more, err); /* nothing else may follow */
}
