/* SPDX-License-Identifier: Apache-2.0 */
/* AIPerf's records, one JSON object a line and request: read in one pass, without a tree. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/aiperf.h"
#include "clients/head.h"
#include "json/pick.h"

#define NS 1e9
#define MS 1e3
#define SLACK_S 1e-6 /* by which times that were rounded apart may contradict each other */

bool ib_aiperf_is_records(const struct ib_head *h)
{
	const struct ib_head meta = ib_head_inside(h, "metadata");

	return ib_head_has(h, "metrics") && ib_head_has(&meta, "request_start_ns") && ib_head_has(&meta, "benchmark_phase");
}

/* One line. */
struct line {
	int64_t start_ns, end_ns, issued_ns;
	int8_t cancelled;
	char *phase, *kind, *error_type;
	bool error;
	double latency_ms, ttft_ms, itl_ms, mismatch_pct;
	int64_t input, output, input_server, output_server;
	struct ib_reals gaps_ms;
};

static int read_error(struct ib_stream *s, const char *key, void *row, struct ib_err *err)
{
	static const struct ib_pick table[] = {{"type", IB_PICK_TEXT, offsetof(struct line, error_type), false, NULL}, {NULL, IB_PICK_REAL, 0, false, NULL}};
	struct line *l = row;
	struct ib_token t;
	int r = ib_stream_next(s, &t, err);

	(void)key;
	if (r < 0)
		return r;
	l->error = t.kind != IB_TOKEN_NULL;
	if (t.kind == IB_TOKEN_OBJECT)
		return ib_pick_inside(s, table, row, NULL, err);
	return t.kind == IB_TOKEN_ARRAY ? ib_stream_fail(s, err, IB_E_SYNTAX, "key 'error' is an array") : 0;
}

#define FIELD(p, k, f, w) {p, k, offsetof(struct line, f), w, NULL}

static const struct ib_pick table[] = {
	FIELD("metadata/request_start_ns", IB_PICK_INT, start_ns, true),
	FIELD("metadata/request_end_ns", IB_PICK_INT, end_ns, true),
	FIELD("metadata/credit_issued_ns", IB_PICK_INT, issued_ns, false),
	FIELD("metadata/was_cancelled", IB_PICK_BOOL, cancelled, true),
	FIELD("metadata/benchmark_phase", IB_PICK_TEXT, phase, true),
	FIELD("metadata/phase_kind", IB_PICK_TEXT, kind, false),
	FIELD("metrics/request_latency/value", IB_PICK_REAL, latency_ms, false),
	FIELD("metrics/time_to_first_token/value", IB_PICK_REAL, ttft_ms, false),
	FIELD("metrics/inter_token_latency/value", IB_PICK_REAL, itl_ms, false),
	FIELD("metrics/inter_chunk_latency/value", IB_PICK_REALS, gaps_ms, false),
	FIELD("metrics/input_sequence_length/value", IB_PICK_INT, input, false),
	FIELD("metrics/output_sequence_length/value", IB_PICK_INT, output, false),
	FIELD("metrics/usage_prompt_tokens/value", IB_PICK_INT, input_server, false),
	FIELD("metrics/usage_completion_tokens/value", IB_PICK_INT, output_server, false),
	FIELD("metrics/osl_mismatch_diff_pct/value", IB_PICK_REAL, mismatch_pct, false),
	{"error", IB_PICK_CALL, 0, false, read_error},
	{NULL, IB_PICK_REAL, 0, false, NULL},
};

struct file {
	struct line line;
	struct ib_columns *columns;
	struct ib_result *result;
	double first, last;        /* of the measured requests, seconds since 1970 */
	uint64_t impossible;       /* records with times that cannot be */
	uint64_t first_impossible; /* its number, from 1 */
	uint64_t no_output;        /* without error and without a count of output tokens */
	uint64_t uneven;           /* records whose own numbers contradict each other */
	uint64_t first_uneven;
};

static void empty(struct line *l)
{
	struct ib_reals gaps = l->gaps_ms;

	free(l->phase);
	free(l->kind);
	free(l->error_type);
	gaps.n = 0;
	*l = (struct line){
		.start_ns = -1,
		.end_ns = -1,
		.issued_ns = -1,
		.cancelled = -1,
		.latency_ms = NAN,
		.ttft_ms = NAN,
		.itl_ms = NAN,
		.mismatch_pct = NAN,
		.input = -1,
		.output = -1,
		.input_server = -1,
		.output_server = -1,
		.gaps_ms = gaps,
	};
}

