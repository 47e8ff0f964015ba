/* SPDX-License-Identifier: Apache-2.0 */
/* Checks A01 to A18 over small views of loose files: each passes, fails and says what is missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/clients.h"
#include "unit.h"
#include "verify/check.h"
#include "verify/hashed.h"

#define N 20 /* requests */

/* One directory with one result of N sound requests: one after the other, 0.1 s each, 10 tokens of 10 asked. */
struct fixture {
	struct ib_audit_view v;
	struct ib_audit_run run;
	struct ib_result *r;
	struct ib_findings f;
};

static void fill(struct ib_result *r)
{
	for (size_t i = 0; i < N; i++) {
		struct ib_row row = ib_row_empty();

		row.start_s = (double)i * 0.1;
		row.ttft_s = 0.019;
		row.e2e_s = 0.0999;
		row.queue_s = 0;
		row.input_tokens = row.output_tokens = row.output_asked = 10;
		row.outcome = IB_OUTCOME_SUCCEEDED;
		for (int k = 0; k < 9; k++)
			ib_columns_gap(&r->columns, 0.0809 / 9);
		ib_columns_add(&r->columns, &row);
	}
	ib_columns_end(&r->columns);
	ib_result_count(r);
	r->requests.asked = N;
	r->requests.timed_out = r->requests.incomplete = 0;
	r->duration_s = 2;
	ib_result_span(r, "duration", 2);
	r->concurrency_asked = 1;
	r->rate_asked = 10;
}

static void begin(struct fixture *x)
{
	*x = (struct fixture){.v = {.n_runs = 1}};
	x->r = ib_results_add(&x->run.own, &ib_client_vllm_bench, "run/result.json");
	fill(x->r);
	x->run.name = ib_strdup("run");
	x->run.results = &x->run.own;
	x->run.context = &x->run.own_context;
	x->v.runs = &x->run;
}

static void end(struct fixture *x)
{
	ib_findings_clear(&x->f);
	ib_audit_run_clear(&x->run);
	for (size_t i = 0; i < x->v.n_files; i++) {
		free(x->v.files[i].path);
		free(x->v.files[i].sha256);
	}
	free(x->v.files);
	ib_strv_clear(&x->v.unanswered);
}

/* What one check says: fails as level, else passes, else is open. */
static bool says(struct fixture *x, const char *id, enum ib_status status, enum ib_level_of level)
{
	const struct ib_check *c = ib_check_find(id);
	bool found = false;

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	ib_findings_clear(&x->f);
	c->audit(c, &x->v, &x->f);
	CU_ASSERT(x->f.n > 0);
	for (size_t i = 0; i < x->f.n; i++)
		found = found || (x->f.v[i].status == status && (status != IB_FAIL || x->f.v[i].level == level));
	for (size_t i = 0; i < x->f.n && !found; i++)
		printf("# %s: %s\n", id, x->f.v[i].message);
	return found;
}

static bool fails(struct fixture *x, const char *id, enum ib_level_of level) { return says(x, id, IB_FAIL, level); }
static bool passes(struct fixture *x, const char *id)
{
	return says(x, id, IB_PASS, 0) && ib_findings_count(&x->f, IB_FINDING_E, IB_FAIL) + ib_findings_count(&x->f, IB_FINDING_W, IB_FAIL) == 0;
}
static bool open_(struct fixture *x, const char *id) { return says(x, id, IB_NOT_CHECKABLE, 0); }

static struct ib_claim *claim(struct fixture *x, const char *name, const struct ib_formula *f, enum ib_measure m, double claimed)
{
	return ib_result_expect(x->r, name, name, f, m, 1, claimed, IB_CLAIM_TOLERANCE);
}

static void test_audit1_sound_fails_nowhere(void)
{
	static const char *const pass[] = {"A03", "A07", "A08", "A09", "A12", "A13", "A14", "A15", "A16", "A18"};
	static const char *const open_ones[] = {"A01", "A02", "A04", "A05", "A06", "A10", "A17"};
	struct fixture x;

	begin(&x);
	for (size_t i = 0; i < IB_LEN(pass); i++)
		CU_ASSERT(passes(&x, pass[i]));
	for (size_t i = 0; i < IB_LEN(open_ones); i++)
		CU_ASSERT(open_(&x, open_ones[i]));
	end(&x);
}

