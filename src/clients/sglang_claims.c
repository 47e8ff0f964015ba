/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that SGLang's benchmark prints, each with its formula, and what its way to count tokens hides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clients/sglang.h"
#include "clients/statistic.h"

#define EXACT 1e-9
#define NEAR 2e-3   /* of what is rebuilt from the gaps */
#define DOUBT 1.5e-2 /* the wait for the end of a stream has been seen to add that much */

static const char rebuilt[] = "approximate: the file keeps no end-to-end times; first-token time plus gaps ends before the stream is closed";

/* --- distributions --- */

enum word { TTFT, TPOT, ITL, E2E };

static const struct {
	const char *suffix;
	enum word word;
} suffixes[] = {{"_ttft_ms", TTFT}, {"_tpot_ms", TPOT}, {"_itl_ms", ITL}, {"_e2e_latency_ms", E2E}};

static const struct ib_formula *formula_of(const struct ib_result *r, enum word w)
{
	switch (w) {
	case TTFT:
		return r->ttft;
	case TPOT:
		return &ib_tpot_excl_first;
	case ITL:
		return r->itl;
	default:
		return r->e2e;
	}
}

/* With speculative decoding, some backends divide each gap by the tokens of its chunk, as the client's tokenizer counts them. */
static bool gaps_divided(const struct ib_sglang_line *l)
{
	return ib_statistic_number(l->numbers, "accept_length") > 0 && l->backend && ib_starts(l->backend, "sglang-oai");
}

/* "p99_ttft_ms": a statistic in front of a suffix. */
static void claim_statistic(const struct ib_sglang_line *l, struct ib_result *r, const char *key, double claimed)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		enum word w = suffixes[i].word;
		struct ib_statistic s;
		struct ib_claim *c;
		char at[64];

		if (!ib_ends(key, suffixes[i].suffix) || n >= sizeof(at) || !ib_statistic_parse(key, n - strlen(suffixes[i].suffix), &s))
			continue;
		if (w == ITL && gaps_divided(l)) {
			ib_result_claim(r, key, &ib_claimed_only, claimed, ib_stat_not_recorded("each gap is divided by the tokens of its chunk"), 0, NULL);
			return;
		}
		at[0] = '/';
		memcpy(at + 1, key, n + 1);
		c = ib_result_expect(r, key, at, formula_of(r, w), s.measure, 1000, claimed, w == TPOT || w == E2E ? NEAR : EXACT);
		if (!c)
			return;
		c->p = s.p;
		c->headline = ib_statistic_quoted(&s);
		if (l->details && (w == TPOT || w == E2E)) {
			c->doubt = DOUBT;
			c->why = ib_strdup(rebuilt);
		}
		return;
	}
}

/* --- counts and rates --- */

struct total {
	const char *key;
	const struct ib_formula *formula;
	double tolerance;
	const char *a, *b; /* a rate: the totals above its line */
	bool headline;
};

static const struct total totals[] = {
	{"completed", &ib_count_succeeded, 0, NULL, NULL, true},
	{"total_input_tokens", &ib_sum_input_tokens, 0, NULL, NULL, false},
	{"total_output_tokens", &ib_sum_output_tokens, 0, NULL, NULL, true},
	{"request_throughput", &ib_requests_over_duration, EXACT, "completed", NULL, true},
	{"input_throughput", &ib_input_tokens_over_duration, EXACT, "total_input_tokens", NULL, false},
	{"output_throughput", &ib_output_tokens_over_duration, EXACT, "total_output_tokens", NULL, true},
	{"total_throughput", &ib_total_tokens_over_duration, EXACT, "total_input_tokens", "total_output_tokens", true},
	{"max_output_tokens_per_s", &ib_peak_chunks_bucket, 0, NULL, NULL, false},
	{"max_concurrent_requests", &ib_peak_requests_bucket, 0, NULL, NULL, false},
};

static double sum_of(const struct ib_sglang_line *l, const char *a, const char *b)
{
	return ib_statistic_number(l->numbers, a) + (b ? ib_statistic_number(l->numbers, b) : 0);
}

/* Without records, a rate is compared with the client's own totals. */
static void claim_total(const struct ib_sglang_line *l, struct ib_result *r, const struct total *t)
{
	double claimed = ib_statistic_number(l->numbers, t->key), sum = t->a ? sum_of(l, t->a, t->b) : NAN;
	struct ib_claim *c;
	char at[64];

	if (isnan(claimed))
		return;
	if (!l->details && !isnan(sum) && !isnan(l->duration_s)) {
		ib_result_claim(r, t->key, t->formula, claimed, ib_stat_ratio(ib_stat_value(sum, 0), l->duration_s), t->tolerance, NULL);
		r->claims[r->n_claims - 1].headline = t->headline;
		return;
	}
	at[0] = '/';
	memcpy(at + 1, t->key, strlen(t->key) + 1);
	c = ib_result_expect(r, t->key, at, t->formula, IB_MEASURE_SCALAR, 1, claimed, t->tolerance);
	if (c)
		c->headline = t->headline;
}

/* The mean number of requests in flight is the sum of the end-to-end times over the duration: an identity of the client's own numbers, exact where the records
 * are not. */
