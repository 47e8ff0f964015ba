/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of an ib-requests(5) file: its rules, checked line by line, and the result that comes of them. A file that breaks one is not evidence. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/ib_requests.h"

#define MEASURED ((uint64_t)1 << 60) /* in an id: not a warm-up; these come first */

#define NUMBER(text, is_time, name) {text, is_time, offsetof(struct ib_columns, name), offsetof(struct ib_row, name)}

const struct ib_requests_field ib_requests_fields[IB_REQUESTS_NUMBERS] = {
	[IB_REQUESTS_START] = NUMBER("start_ns", true, start_s),
	[IB_REQUESTS_QUEUE] = NUMBER("queue_ns", true, queue_s),
	[IB_REQUESTS_TTFT] = NUMBER("ttft_ns", true, ttft_s),
	[IB_REQUESTS_LAST] = NUMBER("last_ns", true, last_s),
	[IB_REQUESTS_E2E] = NUMBER("e2e_ns", true, e2e_s),
	[IB_REQUESTS_IN_ASKED] = NUMBER("input_tokens_asked", false, input_asked),
	[IB_REQUESTS_IN] = NUMBER("input_tokens", false, input_tokens),
	[IB_REQUESTS_IN_SERVER] = NUMBER("input_tokens_server", false, input_server),
	[IB_REQUESTS_OUT_ASKED] = NUMBER("output_tokens_asked", false, output_asked),
	[IB_REQUESTS_OUT] = NUMBER("output_tokens", false, output_tokens),
	[IB_REQUESTS_OUT_SERVER] = NUMBER("output_tokens_server", false, output_server),
	[IB_REQUESTS_CHUNKS] = NUMBER("chunks", false, chunks),
};

void ib_requests_row_reset(struct ib_requests_row *row)
{
	struct ib_reals gaps = row->gaps;

	free(row->outcome);
	free(row->error_class);
	free(row->prompt);
	free(row->output);
	gaps.n = 0;
	*row = (struct ib_requests_row){.index = IB_NOT_IN_FILE, .gaps = gaps};
	for (size_t k = 0; k < IB_REQUESTS_NUMBERS; k++)
		row->v[k] = IB_NOT_IN_FILE;
}

void ib_requests_row_clear(struct ib_requests_row *row)
{
	ib_requests_row_reset(row);
	ib_reals_clear(&row->gaps);
}

int ib_requests_fail(const struct ib_requests_file *f, struct ib_err *err, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s' line %llu: %s", f->name, (unsigned long long)f->line, what);
}

/* --- the rules --- */

static int read_outcome(const struct ib_requests_file *f, const struct ib_requests_row *row, enum ib_outcome *ret, struct ib_err *err)
{
	static const struct {
		const char *word;
		enum ib_outcome outcome;
	} words[] = {{"ok", IB_OUTCOME_SUCCEEDED},
		     {"error", IB_OUTCOME_FAILED},
		     {"timeout", IB_OUTCOME_TIMED_OUT},
		     {"incomplete", IB_OUTCOME_INCOMPLETE},
		     {"unknown", IB_OUTCOME_UNKNOWN}};
	bool known = false, ends_well;

	if (!row->outcome)
		return ib_requests_fail(f, err, "request %lld has no 'outcome'", (long long)row->index);
	for (size_t i = 0; i < IB_LEN(words); i++)
		if (strcmp(row->outcome, words[i].word) == 0) {
			*ret = words[i].outcome;
			known = true;
		}
	if (!known)
		return ib_requests_fail(f, err, "outcome '%.40s' is not ok, error, timeout, incomplete or unknown", row->outcome);
	if (*ret == IB_OUTCOME_UNKNOWN && !f->converted)
		return ib_requests_fail(f, err, "outcome 'unknown' stands only in a converted file: a client knows how its requests ended");
	ends_well = *ret == IB_OUTCOME_SUCCEEDED || *ret == IB_OUTCOME_UNKNOWN;
	if (ends_well != (row->error_class == NULL))
		return ib_requests_fail(f, err, "outcome '%s' and error_class do not fit together", row->outcome);
	return 0;
}

