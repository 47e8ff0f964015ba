/* SPDX-License-Identifier: Apache-2.0 */
/* What records show of the work done: lengths against those asked for, repeated prompts, equal outputs; and percentiles that are maxima. */
#include <math.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/str.h"
#include "metrics/traits.h"

static const char no_asked[] = "no length asked for is known, or none that came";

/* Sums over the succeeded rows whose length and length asked for are known. */
struct lengths {
	long double ratios;
	size_t n, fewer, equal;
};

static struct lengths against(const struct ib_columns *c, const int64_t *got, const int64_t *asked, int64_t asked_all)
{
	struct lengths l = {0};

	for (size_t i = 0; got && i < c->n; i++) {
		int64_t a = asked && asked[i] >= 0 ? asked[i] : asked_all;

		if (!ib_columns_counts(c, i) || got[i] < 0 || a <= 0)
			continue;
		l.ratios += (long double)got[i] / (long double)a;
		l.fewer += got[i] < a;
		l.equal += got[i] == a;
		l.n++;
	}
	return l;
}

static struct ib_stat share_of(double sum, size_t n)
{
	return n ? ib_stat_value(sum / (double)n, n) : ib_stat_not_recorded(no_asked);
}

struct ib_stat ib_trait_output_over_asked(const struct ib_columns *c, int64_t asked_all)
{
	struct lengths l = against(c, c->output_tokens, c->output_asked, asked_all);

	return share_of((double)l.ratios, l.n);
}

struct ib_stat ib_trait_output_short(const struct ib_columns *c, int64_t asked_all)
{
	struct lengths l = against(c, c->output_tokens, c->output_asked, asked_all);

	return share_of((double)l.fewer, l.n);
}

struct ib_stat ib_trait_output_as_asked(const struct ib_columns *c, int64_t asked_all)
{
	struct lengths l = against(c, c->output_tokens, c->output_asked, asked_all);

	return share_of((double)l.equal, l.n);
}

struct ib_stat ib_trait_input_over_asked(const struct ib_columns *c, int64_t asked_all)
{
	struct lengths l = against(c, c->input_tokens, c->input_asked, asked_all);

	return share_of((double)l.ratios, l.n);
}

struct ib_stat ib_trait_output_constant(const struct ib_columns *c)
{
	int64_t length = -1;
	bool same = true;
	size_t n = 0;

	if (!c->output_tokens)
		return ib_stat_not_recorded("no output lengths in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || c->output_tokens[i] < 0)
			continue;
		same = same && (n == 0 || c->output_tokens[i] == length);
		length = c->output_tokens[i];
		n++;
	}
	return n > 1 ? ib_stat_value(same, n) : ib_stat_undefined("fewer than 2 succeeded requests have an output length");
}

struct ib_stat ib_trait_without_output(const struct ib_columns *c)
{
	size_t n = 0, none = 0;

	if (!c->output_tokens)
		return ib_stat_not_recorded("no output lengths in the file");
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i) || c->output_tokens[i] < 0)
			continue;
		none += c->output_tokens[i] == 0;
		n++;
	}
	return ib_stat_value((double)none, n);
}

struct ib_stat ib_trait_server_count_off(const struct ib_columns *c)
{
	int64_t most = 0;
	size_t n = 0;

	if (!c->output_tokens || !c->output_server)
		return ib_stat_not_recorded("not both the client's and the server's output counts are in the file");
	for (size_t i = 0; i < c->n; i++) {
		int64_t off = c->output_server[i] - c->output_tokens[i];

		if (!ib_columns_counts(c, i) || c->output_tokens[i] < 0 || c->output_server[i] < 0)
			continue;
		most = llabs(off) > most ? llabs(off) : most;
		n++;
	}
	return n ? ib_stat_value((double)most, n) : ib_stat_undefined("no succeeded request has both counts");
}

/* --- texts --- */

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct ib_stat ib_trait_prompts_repeated(const struct ib_columns *c)
{
	ib_auto_free uint64_t *hashes = NULL;
	size_t n = 0, repeated = 0;

	if (!c->prompt_hash)
		return ib_stat_not_recorded("no prompts in the file");
	hashes = ib_realloc(NULL, c->n + 1, sizeof(*hashes));
	for (size_t i = 0; i < c->n; i++)
		if (c->prompt_hash[i] && !(c->warmup && c->warmup[i]))
			hashes[n++] = c->prompt_hash[i];
	if (n == 0)
		return ib_stat_undefined("no measured request has a prompt in the file");
	qsort(hashes, n, sizeof(*hashes), ascending);
	for (size_t i = 1; i < n; i++)
		repeated += hashes[i] == hashes[i - 1];
	return ib_stat_value((double)repeated / (double)n, n);
}

static bool other_prompts(const struct ib_columns *a, const struct ib_columns *b, size_t i)
{
	return a->prompt_hash && b->prompt_hash && a->prompt_hash[i] && b->prompt_hash[i] && a->prompt_hash[i] != b->prompt_hash[i];
}

struct ib_stat ib_trait_outputs_equal(const struct ib_columns *a, const struct ib_columns *b)
{
	size_t n = 0, equal = 0;

	if (!a->output_hash || !b->output_hash)
		return ib_stat_not_recorded("no outputs in one of the files");
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		if (!ib_columns_counts(a, i) || !ib_columns_counts(b, i) || !a->output_hash[i] || !b->output_hash[i] || other_prompts(a, b, i))
			continue;
		equal += a->output_hash[i] == b->output_hash[i];
		n++;
	}
	return n ? ib_stat_value((double)equal / (double)n, n) : ib_stat_undefined("no row has an output and the same prompt in both");
}

/* --- percentiles --- */

bool ib_trait_percentile_is_max(double value, double p, double max, size_t n, int decimals)
{
	double within = 1e-9 * fabs(max);

	if (!(p > 50 && p < 100) || n == 0 || n >= ib_percentile_needs(p))
		return false;
	if (decimals >= 0)
		within = fmax(within, 0.5 * pow(10, -decimals) + 1e-12 * fabs(max));
	return fabs(value - max) <= within;
}
