/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of a result as ib-requests(5), JSON Lines or CSV. */
#include "clients/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "clients/client.h"
#include "clients/ib_requests.h"

#define PART (64u << 10) /* bytes collected before they are written */
#define EPOCH_MAX 9e9    /* seconds since 1970 that fit a time in nanoseconds */

struct writer {
	const struct ib_result *r;
	const struct ib_columns *c;
	const struct ib_drain *out;
	struct ib_buf b;
	double first;    /* start times count from here; NaN: there are none */
	size_t left_out; /* times that the form cannot carry */
};

enum ib_requests_form ib_requests_form_of(const char *path)
{
	return ib_ends(path, ".csv") ? IB_REQUESTS_CSV : IB_REQUESTS_JSONL;
}

static int flush(struct writer *w, size_t at_least, struct ib_err *err)
{
	int r = 0;

	if (w->b.len >= at_least && w->b.len)
		r = w->out->write(w->out->arg, w->b.data, w->b.len, err);
	if (r == 0 && w->b.len >= at_least)
		ib_buf_reset(&w->b);
	return r;
}

/* --- values --- */

/* Nanoseconds, or -1: not recorded, or no time that can be written. */
static int64_t ns(double s)
{
	double v = s * IB_REQUESTS_NS;

	return v >= 0 && v < (double)IB_REQUESTS_MAX - 1 ? llrint(v) : IB_NOT_IN_FILE;
}

static const void *column(const struct ib_columns *c, const struct ib_requests_field *f)
{
	const void *v;

	memcpy(&v, (const char *)c + f->in_columns, sizeof(v));
	return v;
}

static int64_t number(const struct writer *w, enum ib_requests_number k, size_t i)
{
	const void *v = column(w->c, &ib_requests_fields[k]);

	if (!v)
		return IB_NOT_IN_FILE;
	if (!ib_requests_fields[k].time) {
		int64_t count = ((const int64_t *)v)[i];

		return count < IB_REQUESTS_MAX ? count : IB_NOT_IN_FILE;
	}
	return ns(((const double *)v)[i] - (k == IB_REQUESTS_START ? w->first : 0));
}

static bool warm(const struct ib_columns *c, size_t i)
{
	return c->warmup && c->warmup[i];
}

static enum ib_outcome outcome(const struct ib_columns *c, size_t i)
{
	return c->outcome ? (enum ib_outcome)c->outcome[i] : IB_OUTCOME_UNKNOWN;
}

static const char *outcome_word(enum ib_outcome o)
{
	static const char *const words[] = {
		[IB_OUTCOME_UNKNOWN] = "unknown", [IB_OUTCOME_SUCCEEDED] = "ok", [IB_OUTCOME_FAILED] = "error",
		[IB_OUTCOME_TIMED_OUT] = "timeout", [IB_OUTCOME_INCOMPLETE] = "incomplete",
	};

	return words[o];
}

/* Columns do not say why a request failed. */
static const char *error_class(enum ib_outcome o)
{
	static const char *const words[] = {
		[IB_OUTCOME_UNKNOWN] = NULL, [IB_OUTCOME_SUCCEEDED] = NULL, [IB_OUTCOME_FAILED] = "not_recorded",
		[IB_OUTCOME_TIMED_OUT] = "timeout", [IB_OUTCOME_INCOMPLETE] = "cancelled",
	};

	return words[o];
}

/* Are the gaps of row i written? Those with a negative one are not: half a list would be worse than none. */
static bool has_gaps(const struct ib_columns *c, size_t i)
{
	if (!c->itl_at || (c->itl_at[i] == c->itl_at[i + 1] && outcome(c, i) != IB_OUTCOME_SUCCEEDED))
		return false;
	for (size_t k = c->itl_at[i]; k < c->itl_at[i + 1]; k++)
		if (ns(c->itl_s[k]) < 0)
			return false;
	return true;
}

/* --- the header --- */

static void survey(struct writer *w)
{
	const struct ib_columns *c = w->c;

	w->first = NAN;
	for (size_t i = 0; c->start_s && i < c->n; i++)
		if (isfinite(c->start_s[i]) && !(w->first <= c->start_s[i]))
			w->first = c->start_s[i];
	for (size_t i = 0; i < c->n; i++) {
		for (enum ib_requests_number k = 0; k < IB_REQUESTS_NUMBERS; k++) {
			const double *v = ib_requests_fields[k].time ? column(c, &ib_requests_fields[k]) : NULL;

			w->left_out += v && !isnan(v[i]) && number(w, k, i) < 0;
		}
		if (c->itl_at && c->itl_at[i] < c->itl_at[i + 1] && !has_gaps(c, i))
			w->left_out += c->itl_at[i + 1] - c->itl_at[i];
	}
}

static json_t *program(const char *name, const char *version)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "name", name);
	ib_json_set_str(o, "version", version);
	return o;
}

