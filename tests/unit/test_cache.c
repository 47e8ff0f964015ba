/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run/cache.c and prometheus.c: what counters say about a cache condition. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/cache.h"
#include "metrics/prometheus.h"

/* vLLM's metrics with these counts. */
static char *vllm(int queries, int hits, int output)
{
	return ib_asprintf("# HELP vllm:prefix_cache_queries_total x\n# TYPE vllm:prefix_cache_queries_total counter\n"
			   "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} %d.0\n"
			   "vllm:prefix_cache_queries_created{engine=\"0\"} 1.7e9\n"
			   "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} %d\n"
			   "vllm:request_success_total{engine=\"0\",finished_reason=\"length\",model_name=\"m\"} %d\n"
			   "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\",model_name=\"m\"} 0\n"
			   "vllm:num_requests_running{engine=\"0\"} 0.0\nvllm:num_requests_waiting{engine=\"0\"} 2.0\n"
			   "vllm:generation_tokens_total{engine=\"0\"} %d\n",
			   queries, hits, output / 8, output);
}

static const char *const words[] = {[IB_UNCONFIRMED] = "unconfirmed", [IB_CONFIRMED] = "confirmed", [IB_CONTRADICTED] = "contradicted"};

struct judged {
	enum ib_condition condition;
	int queries, hits;     /* deltas */
	int64_t input_tokens;  /* of the client */
	int64_t hits_max;
	double hit_share_min;
	enum ib_evidence_of want;
	const char *why; /* a part of it */
};

static void test_cache_verdicts(void)
{
	static const struct judged all[] = {
		{IB_CACHE_COLD, 100, 0, 100, 0, NAN, IB_CONFIRMED, "0 of 100 prompt tokens (0.0 %) came from the cache"},
		{IB_CACHE_RESET, 100, 0, 100, 0, NAN, IB_CONFIRMED, ""},
		{IB_CACHE_RESET, 100, 16, 100, 0, NAN, IB_CONTRADICTED, "16 of 100 prompt tokens (16.0 %) came from the cache, where at most 0 may"},
		{IB_CACHE_RESET, 100, 16, 100, 16, NAN, IB_CONFIRMED, ""},
		{IB_CACHE_RESET, 100, 17, 100, 16, NAN, IB_CONTRADICTED, ""},
		{IB_CACHE_COLD, 100, 1, IB_NONE, 0, NAN, IB_CONTRADICTED, ""},
		{IB_CACHE_COLD, 100, 0, IB_NONE, 0, NAN, IB_UNCONFIRMED, "not known"},
		{IB_CACHE_COLD, 99, 0, 100, 0, NAN, IB_UNCONFIRMED, "fewer than the 100 expected"},
		{IB_CACHE_COLD, 0, 0, 100, 0, NAN, IB_UNCONFIRMED, "fewer than the 100 expected"},
		{IB_CACHE_COLD, 101, 0, 100, 0, NAN, IB_UNCONFIRMED, "someone else used it"},
		{IB_CACHE_REUSE, 100, 1, 100, 0, NAN, IB_CONFIRMED, ""},
		{IB_CACHE_REUSE, 100, 0, 100, 0, NAN, IB_CONTRADICTED, "where some must"},
		{IB_CACHE_WARM, 100, 80, 100, 0, 0.8, IB_CONFIRMED, "80 of 100"},
		{IB_CACHE_REUSE, 100, 79, 100, 0, 0.8, IB_CONTRADICTED, "where at least 80 % must"},
		{IB_CACHE_REUSE, 120, 90, 100, 0, NAN, IB_UNCONFIRMED, "someone else used it"},
		/* what others did is not held against the run, what they cannot have done is */
		{IB_CACHE_COLD, 120, 20, 100, 0, NAN, IB_UNCONFIRMED, "someone else used it"},
		{IB_CACHE_COLD, 120, 21, 100, 0, NAN, IB_CONTRADICTED, "where at most 0 may"},
		{IB_CACHE_REUSE, 200, 90, 100, 0, 0.8, IB_UNCONFIRMED, "someone else used it"},
		{IB_CACHE_REUSE, 200, 79, 100, 0, 0.8, IB_CONTRADICTED, "where at least 80 % must"},
		{IB_CACHE_REUSE, 50, 0, 100, 0, NAN, IB_UNCONFIRMED, "fewer"},
		{IB_CACHE_REUSE, 0, 0, 0, 0, 0.5, IB_CONTRADICTED, ""},
		{IB_CACHE_UNSPECIFIED, 100, 50, 100, 0, NAN, IB_UNCONFIRMED, "no condition is claimed"},
	};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		const struct judged *t = &all[i];
		struct ib_contract_evidence e = {.engine = "vllm", .metrics_url = "http://127.0.0.1/metrics", .queries = IB_UNSET,
						 .hits_max = t->hits_max, .hit_share_min = t->hit_share_min};
		ib_auto_free char *before = vllm(1000, 500, 80), *after = vllm(1000 + t->queries, 500 + t->hits, 400);
		ib_auto_record struct ib_record r;

		ib_record_init(&r);
		ib_cache_judge(&e, t->condition, before, after, t->input_tokens, &r);
		if (r.cache.evidence != t->want || !strstr(r.cache.why, t->why)) {
			printf("# %zu: %s: %s\n", i, words[r.cache.evidence], r.cache.why);
			CU_FAIL("verdict");
		}
		CU_ASSERT_EQUAL(r.server_output_tokens, 320);
		CU_ASSERT_EQUAL(r.cache.expected_queries, t->input_tokens);
	}
}