static void test_audit1_torn_and_unsupported(void)
{
	struct fixture x;

	begin(&x);
	ib_strv_add(&x.run.torn, "run/torn.json: line 1: ends early");
	CU_ASSERT(fails(&x, "A03", IB_FINDING_E));
	CU_ASSERT_STRING_EQUAL(x.f.v[0].file, "run/torn.json");
	ib_strv_clear(&x.run.torn);
	ib_strv_add(&x.run.unsupported, "run/new.json: of another version");
	CU_ASSERT(open_(&x, "A03"));
	CU_ASSERT(x.f.v[0].level == IB_FINDING_E && x.f.v[0].code == IB_E_UNSUPPORTED);
	ib_strv_clear(&x.run.unsupported);
	x.r->literals = 2;
	CU_ASSERT(fails(&x, "A03", IB_FINDING_I));
	end(&x);
}

static void test_audit1_command_without_result(void)
{
	struct fixture x;

	begin(&x);
	ib_strv_add(&x.v.unanswered, "other: vllm-bench");
	CU_ASSERT(fails(&x, "A04", IB_FINDING_W));
	CU_ASSERT_STRING_EQUAL(x.f.v[0].file, "other");
	end(&x);
}

static void test_audit1_copies_and_dates(void)
{
	struct ib_audit_run two[2];
	struct fixture x, y;
	char other[] = "other";

	begin(&x);
	x.r->ended_at = 1577836800; /* 2020-01-01 */
	CU_ASSERT(open_(&x, "A05"));
	x.run.own_context.before = (struct ib_counters){.file = ib_strdup("before.txt"), .engine = "vllm"};
	x.run.own_context.before.v[IB_COUNTER_STARTED_AT] = 1796000000;
	CU_ASSERT(fails(&x, "A05", IB_FINDING_E));
	x.r->ended_at = 1796000100;
	CU_ASSERT(passes(&x, "A05"));
	free(x.r->file);
	x.r->file = ib_strdup("run/result-20200101-000000.json");
	CU_ASSERT(fails(&x, "A05", IB_FINDING_W));
	begin(&y);
	two[0] = x.run;
	two[1] = y.run;
	two[1].name = other;
	x.v.runs = two;
	x.v.n_runs = 2;
	x.v.files = ib_alloc(2 * sizeof(*x.v.files));
	x.v.files[0] = (struct ib_audit_file){.path = ib_strdup(x.r->file), .sha256 = ib_strdup("aa")};
	x.v.files[1] = (struct ib_audit_file){.path = ib_strdup(y.r->file), .sha256 = ib_strdup("aa")};
	x.v.n_files = 2;
	CU_ASSERT(fails(&x, "A05", IB_FINDING_E));
	end(&y);
	end(&x);
}

static void test_audit1_requests_are_accounted_for(void)
{
	struct fixture x;

	begin(&x);
	x.r->requests.asked = 1000;
	CU_ASSERT(fails(&x, "A07", IB_FINDING_E));
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "980 of 1000 requests are unaccounted for"));
	x.r->cut = ib_strdup("was_cancelled");
	CU_ASSERT(fails(&x, "A07", IB_FINDING_W));
	free(ib_steal(&x.r->cut));
	ib_setting_put(&x.r->settings, IB_SET_DURATION, "10", "the command line");
	CU_ASSERT(open_(&x, "A07"));
	x.r->requests.asked = N - 4;
	CU_ASSERT(fails(&x, "A07", IB_FINDING_W));
	x.r->requests.asked = IB_NOT_IN_FILE;
	x.r->requests.attempted = N + 3;
	CU_ASSERT(fails(&x, "A07", IB_FINDING_E));
	x.r->requests.attempted = x.r->requests.failed = IB_NOT_IN_FILE;
	CU_ASSERT(open_(&x, "A07"));
	ib_setting_put(&x.run.own_context.settings, IB_SET_REQUESTS, "20", "the command line");
	CU_ASSERT(passes(&x, "A07"));
	end(&x);
}