/* Sum of the gaps, or IB_NOT_IN_FILE when one is no time. Whole numbers below 2^53 add up exactly as long as the sum is below it, too. */
static int64_t sum_gaps(const struct ib_requests_row *row)
{
	double sum = 0;

	for (size_t i = 0; i < row->gaps.n; i++) {
		double v = row->gaps.v[i];

		if (!(v >= 0) || v >= (double)IB_REQUESTS_MAX || v > floor(v))
			return IB_NOT_IN_FILE;
		sum += v;
	}
	return sum < (double)IB_REQUESTS_MAX ? (int64_t)sum : IB_REQUESTS_MAX;
}

/* What holds for the client's own file, where a time that is missing is a fault of the file. */
static int check_own(const struct ib_requests_file *f, const struct ib_requests_row *row, bool ok, int64_t gaps, struct ib_err *err)
{
	int64_t ttft = row->v[IB_REQUESTS_TTFT], e2e = row->v[IB_REQUESTS_E2E];

	if (ok && (row->v[IB_REQUESTS_START] < 0 || e2e < 0))
		return ib_requests_fail(f, err, "request %lld is ok but has no start_ns or e2e_ns", (long long)row->index);
	if (ttft >= 0 && e2e >= 0 && row->has_gaps && ttft + gaps != e2e)
		return ib_requests_fail(f, err, "ttft_ns plus the gaps of request %lld is not its e2e_ns", (long long)row->index);
	return 0;
}

static int check(const struct ib_requests_file *f, const struct ib_requests_row *row, enum ib_outcome *ret, struct ib_err *err)
{
	int64_t gaps = sum_gaps(row);
	int r;

	if (row->index < 0 || row->index >= IB_REQUESTS_MAX)
		return ib_requests_fail(f, err, "'index' is missing or no whole number from 0 on");
	for (size_t k = 0; k < IB_REQUESTS_NUMBERS; k++)
		if (row->v[k] < IB_NOT_IN_FILE || row->v[k] >= IB_REQUESTS_MAX)
			return ib_requests_fail(f, err, "'%s' of request %lld is not between 0 and 2^53-1", ib_requests_fields[k].name, (long long)row->index);
	if (gaps < 0)
		return ib_requests_fail(f, err, "a gap of request %lld is not a time in nanoseconds", (long long)row->index);
	r = read_outcome(f, row, ret, err);
	if (r < 0)
		return r;
	if (*ret == IB_OUTCOME_SUCCEEDED && row->v[IB_REQUESTS_OUT] == 0 && !f->samples)
		return ib_requests_fail(f, err, "request %lld is ok but has no output token", (long long)row->index);
	return f->converted ? 0 : check_own(f, row, *ret == IB_OUTCOME_SUCCEEDED, gaps, err);
}

/* --- appending --- */

static void note_id(struct ib_requests_file *f, const struct ib_requests_row *row)
{
	uint64_t id = (row->warmup ? 0 : MEASURED) | (uint64_t)row->index;
	size_t n = f->columns.n;

	if (n == f->room) {
		f->room = n ? 2 * n : 256;
		f->ids = ib_realloc(f->ids, f->room, sizeof(*f->ids));
	}
	f->unordered = f->unordered || (n && f->ids[n - 1] >= id);
	f->ids[n] = id;
}

/* An identity that was exported, or the beginning of a digest: 0 for none. */
static uint64_t hash_of(const char *hex)
{
	char part[17];
	uint64_t v;

	if (!hex || strlen(hex) < 16 || !ib_is_hex(hex, strlen(hex)))
		return 0;
	memcpy(part, hex, 16);
	part[16] = '\0';
	v = strtoull(part, NULL, 16);
	return v ? v : 1;
}