/* Numbers of a real server: 16 prompts of 14408 tokens, 5 warm-ups of the first one (900 tokens), of which 896 can be found again. */
static void test_cache_requests_of_the_client_explain_hits(void)
{
	static const struct {
		enum ib_condition condition;
		int queries, hits;
		int64_t requests, tokens, perhaps, hits_max;
		double share;
		enum ib_evidence_of want;
		const char *why;
	} all[] = {
		{IB_CACHE_RESET, 18908, 4480, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "5 requests that the client sent on its own before (4500 prompt tokens) explain at most 4480"},
		{IB_CACHE_RESET, 18908, 4500, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "explain at most 4500"},
		{IB_CACHE_RESET, 18908, 4501, 5, 4500, 0, 0, NAN, IB_CONTRADICTED, "4501 of 18908 prompt tokens (23.8 %) came from the cache, where at most 0 may; 5 requests"},
		{IB_CACHE_RESET, 18908, 4480 + 896, 5, 4500, 0, 0, NAN, IB_CONTRADICTED, "explain at most 4500"},
		{IB_CACHE_RESET, 18908, 4480, 5, 4500, 0, 4480, NAN, IB_CONFIRMED, "all as expected"},
		{IB_CACHE_RESET, 18908, 0, 5, 4500, 0, 0, NAN, IB_CONFIRMED, ""},
		/* fewer or more than they are */
		{IB_CACHE_RESET, 18008, 0, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "fewer than the 18908 expected with those that the client sent on its own"},
		{IB_CACHE_RESET, 14408, 0, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "fewer than"},
		{IB_CACHE_RESET, 18909, 0, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "more than the 18908 expected: someone else"},
		{IB_CACHE_RESET, 18908, 4480, 0, 0, 0, 0, NAN, IB_UNCONFIRMED, "someone else used it"},
		/* one more in some versions */
		{IB_CACHE_RESET, 15308, 896, 0, 0, 900, 0, NAN, IB_UNCONFIRMED, "1 requests that the client sent on its own before (900 prompt tokens) explain at most 896"},
		{IB_CACHE_RESET, 14408, 0, 0, 0, 900, 0, NAN, IB_CONFIRMED, ""},
		{IB_CACHE_RESET, 19808, 5376, 5, 4500, 900, 0, NAN, IB_UNCONFIRMED, "6 requests that"},
		{IB_CACHE_RESET, 14508, 0, 0, 0, 900, 0, NAN, IB_UNCONFIRMED, "someone else"},
		/* nobody knows how long they are */
		{IB_CACHE_RESET, 18908, 4480, 5, IB_NONE, 0, 0, NAN, IB_UNCONFIRMED, "4500 more than the client counts: it also sent 5 requests on its own"},
		{IB_CACHE_RESET, 14408, 0, 5, IB_NONE, 0, 0, NAN, IB_UNCONFIRMED, "0 more than the client counts"},
		/* where hits are wanted, those of its own requests prove nothing */
		{IB_CACHE_REUSE, 18908, 18816, 5, 4500, 0, 0, 0.9, IB_CONFIRMED, ""},
		{IB_CACHE_REUSE, 18908, 4480, 5, 4500, 0, 0, NAN, IB_UNCONFIRMED, "where at least 1 of the measured ones must; 5 requests"},
		{IB_CACHE_REUSE, 18908, 13000, 5, 4500, 0, 0, 0.9, IB_UNCONFIRMED, "where at least 12968 of the measured ones must"},
		{IB_CACHE_REUSE, 18908, 12967, 5, 4500, 0, 0, 0.9, IB_CONTRADICTED, "where at least 90 % must"},
		{IB_CACHE_REUSE, 18908, 0, 5, 4500, 0, 0, NAN, IB_CONTRADICTED, "where some must"},
	};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		struct ib_contract_evidence e = {.engine = "vllm", .metrics_url = "", .queries = IB_UNSET, .hits_max = all[i].hits_max, .hit_share_min = all[i].share};
		ib_auto_free char *before = vllm(1000, 500, 80), *after = vllm(1000 + all[i].queries, 500 + all[i].hits, 400);
		ib_auto_record struct ib_record r;

		ib_record_init(&r);
		r.cache.own_requests = all[i].requests;
		r.cache.own_tokens = all[i].tokens;
		r.cache.own_perhaps_tokens = all[i].perhaps;
		ib_cache_judge(&e, all[i].condition, before, after, 14408, &r);
		CU_ASSERT_EQUAL(r.cache.expected_queries, 14408);
		if (r.cache.evidence != all[i].want || !strstr(r.cache.why, all[i].why)) {
			printf("# %zu: %s: %s\n", i, words[r.cache.evidence], r.cache.why);
			CU_FAIL("verdict");
		}
	}
}