static json_t *source_json(const struct ib_result *r)
{
	json_t *o = ib_json_object();

	ib_json_set_str(o, "file", r->records_file ? r->records_file : r->file);
	ib_json_set_int(o, "index", (int64_t)r->index);
	ib_json_set_str(o, "schema_id", r->schema_id);
	ib_json_set_str(o, "label", r->label);
	return o;
}

static json_t *formulas_json(const struct ib_result *r)
{
	const struct {
		const char *key;
		const struct ib_formula *f;
	} rows[] = {{"ttft", r->ttft}, {"tpot", r->tpot}, {"itl", r->itl}, {"e2e", r->e2e}};
	json_t *o = ib_json_object();

	for (size_t i = 0; i < IB_LEN(rows); i++)
		ib_json_set_str(o, rows[i].key, rows[i].f ? rows[i].f->name : NULL);
	return o;
}

static void set_count(json_t *o, const char *key, int64_t v)
{
	if (v >= 0 && v < IB_REQUESTS_MAX)
		ib_json_set_int(o, key, v);
}

static void set_whole(json_t *o, const char *key, const struct ib_settings *s, enum ib_setting_key k)
{
	double v = ib_setting_number(s, k);

	if (fabs(v) < (double)IB_REQUESTS_MAX && !(v < floor(v)) && !(v > floor(v)))
		ib_json_set_int(o, key, (int64_t)v);
}

static json_t *args_json(const struct ib_result *r)
{
	const struct ib_settings *s = &r->settings;
	json_t *o = ib_json_object();
	int64_t warmups = 0;

	for (size_t i = 0; i < r->columns.n; i++)
		warmups += warm(&r->columns, i);
	if (s->v[IB_SET_MODEL])
		ib_json_set_str(o, "model", s->v[IB_SET_MODEL]);
	set_whole(o, "seed", s, IB_SET_SEED);
	set_count(o, "num_prompts", r->requests.asked);
	set_count(o, "num_warmups", warmups ? warmups : IB_NOT_IN_FILE);
	set_count(o, "max_concurrency", r->concurrency_asked);
	if (isinf(r->rate_asked))
		ib_json_set(o, "request_rate_hz", NULL);
	else if (r->rate_asked > 0)
		ib_json_set_real(o, "request_rate_hz", r->rate_asked);
	set_whole(o, "input_tokens", s, IB_SET_INPUT_LEN);
	set_whole(o, "output_tokens", s, IB_SET_OUTPUT_LEN);
	return o;
}

static json_t *settings_json(const struct ib_settings *s)
{
	json_t *o = ib_json_object();

	for (enum ib_setting_key k = IB_SET_NOTHING + 1; k < IB_SETTINGS; k++)
		if (s->v[k])
			ib_json_set_str(o, ib_setting_name(k), s->v[k]);
	return o;
}

static void set_origin(const struct writer *w, json_t *o)
{
	char text[IB_TIME_LEN];

	if (!w->r->epoch || !(w->first >= 0) || w->first > EPOCH_MAX) {
		ib_json_set(o, "origin_at", NULL);
		return;
	}
	ib_time_text((int64_t)llrint(w->first * IB_REQUESTS_NS), 9, text);
	ib_json_set_str(o, "origin_at", text);
}

static json_t *header(const struct writer *w)
{
	const struct ib_result *r = w->r;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "schema", IB_REQUESTS_SCHEMA);
	ib_json_set(o, "client", program(r->client->name, r->client_version));
	ib_json_set(o, "converter", program("ibtools", PACKAGE_VERSION));
	ib_json_set_str(o, "kind", r->any_benchmark ? "samples" : "requests");
	ib_json_set(o, "source", source_json(r));
	set_origin(w, o);
	ib_json_set(o, "window", NULL);
	set_count(o, "duration_ns", ns(r->duration_s));
	ib_json_set_str(o, "covers", r->window);
	ib_json_set(o, "complete", r->cut ? json_false() : NULL);
	ib_json_set_str(o, "partial", r->partial);
	ib_json_set(o, "synthetic", r->synthetic ? json_true() : NULL);
	ib_json_set(o, "formulas", formulas_json(r));
	ib_json_set(o, "args", args_json(r));
	ib_json_set(o, "settings", settings_json(&r->settings));
	ib_json_set_int(o, "left_out", (int64_t)w->left_out);
	return o;
}

/* --- rows --- */

static int write_gaps(struct writer *w, size_t i, const char *between, struct ib_err *err)
{
	for (size_t k = w->c->itl_at[i]; k < w->c->itl_at[i + 1]; k++) {
		int r = flush(w, PART, err);

		if (r < 0)
			return r;
		ib_buf_addf(&w->b, "%s%lld", k > w->c->itl_at[i] ? between : "", (long long)ns(w->c->itl_s[k]));
	}
	return 0;
}

static int json_gaps(struct writer *w, size_t i, struct ib_err *err)
{
	int r = 0;

	if (!w->c->itl_at)
		return 0;
	if (!has_gaps(w->c, i)) {
		ib_buf_adds(&w->b, ",\"itl_ns\":null");
		return 0;
	}
	ib_buf_adds(&w->b, ",\"itl_ns\":[");
	r = write_gaps(w, i, ",", err);
	ib_buf_addc(&w->b, ']');
	return r;
}