static void test_audit1_success_means_output(void)
{
	struct fixture x;

	begin(&x);
	x.r->requests.failed = 9;
	CU_ASSERT(fails(&x, "A08", IB_FINDING_W));
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "9 of 29 requests did not succeed"));
	x.r->requests.failed = 0;
	for (size_t i = 0; i < N; i++)
		x.r->columns.ttft_s[i] = 0.02;
	x.r->columns.ttft_s[3] = NAN;
	CU_ASSERT(fails(&x, "A08", IB_FINDING_W));
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "its mean is 20 ms over the other 19, 19 ms with 0 for those"));
	x.r->columns.ttft_s[3] = 0.02;
	x.r->requests.without_output = 2;
	claim(&x, "completed", &ib_count_succeeded, IB_MEASURE_SCALAR, N + 2);
	CU_ASSERT(fails(&x, "A08", IB_FINDING_E));
	x.r->requests.succeeded = IB_NOT_IN_FILE;
	CU_ASSERT(open_(&x, "A08"));
	end(&x);
}

static void test_audit1_zero_is_not_missing(void)
{
	struct fixture x;
	struct ib_claim *c;

	begin(&x);
	c = claim(&x, "mean_ttft_ms", &ib_ttft_first_chunk, IB_MEASURE_MEAN, 0);
	CU_ASSERT(fails(&x, "A09", IB_FINDING_W));
	c->claimed = 10;
	CU_ASSERT(passes(&x, "A09"));
	c->measure = IB_MEASURE_STD;
	c->claimed = 0;
	c->derived = ib_stat_value(0, 1);
	CU_ASSERT(fails(&x, "A09", IB_FINDING_W));
	c->derived = ib_stat_value(0, N);
	CU_ASSERT(passes(&x, "A09"));
	x.r->requests.succeeded = 0;
	CU_ASSERT(fails(&x, "A09", IB_FINDING_W));
	end(&x);
}

static void test_audit1_claims_derive(void)
{
	struct fixture x;
	struct ib_claim *c;

	begin(&x);
	claim(&x, "mean_ttft", &ib_ttft_first_chunk, IB_MEASURE_MEAN, 0.019)->headline = true;
	c = claim(&x, "p50_ttft", &ib_ttft_first_chunk, IB_MEASURE_PERCENTILE, 0.02);
	ib_results_derive(&x.run.own);
	CU_ASSERT(fails(&x, "A10", IB_FINDING_E));
	CU_ASSERT_STRING_EQUAL(x.f.v[0].where, "p50_ttft");
	CU_ASSERT_STRING_EQUAL(x.f.v[0].found, "0.02");
	c->status = IB_CLAIM_NOT_DERIVABLE;
	CU_ASSERT(passes(&x, "A10"));
	c->headline = true;
	CU_ASSERT(open_(&x, "A10"));
	end(&x);
}

static void test_audit1_percentiles_need_samples(void)
{
	struct fixture x;
	struct ib_claim *c;

	begin(&x);
	c = claim(&x, "p95", &ib_ttft_first_chunk, IB_MEASURE_PERCENTILE, 0.01);
	c->p = 95;
	CU_ASSERT(passes(&x, "A11"));
	c->p = 99;
	CU_ASSERT(fails(&x, "A11", IB_FINDING_W));
	CU_ASSERT_STRING_EQUAL(x.f.v[0].expected, "100");
	x.r->requests.succeeded = IB_NOT_IN_FILE;
	CU_ASSERT(open_(&x, "A11"));
	end(&x);
}

