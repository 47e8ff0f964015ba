/* SPDX-License-Identifier: Apache-2.0 */
/* The interchange format ib-requests(5), JSON Lines: a header, then one request a line. Its rules are checked as they are read: a file
 * that breaks one is not evidence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "clients/lines.h"

#define SCHEMA "urn:ibtools:requests:v1"
#define INT_MAX_JSON ((int64_t)1 << 53)
#define NS 1e9

static const char *const schema_ids[] = {SCHEMA, NULL};

static bool recognise(const struct ib_head *h)
{
	return ib_head_starts(h, "schema", "urn:ibtools:requests:");
}

/* One request as read. */
struct row {
	int64_t index, start, queue, ttft, e2e, in, out, in_asked, out_asked;
	bool warmup;
	enum ib_outcome outcome;
	bool no_output; /* error_class "no_output" */
	size_t gaps_at; /* SIZE_MAX: not recorded */
	size_t gaps_n;
};

struct file {
	const char *name;
	json_t *head;
	struct row *rows;
	size_t n, room;
	double *gaps;
	size_t gaps_n, gaps_room;
};

static int get_ns(const json_t *o, const char *name, const char *key, int64_t *ret, struct ib_err *err)
{
	return ib_get_int_opt(o, name, key, 0, INT_MAX_JSON - 1, IB_NOT_IN_FILE, ret, err);
}

static int read_gaps(const json_t *o, struct file *f, struct row *row, int64_t *ret_sum, struct ib_err *err)
{
	const json_t *a = json_object_get(o, "itl_ns");

	row->gaps_at = SIZE_MAX;
	*ret_sum = 0;
	if (!a || json_is_null(a))
		return 0;
	if (!json_is_array(a))
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': key 'itl_ns' is not an array", f->name);
	row->gaps_at = f->gaps_n;
	row->gaps_n = json_array_size(a);
	for (size_t i = 0; i < row->gaps_n; i++) {
		const json_t *v = json_array_get(a, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= INT_MAX_JSON)
			return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': element %zu of 'itl_ns' is not a time in nanoseconds", f->name, i);
		if (f->gaps_n == f->gaps_room) {
			f->gaps_room = f->gaps_room ? 2 * f->gaps_room : 1024;
			f->gaps = ib_realloc(f->gaps, f->gaps_room, sizeof(*f->gaps));
		}
		f->gaps[f->gaps_n++] = (double)json_integer_value(v) / NS;
		if (*ret_sum < INT_MAX_JSON)
			*ret_sum += json_integer_value(v);
	}
	return 0;
}

static int read_outcome(const json_t *o, const struct file *f, struct row *row, struct ib_err *err)
{
	static const struct {
		const char *word;
		enum ib_outcome outcome;
	} words[] = {{"ok", IB_OUTCOME_SUCCEEDED}, {"error", IB_OUTCOME_FAILED}, {"timeout", IB_OUTCOME_TIMED_OUT}, {"incomplete", IB_OUTCOME_INCOMPLETE}};
	const char *word, *class;
	int r = ib_get_str(o, f->name, "outcome", &word, err);

	if (r == 0)
		r = ib_get_str_opt(o, f->name, "error_class", &class, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < IB_LEN(words); i++)
		if (strcmp(word, words[i].word) == 0)
			row->outcome = words[i].outcome;
	if (row->outcome == IB_OUTCOME_UNKNOWN)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': outcome '%s' is not ok, error, timeout or incomplete", f->name, word);
	if ((row->outcome == IB_OUTCOME_SUCCEEDED) != (class == NULL))
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': outcome '%s' and error_class do not fit together", f->name, word);
	row->no_output = class && strcmp(class, "no_output") == 0;
	return 0;
}

/* What ib-requests(5) lets a reader rely on. */
static int check_row(const struct file *f, const struct row *row, int64_t gaps, struct ib_err *err)
{
	if (row->outcome == IB_OUTCOME_SUCCEEDED && (row->start < 0 || row->e2e < 0))
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': request %lld is ok but has no start_ns or e2e_ns", f->name, (long long)row->index);
	if (row->outcome == IB_OUTCOME_SUCCEEDED && row->out == 0)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': request %lld is ok but has no output token", f->name, (long long)row->index);
	if (row->ttft >= 0 && row->e2e >= 0 && row->gaps_at != SIZE_MAX && row->ttft + gaps != row->e2e)
		return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': ttft_ns plus the gaps of request %lld is not its e2e_ns", f->name,
				  (long long)row->index);
	return 0;
}