static void claim_concurrency(const struct ib_sglang_line *l, struct ib_result *r)
{
	double claimed = ib_statistic_number(l->numbers, "concurrency");
	double sum = ib_statistic_number(l->numbers, "mean_e2e_latency_ms") / 1000 * ib_statistic_number(l->numbers, "completed");
	struct ib_stat st = ib_stat_not_recorded("no mean end-to-end time in the file");

	if (isnan(claimed))
		return;
	if (!isnan(sum) && !isnan(l->duration_s))
		st = ib_stat_ratio(ib_stat_value(sum, 0), l->duration_s);
	ib_result_claim(r, "concurrency", &ib_concurrency_mean, claimed, st, EXACT, NULL);
}

static void claim_not_derivable(const struct ib_sglang_line *l, struct ib_result *r, const char *key, const struct ib_formula *f, const char *why)
{
	double claimed = ib_statistic_number(l->numbers, key);

	if (!isnan(claimed))
		ib_result_claim(r, key, f, claimed, ib_stat_not_recorded(why), 0, NULL);
}

/* Where the server sends its own counts, input_lens holds them, while the total is that of the data set. */
static void excuse_input(struct ib_result *r)
{
	const struct ib_columns *c = &r->columns;
	bool constant = true;

	for (size_t i = 1; i < c->n && c->output_tokens; i++)
		constant = constant && (c->output_tokens[i] == c->output_tokens[0] || c->outcome[i] != IB_OUTCOME_SUCCEEDED);
	for (size_t i = 0; i < r->n_claims; i++) {
		struct ib_claim *k = &r->claims[i];

		if (constant || k->status != IB_CLAIM_DIFFERS || (k->formula != &ib_sum_input_tokens && k->formula != &ib_input_tokens_over_duration &&
								  k->formula != &ib_total_tokens_over_duration))
			continue;
		ib_claim_leave_open(k, "the lengths of the requests are the server's counts, this number is the data set's");
	}
}

/* Only thresholds of the time to first token can be tried: the rest rest on end-to-end times. */
static void claim_goodput(const struct ib_sglang_line *l, struct ib_result *r)
{
	double claimed = ib_statistic_number(l->numbers, "request_goodput");
	bool ends = json_object_get(l->slos, "tpot") || json_object_get(l->slos, "e2el");

	if (isnan(claimed))
		return;
	if (ends || !l->details)
		claim_not_derivable(l, r, "request_goodput", &ib_goodput_client, "no end-to-end times in the file");
	else
		ib_result_expect(r, "request_goodput", "/request_goodput", &ib_goodput_client, IB_MEASURE_SCALAR, 1, claimed, EXACT);
}

void ib_sglang_claims(const struct ib_sglang_line *l, struct ib_result *r)
{
	const char *key;
	json_t *v;

	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		claim_total(l, r, &totals[i]);
	claim_concurrency(l, r);
	claim_goodput(l, r);
	claim_not_derivable(l, r, "total_output_tokens_retokenized", &ib_claimed_only, "the client's tokenizer is not at hand");
	if (!isnan(l->duration_s))
		ib_result_claim(r, "duration", &ib_duration_client, l->duration_s, ib_stat_not_recorded("no start or end times in the file"), 0, NULL);
	json_object_foreach(l->numbers, key, v) {
		if (json_is_number(v))
			claim_statistic(l, r, key, json_number_value(v));
	}
	if (!l->details)
		return;
	ib_result_derive(r);
	excuse_input(r);
}

/* --- hints --- */

/* Succeeded requests whose chunks are fewer than the tokens that they are counted with. IB_NOT_IN_FILE: a chunk is not a token here. */
static int64_t short_streams(const struct ib_columns *c, int64_t *ret_chunks)
{
	int64_t n = 0, whole = 0;

	*ret_chunks = 0;
	if (!c->itl_at || !c->output_tokens)
		return IB_NOT_IN_FILE;
	for (size_t i = 0; i < c->n; i++) {
		int64_t chunks = (int64_t)(c->itl_at[i + 1] - c->itl_at[i]) + 1;

		if (!ib_columns_counts(c, i))
			continue;
		*ret_chunks += chunks;
		if (chunks > c->output_tokens[i])
			return IB_NOT_IN_FILE;
		n += chunks < c->output_tokens[i];
		whole += chunks == c->output_tokens[i];
	}
	return whole ? n : IB_NOT_IN_FILE;
}

void ib_sglang_hints(const struct ib_sglang_line *l, struct ib_result *r)
{
	double total = ib_statistic_number(l->numbers, "total_output_tokens"), again = ib_statistic_number(l->numbers, "total_output_tokens_retokenized");
	double tpot = ib_statistic_number(l->numbers, "mean_tpot_ms"), itl = ib_statistic_number(l->numbers, "mean_itl_ms");
	double missing = (total - again) / total;
	char *expected, *found;
	int64_t chunks, n;

	if (!(total > 0) || !(again >= 0) || !(missing > 0.05 || (missing > 0.01 && tpot < 0.99 * itl)))
		return;
	expected = ib_asprintf("%.0f tokens", total);
	found = ib_asprintf("%.0f tokens in the texts", again);
	ib_result_hint(r, "A16", "/total_output_tokens_retokenized", expected, found,
		       "the output tokens are those that were asked for, not those that came: rates and time per output token rest on them");
	free(expected);
	free(found);
	n = short_streams(&r->columns, &chunks);
	if (n <= 0 || fabs((double)chunks - again) > 0.01 * again) /* a token a chunk, or the gaps do not tell */
		return;
	r->requests.short_output = n;
	ib_result_hint(r, "A08", "/output_lens", NULL, NULL,
		       "%lld of the requests counted as complete ended before the tokens that they are counted with", (long long)n);
}
