/* SPDX-License-Identifier: Apache-2.0 */
/* From records to the numbers that a client states: summaries meet their records, then each claim is derived as its client computes it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/client.h"

/* --- joining --- */

static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool beside(const struct ib_result *a, const struct ib_result *b)
{
	size_t n = dir_len(a->file);

	return a->client == b->client && n == dir_len(b->file) && strncmp(a->file, b->file, n) == 0;
}

/* Index of the records of a summary: the only ones in its directory, or those that its client says are the same run's. all->n: none, or more than one. Where
 * there is no choice the client is not asked: records that do not fit are to be seen, not left aside. */
static size_t records_of(const struct ib_results *all, const struct ib_result *summary, size_t *ret_beside)
{
	size_t found = all->n, only = all->n, same = 0, summaries = 0;

	*ret_beside = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct ib_result *r = &all->v[i];

		if (!beside(summary, r))
			continue;
		summaries += r->part == IB_PART_SUMMARY && !r->within;
		if (r->part != IB_PART_RECORDS)
			continue;
		++*ret_beside;
		only = i;
		if (summary->client->same && !summary->client->same(summary, r))
			continue;
		same++;
		found = i;
	}
	if (*ret_beside == 1 && summaries == 1 && !summary->within)
		return only;
	return same == 1 ? found : all->n;
}

/* --- deriving --- */

/* As clients compute it: percentiles of any number of samples, a deviation of a single one is 0. */
static struct ib_stat of_series(const struct ib_series *s, const struct ib_moments *m, const struct ib_claim *c, double quantile)
{
	struct ib_stat st = ib_stat_value(m->mean, s->n);

	switch (c->measure) {
	case IB_MEASURE_STD:
		st.value = m->std;
		return st;
	case IB_MEASURE_STD_SAMPLE:
		if (s->n == 1)
			return ib_stat_undefined("one sample has no deviation");
		st.value = m->std * sqrt(m->count / (m->count - 1));
		return st;
	case IB_MEASURE_MIN:
		st.value = m->min;
		return st;
	case IB_MEASURE_MAX:
		st.value = m->max;
		return st;
	case IB_MEASURE_PERCENTILE:
		st.value = quantile;
		st.rule = c->rule;
		return st;
	case IB_MEASURE_SUM:
		st.value *= m->count;
		return st;
	case IB_MEASURE_COUNT:
		st.value = m->count;
		return st;
	default:
		return st;
	}
}

static bool to_derive(const struct ib_claim *c)
{
	return c->measure != IB_MEASURE_GIVEN && !c->settled;
}

static bool of_formula(const struct ib_claim *c, const struct ib_formula *f)
{
	return c->formula == f && to_derive(c) && c->measure != IB_MEASURE_SCALAR;
}

/* All claims about one formula's samples at once: the samples are gone through once for all percentiles. */
static void derive_series(struct ib_result *r, const struct ib_columns *columns, const struct ib_formula *f)
{
	ib_auto_free struct ib_quantile *q = ib_alloc((r->n_claims + 1) * sizeof(*q));
	ib_auto_series struct ib_series s = {0};
	struct ib_moments m;
	size_t n = 0;

	f->series(columns, &s);
	for (size_t i = 0; i < r->n_claims; i++)
		if (of_formula(&r->claims[i], f) && r->claims[i].measure == IB_MEASURE_PERCENTILE)
			q[n++] = (struct ib_quantile){.p = r->claims[i].p, .rule = r->claims[i].rule};
	m = ib_series_moments(&s);
	ib_series_quantiles(&s, q, n);
	n = 0;
	for (size_t i = 0; i < r->n_claims; i++) {
		struct ib_claim *c = &r->claims[i];

		if (!of_formula(c, f))
			continue;
		c->derived = s.state == IB_STAT_VALUE ? of_series(&s, &m, c, q[n].value) : ib_series_mean(&s);
		n += c->measure == IB_MEASURE_PERCENTILE;
	}
}

/* A deviation may err either way: it is not bounded by records whose times end too early. */
static bool in_doubt(const struct ib_claim *c)
{
	double above = (c->claimed - c->derived.value) / fabs(c->derived.value);

	if (c->measure == IB_MEASURE_STD || c->measure == IB_MEASURE_STD_SAMPLE)
		above = fabs(above);
	return c->doubt > 0 && above >= 0 && above <= c->doubt;
}