static void test_cache_contract_may_say_the_queries(void)
{
	struct ib_contract_evidence e = {.engine = "vllm", .metrics_url = "", .queries = 100, .hits_max = 0, .hit_share_min = NAN};
	ib_auto_free char *before = vllm(0, 0, 0), *after = vllm(100, 0, 8);
	ib_auto_record struct ib_record r;

	ib_record_init(&r);
	ib_cache_judge(&e, IB_CACHE_COLD, before, after, IB_NONE, &r);
	CU_ASSERT_EQUAL(r.cache.evidence, IB_CONFIRMED);
	CU_ASSERT_EQUAL(r.cache.expected_queries, 100);
}

static void test_cache_llamacpp_queries_are_a_sum(void)
{
	static const char before[] = "llamacpp:prompt_tokens_total 20\nllamacpp:prompt_tokens_cached_total 30\nllamacpp:tokens_predicted_total 5\n";
	static const char after[] = "llamacpp:prompt_tokens_total 40\nllamacpp:prompt_tokens_cached_total 2570\nllamacpp:tokens_predicted_total 1285\n";
	struct ib_contract_evidence e = {.engine = "llamacpp", .metrics_url = "", .queries = IB_UNSET, .hits_max = 0, .hit_share_min = 0.8};
	ib_auto_record struct ib_record r;

	ib_record_init(&r);
	ib_cache_judge(&e, IB_CACHE_REUSE, before, after, 2560, &r);
	CU_ASSERT_EQUAL(r.cache.evidence, IB_CONFIRMED);
	CU_ASSERT_STRING_EQUAL(r.cache.why, "2540 of 2560 prompt tokens (99.2 %) came from the cache, all as expected");
	CU_ASSERT_EQUAL(r.server_output_tokens, 1280);
	CU_ASSERT_EQUAL(r.cache.counters_n, 3);
	CU_ASSERT_STRING_EQUAL(r.cache.engine, "llamacpp");
}