static int read_request(const json_t *o, struct file *f, struct ib_err *err)
{
	struct row row = {0};
	int64_t gaps = 0;
	int r = ib_get_int(o, f->name, "index", 0, INT_MAX_JSON - 1, &row.index, err);
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {{"start_ns", &row.start},
		       {"queue_ns", &row.queue},
		       {"ttft_ns", &row.ttft},
		       {"e2e_ns", &row.e2e},
		       {"input_tokens", &row.in},
		       {"output_tokens", &row.out},
		       {"input_tokens_asked", &row.in_asked},
		       {"output_tokens_asked", &row.out_asked}};

	if (r == 0 && json_object_get(o, "warmup") && !json_is_null(json_object_get(o, "warmup")))
		r = ib_get_bool(o, f->name, "warmup", &row.warmup, err);
	for (size_t i = 0; r == 0 && i < IB_LEN(numbers); i++)
		r = get_ns(o, f->name, numbers[i].key, numbers[i].value, err);
	if (r == 0)
		r = read_outcome(o, f, &row, err);
	if (r == 0)
		r = read_gaps(o, f, &row, &gaps, err);
	if (r == 0)
		r = check_row(f, &row, gaps, err);
	if (r < 0)
		return r;
	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		f->rows = ib_realloc(f->rows, f->room, sizeof(*f->rows));
	}
	f->rows[f->n++] = row;
	return 0;
}

static int read_line(json_t *o, const char *name, void *arg, struct ib_err *err)
{
	struct file *f = arg;
	const char *schema;
	int r;

	if (!json_is_object(o))
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' holds a line that is not an object", name);
	if (f->head)
		return read_request(o, f, err);
	r = ib_get_str(o, name, "schema", &schema, err);
	if (r < 0)
		return r;
	if (strcmp(schema, SCHEMA) != 0)
		return ib_fail_at(err, IB_E_UNSUPPORTED, name, "'%s' has schema '%s', this version reads '%s'", name, schema, SCHEMA);
	f->head = json_incref(o);
	return 0;
}

static int by_identity(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	if (x->warmup != y->warmup)
		return x->warmup ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int check_unique(const struct file *f, struct ib_err *err)
{
	ib_auto_free const struct row **sorted = ib_realloc(NULL, f->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < f->n; i++)
		sorted[i] = &f->rows[i];
	qsort(sorted, f->n, sizeof(*sorted), by_identity);
	for (size_t i = 1; i < f->n; i++)
		if (by_identity(&sorted[i - 1], &sorted[i]) == 0)
			return ib_fail_at(err, IB_E_SYNTAX, f->name, "'%s': %s %lld has two lines", f->name,
					  sorted[i]->warmup ? "warm-up request" : "request", (long long)sorted[i]->index);
	return 0;
}

static double seconds(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / NS;
}

/* Gaps are given to requests without any record of theirs as none; the whole column is dropped when a succeeded one has no record. */
static void move_gaps(struct file *f, struct ib_columns *c)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->rows[i].outcome == IB_OUTCOME_SUCCEEDED && f->rows[i].gaps_at == SIZE_MAX)
			return;
	c->itl_at = ib_realloc(NULL, f->n + 1, sizeof(*c->itl_at));
	c->itl_n = f->gaps_n;
	c->itl_s = f->gaps;
	f->gaps = NULL;
	c->itl_at[0] = 0;
	for (size_t i = 0; i < f->n; i++)
		c->itl_at[i + 1] = c->itl_at[i] + (f->rows[i].gaps_at == SIZE_MAX ? 0 : f->rows[i].gaps_n);
}

static void move_rows(struct file *f, struct ib_columns *c)
{
	size_t n = c->n = f->n;

	if (!n)
		return;
	c->start_s = ib_columns_reals(n);
	c->ttft_s = ib_columns_reals(n);
	c->e2e_s = ib_columns_reals(n);
	c->queue_s = ib_columns_reals(n);
	c->input_tokens = ib_columns_ints(n);
	c->output_tokens = ib_columns_ints(n);
	c->input_asked = ib_columns_ints(n);
	c->output_asked = ib_columns_ints(n);
	c->outcome = ib_alloc(n);
	c->warmup = ib_alloc(n * sizeof(*c->warmup));
	for (size_t i = 0; i < n; i++) {
		const struct row *row = &f->rows[i];

		/* epoch times would lose digits in a double: count from the first line */
		c->start_s[i] = row->start < 0 || f->rows[0].start < 0 ? seconds(row->start) : (double)(row->start - f->rows[0].start) / NS;
		c->ttft_s[i] = seconds(row->ttft);
		c->e2e_s[i] = seconds(row->e2e);
		c->queue_s[i] = seconds(row->queue);
		c->input_tokens[i] = row->in;
		c->output_tokens[i] = row->out;
		c->input_asked[i] = row->in_asked;
		c->output_asked[i] = row->out_asked;
		c->outcome[i] = row->outcome;
		c->warmup[i] = row->warmup;
	}
	move_gaps(f, c);
}

static int read_window(const json_t *head, const char *name, struct ib_result *r, struct ib_err *err)
{
	const json_t *w;
	int64_t start, end;
	int e = ib_get_obj_opt(head, name, "window", &w, err);

	if (e < 0 || !w)
		return e;
	e = ib_get_int(w, name, "start_ns", 0, INT_MAX_JSON - 1, &start, err);
	if (e == 0)
		e = ib_get_int(w, name, "end_ns", 0, INT_MAX_JSON - 1, &end, err);
	if (e < 0)
		return e;
	if (end < start)
		return ib_fail_at(err, IB_E_SYNTAX, name, "'%s': the window ends before it starts", name);
	r->duration_s = (double)(end - start) / NS;
	r->window = "first request due to last request done, warm-ups excluded";
	return 0;
}