/* Without records, what the client's own totals give: not a derivation from what was measured, but a number to compare with. */
static void try_identity(struct ib_claim *c)
{
	if (!(c->identity < 0) && !(c->identity > 0))
		return;
	c->derived = ib_stat_value(c->identity, 0);
	c->status = ib_claim_compare(c->claimed, c->derived, c->tolerance);
	free(c->why);
	c->why = ib_strdup("from the client's own totals: no records");
}

static enum ib_claim_status status_of(const struct ib_claim *c)
{
	enum ib_claim_status status = ib_claim_compare(c->claimed, c->derived, c->tolerance);

	return status == IB_CLAIM_DIFFERS && fabs(c->claimed - c->derived.value) <= c->step ? IB_CLAIM_WITHIN : status;
}

/* excuse: why there are no records where there should be some, or NULL. A reason that the reader gave stays. */
static void compare(struct ib_claim *c, const char *excuse)
{
	c->derived.value *= c->scale;
	c->status = status_of(c);
	if (c->status == IB_CLAIM_DIFFERS && in_doubt(c)) {
		c->status = IB_CLAIM_NOT_DERIVABLE;
		c->derived = ib_stat_not_recorded("the records only bound it from below");
	}
	if (c->derived.state == IB_STAT_NOT_RECORDED)
		try_identity(c);
	if (c->status == IB_CLAIM_NOT_DERIVABLE && !c->why)
		c->why = ib_strdup(excuse && (c->formula->series || c->formula->scalar) ? excuse : c->derived.why);
}

/* Is claim i the first of its formula's series? */
static bool first_of(const struct ib_result *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (of_formula(&r->claims[k], r->claims[i].formula))
			return false;
	return true;
}

static void derive_claim(struct ib_result *r, size_t i, const struct ib_measured *m, const char *why_not)
{
	struct ib_claim *c = &r->claims[i];

	if (why_not)
		c->derived = ib_stat_not_recorded(why_not);
	else if (c->measure == IB_MEASURE_SCALAR && c->formula->scalar)
		c->derived = c->formula->scalar(m);
	else if (c->measure == IB_MEASURE_SCALAR || !c->formula->series)
		c->derived = ib_stat_not_recorded(c->formula->definition);
	else if (first_of(r, i))
		derive_series(r, m->columns, c->formula);
}

/* all NULL: a result that stands alone. */
static void derive_from(const struct ib_results *all, struct ib_result *r, const struct ib_result *records, const char *excuse)
{
	struct ib_slo slo;
	const char *goodput = r->settings.v[IB_SET_GOODPUT];
	struct ib_view view = {.columns = records->columns};
	const struct ib_measured m = {
		.columns = &view.columns, .duration_s = r->duration_s, .slo = goodput && ib_slo_parse(goodput, &slo) ? &slo : NULL};

	if (all && records != r && r->client->view)
		r->client->view(all, r, records, &view);
	for (size_t i = 0; i < r->n_claims; i++)
		if (to_derive(&r->claims[i]))
			derive_claim(r, i, &m, records->partial ? "the file does not hold all records of the run" : view.why);
	for (size_t i = 0; i < r->n_claims; i++)
		if (to_derive(&r->claims[i]))
			compare(&r->claims[i], excuse);
	free(view.warmup);
	free(view.output_tokens);
}

void ib_result_derive(struct ib_result *r)
{
	derive_from(NULL, r, r, NULL);
	for (size_t i = 0; i < r->n_claims; i++)
		r->claims[i].settled = true;
}

/* --- the records' place --- */

static void take_count(int64_t *to, int64_t from)
{
	if (from >= 0)
		*to = from;
}

static void take_counts(struct ib_requests *to, const struct ib_requests *from)
{
	take_count(&to->attempted, from->attempted);
	take_count(&to->succeeded, from->succeeded);
	take_count(&to->failed, from->failed);
	take_count(&to->timed_out, from->timed_out);
	take_count(&to->incomplete, from->incomplete);
	take_count(&to->without_output, from->without_output);
	take_count(&to->short_output, from->short_output);
	if (to->asked < 0)
		to->asked = from->asked;
}