static void test_audit1_gaps_are_times_per_token(void)
{
	struct fixture x;

	begin(&x);
	for (size_t i = 0; i < x.r->columns.itl_n; i++)
		x.r->columns.itl_s[i] = i % 9 ? 1e-6 : 0.09;
	CU_ASSERT(fails(&x, "A12", IB_FINDING_W)); /* bursts */
	for (size_t i = 0; i < N; i++)
		x.r->columns.output_tokens[i] = 40;
	for (size_t i = 0; i < x.r->columns.itl_n; i++)
		x.r->columns.itl_s[i] = 0.01;
	CU_ASSERT(fails(&x, "A12", IB_FINDING_W)); /* four tokens a chunk */
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "several tokens"));
	for (size_t i = 0; i < N; i++)
		x.r->columns.output_tokens[i] = 10;
	for (size_t i = 0; i < N; i++)
		x.r->columns.ttft_s[i] = 0.01;
	x.r->columns.output_tokens[3] = 7;
	CU_ASSERT(fails(&x, "A12", IB_FINDING_W));
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "1 of 20 requests have more chunks"));
	x.r->columns.output_tokens[3] = 10;
	CU_ASSERT(fails(&x, "A12", IB_FINDING_W)); /* the first gap repeats the first token's time */
	x.r->columns.itl_n = 0;
	CU_ASSERT(open_(&x, "A12"));
	end(&x);
}

static void test_audit1_one_duration(void)
{
	struct fixture x;

	begin(&x);
	x.r->duration_s = 1;
	CU_ASSERT(fails(&x, "A13", IB_FINDING_W)); /* the records take 2 s */
	x.r->duration_s = 2;
	ib_result_span(x.r, "benchmark_duration", 2.03);
	CU_ASSERT(passes(&x, "A13"));
	ib_result_span(x.r, "other", 2.2);
	CU_ASSERT(fails(&x, "A13", IB_FINDING_W));
	x.r->n_spans = 0;
	x.r->duration_s = NAN;
	CU_ASSERT(open_(&x, "A13"));
	end(&x);
}

static void test_audit1_rate_and_cap(void)
{
	struct fixture x;

	begin(&x);
	x.r->rate_asked = 12; /* 10 achieved: within what 20 random arrivals explain */
	CU_ASSERT(passes(&x, "A14"));
	x.r->rate_asked = 20;
	CU_ASSERT(fails(&x, "A14", IB_FINDING_W));
	x.r->rate_asked = 10;
	x.r->columns.queue_s[N - 1] = 9;
	CU_ASSERT(fails(&x, "A14", IB_FINDING_W));
	x.r->rate_asked = INFINITY;
	CU_ASSERT(passes(&x, "A14"));
	x.r->rate_asked = NAN;
	CU_ASSERT(open_(&x, "A14"));
	x.r->concurrency_asked = 4;
	CU_ASSERT(fails(&x, "A15", IB_FINDING_W)); /* 1 of 4 */
	x.r->concurrency_asked = 1;
	x.r->columns.e2e_s[0] = 0.15;
	CU_ASSERT(fails(&x, "A15", IB_FINDING_W)); /* 2 at once */
	x.r->concurrency_asked = IB_NOT_IN_FILE;
	CU_ASSERT(open_(&x, "A15"));
	end(&x);
}

static void test_audit1_lengths_as_labelled(void)
{
	struct fixture x;

	begin(&x);
	x.r->output_tokens = 9 * N;
	x.r->requests.short_output = N;
	CU_ASSERT(fails(&x, "A16", IB_FINDING_W));
	CU_ASSERT_PTR_NOT_NULL(strstr(x.f.v[0].message, "20 of 20 are shorter"));
	x.r->columns.output_asked[0] = -1; /* not all say: nobody asked */
	CU_ASSERT(open_(&x, "A16"));
	free(x.r->file);
	x.r->file = ib_strdup("run/bench_out9.json");
	CU_ASSERT(passes(&x, "A16"));
	free(x.r->file);
	x.r->file = ib_strdup("run/bench_in10_out128.json");
	CU_ASSERT(fails(&x, "A16", IB_FINDING_W));
	free(x.r->file);
	x.r->file = ib_strdup("run/checkout128main12.json"); /* words that end in "out" and "in" */
	CU_ASSERT(open_(&x, "A16"));
	end(&x);
}

