/* SPDX-License-Identifier: Apache-2.0 */
/* Records of every client written as ib-requests and read back: the same columns and statistics; the rules of both forms; hostile files. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "clients/export.h"
#include "clients/ib_requests.h"
#include "unit.h"

#define DATA "tests/data/clients"

static void write_result(const struct ib_result *r, enum ib_requests_form form, struct ib_buf *ret)
{
	struct ib_err err = {0};
	struct ib_drain out;

	*ret = IB_BUF(64u << 20);
	out = ib_drain_to_buf(ret);
	if (ib_requests_write(r, form, &out, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL_FATAL("a result cannot be written");
	}
}

static void read_ok(const char *data, size_t n, struct ib_results *ret)
{
	struct ib_err err = {0};

	if (ib_client_read(data, n, "requests", ret, &err) < 0) {
		printf("# %s\n# %.300s\n", err.text, data);
		CU_FAIL_FATAL("what was written is refused");
	}
}

static bool near(double a, double b, double within)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= within;
}

static double cell(const double *v, size_t i)
{
	return v ? v[i] : NAN;
}

/* start times may count from another origin. */
static bool same_reals(const double *a, const double *b, size_t n, bool times)
{
	double from_a = 0, from_b = 0;
	bool first = times;

	for (size_t i = 0; i < n; i++) {
		double x = cell(a, i), y = cell(b, i);

		if (first && !isnan(x)) {
			from_a = x;
			from_b = y;
			first = false;
		}
		if (!near(x - from_a, y - from_b, 1e-9 + 1e-12 * fabs(x)))
			return false;
	}
	return true;
}

static bool same_ints(const int64_t *a, const int64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((a ? a[i] : IB_NOT_IN_FILE) != (b ? b[i] : IB_NOT_IN_FILE))
			return false;
	return true;
}

static bool same_hashes(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((a ? a[i] : 0) != (b ? b[i] : 0))
			return false;
	return true;
}

static bool same_gaps(const struct ib_columns *a, const struct ib_columns *b)
{
	if (a->itl_n != b->itl_n || (a->itl_n && (!a->itl_at || !b->itl_at)))
		return false;
	for (size_t i = 0; a->itl_n && i <= a->n; i++)
		if (a->itl_at[i] != b->itl_at[i])
			return false;
	for (size_t i = 0; i < a->itl_n; i++)
		if (!near(a->itl_s[i], b->itl_s[i], 1e-9))
			return false;
	return true;
}