/* What the records prove takes the place of what the summary counted: its own counts are claims already. */
static void take_records(struct ib_result *r, struct ib_result *records)
{
	r->columns = records->columns;
	records->columns = (struct ib_columns){0};
	take_counts(&r->requests, &records->requests);
	take_count(&r->input_tokens, records->input_tokens);
	take_count(&r->output_tokens, records->output_tokens);
	r->ttft = records->ttft;
	r->tpot = records->tpot;
	r->itl = records->itl;
	r->e2e = records->e2e;
	r->epoch = records->epoch;
	r->unknown_version = r->unknown_version || records->unknown_version;
	r->zone_unknown = r->zone_unknown && isnan(records->began_at);
	r->began_at = isnan(records->began_at) ? r->began_at : records->began_at;
	r->ended_at = isnan(records->ended_at) ? r->ended_at : records->ended_at;
	r->literals += records->literals;
	r->foreign_lines += records->foreign_lines;
	r->bom = r->bom || records->bom;
	if (!r->partial)
		r->partial = ib_steal(&records->partial);
	if (!r->cut)
		r->cut = ib_steal(&records->cut);
	if (!r->synthetic)
		r->synthetic = ib_steal(&records->synthetic);
	if (!r->client_version)
		r->client_version = ib_steal(&records->client_version);
	for (size_t k = 0; k < IB_SETTINGS; k++)
		ib_setting_put(&r->settings, (enum ib_setting_key)k, records->settings.v[k], records->settings.from[k]);
	for (size_t i = 0; i < records->n_hints; i++) {
		const struct ib_hint *h = &records->hints[i];

		ib_result_hint(r, h->check, h->key, h->expected, h->found, "%s", h->message);
	}
	for (size_t i = 0; i < records->missing.n; i++)
		ib_strv_add(&r->missing, records->missing.v[i]);
}

/* Each file of records goes into the first summary that is theirs and no part of another; then it has no result of its own. */
static void place_records(struct ib_results *all, const size_t *records)
{
	ib_auto_free bool *gone = ib_alloc(all->n + 1);
	size_t kept = 0;

	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < all->n; i++)
			if (records[i] < all->n && !gone[records[i]] && all->v[i].within == (pass == 1)) {
				take_records(&all->v[i], &all->v[records[i]]);
				gone[records[i]] = true;
			}
	for (size_t i = 0; i < all->n; i++) {
		if (gone[i])
			ib_result_clear(&all->v[i]);
		else
			all->v[kept++] = all->v[i];
	}
	all->n = kept;
}

/* --- what stands beside --- */

/* A configuration says what its neighbours leave out; then it has no result of its own, unless it stands alone. */
static void spread_configs(struct ib_results *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct ib_result *config = &all->v[i];

		for (size_t k = 0; config->part == IB_PART_CONFIG && k < all->n; k++) {
			struct ib_results one = {&all->v[k], 1};
			struct ib_settings around = config->settings;

			if (all->v[k].part == IB_PART_CONFIG || !beside(config, &all->v[k]))
				continue;
			if (all->v[k].within) /* the whole run's */
				around.v[IB_SET_REQUESTS] = NULL;
			ib_results_apply(&one, &around);
			if (!all->v[k].client_version)
				all->v[k].client_version = ib_strdup(config->client_version);
			config->within = true; /* taken */
		}
	}
	for (size_t i = 0; i < all->n; i++) {
		if (all->v[i].part == IB_PART_CONFIG && all->v[i].within)
			ib_result_clear(&all->v[i]);
		else
			all->v[kept++] = all->v[i];
	}
	all->n = kept;
}

/* A part of a run whose whole has no result is all that there is of it. */
static void settle_within(struct ib_results *all)
{
	ib_auto_free bool *whole = ib_alloc(all->n + 1);

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; all->v[i].within && k < all->n && !whole[i]; k++)
			whole[i] = all->v[k].part != IB_PART_RECORDS && !all->v[k].within && beside(&all->v[i], &all->v[k]);
	for (size_t i = 0; i < all->n; i++)
		all->v[i].within = all->v[i].within && whole[i];
}

void ib_results_derive(struct ib_results *all)
{
	ib_auto_free size_t *records = ib_alloc((all->n + 1) * sizeof(*records));

	spread_configs(all);
	settle_within(all);

	for (size_t i = 0; i < all->n; i++) {
		struct ib_result *r = &all->v[i];
		const char *excuse = NULL;
		size_t beside_n = 0;

		records[i] = r->part == IB_PART_SUMMARY ? records_of(all, r, &beside_n) : all->n;
		if (r->part == IB_PART_SUMMARY && records[i] == all->n)
			excuse = beside_n ? "more than one file of records stands beside it" : "the file of records is not there";
		derive_from(all, r, records[i] < all->n ? &all->v[records[i]] : r, excuse);
		if (records[i] < all->n)
			r->records_file = ib_strdup(all->v[records[i]].file);
	}
	place_records(all, records);
}