static void expect_unconfirmed(const char *before, const char *after, const char *why)
{
	struct ib_contract_evidence e = {.engine = "vllm", .metrics_url = "", .queries = 0, .hits_max = 0, .hit_share_min = NAN};
	ib_auto_record struct ib_record r;

	ib_record_init(&r);
	ib_cache_judge(&e, IB_CACHE_COLD, before, after, 0, &r);
	CU_ASSERT_EQUAL(r.cache.evidence, IB_UNCONFIRMED);
	CU_ASSERT_STRING_EQUAL(r.cache.why, why);
}

static void test_cache_without_counters_nothing_is_confirmed(void)
{
	ib_auto_free char *good = vllm(100, 10, 8), *lower = vllm(50, 10, 8), *nonsense = vllm(100, 20, 8);

	expect_unconfirmed(NULL, good, "the server's metrics could not be read before the command");
	expect_unconfirmed(good, NULL, "the server's metrics could not be read after the command");
	expect_unconfirmed(good, "", "the server's metrics do not hold 'vllm:prefix_cache_queries_total'");
	expect_unconfirmed("x 1\n", "x 1\n", "the server's metrics do not hold 'vllm:prefix_cache_queries_total'");
	expect_unconfirmed(good, lower, "'vllm:prefix_cache_queries_total' went down: the server was restarted during the run");
	expect_unconfirmed(good, nonsense, "the server's counters make no sense: more hits than queries, or no whole numbers");
	expect_unconfirmed(good, "vllm:prefix_cache_queries_total NaN\nvllm:prefix_cache_hits_total 1\n",
			   "the server's metrics do not hold 'vllm:prefix_cache_queries_total'");
}

static void test_cache_requests_are_kept_by_reason(void)
{
	struct ib_contract_evidence e = {.engine = "vllm", .metrics_url = "", .queries = IB_UNSET, .hits_max = 0, .hit_share_min = NAN};
	ib_auto_free char *before = vllm(0, 0, 0), *after = vllm(100, 0, 320);
	ib_auto_record struct ib_record r;
	const struct ib_record_counter *found = NULL;

	ib_record_init(&r);
	ib_cache_judge(&e, IB_CACHE_COLD, before, after, 100, &r);
	for (size_t i = 0; i < r.cache.counters_n; i++)
		if (strcmp(r.cache.counters[i].name, "vllm:request_success_total{finished_reason=\"length\"}") == 0)
			found = &r.cache.counters[i];
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_TRUE(found && found->before == 0 && found->after == 40);
}

static void test_cache_busy_server(void)
{
	ib_auto_free char *text = vllm(0, 0, 0);

	CU_ASSERT_EQUAL(ib_cache_busy(&(struct ib_contract_evidence){.engine = "vllm"}, text), 2);
	CU_ASSERT_EQUAL(ib_cache_busy(&(struct ib_contract_evidence){.engine = "llamacpp"}, text), IB_NONE);
	CU_ASSERT_EQUAL(ib_cache_busy(&(struct ib_contract_evidence){.engine = "other"}, text), IB_NONE);
}