#define CHECK(what)                                                                                  \
	do {                                                                                         \
		bool ok_ = (what);                                                                   \
		if (!ok_)                                                                            \
			printf("# %s, form %d: %s\n", a->file, (int)form, #what);                    \
		CU_ASSERT(ok_);                                                                      \
	} while (0)

/* The format has the warm-ups first: rows that alternate come back in another order. */
static bool warmups_first(const struct ib_columns *c)
{
	for (size_t i = 1; c->warmup && i < c->n; i++)
		if (c->warmup[i] && !c->warmup[i - 1])
			return false;
	return true;
}

static void compare_columns(const struct ib_result *a, const struct ib_result *b, enum ib_requests_form form)
{
	const struct ib_columns *x = &a->columns, *y = &b->columns;
	size_t n = x->n;

	CHECK(x->n == y->n);
	if (x->n != y->n || !warmups_first(x))
		return;
	CHECK(same_reals(x->start_s, y->start_s, n, true));
	CHECK(same_reals(x->ttft_s, y->ttft_s, n, false));
	CHECK(same_reals(x->last_s, y->last_s, n, false));
	CHECK(same_reals(x->e2e_s, y->e2e_s, n, false));
	CHECK(same_reals(x->queue_s, y->queue_s, n, false));
	CHECK(same_ints(x->input_tokens, y->input_tokens, n) && same_ints(x->output_tokens, y->output_tokens, n));
	CHECK(same_ints(x->input_server, y->input_server, n) && same_ints(x->output_server, y->output_server, n));
	CHECK(same_ints(x->input_asked, y->input_asked, n) && same_ints(x->output_asked, y->output_asked, n));
	CHECK(same_ints(x->chunks, y->chunks, n));
	CHECK(same_hashes(x->prompt_hash, y->prompt_hash, n) && same_hashes(x->output_hash, y->output_hash, n));
	CHECK(same_gaps(x, y));
	for (size_t i = 0; i < n; i++)
		if (x->outcome && x->outcome[i] != y->outcome[i])
			CHECK(false && "outcomes");
	for (size_t i = 0; i < n; i++)
		if ((x->warmup && x->warmup[i]) != (y->warmup && y->warmup[i]))
			CHECK(false && "warm-ups");
}

static void compare_series(const struct ib_result *a, const struct ib_result *b, const struct ib_formula *f, enum ib_requests_form form)
{
	ib_auto_series struct ib_series x = {0}, y = {0};

	if (!f || !f->series)
		return;
	f->series(&a->columns, &x);
	f->series(&b->columns, &y);
	CHECK(x.n == y.n && (x.state == IB_STAT_VALUE) == (y.state == IB_STAT_VALUE));
	if (x.state == IB_STAT_VALUE)
		CHECK(near(ib_series_mean(&x).value, ib_series_mean(&y).value, 1e-9) && near(ib_series_std(&x).value, ib_series_std(&y).value, 1e-9));
}

static void compare(const struct ib_result *a, const struct ib_result *b, enum ib_requests_form form)
{
	const struct ib_requests *p = &a->requests, *q = &b->requests;

	compare_columns(a, b, form);
	CHECK(p->asked == q->asked);
	if (a->partial) /* the records do not tell how many there were */
		CHECK(q->attempted == IB_NOT_IN_FILE && q->succeeded == IB_NOT_IN_FILE && q->failed == IB_NOT_IN_FILE);
	else
		CHECK(p->attempted == q->attempted && p->succeeded == q->succeeded && p->failed == q->failed);
	if (!a->partial && p->short_output == ib_columns_short(&a->columns)) /* else a reader knows better than the columns */
		CHECK(p->short_output == q->short_output);
	CHECK(!a->columns.output_tokens || a->partial || a->output_tokens == b->output_tokens); /* totals that only the client states are not carried */
	CHECK(!a->columns.input_tokens || a->partial || a->input_tokens == b->input_tokens);
	CHECK(a->ttft == b->ttft && a->tpot == b->tpot && a->itl == b->itl && a->e2e == b->e2e);
	CHECK(near(a->duration_s, b->duration_s, 1e-9) && a->concurrency_asked == b->concurrency_asked);
	CHECK((isinf(a->rate_asked) && isinf(b->rate_asked)) || near(a->rate_asked, b->rate_asked, 0));
	CHECK(ib_streq(a->client_version, b->client_version) && !a->cut == !b->cut && ib_streq(a->partial, b->partial));
	CHECK(a->any_benchmark == b->any_benchmark && !b->unknown_version);
	for (enum ib_setting_key k = IB_SET_NOTHING + 1; k < IB_SETTINGS; k++)
		if (a->settings.v[k])
			CHECK(ib_streq(a->settings.v[k], b->settings.v[k]));
	compare_series(a, b, a->ttft, form);
	compare_series(a, b, a->tpot, form);
	compare_series(a, b, a->itl, form);
	compare_series(a, b, a->e2e, form);
}

static void round_trip(const struct ib_result *r)
{
	static const enum ib_requests_form forms[] = {IB_REQUESTS_JSONL, IB_REQUESTS_CSV};

	for (size_t i = 0; i < IB_LEN(forms); i++) {
		ib_auto_buf struct ib_buf b = {0}, again = {0};
		ib_auto_results struct ib_results back = {0};

		write_result(r, forms[i], &b);
		read_ok(ib_buf_str(&b), b.len, &back);
		CU_ASSERT_FATAL(back.n == 1);
		compare(r, &back.v[0], forms[i]);
		if (strstr(b.data, "\"left_out\":0") == NULL)
			printf("# %s: something was left out\n", r->file);
		/* what was read back is written as the same rows; JSON Lines leave columns out that hold nothing */
		if (forms[i] != IB_REQUESTS_CSV)
			continue;
		write_result(&back.v[0], forms[i], &again);
		CU_ASSERT_STRING_EQUAL(strchr(ib_buf_str(&b), '\n'), strchr(ib_buf_str(&again), '\n'));
	}
}

static void test_export_round_trip_of_every_result_file(void)
{
	ib_auto_outputs struct ib_outputs all = {0};
	struct ib_err err = {0};
	ib_auto_fd int dir = -1;
	size_t written = 0;

	CU_ASSERT_FATAL(ib_open_dir(AT_FDCWD, ib_src(DATA), &dir, &err) == 0);
	CU_ASSERT_FATAL(ib_client_read_dir(dir, &all, &err) == 0);
	for (size_t i = 0; i < all.results.n; i++) {
		if (!all.results.v[i].columns.n)
			continue;
		round_trip(&all.results.v[i]);
		written++;
	}
	printf("# %zu results, %zu with records\n", all.results.n, written);
	CU_ASSERT(written > 50);
}

static void test_export_says_when_there_are_no_records(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	const struct ib_drain out = ib_drain_to_buf(&b);
	struct ib_err err = {0};

	ib_results_add(&all, &ib_client_requests, "x");
	CU_ASSERT(ib_requests_write(&all.v[0], IB_REQUESTS_CSV, &out, &err) == IB_E_UNSUPPORTED && b.len == 0);
}

/* Times that the form cannot carry are left out and counted, never written as something else. */
static void test_export_leaves_out_what_is_no_time(void)
{
	ib_auto_results struct ib_results all = {0}, back = {0};
	struct ib_result *r = ib_results_add(&all, &ib_client_requests, "x");
	ib_auto_buf struct ib_buf b = {0};
	struct ib_row row = ib_row_empty();

	row.outcome = IB_OUTCOME_SUCCEEDED;
	row.ttft_s = -1;
	row.e2e_s = 1e9; /* above 2^53 ns */
	row.output_tokens = 5;
	ib_columns_gap(&r->columns, 0.5);
	ib_columns_gap(&r->columns, -0.5);
	ib_columns_add(&r->columns, &row);
	ib_columns_end(&r->columns);
	write_result(r, IB_REQUESTS_JSONL, &b);
	CU_ASSERT_PTR_NOT_NULL(strstr(b.data, "\"left_out\":4"));
	CU_ASSERT_PTR_NOT_NULL(strstr(b.data, "\"ttft_ns\":null,\"e2e_ns\":null,\"output_tokens\":5,\"itl_ns\":null"));
	read_ok(b.data, b.len, &back);
	CU_ASSERT(!back.v[0].columns.ttft_s && !back.v[0].columns.itl_at && back.v[0].requests.succeeded == 1);
}

static void test_export_form_follows_the_name(void)
{
	CU_ASSERT(ib_requests_form_of("a.csv") == IB_REQUESTS_CSV && ib_requests_form_of("csv") == IB_REQUESTS_JSONL);
	CU_ASSERT(ib_requests_form_of("requests.jsonl") == IB_REQUESTS_JSONL);
}

/* --- CSV as others write it --- */

#define HEAD "#{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"x\"},\"origin_at\":null}"
#define HEAD_CELLS "\"#{\"\"schema\"\":\"\"urn:ibtools:requests:v1\"\"\",\"\"\"client\"\":{\"\"name\"\":\"\"x\"\"}\",\"\"\"origin_at\"\":null}\",,,"

static int read_csv(const char *text, struct ib_results *ret, struct ib_err *err)
{
	*err = (struct ib_err){0};
	return ib_client_read(text, strlen(text), "r.csv", ret, err);
}

static void test_export_csv_of_spreadsheets_and_data_frames(void)
{
	static const char *const texts[] = {
		HEAD "\nindex,outcome,start_ns,e2e_ns,output_tokens\n0,ok,5,7,3\n1,ok,10,8,\n",
		"# " "{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"x\"}}" "\r\nindex,outcome,start_ns,e2e_ns,output_tokens\r\n0,ok,5,7,3\r\n1,ok,10,8,\r\n",
		"\xef\xbb\xbf" HEAD_CELLS "\r\nindex,outcome,start_ns,e2e_ns,output_tokens\r\n0,ok,5,7,3\r\n1,ok,10,8,\r\n",
		HEAD ",,,,\n\"output_tokens\",\"e2e_ns\",start_ns,\"x \"\"y\"\"\",outcome,index\n3,7.0,5.0,\"a,\nb\",\"ok\",0\n,8.0,10.0,,ok,1\n",
	};

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		ib_auto_results struct ib_results all = {0};
		struct ib_err err;

		if (read_csv(texts[i], &all, &err) < 0)
			printf("# %zu: %s\n", i, err.text);
		CU_ASSERT_FATAL(all.n == 1 && all.v[0].columns.n == 2);
		CU_ASSERT(near(all.v[0].columns.e2e_s[1], 8e-9, 0) && near(all.v[0].columns.start_s[1], 5e-9, 0));
		CU_ASSERT(all.v[0].columns.output_tokens[0] == 3 && all.v[0].columns.output_tokens[1] == IB_NOT_IN_FILE);
		CU_ASSERT(all.v[0].bom == (i == 2));
	}
}