static void json_text(struct ib_buf *b, const char *key, const char *word)
{
	if (word)
		ib_buf_addf(b, ",\"%s\":\"%s\"", key, word);
	else
		ib_buf_addf(b, ",\"%s\":null", key);
}

static void json_id(struct ib_buf *b, const char *key, const uint64_t *column, size_t i)
{
	if (column && column[i])
		ib_buf_addf(b, ",\"%s\":\"%016llx\"", key, (unsigned long long)column[i]);
}

/* Columns without any value are left out. */
static int json_row(struct writer *w, size_t i, size_t index, struct ib_err *err)
{
	struct ib_buf *b = &w->b;
	int r;

	ib_buf_addf(b, "{\"index\":%zu,\"warmup\":%s", index, warm(w->c, i) ? "true" : "false");
	for (enum ib_requests_number k = 0; k < IB_REQUESTS_NUMBERS; k++) {
		int64_t v = number(w, k, i);

		if (!column(w->c, &ib_requests_fields[k]))
			continue;
		ib_buf_addf(b, ",\"%s\":", ib_requests_fields[k].name);
		if (v < 0)
			ib_buf_adds(b, "null");
		else
			ib_buf_addf(b, "%lld", (long long)v);
	}
	r = json_gaps(w, i, err);
	json_text(b, "outcome", outcome_word(outcome(w->c, i)));
	json_text(b, "error_class", error_class(outcome(w->c, i)));
	json_id(b, "prompt_id", w->c->prompt_hash, i);
	json_id(b, "output_id", w->c->output_hash, i);
	ib_buf_adds(b, "}\n");
	return r;
}

static void csv_head(struct ib_buf *b)
{
	ib_buf_adds(b, "index,warmup");
	for (enum ib_requests_number k = 0; k < IB_REQUESTS_NUMBERS; k++)
		ib_buf_addf(b, ",%s", ib_requests_fields[k].name);
	ib_buf_adds(b, ",itl_ns,outcome,error_class,prompt_id,output_id\n");
}

static void csv_id(struct ib_buf *b, const uint64_t *column, size_t i)
{
	ib_buf_addc(b, ',');
	if (column && column[i])
		ib_buf_addf(b, "%016llx", (unsigned long long)column[i]);
}

/* All columns, always: who reads many files reads the same ones from each. No value needs quotes. */
static int csv_row(struct writer *w, size_t i, size_t index, struct ib_err *err)
{
	const char *class = error_class(outcome(w->c, i));
	struct ib_buf *b = &w->b;
	int r = 0;

	ib_buf_addf(b, "%zu,%s", index, warm(w->c, i) ? "true" : "false");
	for (enum ib_requests_number k = 0; k < IB_REQUESTS_NUMBERS; k++) {
		int64_t v = number(w, k, i);

		ib_buf_addc(b, ',');
		if (v >= 0)
			ib_buf_addf(b, "%lld", (long long)v);
	}
	ib_buf_addc(b, ',');
	if (has_gaps(w->c, i))
		r = w->c->itl_at[i] < w->c->itl_at[i + 1] ? write_gaps(w, i, ";", err) : (ib_buf_addc(b, '-'), 0);
	ib_buf_addf(b, ",%s,%s", outcome_word(outcome(w->c, i)), class ? class : "");
	csv_id(b, w->c->prompt_hash, i);
	csv_id(b, w->c->output_hash, i);
	ib_buf_addc(b, '\n');
	return r;
}

static int write_rows(struct writer *w, enum ib_requests_form form, bool warmups, struct ib_err *err)
{
	size_t index = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->c->n; i++) {
		if (warm(w->c, i) != warmups)
			continue;
		r = form == IB_REQUESTS_CSV ? csv_row(w, i, index, err) : json_row(w, i, index, err);
		index++;
		if (r == 0)
			r = flush(w, PART, err);
	}
	return r;
}

int ib_requests_write(const struct ib_result *r, enum ib_requests_form form, const struct ib_drain *out, struct ib_err *err)
{
	struct writer w = {.r = r, .c = &r->columns, .out = out, .b = IB_BUF(32 * PART)};
	ib_auto_json json_t *head = NULL;
	int e;

	if (!r->columns.n)
		return ib_fail_at(err, IB_E_UNSUPPORTED, r->file, "'%s' holds no records of single requests to write", r->file);
	survey(&w);
	head = header(&w);
	if (form == IB_REQUESTS_CSV)
		ib_buf_addc(&w.b, '#');
	ib_json_write(head, &w.b);
	ib_buf_addc(&w.b, '\n');
	if (form == IB_REQUESTS_CSV)
		csv_head(&w.b);
	e = ib_buf_check(&w.b, "header", err);
	if (e == 0)
		e = write_rows(&w, form, true, err);
	if (e == 0)
		e = write_rows(&w, form, false, err);
	if (e == 0)
		e = flush(&w, 1, err);
	ib_buf_clear(&w.b);
	return e;
}