static void test_audit1_first_request(void)
{
	struct fixture x;

	begin(&x);
	x.r->columns.e2e_s[0] = 0.3;
	CU_ASSERT(fails(&x, "A18", IB_FINDING_W));
	x.r->columns.start_s[0] = 100; /* it was not the first */
	CU_ASSERT(passes(&x, "A18"));
	x.r->partial = ib_strdup("records sampled");
	CU_ASSERT(open_(&x, "A18"));
	end(&x);
}

static void test_audit1_no_result_passes_nothing(void)
{
	struct fixture x;

	begin(&x);
	x.v.n_runs = 0;
	for (size_t i = 0; ib_audit_checks[i] && strcmp(ib_audit_checks[i]->id, "A19") < 0; i++) {
		CU_ASSERT(open_(&x, ib_audit_checks[i]->id));
		CU_ASSERT(ib_findings_count(&x.f, ib_audit_checks[i]->level, IB_PASS) == 0);
	}
	x.v.n_runs = 1;
	x.r->unknown_version = true;
	for (size_t i = 0; ib_audit_checks[i] && strcmp(ib_audit_checks[i]->id, "A19") < 0; i++)
		if (strcmp(ib_audit_checks[i]->id, "A03") != 0) /* it was read to its end */
			CU_ASSERT(open_(&x, ib_audit_checks[i]->id));
	end(&x);
}

/* Without records the claims of one series still have to fit each other. */
static void stated(struct fixture *x, const char *key, enum ib_measure m, double p, double value)
{
	struct ib_claim *c = ib_result_expect(x->r, key + 1, key, &ib_ttft_first_chunk, m, 1, value, IB_CLAIM_TOLERANCE);

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	c->p = p;
	c->status = IB_CLAIM_NOT_DERIVABLE;
}

static bool impossible(double min, double p50, double p99, double max, double mean, double std)
{
	struct fixture x;
	bool found;

	begin(&x);
	stated(&x, "/p99", IB_MEASURE_PERCENTILE, 99, p99);
	stated(&x, "/std", IB_MEASURE_STD, 0, std);
	stated(&x, "/max", IB_MEASURE_MAX, 0, max);
	stated(&x, "/mean", IB_MEASURE_MEAN, 0, mean);
	stated(&x, "/median", IB_MEASURE_PERCENTILE, 50, p50);
	stated(&x, "/min", IB_MEASURE_MIN, 0, min);
	ib_check_find("A10")->audit(ib_check_find("A10"), &x.v, &x.f);
	found = ib_findings_count(&x.f, IB_FINDING_E, IB_FAIL) > 0;
	end(&x);
	return found;
}

static void test_audit1_impossible_statistics(void)
{
	struct fixture x;

	CU_ASSERT(!impossible(1, 2, 5, 6, 2.5, 1));
	CU_ASSERT(!impossible(0, 0, 0, 0, 0, 0));
	CU_ASSERT(impossible(1, 2, 1.5, 6, 2.5, 1));
	CU_ASSERT(impossible(1, 2, 7, 6, 2.5, 1));
	CU_ASSERT(impossible(3, 2, 5, 6, 3, 1));
	CU_ASSERT(impossible(1, 2, 5, 6, 0.5, 2));
	CU_ASSERT(impossible(1, 2, 5, 6, 6.5, 9));
	CU_ASSERT(impossible(1, 2, 5, 6, 4, 1));
	CU_ASSERT(impossible(1, 2, 5, 6, 2.5, -1));
	begin(&x);
	stated(&x, "/median", IB_MEASURE_PERCENTILE, 50, 2);
	stated(&x, "/p50", IB_MEASURE_PERCENTILE, 50, 2.1);
	CU_ASSERT(fails(&x, "A10", IB_FINDING_E));
	x.r->claims[1].key[1] = '/'; /* "//50": of another object, another series */
	CU_ASSERT(open_(&x, "A10"));
	end(&x);
}