static void test_cache_sglang_hits_appear_with_their_first_count(void)
{
	static const char before[] = "sglang:prompt_tokens_total{m=\"x\"} 10\nsglang:num_requests_total{m=\"x\"} 1\nsglang:generation_tokens_total{m=\"x\"} 8\n";
	static const char cold[] = "sglang:prompt_tokens_total{m=\"x\"} 110\nsglang:num_requests_total{m=\"x\"} 5\nsglang:generation_tokens_total{m=\"x\"} 40\n";
	static const char hit[] = "sglang:prompt_tokens_total 110\nsglang:num_requests_total 5\nsglang:generation_tokens_total 40\n"
				  "sglang:cached_tokens_total{cache_source=\"device\"} 30\nsglang:cached_tokens_total{cache_source=\"host\"} 2\n";
	static const char old[] = "sglang:prompt_tokens_total 110\n";
	struct ib_contract_evidence e = {.engine = "sglang", .metrics_url = "", .queries = IB_UNSET, .hits_max = 0, .hit_share_min = NAN};
	static const struct {
		const char *after, *why;
		enum ib_evidence_of want;
	} all[] = {{cold, "0 of 100", IB_CONFIRMED}, {hit, "32 of 100", IB_CONTRADICTED}, {old, "do not hold 'sglang:cached_tokens_total'", IB_UNCONFIRMED}};

	for (size_t i = 0; i < IB_LEN(all); i++) {
		ib_auto_record struct ib_record r;

		ib_record_init(&r);
		ib_cache_judge(&e, IB_CACHE_COLD, before, all[i].after, 100, &r);
		CU_ASSERT_EQUAL(r.cache.evidence, all[i].want);
		CU_ASSERT_PTR_NOT_NULL(strstr(r.cache.why, all[i].why));
	}
}

static void test_cache_custom_counters_are_those_of_the_contract(void)
{
	ib_auto_json json_t *counters = NULL;
	static const char text[] = "{\"queries\":[\"q_a\",\"q_b\"],\"hits\":[\"h\"],\"busy\":[\"b\"]}";
	struct ib_contract_evidence e = {.engine = "custom", .metrics_url = "", .queries = IB_UNSET, .hits_max = 0, .hit_share_min = 0.5};
	ib_auto_record struct ib_record r;

	CU_ASSERT_EQUAL_FATAL(ib_json_load(text, sizeof(text) - 1, "t", &counters, NULL), 0);
	e.counters = counters;
	ib_record_init(&r);
	ib_cache_judge(&e, IB_CACHE_REUSE, "q_a 1\nq_b 2\nh 0\n", "q_a 51\nq_b 52\nh 60\n", 100, &r);
	CU_ASSERT_EQUAL(r.cache.evidence, IB_CONFIRMED);
	CU_ASSERT_EQUAL(r.server_output_tokens, IB_NONE);
	CU_ASSERT_EQUAL(ib_cache_busy(&e, "b 3\n"), 3);
}

static void files_row(struct ib_record *r, int64_t resident, int64_t bytes)
{
	json_t *o = ib_json_object(), *list = ib_json_array();

	ib_json_set_bool(o, "evidence", true);
	ib_json_set_int(o, "bytes", bytes);
	if (resident < 0)
		ib_json_set(o, "resident_before_bytes", NULL);
	else
		ib_json_set_int(o, "resident_before_bytes", resident);
	ib_json_add(list, o);
	ib_record_set(r, IB_SECTION_RESIDENCY, list);
}

static void test_cache_files_alone_and_beside_counters(void)
{
	static const struct {
		int64_t resident;
		int hits; /* -1: no counters asked for */
		enum ib_evidence_of want;
	} all[] = {{0, -1, IB_CONFIRMED},   {10, -1, IB_CONFIRMED}, {11, -1, IB_CONTRADICTED}, {-1, -1, IB_UNCONFIRMED}, {0, 0, IB_CONFIRMED},
		   {11, 0, IB_CONTRADICTED}, {0, 5, IB_CONTRADICTED}, {-1, 0, IB_UNCONFIRMED},   {-1, 5, IB_CONTRADICTED}};
	ib_auto_json json_t *files = json_array();

	ib_json_add_str(files, "model.bin");
	for (size_t i = 0; i < IB_LEN(all); i++) {
		struct ib_contract_evidence e = {.engine = all[i].hits < 0 ? NULL : "vllm", .metrics_url = "", .queries = IB_UNSET, .hit_share_min = NAN,
						 .files = files, .resident_share_min = NAN, .resident_share_max = 0.1};
		ib_auto_free char *before = vllm(0, 0, 0), *after = vllm(100, all[i].hits, 8);
		ib_auto_record struct ib_record r;

		ib_record_init(&r);
		files_row(&r, all[i].resident, 100);
		ib_cache_judge(&e, IB_CACHE_COLD, all[i].hits < 0 ? NULL : before, all[i].hits < 0 ? NULL : after, 100, &r);
		if (r.cache.evidence != all[i].want)
			printf("# %zu: %s: %s\n", i, words[r.cache.evidence], r.cache.why);
		CU_ASSERT_EQUAL(r.cache.evidence, all[i].want);
	}
}

