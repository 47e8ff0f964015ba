/* SPDX-License-Identifier: Apache-2.0 */
/* Results and their claims. */
#include "clients/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "json/stream.h"

static const struct ib_requests unknown = {IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE,
					   IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE, IB_NOT_IN_FILE};

struct ib_result *ib_results_add(struct ib_results *r, const struct ib_client *client, const char *file)
{
	r->v = ib_realloc(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n] = (struct ib_result){
		.client = client,
		.file = ib_strdup(file),
		.requests = unknown,
		.input_tokens = IB_NOT_IN_FILE,
		.output_tokens = IB_NOT_IN_FILE,
		.ttft = &ib_ttft_first_chunk,
		.tpot = &ib_tpot_excl_first,
		.itl = &ib_itl_all_gaps,
		.e2e = &ib_e2e_last_token,
		.duration_s = NAN,
		.began_at = NAN,
		.ended_at = NAN,
		.concurrency_asked = IB_NOT_IN_FILE,
		.rate_asked = NAN,
	};
	return &r->v[r->n++];
}

void ib_result_clear(struct ib_result *r)
{
	for (size_t i = 0; i < r->n_claims; i++) {
		free(r->claims[i].name);
		free(r->claims[i].key);
		free(r->claims[i].why);
	}
	free(r->claims);
	for (size_t i = 0; i < r->n_hints; i++) {
		free(r->hints[i].key);
		free(r->hints[i].expected);
		free(r->hints[i].found);
		free(r->hints[i].message);
	}
	free(r->hints);
	free(r->client_version);
	free(r->file);
	free(r->label);
	free(r->records_file);
	free(r->partial);
	free(r->cut);
	free(r->synthetic);
	ib_settings_clear(&r->settings);
	ib_strv_clear(&r->missing);
	ib_columns_clear(&r->columns);
}

void ib_results_clear(struct ib_results *r)
{
	for (size_t i = 0; i < r->n; i++)
		ib_result_clear(&r->v[i]);
	free(r->v);
	*r = (struct ib_results){0};
}

void ib_results_move(struct ib_results *dst, struct ib_results *src)
{
	if (src->n) {
		dst->v = ib_realloc(dst->v, dst->n + src->n, sizeof(*dst->v));
		memcpy(dst->v + dst->n, src->v, src->n * sizeof(*src->v));
		dst->n += src->n;
	}
	free(src->v);
	*src = (struct ib_results){0};
}

enum ib_claim_status ib_claim_compare(double claimed, struct ib_stat derived, double tolerance)
{
	double most = fmax(fabs(claimed), fabs(derived.value));

	if (derived.state != IB_STAT_VALUE)
		return IB_CLAIM_NOT_DERIVABLE;
	if (!isfinite(derived.value)) /* infinity is within any share of itself */
		return IB_CLAIM_DIFFERS;
	if (!(claimed < derived.value) && !(claimed > derived.value))
		return IB_CLAIM_EXACT;
	return fabs(claimed - derived.value) <= tolerance * most ? IB_CLAIM_WITHIN : IB_CLAIM_DIFFERS;
}

static struct ib_claim *add_claim(struct ib_result *r, const struct ib_claim *what)
{
	r->claims = ib_realloc(r->claims, r->n_claims + 1, sizeof(*r->claims));
	r->claims[r->n_claims] = *what;
	return &r->claims[r->n_claims++];
}

struct ib_claim *ib_result_expect(struct ib_result *r, const char *name, const char *key, const struct ib_formula *f, enum ib_measure measure, double scale,
				  double claimed, double tolerance)
{
	if (isnan(claimed) || r->n_claims >= IB_CLAIMS_MAX)
		return NULL;
	return add_claim(r, &(struct ib_claim){
				    .name = ib_strdup(name),
				    .key = ib_strdup(key),
				    .formula = f,
				    .measure = measure,
				    .p = 50,
				    .rule = measure == IB_MEASURE_PERCENTILE ? IB_RULE_LINEAR : IB_RULE_NONE,
				    .scale = scale,
				    .claimed = claimed,
				    .derived = ib_stat_not_recorded("not derived yet"),
				    .tolerance = tolerance,
			    });
}

void ib_claim_leave_open(struct ib_claim *c, const char *why)
{
	if (!c)
		return;
	c->measure = IB_MEASURE_GIVEN;
	c->derived = ib_stat_not_recorded(why);
	c->status = IB_CLAIM_NOT_DERIVABLE;
	free(c->why);
	c->why = ib_strdup(why);
}

void ib_result_claim(struct ib_result *r, const char *key, const struct ib_formula *f, double claimed, struct ib_stat derived, double tolerance,
		     const char *why)
{
	struct ib_claim *c = add_claim(r, &(struct ib_claim){
						  .name = ib_strdup(key),
						  .key = ib_asprintf("/%s", key),
						  .formula = f,
						  .scale = 1,
						  .claimed = claimed,
						  .derived = derived,
						  .status = ib_claim_compare(claimed, derived, tolerance),
						  .tolerance = tolerance,
					  });

	if (c->status == IB_CLAIM_NOT_DERIVABLE)
		c->why = ib_strdup(why ? why : derived.why);
}