static int read_args(const json_t *head, const char *name, struct ib_result *r, int64_t *ret_warmups, struct ib_err *err)
{
	const json_t *a, *rate;
	int e = ib_get_obj_opt(head, name, "args", &a, err);

	*ret_warmups = IB_NOT_IN_FILE;
	if (e < 0 || !a)
		return e;
	e = ib_get_int_opt(a, name, "num_prompts", 0, INT_MAX_JSON - 1, IB_NOT_IN_FILE, &r->requests.asked, err);
	if (e == 0)
		e = ib_get_int_opt(a, name, "num_warmups", 0, INT_MAX_JSON - 1, IB_NOT_IN_FILE, ret_warmups, err);
	if (e == 0)
		e = ib_get_int_opt(a, name, "max_concurrency", 0, INT_MAX_JSON - 1, IB_NOT_IN_FILE, &r->concurrency_asked, err);
	rate = json_object_get(a, "request_rate_hz");
	if (json_is_number(rate))
		r->rate_asked = json_number_value(rate);
	else if (json_is_null(rate))
		r->rate_asked = INFINITY;
	return e;
}

static int read_synthetic(const json_t *head, const char *name, struct ib_result *r, struct ib_err *err)
{
	const json_t *endpoint;
	const char *print;
	int e = ib_get_obj_opt(head, name, "endpoint", &endpoint, err);

	if (e < 0 || !json_is_true(json_object_get(head, "synthetic")))
		return e;
	print = endpoint ? json_string_value(json_array_get(json_object_get(endpoint, "system_fingerprints"), 0)) : NULL;
	r->synthetic = print ? ib_asprintf("endpoint fingerprint '%.200s'", print) : ib_strdup("the file says so");
	return 0;
}

static int64_t count_rows(const struct ib_columns *c, enum ib_outcome o)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->outcome[i] == o && !c->warmup[i];
	return n;
}

/* The counts that the header claims beside the lines that are there. */
static void claim_counts(struct file *f, struct ib_result *r, int64_t warmups)
{
	size_t warm = 0;

	for (size_t i = 0; i < f->n; i++)
		warm += f->rows[i].warmup;
	if (r->requests.asked >= 0)
		ib_result_claim(r, "args/num_prompts", &ib_count_attempted, (double)r->requests.asked, ib_stat_value((double)(f->n - warm), f->n - warm), 0,
				NULL);
	if (warmups >= 0)
		ib_result_claim(r, "args/num_warmups", &ib_count_warmups, (double)warmups, ib_stat_value((double)warm, warm), 0, NULL);
}

static void count(struct file *f, struct ib_result *r)
{
	struct ib_requests *q = &r->requests;

	if (!f->n) {
		q->attempted = q->succeeded = q->failed = q->timed_out = q->incomplete = q->without_output = 0;
		return;
	}
	ib_result_count(r);
	q->timed_out = count_rows(&r->columns, IB_OUTCOME_TIMED_OUT);
	q->incomplete = count_rows(&r->columns, IB_OUTCOME_INCOMPLETE);
	q->without_output = 0;
	for (size_t i = 0; i < f->n; i++)
		q->without_output += f->rows[i].no_output && !f->rows[i].warmup;
}

static int finish(struct file *f, struct ib_results *ret, struct ib_err *err)
{
	struct ib_result *r = ib_results_add(ret, &ib_client_requests, f->name);
	const json_t *client;
	const char *version = NULL;
	int64_t warmups = IB_NOT_IN_FILE;
	int e;

	r->schema_id = SCHEMA;
	r->ttft = &ib_ttft_first_text;
	r->itl = &ib_itl_text_gaps;
	e = check_unique(f, err);
	if (e == 0)
		e = ib_get_obj(f->head, f->name, "client", &client, err);
	if (e == 0)
		e = ib_get_str_opt(client, f->name, "version", &version, err);
	if (e == 0)
		e = read_window(f->head, f->name, r, err);
	if (e == 0)
		e = read_args(f->head, f->name, r, &warmups, err);
	if (e == 0)
		e = read_synthetic(f->head, f->name, r, err);
	if (e < 0)
		return e;
	r->client_version = ib_strdup(version);
	move_rows(f, &r->columns);
	count(f, r);
	claim_counts(f, r, warmups);
	return 0;
}

static int read_file(const struct ib_source *in, const char *name, struct ib_results *ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	struct file f = {.name = name};
	int r = ib_client_slurp(in, name, &b, err);

	if (r == 0)
		r = ib_lines(ib_buf_str(&b), b.len, name, false, read_line, &f, err);
	if (r == 0)
		r = f.head ? finish(&f, ret, err) : ib_fail_at(err, IB_E_SYNTAX, name, "'%s' has no header line", name);
	json_decref(f.head);
	free(f.rows);
	free(f.gaps);
	return r;
}

const struct ib_client ib_client_requests = {
	.name = "ib-requests",
	.title = "any load generator, through the interchange format of ib-requests(5)",
	.schema_ids = schema_ids,
	.recognise = recognise,
	.read = read_file,
};
