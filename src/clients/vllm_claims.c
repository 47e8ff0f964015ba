/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that vllm bench serve prints, each with its formula and its derivation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/vllm.h"

#define CLAIMS_MAX 1000 /* statistics of one result */
#define WORD_MAX 48     /* of a statistic's name: longer ones are none */

static const char no_end_times[] = "the file keeps no end-to-end times; first-token time plus gaps gives another value";

/* What a statistic "mean_ttft_ms" is taken over, by the word between its prefix and "_ms". */
static const struct ib_formula *sample(const struct ib_result *r, const char *word)
{
	if (strcmp(word, "ttft") == 0)
		return r->ttft;
	if (strcmp(word, "tpot") == 0)
		return &ib_tpot_excl_first;
	if (strcmp(word, "itl") == 0)
		return r->itl;
	if (strcmp(word, "e2el") == 0)
		return r->e2e;
	if (strcmp(word, "client_queue_time") == 0)
		return &ib_queue_client;
	return strcmp(word, "e2el_including_client_queue") == 0 ? &ib_e2e_incl_queue : NULL;
}

enum kind { KIND_NONE, KIND_MEAN, KIND_MEDIAN, KIND_STD, KIND_PERCENTILE };

/* Splits "p99.9_ttft_ms" into kind, percentile and word. */
static enum kind split(const char *key, double *ret_p, char *word, size_t size)
{
	static const struct {
		const char *prefix;
		enum kind kind;
	} kinds[] = {{"mean_", KIND_MEAN}, {"median_", KIND_MEDIAN}, {"std_", KIND_STD}};
	enum kind kind = KIND_NONE;
	const char *rest = key;
	size_t n;

	*ret_p = 50;
	for (size_t i = 0; i < 3; i++)
		if (ib_starts(key, kinds[i].prefix)) {
			kind = kinds[i].kind;
			rest = key + strlen(kinds[i].prefix);
		}
	n = key[0] == 'p' && key[1] >= '0' && key[1] <= '9' ? strspn(key + 1, "0123456789.") : 0;
	if (n > 0 && n < 8 && key[1 + n] == '_') { /* so that nothing but digits and points is read: no 0x10, no 1e1 */
		char *end;

		*ret_p = strtod(key + 1, &end);
		if (*end == '_' && *ret_p <= 100) {
			kind = KIND_PERCENTILE;
			rest = end + 1;
		}
	}
	n = strlen(rest);
	if (kind == KIND_NONE || n < 4 || n - 3 >= size || !ib_ends(rest, "_ms"))
		return KIND_NONE;
	memcpy(word, rest, n - 3);
	word[n - 3] = '\0';
	return kind;
}

/* Derived with all others of its samples at once, by ib_result_derive(). */
static void claim_statistic(const char *key, double claimed, struct ib_result *r)
{
	static const enum ib_measure measures[] = {[KIND_MEAN] = IB_MEASURE_MEAN,
						   [KIND_MEDIAN] = IB_MEASURE_PERCENTILE,
						   [KIND_STD] = IB_MEASURE_STD,
						   [KIND_PERCENTILE] = IB_MEASURE_PERCENTILE};
	const struct ib_formula *f;
	struct ib_claim *c;
	enum kind kind;
	double p;
	char word[WORD_MAX], at[2 * WORD_MAX];

	kind = split(key, &p, word, sizeof(word));
	f = kind == KIND_NONE ? NULL : sample(r, word);
	if (!f)
		return;
	(void)snprintf(at, sizeof(at), "/%s", key);
	c = ib_result_expect(r, key, at, f, measures[kind], 1000, claimed, IB_CLAIM_TOLERANCE);
	if (!c)
		return;
	c->p = p;
	c->headline = kind != KIND_STD;
}