static void ignore(void *arg, const char *value, double sample)
{
	(void)value;
	*(double *)arg += sample;
}

static void test_cache_prometheus_text_is_read_exactly(void)
{
	static const char text[] = "a_total{x=\"}\",y=\"q\\\"z\"} 3 1700000000\na_total 4\r\na_totals 100\n  a_total 100\n#a_total 100\nb{x=\"1\"} +Inf\nc{x=\"1\" 5\nd\ne 1e3\nf 1x\ng{k=\"v\"} 2\n"
				   "g{kk=\"w\",k=\"v2\"} 3\nlast 7";
	double sum = 0;

	CU_ASSERT_EQUAL(ib_prometheus_sum(text, "a_total"), 7);
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum(text, "b")));
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum(text, "c")));
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum(text, "d")));
	CU_ASSERT_EQUAL(ib_prometheus_sum(text, "e"), 1000);
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum(text, "f")));
	CU_ASSERT_EQUAL(ib_prometheus_sum(text, "last"), 7);
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum("", "last")));
	ib_prometheus_each(text, "g", "k", ignore, &sum);
	CU_ASSERT_EQUAL(sum, 5);
}

static void test_cache_series_are_told_by_their_labels(void)
{
	static const char text[] = "a{x=\"1\",y=\"2\"} 5\na{y=\"2\", x=\"1\"} 5\nb{x=\"1\"} 5\nb{x=\"1,2\"} 5\nb 5\nbb{x=\"1\"} 9\nc{x=\"q\\\"\"} 1\nh 0x10\nn nan\n";

	CU_ASSERT_TRUE(ib_prometheus_twice(text, "a"));
	CU_ASSERT_FALSE(ib_prometheus_twice(text, "b") || ib_prometheus_twice(text, "none"));
	CU_ASSERT_TRUE(ib_prometheus_has(text, "n") && ib_prometheus_has(text, "c"));
	CU_ASSERT_FALSE(ib_prometheus_has(text, "x") || ib_prometheus_has(text, ""));
	CU_ASSERT_TRUE(isnan(ib_prometheus_sum(text, "h")));
	CU_ASSERT_FALSE(ib_prometheus_fell(text, text, "b"));
	CU_ASSERT_FALSE(ib_prometheus_fell("b{x=\"1\"} 4\n", text, "b")); /* others may join */
	CU_ASSERT_TRUE(ib_prometheus_fell(text, "b{x=\"1\"} 4\nb{x=\"1,2\"} 50\nb 50\n", "b"));
	CU_ASSERT_TRUE(ib_prometheus_fell(text, "b{x=\"1\"} 400\nb 50\n", "b"));
}

static const struct ib_test tests[] = {
	IB_TEST(test_cache_verdicts),
	IB_TEST(test_cache_requests_of_the_client_explain_hits),
	IB_TEST(test_cache_contract_may_say_the_queries),
	IB_TEST(test_cache_llamacpp_queries_are_a_sum),
	IB_TEST(test_cache_without_counters_nothing_is_confirmed),
	IB_TEST(test_cache_requests_are_kept_by_reason),
	IB_TEST(test_cache_busy_server),
	IB_TEST(test_cache_sglang_hits_appear_with_their_first_count),
	IB_TEST(test_cache_custom_counters_are_those_of_the_contract),
	IB_TEST(test_cache_files_alone_and_beside_counters),
	IB_TEST(test_cache_prometheus_text_is_read_exactly),
	IB_TEST(test_cache_series_are_told_by_their_labels),
	{0},
};

const struct ib_test_suite ib_suite = {"cache", tests};
