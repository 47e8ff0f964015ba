/* SPDX-License-Identifier: Apache-2.0 */
/* A12: gaps between chunks are times per token only where a chunk is a token and each is seen when it came. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/traits.h"
#include "verify/check.h"

#define RATIO_MOST 1.5    /* mean gap to mean time per token: more, and chunks hold several tokens */
#define MEDIAN_LEAST 0.01 /* of the mean gap: less, and chunks came in bursts */
#define SHARE 0.9         /* of requests, for what a client does to each */

static double mean_of(const struct ib_result *res, const struct ib_formula *formula)
{
	ib_auto_series struct ib_series s = {0};
	struct ib_stat st;

	formula->series(&res->columns, &s);
	st = ib_series_mean(&s);
	return st.state == IB_STAT_VALUE ? st.value : NAN;
}

static double median_of(const struct ib_result *res, const struct ib_formula *formula)
{
	struct ib_stat st = ib_result_percentile(res, formula, 50);

	return st.state == IB_STAT_VALUE ? st.value : NAN;
}

struct seen {
	size_t rows, first_again, per_token;
};

/* Of each request: does its first gap repeat the time to the first token; does it have as many gaps as tokens, so that the first chunk held none? */
static struct seen look(const struct ib_columns *c)
{
	struct seen s = {0};

	for (size_t i = 0; c->itl_at && c->ttft_s && i < c->n; i++) {
		size_t gaps = c->itl_at[i + 1] - c->itl_at[i];

		if (!ib_columns_counts(c, i) || gaps < 2)
			continue;
		s.rows++;
		s.first_again += !(c->itl_s[c->itl_at[i]] < c->ttft_s[i]) && !(c->itl_s[c->itl_at[i]] > c->ttft_s[i]);
		s.per_token += c->output_tokens && (int64_t)gaps == c->output_tokens[i];
	}
	return s;
}

static void gaps(const struct ib_check *self, const struct ib_result *res, struct ib_findings *f)
{
	double mean = mean_of(res, res->itl), median = median_of(res, res->itl), tpot = res->tpot && res->tpot->series ? mean_of(res, res->tpot) : NAN;
	struct ib_stat beyond = ib_trait_chunks_beyond_tokens(&res->columns);
	struct seen s = look(&res->columns);

	if (beyond.state == IB_STAT_VALUE && beyond.value > 0)
		ib_check_fail(self, f, IB_OK, res->file, "%.0f of %zu requests have more chunks than output tokens and one: the tokens are counted too low, times per "
							 "token too high",
			      beyond.value * (double)beyond.n, beyond.n);
	if (mean > RATIO_MOST * tpot)
		ib_check_fail(self, f, IB_OK, res->file, "chunks hold several tokens: the mean gap between them is %.3g ms, the time per token %.3g ms; this ITL is "
							 "not per token",
			      mean * 1000, tpot * 1000);
	if (median < MEDIAN_LEAST * mean)
		ib_check_fail(self, f, IB_OK, res->file, "chunks came in bursts: the median gap is %.3g ms, the mean %.3g ms; percentiles of this ITL say nothing "
							 "of the server",
			      median * 1000, mean * 1000);
	if (s.rows && (double)s.first_again >= SHARE * (double)s.rows)
		ib_check_fail(self, f, IB_OK, res->file, "the time to the first token stands among the gaps, too: this ITL counts it twice");
	else if (s.rows && (double)s.per_token >= SHARE * (double)s.rows)
		ib_check_fail_as(self, f, IB_FINDING_I, res->file, "as many gaps as output tokens: the first chunk held no token, and this TTFT is the time to that chunk");
}

static void one_result(const struct ib_check *self, const struct ib_audit_run *run, const struct ib_result *res, struct ib_findings *f)
{
	size_t unnamed = 0;

	(void)run;
	for (size_t i = 0; i < res->n_claims; i++)
		unnamed += res->claims[i].headline && (!res->claims[i].formula || res->claims[i].formula == &ib_claimed_only);
	if (unnamed)
		ib_check_open(self, f, res->file, "%zu headline%s of no definition that is known here", unnamed, unnamed == 1 ? " is" : "s are");
	if (res->itl && res->itl->series && res->columns.itl_n && !res->partial)
		gaps(self, res, f);
	else if (!unnamed)
		ib_check_skip(self, f, res->file, "the file holds no gaps between chunks");
}

static void run(const struct ib_check *self, const struct ib_audit_view *v, struct ib_findings *f)
{
	ib_check_results(self, v, f, true, one_result);
}

const struct ib_check ib_check_definitions = {
	.id = "A12",
	.level = IB_FINDING_W,
	.title = "the times between chunks are times per token",
	.reads = "the gaps between chunks against the times per token: mean gap at most 1.5 times the time per token, median gap at least 1 % of the mean; chunks "
		 "at most one more than tokens; whether the first gap repeats the time to the first token",
	.means = "several tokens share a chunk (speculative decoding, batching of the stream), or chunks were read in bursts: ITL and TPOT are not one thing here",
	.todo = "compare TPOT, never this ITL, with other runs; look at the client's load for bursts",
	.audit = run,
};