void ib_result_hint(struct ib_result *r, const char *check, const char *key, const char *expected, const char *found, const char *fmt, ...)
{
	struct ib_hint *h;
	va_list ap;

	if (r->n_hints >= IB_HINTS_MAX)
		return;
	if (r->n_hints == IB_HINTS_MAX - 1) { /* whatever comes may be worse than what is there */
		check = "A03";
		key = expected = found = NULL;
		fmt = "more is wrong with it than can be listed";
	}
	r->hints = ib_realloc(r->hints, r->n_hints + 1, sizeof(*r->hints));
	h = &r->hints[r->n_hints++];
	*h = (struct ib_hint){.check = check, .key = ib_strdup(key), .expected = ib_strdup(expected), .found = ib_strdup(found)};
	va_start(ap, fmt);
	if (vasprintf(&h->message, fmt, ap) < 0)
		abort();
	va_end(ap);
}

void ib_result_span(struct ib_result *r, const char *name, double s)
{
	if (!isnan(s) && r->n_spans < IB_SPANS_MAX)
		r->spans[r->n_spans++] = (struct ib_span){name, s};
}

void ib_result_notes(struct ib_result *r, const struct ib_stream_notes *n)
{
	r->literals = n->literals;
	r->foreign_lines = n->foreign_lines;
	r->bom = n->bom;
}

static int64_t whole(struct ib_stat s)
{
	return s.state == IB_STAT_VALUE && s.value < 9e15 ? (int64_t)s.value : IB_NOT_IN_FILE;
}

/* How many measured rows ended as o. */
static int64_t rows(const struct ib_columns *c, enum ib_outcome o)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->outcome[i] == o && !(c->warmup && c->warmup[i]);
	return n;
}

int64_t ib_columns_short(const struct ib_columns *c)
{
	int64_t n = 0;

	if (!c->output_asked || !c->output_tokens)
		return IB_NOT_IN_FILE;
	for (size_t i = 0; i < c->n; i++) {
		if (!ib_columns_counts(c, i))
			continue;
		if (c->output_asked[i] < 0 || c->output_tokens[i] < 0)
			return IB_NOT_IN_FILE;
		n += c->output_tokens[i] < c->output_asked[i];
	}
	return n;
}

void ib_result_count(struct ib_result *r)
{
	const struct ib_measured m = {.columns = &r->columns, .duration_s = r->duration_s};
	const struct ib_columns *c = &r->columns;

	r->requests.attempted = whole(ib_count_attempted.scalar(&m));
	if (rows(c, IB_OUTCOME_UNKNOWN) == 0) {
		r->requests.succeeded = rows(c, IB_OUTCOME_SUCCEEDED);
		r->requests.failed = rows(c, IB_OUTCOME_FAILED);
	}
	r->requests.short_output = ib_columns_short(c);
	r->input_tokens = whole(ib_sum_input_tokens.scalar(&m));
	r->output_tokens = whole(ib_sum_output_tokens.scalar(&m));
}

struct ib_stat ib_result_percentile(const struct ib_result *r, const struct ib_formula *f, double p)
{
	ib_auto_series struct ib_series s = {0};

	f->series(&r->columns, &s);
	return ib_series_percentile(&s, p, IB_RULE_LINEAR);
}

struct ib_interval ib_result_percentile_interval(const struct ib_result *r, const struct ib_formula *f, double p)
{
	ib_auto_series struct ib_series s = {0};

	f->series(&r->columns, &s);
	if (s.state == IB_STAT_VALUE && f->samples && strcmp(f->samples, IB_SAMPLE_GAP) == 0)
		return (struct ib_interval){IB_STAT_UNDEFINED, NAN, NAN, NAN, s.n, "the gaps of one response are not independent"};
	return ib_series_interval(&s, p);
}

struct ib_stat ib_result_scalar(const struct ib_result *r, const struct ib_formula *f)
{
	const struct ib_measured m = {.columns = &r->columns, .duration_s = r->duration_s};

	return f->scalar(&m);
}

const struct ib_claim *ib_result_find_claim(const struct ib_result *r, const char *name)
{
	for (size_t i = 0; i < r->n_claims; i++)
		if (strcmp(r->claims[i].name, name) == 0)
			return &r->claims[i];
	return NULL;
}

const char *ib_claim_status_name(enum ib_claim_status s)
{
	static const char *const names[] = {
		[IB_CLAIM_NOT_DERIVABLE] = "not_derivable", [IB_CLAIM_EXACT] = "exact", [IB_CLAIM_WITHIN] = "within", [IB_CLAIM_DIFFERS] = "differs"};

	return names[s];
}