/* The length asked for, from the share by which the answer missed it; -1: not to be told. */
static int64_t asked(const struct line *l)
{
	double n;

	if (isnan(l->mismatch_pct) || l->mismatch_pct <= -100 || l->output <= 0)
		return IB_NOT_IN_FILE;
	n = round((double)l->output / (1 + l->mismatch_pct / 100));
	if (!(n >= 1 && n < 9e15) || fabs(((double)l->output - n) / n * 100 - l->mismatch_pct) > 1e-6)
		return IB_NOT_IN_FILE;
	return (int64_t)n;
}

/* Times that contradict each other, or lie before 1970, are no times. */
static bool possible(const struct line *l)
{
	double latency = l->latency_ms / MS, ttft = l->ttft_ms / MS;

	if (l->start_ns <= 0 || l->end_ns < l->start_ns || latency < 0 || ttft < 0 || ttft > latency + SLACK_S)
		return false;
	for (size_t i = 0; i < l->gaps_ms.n; i++)
		if (l->gaps_ms.v[i] < 0)
			return false;
	return true;
}

/* A record states its inter-token latency, too: the time after the first token, divided by the tokens after it, or by those after the first chunk. */
static bool even(const struct line *l)
{
	double after = l->latency_ms - l->ttft_ms, tokens = after / l->itl_ms;

	if (isnan(after) || !(l->itl_ms > 0) || l->output < 2)
		return true;
	return tokens < (double)l->output - 0.5 && round(tokens) >= 1 && fabs(tokens - round(tokens)) <= 1e-6 * tokens;
}

static enum ib_outcome outcome(const struct line *l)
{
	if (l->error)
		return l->error_type && strcasestr(l->error_type, "timeout") ? IB_OUTCOME_TIMED_OUT : IB_OUTCOME_FAILED;
	return l->cancelled == 1 ? IB_OUTCOME_INCOMPLETE : IB_OUTCOME_SUCCEEDED;
}

static void times(const struct line *l, struct ib_columns *c, struct ib_row *row)
{
	row->start_s = (double)l->start_ns / NS;
	row->ttft_s = l->ttft_ms / MS;
	row->e2e_s = l->latency_ms / MS;
	if (isnan(row->e2e_s) && l->error && l->end_ns > l->start_ns)
		row->e2e_s = (double)(l->end_ns - l->start_ns) / NS;
	if (l->issued_ns > 0 && l->issued_ns <= l->start_ns) /* as the client subtracts them: as doubles */
		row->queue_s = ((double)l->start_ns - (double)l->issued_ns) / NS;
	for (size_t i = 0; i < l->gaps_ms.n; i++)
		ib_columns_gap(c, l->gaps_ms.v[i] / MS);
}

static void add(struct file *f, uint64_t number)
{
	const struct line *l = &f->line;
	const char *kind = l->kind ? l->kind : l->phase;
	struct ib_row row = ib_row_empty();

	row.warmup = kind && strcmp(kind, "profiling") != 0;
	row.outcome = outcome(l);
	row.input_tokens = l->input;
	row.output_tokens = l->output;
	row.input_server = l->input_server;
	row.output_server = l->output_server;
	row.output_asked = asked(l);
	if (possible(l)) {
		times(l, f->columns, &row);
	} else if (f->impossible++ == 0) {
		f->first_impossible = number;
	}
	if (row.outcome == IB_OUTCOME_SUCCEEDED && !even(l) && f->uneven++ == 0)
		f->first_uneven = number;
	if (!row.warmup && !isnan(row.start_s)) {
		f->first = fmin(f->first, row.start_s);
		f->last = fmax(f->last, (double)l->end_ns / NS);
	}
	if (!row.warmup && row.outcome == IB_OUTCOME_SUCCEEDED && row.output_tokens < 1)
		f->no_output++;
	ib_columns_add(f->columns, &row);
}

/* A success without output is none; but endpoints whose answers are no tokens (embeddings, images) count none at all. */
static void settle_outputs(struct file *f)
{
	struct ib_columns *c = f->columns;
	bool counted = false;

	for (size_t i = 0; c->output_tokens && i < c->n; i++)
		counted = counted || c->output_tokens[i] > 0;
	f->result->requests.without_output = counted || !f->no_output ? (int64_t)f->no_output : IB_NOT_IN_FILE;
	for (size_t i = 0; counted && i < c->n; i++)
		if (c->outcome[i] == IB_OUTCOME_SUCCEEDED && c->output_tokens[i] < 1) {
			c->outcome[i] = IB_OUTCOME_FAILED;
			c->output_tokens[i] = 0;
		}
}