/* Where end-to-end times were rebuilt from gaps, a number that does not match proves nothing. */
static void excuse_rebuilt(const struct ib_result *r, struct ib_claim *c)
{
	if (r->e2e != &ib_e2e_ttft_plus_gaps || c->status != IB_CLAIM_DIFFERS || (c->formula != r->e2e && c->formula != &ib_tpot_excl_first))
		return;
	ib_claim_leave_open(c, no_end_times);
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Rates of files without records: the identity between the client's own totals. */
static struct ib_stat identity(const json_t *o, const struct ib_result *r, const char *a, const char *b)
{
	double sum = number(o, a) + (b ? number(o, b) : 0);

	if (isnan(sum) || isnan(r->duration_s))
		return ib_stat_not_recorded("neither records nor totals in the file");
	return ib_stat_ratio(ib_stat_value(sum, 0), r->duration_s);
}

struct total {
	const char *key;
	const struct ib_formula *formula;
	double tolerance;
	const char *a, *b; /* a rate: the totals above its line */
};

static const struct total totals[] = {
	{"completed", &ib_count_succeeded, 0, NULL, NULL},
	{"failed", &ib_count_failed, 0, NULL, NULL},
	{"total_input_tokens", &ib_sum_input_tokens, 0, NULL, NULL},
	{"total_output_tokens", &ib_sum_output_tokens, 0, NULL, NULL},
	{"request_throughput", &ib_requests_over_duration, IB_CLAIM_TOLERANCE, "completed", NULL},
	{"input_throughput", &ib_input_tokens_over_duration, IB_CLAIM_TOLERANCE, "total_input_tokens", NULL},
	{"output_throughput", &ib_output_tokens_over_duration, IB_CLAIM_TOLERANCE, "total_output_tokens", NULL},
	{"total_token_throughput", &ib_total_tokens_over_duration, IB_CLAIM_TOLERANCE, "total_input_tokens", "total_output_tokens"},
	{"max_output_tokens_per_s", &ib_peak_chunks_bucket, 0, NULL, NULL},
	{"max_concurrent_requests", &ib_peak_requests_bucket, 0, NULL, NULL},
};

static void claim_total(const json_t *o, const struct total *t, struct ib_result *r)
{
	struct ib_stat st;

	st = ib_result_scalar(r, t->formula);
	if (st.state == IB_STAT_NOT_RECORDED && t->a)
		st = identity(o, r, t->a, t->b);
	ib_result_claim(r, t->key, t->formula, number(o, t->key), st, t->tolerance, NULL);
	r->claims[r->n_claims - 1].headline = t->a != NULL; /* people quote rates */
}

/* First start to last end of the succeeded requests: no duration can be shorter. */
static double shortest(const struct ib_columns *c)
{
	double first = INFINITY, last = -INFINITY;

	if (!c->start_s || !c->e2e_s)
		return NAN;
	for (size_t i = 0; i < c->n; i++)
		if (ib_columns_counts(c, i)) {
			first = fmin(first, c->start_s[i]);
			last = fmax(last, c->start_s[i] + c->e2e_s[i]);
		}
	return last >= first ? last - first : NAN;
}

static void claim_duration(double claimed, struct ib_result *r)
{
	double least = shortest(&r->columns);
	struct ib_claim *c;

	ib_result_claim(r, "duration", &ib_duration_client, claimed, ib_stat_not_recorded("only a lower bound follows from the records"), 0, NULL);
	c = &r->claims[r->n_claims - 1];
	if (isnan(least) || claimed >= least - 1e-6)
		return;
	free(c->why);
	c->why = ib_asprintf("the requests themselves took %.6f s", least);
	c->status = IB_CLAIM_DIFFERS;
	c->derived = ib_stat_value(least, r->columns.n);
}

static void claim_statistics(json_t *o, struct ib_result *r)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v) {
		if (json_is_number(v))
			claim_statistic(key, json_number_value(v), r);
		if (r->n_claims > CLAIMS_MAX)
			break;
	}
	ib_result_derive(r);
	for (size_t i = 0; i < r->n_claims; i++)
		excuse_rebuilt(r, &r->claims[i]);
}

/* The client takes a missing first-token time for one of 0, which keeps every threshold. */
static bool zero_ttfts(const struct ib_columns *c)
{
	for (size_t i = 0; c->ttft_s && i < c->n; i++)
		if (ib_columns_counts(c, i) && !(c->ttft_s[i] > 0))
			return true;
	return false;
}

/* Derived last, when the thresholds are known: they stand on the command line alone. */
static void claim_goodput(const json_t *o, struct ib_result *r)
{
	static const char zeros[] = "some succeeded requests have no first-token time, which the client takes for 0";
	double claimed = number(o, "request_goodput");

	if (isnan(claimed))
		return;
	if (zero_ttfts(&r->columns) || r->e2e == &ib_e2e_ttft_plus_gaps)
		ib_result_claim(r, "request_goodput", &ib_goodput_client, claimed,
				ib_stat_not_recorded(r->e2e == &ib_e2e_ttft_plus_gaps ? no_end_times : zeros), IB_CLAIM_TOLERANCE, NULL);
	else
		ib_result_expect(r, "request_goodput", "/request_goodput", &ib_goodput_client, IB_MEASURE_SCALAR, 1, claimed, IB_CLAIM_TOLERANCE);
}

int ib_vllm_claims(json_t *o, struct ib_result *r, struct ib_err *err)
{
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		if (json_is_number(json_object_get(o, totals[i].key)))
			claim_total(o, &totals[i], r);
	if (json_is_number(json_object_get(o, "duration")))
		claim_duration(number(o, "duration"), r);
	claim_statistics(o, r);
	claim_goodput(o, r);
	if (r->n_claims > CLAIMS_MAX)
		return ib_fail_at(err, IB_E_LIMIT, r->file, "'%s' holds more than %d statistics", r->file, CLAIMS_MAX);
	return 0;
}