int ib_requests_add(struct ib_requests_file *f, const struct ib_requests_row *row, struct ib_err *err)
{
	struct ib_row out = ib_row_empty();
	int r = check(f, row, &out.outcome, err);

	if (r < 0)
		return r;
	note_id(f, row);
	if (f->first_start < 0)
		f->first_start = row->v[IB_REQUESTS_START];
	for (size_t k = 0; k < IB_REQUESTS_NUMBERS; k++) {
		int64_t v = row->v[k];
		double s = (double)(k == IB_REQUESTS_START ? v - f->first_start : v) / IB_REQUESTS_NS;

		if (v >= 0)
			memcpy((char *)&out + ib_requests_fields[k].in_row, ib_requests_fields[k].time ? (const void *)&s : &v, 8);
	}
	out.warmup = row->warmup;
	out.prompt_hash = hash_of(row->prompt);
	out.output_hash = hash_of(row->output);
	for (size_t i = 0; i < row->gaps.n; i++)
		ib_columns_gap(&f->columns, row->gaps.v[i] / IB_REQUESTS_NS);
	f->gaps_missing = f->gaps_missing || (out.outcome == IB_OUTCOME_SUCCEEDED && !row->has_gaps);
	f->no_output += !row->warmup && ib_streq(row->error_class, "no_output");
	ib_columns_add(&f->columns, &out);
	return 0;
}

/* --- the result --- */

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int check_unique(struct ib_requests_file *f, struct ib_err *err)
{
	size_t n = f->columns.n;

	if (!f->unordered)
		return 0;
	qsort(f->ids, n, sizeof(*f->ids), by_id);
	for (size_t i = 1; i < n; i++)
		if (f->ids[i - 1] == f->ids[i])
			return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': %s %llu has two lines", f->name,
					  f->ids[i] & MEASURED ? "request" : "warm-up request", (unsigned long long)(f->ids[i] & ~MEASURED));
	return 0;
}

static int64_t count_rows(const struct ib_columns *c, enum ib_outcome o)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->outcome[i] == o && !(c->warmup && c->warmup[i]);
	return n;
}

/* Of converted records: a client that never says so may have had some. */
static int64_t seldom(const struct ib_requests_file *f, int64_t n)
{
	return f->converted && !n ? IB_NOT_IN_FILE : n;
}

static void count(const struct ib_requests_file *f, struct ib_result *r)
{
	struct ib_requests *q = &r->requests;

	if (!r->columns.n) {
		q->attempted = q->succeeded = q->failed = q->timed_out = q->incomplete = q->without_output = 0;
		return;
	}
	ib_result_count(r);
	if (f->samples)
		r->input_tokens = r->output_tokens = q->short_output = IB_NOT_IN_FILE;
	q->timed_out = seldom(f, count_rows(&r->columns, IB_OUTCOME_TIMED_OUT));
	q->incomplete = seldom(f, count_rows(&r->columns, IB_OUTCOME_INCOMPLETE));
	q->without_output = seldom(f, f->no_output);
}

/* The counts that the header claims beside the lines that are there. */
static void claim_counts(struct ib_result *r, int64_t warmups)
{
	const struct ib_columns *c = &r->columns;
	size_t warm = 0;

	for (size_t i = 0; c->warmup && i < c->n; i++)
		warm += c->warmup[i];
	if (r->requests.asked >= 0)
		ib_result_claim(r, "args/num_prompts", &ib_count_attempted, (double)r->requests.asked, ib_stat_value((double)(c->n - warm), c->n - warm), 0,
				NULL);
	if (warmups >= 0)
		ib_result_claim(r, "args/num_warmups", &ib_count_warmups, (double)warmups, ib_stat_value((double)warm, warm), 0, NULL);
}

int ib_requests_finish(struct ib_requests_file *f, const struct ib_stream_notes *notes, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_requests, f->name);
	int64_t warmups = IB_NOT_IN_FILE;
	int e = check_unique(f, err);

	r->schema_id = IB_REQUESTS_SCHEMA;
	if (e == 0)
		e = ib_requests_describe(f, r, &warmups, err);
	if (e < 0)
		return e;
	if (notes)
		ib_result_notes(r, notes);
	ib_columns_end(&f->columns);
	if (f->gaps_missing) {
		free(f->columns.itl_at);
		free(f->columns.itl_s);
		f->columns.itl_at = NULL;
		f->columns.itl_s = NULL;
		f->columns.itl_n = 0;
	}
	r->columns = f->columns;
	f->columns = (struct ib_columns){0};
	if (r->partial) /* how many there were, only the whole file told */
		return 0;
	count(f, r);
	claim_counts(r, warmups);
	return 0;
}

void ib_requests_file_clear(struct ib_requests_file *f)
{
	json_decref(f->head);
	free(f->ids);
	ib_columns_clear(&f->columns);
}