static int64_t rows(const struct ib_columns *c, enum ib_outcome o)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->outcome[i] == o && !(c->warmup && c->warmup[i]);
	return n;
}

/* Chunks that hold several tokens: inter_token_latency divides by tokens, inter_chunk_latency by chunks. */
static void note_bundles(const struct ib_columns *c, struct ib_result *r)
{
	double tokens = 0, chunks = 0;

	for (size_t i = 0; c->itl_at && c->output_tokens && i < c->n; i++)
		if (ib_columns_counts(c, i) && c->itl_at[i + 1] > c->itl_at[i] && c->output_tokens[i] > 0) {
			tokens += (double)c->output_tokens[i];
			chunks += (double)(c->itl_at[i + 1] - c->itl_at[i] + 1);
		}
	if (tokens > 1.5 * chunks)
		ib_result_hint(r, "A12", "/metrics/inter_chunk_latency", NULL, NULL,
			       "a chunk holds %.1f tokens on average: inter_token_latency counts the first one as one token and comes out low, "
			       "inter_chunk_latency is between chunks",
			       tokens / chunks);
}

/* The server's own count closes a stream: where others have it, an answer without it is likely to be a broken one. */
static void note_usage(const struct ib_columns *c, struct ib_result *r)
{
	size_t with = 0, without = 0;

	for (size_t i = 0; c->output_server && i < c->n; i++) {
		with += ib_columns_counts(c, i) && c->output_server[i] >= 0;
		without += ib_columns_counts(c, i) && c->output_server[i] < 0;
	}
	if (with && without)
		ib_result_hint(r, "A16", "/metrics/usage_completion_tokens", NULL, NULL,
			       "%zu of %zu responses that were counted as success end without the server's token count, which the others have: they may be cut off", without,
			       with + without);
}

static void finish(struct file *f)
{
	struct ib_result *r = f->result;

	ib_columns_end(f->columns);
	settle_outputs(f);
	ib_result_count(r);
	r->requests.timed_out = rows(f->columns, IB_OUTCOME_TIMED_OUT);
	r->requests.incomplete = rows(f->columns, IB_OUTCOME_INCOMPLETE);
	if (f->last >= f->first) {
		r->began_at = f->first;
		r->ended_at = f->last;
		ib_result_span(r, "first start to last end", f->last - f->first);
	}
	if (f->impossible)
		ib_result_hint(r, "A28", NULL, NULL, NULL,
			       "%llu records hold times that cannot be (the first is record %llu): these times are left out",
			       (unsigned long long)f->impossible, (unsigned long long)f->first_impossible);
	if (f->uneven)
		ib_result_hint(r, "A10", "/metrics/inter_token_latency", NULL, NULL,
			       "%llu records state an inter-token latency that does not follow from their own times and length (the first is record %llu)",
			       (unsigned long long)f->uneven, (unsigned long long)f->first_uneven);
	note_bundles(f->columns, r);
	note_usage(f->columns, r);
}

int ib_aiperf_records(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	static const struct ib_stream_opts opts = {.literals = true, .lines = true};
	ib_auto_stream struct ib_stream *s = ib_stream_new(in, name, &opts);
	struct ib_result *r = ib_results_add(ret, &ib_client_aiperf, name);
	struct file f = {.columns = &r->columns, .result = r, .first = INFINITY, .last = -INFINITY};
	struct ib_token end;
	bool more = false;
	int e;

	r->schema_id = IB_AIPERF_RECORDS;
	r->part = IB_PART_RECORDS;
	r->epoch = true;
	r->ttft = &ib_ttft_first_content;
	r->itl = &ib_itl_content_gaps;
	r->e2e = &ib_e2e_last_content;
	e = ib_stream_document(s, &more, err);
	for (uint64_t n = 1; e == 0 && more; n++) {
		empty(&f.line);
		e = ib_pick(s, table, &f.line, n == 1 ? &r->missing : NULL, err);
		if (e == 0)
			add(&f, n);
		if (e == 0)
			e = ib_stream_next(s, &end, err);
		if (e == 0)
			e = ib_stream_document(s, &more, err);
	}
	empty(&f.line);
	ib_reals_clear(&f.line.gaps_ms);
	if (e < 0)
		return e;
	finish(&f);
	ib_result_notes(r, ib_stream_notes(s));
	return 0;
}
