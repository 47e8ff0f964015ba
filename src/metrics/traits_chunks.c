/* SPDX-License-Identifier: Apache-2.0 */
/* What records show of chunks and of the gaps between them. */
#include <math.h>

#include "metrics/formula.h"
#include "metrics/traits.h"

#define TINY_S 1e-4

static const char no_gaps[] = "no gaps between chunks in the file";

/* Gaps of row i. */
static size_t gaps_of(const struct ib_columns *c, size_t i)
{
	return c->itl_at[i + 1] - c->itl_at[i];
}

static double sum_of(const struct ib_columns *c, size_t i)
{
	double sum = 0;

	for (size_t k = c->itl_at[i]; k < c->itl_at[i + 1]; k++)
		sum += c->itl_s[k];
	return sum;
}

struct ib_stat ib_trait_tiny_gaps(const struct ib_columns *c)
{
	ib_auto_series struct ib_series s = {0};
	struct ib_stat st;
	size_t tiny = 0;

	ib_series_of_gaps(c, &s);
	st = ib_series_mean(&s);
	if (st.state != IB_STAT_VALUE)
		return st;
	for (size_t k = 0; k < s.n_pieces; k++)
		for (size_t i = 0; i < s.pieces[k].n; i++)
			tiny += s.pieces[k].v[i] < TINY_S;
	return ib_stat_value((double)tiny / (double)s.n, s.n);
}

struct ib_stat ib_trait_gap_median_over_mean(const struct ib_columns *c)
{
	ib_auto_series struct ib_series s = {0};
	struct ib_stat mean;

	ib_series_of_gaps(c, &s);
	mean = ib_series_mean(&s);
	if (mean.state != IB_STAT_VALUE)
		return mean;
	if (!(mean.value > 0))
		return ib_stat_undefined("the mean gap is not positive");
	return ib_stat_value(ib_series_quantile(&s, 50, IB_RULE_LINEAR) / mean.value, s.n);
}

struct ib_stat ib_trait_gap_over_tpot(const struct ib_columns *c)
{
	ib_auto_series struct ib_series gaps = {0}, tpot = {0};
	struct ib_stat a, b;

	ib_series_of_gaps(c, &gaps);
	ib_tpot_excl_first.series(c, &tpot);
	a = ib_series_mean(&gaps);
	b = ib_series_mean(&tpot);
	if (a.state != IB_STAT_VALUE || b.state != IB_STAT_VALUE)
		return a.state != IB_STAT_VALUE ? a : b;
	if (!(b.value > 0))
		return ib_stat_undefined("the mean TPOT is not positive");
	return ib_stat_value(a.value / b.value, a.n);
}

/* Chunks of row i, or -1: from the gaps, or as the file counts them. */
static int64_t chunks_of(const struct ib_columns *c, size_t i)
{
	if (c->chunks && c->chunks[i] >= 0)
		return c->chunks[i];
	return c->itl_at ? (int64_t)gaps_of(c, i) + 1 : -1;
}

/* Calls see for each succeeded row with known chunks and output tokens; NOT RECORDED when the file cannot have such rows. */
static struct ib_stat each_chunked(const struct ib_columns *c, void (*see)(int64_t chunks, int64_t tokens, double *sums), double *sums)
{
	size_t n = 0;

	if ((!c->itl_at && !c->chunks) || !c->output_tokens)
		return ib_stat_not_recorded("no chunks or output lengths in the file");
	for (size_t i = 0; i < c->n; i++) {
		int64_t chunks = ib_columns_counts(c, i) ? chunks_of(c, i) : -1;

		if (chunks < 1 || c->output_tokens[i] < 1)
			continue;
		see(chunks, c->output_tokens[i], sums);
		n++;
	}
	return n ? ib_stat_value(NAN, n) : ib_stat_undefined("no succeeded request has both chunks and output tokens");
}

static void add_both(int64_t chunks, int64_t tokens, double *sums)
{
	sums[0] += (double)chunks;
	sums[1] += (double)tokens;
}

struct ib_stat ib_trait_tokens_per_chunk(const struct ib_columns *c)
{
	double sums[2] = {0};
	struct ib_stat st = each_chunked(c, add_both, sums);

	return st.state == IB_STAT_VALUE ? ib_stat_value(sums[1] / sums[0], st.n) : st;
}

static void add_unequal(int64_t chunks, int64_t tokens, double *sums)
{
	sums[0] += chunks != tokens;
	sums[1] += chunks > tokens + 1;
}

struct ib_stat ib_trait_chunks_not_tokens(const struct ib_columns *c)
{
	double sums[2] = {0};
	struct ib_stat st = each_chunked(c, add_unequal, sums);

	return st.state == IB_STAT_VALUE ? ib_stat_value(sums[0] / (double)st.n, st.n) : st;
}

struct ib_stat ib_trait_chunks_beyond_tokens(const struct ib_columns *c)
{
	double sums[2] = {0};
	struct ib_stat st = each_chunked(c, add_unequal, sums);

	return st.state == IB_STAT_VALUE ? ib_stat_value(sums[1] / (double)st.n, st.n) : st;
}

struct ib_stat ib_trait_ttft_in_gaps(const struct ib_columns *c)
{
	size_t n = 0, same = 0;

	if (!c->itl_at || !c->ttft_s)
		return ib_stat_not_recorded(no_gaps);
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || gaps_of(c, i) == 0 || isnan(c->ttft_s[i]))
			continue;
		same += c->itl_s[c->itl_at[i]] == c->ttft_s[i];
		n++;
	}
	return n ? ib_stat_value((double)same / (double)n, n) : ib_stat_undefined("no succeeded request had a second chunk");
}

struct ib_stat ib_trait_e2e_against_gaps(const struct ib_columns *c)
{
	double most = 0;
	size_t n = 0;

	if (!c->itl_at || !c->ttft_s || !c->e2e_s)
		return ib_stat_not_recorded("no gaps, first-token or end-to-end times in the file");
	for (size_t i = 0; i < c->n; i++) {
		double off = ib_columns_counts(c, i) && c->e2e_s[i] > 0 ? fabs(c->e2e_s[i] - c->ttft_s[i] - sum_of(c, i)) / c->e2e_s[i] : NAN;

		if (isnan(off))
			continue;
		most = fmax(most, off);
		n++;
	}
	return n ? ib_stat_value(most, n) : ib_stat_undefined("no succeeded request has all these times");
}