static void test_audit1_same_records_twice(void)
{
	struct fixture x;
	struct ib_result *again;

	begin(&x);
	again = ib_results_add(&x.run.own, &ib_client_vllm_bench, "run/again.json");
	fill(again);
	CU_ASSERT(open_(&x, "A05")); /* all times alike: of a machine that counts so, not of a copy */
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < N; i++)
			x.run.own.v[k].columns.ttft_s[i] += (double)i * 1e-4;
	CU_ASSERT(fails(&x, "A05", IB_FINDING_W));
	x.run.own.v[1].columns.ttft_s[7] += 1e-9;
	CU_ASSERT(open_(&x, "A05"));
	end(&x);
}

static void test_audit1_unknown_version_decides_nothing(void)
{
	struct fixture x;

	begin(&x);
	x.r->unknown_version = true;
	CU_ASSERT(open_(&x, "A03"));
	CU_ASSERT(x.f.v[0].level == IB_FINDING_E && x.f.v[0].code == IB_E_UNSUPPORTED);
	end(&x);
}

static void test_audit1_every_check_explains_itself(void)
{
	for (size_t i = 0; ib_audit_checks[i]; i++) {
		CU_ASSERT(ib_audit_checks[i]->title && ib_audit_checks[i]->reads && ib_audit_checks[i]->means && ib_audit_checks[i]->todo);
		CU_ASSERT(i == 0 || strcmp(ib_audit_checks[i - 1]->id, ib_audit_checks[i]->id) < 0);
	}
}

/* --- evidence read as a stream --- */

struct taker {
	char data[16], sha256[IB_HEX_LEN];
	size_t n;
	bool take;
};

static bool take(void *arg, const char *path, const struct ib_source *in)
{
	struct taker *t = arg;

	(void)path;
	return t->take && in->read(in->arg, t->data, 3, &t->n, NULL) == 0;
}

static void taken(void *arg, const char *path, const char *sha256)
{
	struct taker *t = arg;

	(void)path;
	memcpy(t->sha256, sha256, strlen(sha256) + 1);
}

static void test_audit1_stream_digests_what_was_left(void)
{
	struct taker t = {.take = true};
	const struct ib_evidence_sink sink = {.stream = take, .streamed = taken, .arg = &t};
	struct ib_source_mem mem = {.data = "some bytes", .n = 10}, again = {.data = "some bytes", .n = 10};
	struct ib_source in = ib_source_from_mem(&mem);
	char want[IB_HEX_LEN];

	ib_sha256_of("some bytes", 10, want);
	ib_evidence_stream(&sink, "x", &in);
	CU_ASSERT(t.n == 3 && memcmp(t.data, "som", 3) == 0);
	CU_ASSERT_STRING_EQUAL(t.sha256, want);
	t = (struct taker){0};
	in = ib_source_from_mem(&again);
	ib_evidence_stream(&sink, "x", &in); /* left: nothing is said of it */
	CU_ASSERT_STRING_EQUAL(t.sha256, "");
}

static const struct ib_test tests[] = {
	IB_TEST(test_audit1_sound_fails_nowhere),
	IB_TEST(test_audit1_torn_and_unsupported),
	IB_TEST(test_audit1_command_without_result),
	IB_TEST(test_audit1_copies_and_dates),
	IB_TEST(test_audit1_requests_are_accounted_for),
	IB_TEST(test_audit1_success_means_output),
	IB_TEST(test_audit1_zero_is_not_missing),
	IB_TEST(test_audit1_claims_derive),
	IB_TEST(test_audit1_percentiles_need_samples),
	IB_TEST(test_audit1_gaps_are_times_per_token),
	IB_TEST(test_audit1_one_duration),
	IB_TEST(test_audit1_rate_and_cap),
	IB_TEST(test_audit1_lengths_as_labelled),
	IB_TEST(test_audit1_first_request),
	IB_TEST(test_audit1_no_result_passes_nothing),
	IB_TEST(test_audit1_impossible_statistics),
	IB_TEST(test_audit1_same_records_twice),
	IB_TEST(test_audit1_unknown_version_decides_nothing),
	IB_TEST(test_audit1_every_check_explains_itself),
	IB_TEST(test_audit1_stream_digests_what_was_left),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"audit1", tests};