static void test_export_csv_faults_are_named_with_their_line(void)
{
	static const struct {
		const char *body, *message;
	} rows[] = {
		{"", "line 2: the line that names the columns"},
		{"index;outcome\n", "separated by ';'"},
		{"index,x\n0,ok\n", "'outcome'"},
		{"outcome\nok\n", "'index'"},
		{"index,outcome,index\n", "two columns are called 'index'"},
		{"index,outcome,e2e_ns\n0,error,5,5\n", "line 3: 4 fields where 3 columns"},
		{"index,outcome,e2e_ns\n0,error\n", "line 3: 2 fields"},
		{"index,outcome,e2e_ns\n0,ok,\"1,5\"\n", "column 'e2e_ns' holds '1,5'"},
		{"index,outcome,e2e_ns\n0,ok,1.5\n", "'1.5'"},
		{"index,outcome,e2e_ns\n0,ok,NA\n", "'NA'"},
		{"index,outcome,e2e_ns\n0,ok,-1\n", "'-1'"},
		{"index,outcome,e2e_ns\n0,ok,9007199254740992\n", "above 2^53-1"},
		{"index,outcome,e2e_ns\n0,ok,99999999999999999\n", "holds '99999999999999999'"},
		{"index,outcome,error_class\n0,fine,\n", "line 3: outcome 'fine'"},
		{"index,outcome,error_class\n0,error,\n", "do not fit together"},
		{"index,outcome,error_class\n0,error,x\n0,error,x\n", "request 0 has two lines"},
		{"index,outcome,error_class\n0,error,x\n\n", "line 4: 1 fields"},
		{"index,outcome,error_class\n0,error,x", "line 3: the last line is not whole"},
		{"index,outcome,error_class\n0,error,\"x\n\n", "a quote is not closed"},
		{"index,outcome,error_class\n0,error,x\"y\"\n", "a quote within a field"},
		{"index,outcome,error_class\n0,error,\"x\"y\n", "a quote within a field"},
		{"index,outcome,error_class\n0,er\rror,x\n", "carriage return"},
		{"index,outcome,error_class\n,error,x\n", "'index' is missing"},
		{"index,outcome,error_class,warmup\n0,error,x,1\n", "column 'warmup' holds '1'"},
		{"index,outcome,itl_ns,error_class\n0,error,1;;2,x\n", "column 'itl_ns' holds ''"},
		{"index,outcome,start_ns\n0,ok,5\n", "no start_ns or e2e_ns"},
		{"index,outcome\n0,unknown\n", "only in a converted file"},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		ib_auto_free char *text = ib_asprintf(HEAD "\n%s", rows[i].body);
		ib_auto_results struct ib_results all = {0};
		struct ib_err err;

		CU_ASSERT(read_csv(text, &all, &err) == IB_E_SYNTAX && all.n == 0);
		if (!strstr(err.text, rows[i].message))
			printf("# %zu: %s\n", i, err.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].message));
	}
}

static void test_export_csv_gaps_and_warmups(void)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err;
	const char *text = HEAD "\nindex,outcome,start_ns,ttft_ns,itl_ns,e2e_ns,warmup,error_class,prompt_sha256\n"
				"0,ok,0,9,-,9,True,,\n0,ok,1,2,3;4,9,FALSE,,00000000000000ff00000000000000000000000000000000000000000000000a\n1,timeout,2,,,,,timeout,\n";

	CU_ASSERT_FATAL(read_csv(text, &all, &err) == 0);
	CU_ASSERT(all.v[0].columns.itl_n == 2 && all.v[0].columns.itl_at[1] == 0 && all.v[0].columns.itl_at[3] == 2);
	CU_ASSERT(all.v[0].columns.warmup[0] && all.v[0].requests.attempted == 2 && all.v[0].requests.timed_out == 1 && all.v[0].columns.prompt_hash[1] == 255);
}

static void test_export_faults_of_json_lines_name_their_line(void)
{
	static const char head[] = "{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"x\"}}\n{\"index\":0,\"outcome\":\"error\",\"error_class\":\"x\"}\n";
	static const struct {
		const char *line, *message;
		int want;
	} rows[] = {
		{"{\"index\":1,\"outcome\":\"error\"}\n", "line 3", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":7}\n", "line 3", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":\"error\",\"error_class\":\"x\",\"e2e_ns\":-1}\n", "line 3", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":\"error\",\"error_class\":\"x\",\"itl_ns\":[0.5]}\n", "line 3", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":\"error\",\"error_class\":\"x\",\"itl_ns\":[null]}\n", "line 3", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":\"error\",\"error_class\":\"x\",\"e2e_ns\":NaN}\n", "line 3", IB_E_JSON},
		{"{\"outcome\":\"error\",\"error_class\":\"x\"}\n", "'index' is missing", IB_E_SYNTAX},
		{"INFO done\n", "line 3: not a JSON object", IB_E_SYNTAX},
		{"{\"index\":1,\"outcome\":\"error\",\"error_class\":\"x\"}", "not whole", IB_E_SYNTAX},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		ib_auto_free char *text = ib_asprintf("%s%s", head, rows[i].line);
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};
		int r = ib_client_read(text, strlen(text), "r.jsonl", &all, &err);

		if (r != rows[i].want || !strstr(err.text, rows[i].message))
			printf("# %zu: %s\n", i, err.text);
		CU_ASSERT(r == rows[i].want && strstr(err.text, rows[i].message) != NULL);
	}
}

/* Of a converter's file a formula that is not known here makes nothing pass. */
static void test_export_unknown_formulas_do_not_pass(void)
{
	static const char text[] = "{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"x\"},\"converter\":{\"name\":\"y\"},\"formulas\":{\"ttft\":\"new\"}}\n"
				   "{\"index\":0,\"outcome\":\"ok\"}\n{\"index\":1,\"outcome\":\"unknown\"}\n";
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(ib_client_read(text, strlen(text), "r.jsonl", &all, &err) == 0);
	CU_ASSERT(all.v[0].unknown_version && all.v[0].requests.attempted == 2 && all.v[0].requests.succeeded == IB_NOT_IN_FILE);
	CU_ASSERT(all.v[0].requests.timed_out == IB_NOT_IN_FILE && all.v[0].ttft != NULL && all.v[0].e2e != NULL);
}

static void test_export_csv_survives_every_truncation_and_flip(void)
{
	static const char text[] = HEAD_CELLS "\nindex,outcome,itl_ns,error_class\n0,error,\"1;2\",\"a\"\"b\"\n1,ok,-,\n";
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++) {
		ib_auto_free char *copy = ib_strndup(text, n);
		ib_auto_results struct ib_results a = {0}, b = {0};
		struct ib_err err = {0};

		(void)!ib_client_read(copy, i, "r.csv", &a, &err);
		copy[i] = (char)(copy[i] ^ 2);
		(void)!ib_client_read(copy, n, "r.csv", &b, &err);
		CU_ASSERT(a.n == 0 || copy[i - 1] == '\n'); /* what is cut within a line is refused */
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_export_round_trip_of_every_result_file),
	IB_TEST(test_export_says_when_there_are_no_records),
	IB_TEST(test_export_leaves_out_what_is_no_time),
	IB_TEST(test_export_form_follows_the_name),
	IB_TEST(test_export_csv_of_spreadsheets_and_data_frames),
	IB_TEST(test_export_csv_faults_are_named_with_their_line),
	IB_TEST(test_export_csv_gaps_and_warmups),
	IB_TEST(test_export_faults_of_json_lines_name_their_line),
	IB_TEST(test_export_unknown_formulas_do_not_pass),
	IB_TEST(test_export_csv_survives_every_truncation_and_flip),
	{0},
};

const struct ib_test_suite ib_suite = {"export", tests};
