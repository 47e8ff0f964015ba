/* SPDX-License-Identifier: Apache-2.0 */
/* Result files written to hurt: numbers at the ends of their types, and documents whose reading must not cost more than their size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "clients/clients.h"
#include "unit.h"

#define HEAD "{\"model_id\":\"m\",\"tokenizer_id\":\"t\",\"request_throughput\":1.0,\"duration\":1.0,"

static int read_text(const char *text, struct ib_results *ret, struct ib_err *err)
{
	return ib_client_read(text, strlen(text), "result.json", ret, err);
}

static enum ib_code refused(const char *text)
{
	ib_auto_results struct ib_results r = {0};
	struct ib_err err = {0};

	return read_text(text, &r, &err) < 0 && r.n == 0 ? err.code : IB_OK;
}

static void test_hostile_totals_do_not_overflow(void)
{
	ib_auto_results struct ib_results r = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(read_text(HEAD "\"num_prompts\":7,\"completed\":9223372036854775807,\"failed\":9223372036854775807}", &r, &err) == 0);
	CU_ASSERT(r.v[0].requests.succeeded == IB_NOT_IN_FILE && r.v[0].requests.failed == IB_NOT_IN_FILE && r.v[0].requests.attempted == 7);
}

static void test_hostile_times_without_measure_are_refused(void)
{
	CU_ASSERT(refused(HEAD "\"num_prompts\":1,\"completed\":1,\"ttfts\":[1e13]}") == IB_E_SYNTAX);
	CU_ASSERT(refused(HEAD "\"num_prompts\":1,\"completed\":1,\"start_times\":[-1e300]}") == IB_E_SYNTAX);
	CU_ASSERT(refused(HEAD "\"num_prompts\":1,\"completed\":1,\"itls\":[[1e300]]}") == IB_E_SYNTAX);
	CU_ASSERT(refused(HEAD "\"num_prompts\":1,\"completed\":1,\"ttfts\":[1e12]}") == IB_OK);
}

/* 5 is not within a share of infinity. */
static void test_hostile_infinite_derivations_differ(void)
{
	ib_auto_results struct ib_results r = {0};
	const struct ib_claim *c;

	(void)ib_results_add(&r, &ib_client_vllm_bench, "x");
	ib_result_claim(&r.v[0], "k", &ib_requests_over_duration, 5, ib_stat_value(INFINITY, 1), IB_CLAIM_TOLERANCE, NULL);
	c = ib_result_find_claim(&r.v[0], "k");
	CU_ASSERT(c && c->status == IB_CLAIM_DIFFERS);
}

static void test_hostile_null_output_lengths_are_not_failures(void)
{
	ib_auto_results struct ib_results r = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(read_text(HEAD "\"num_prompts\":2,\"completed\":2,\"failed\":0,\"output_lens\":[4,null],\"ttfts\":[0.5,0.5]}", &r, &err) == 0);
	CU_ASSERT(r.v[0].requests.succeeded == 2 && r.v[0].requests.failed == 0 && r.v[0].requests.attempted == 2); /* as the client says */
	CU_ASSERT(ib_result_percentile(&r.v[0], r.v[0].ttft, 50).state == IB_STAT_NOT_RECORDED);
}

static void test_hostile_statistics_are_counted(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

	ib_buf_adds(&b, HEAD "\"num_prompts\":1,\"completed\":1,\"ttfts\":[0.5],\"output_lens\":[1]");
	for (int i = 0; i < 1200; i++)
		ib_buf_addf(&b, ",\"p%d.%03d_ttft_ms\":500", i / 1000, i % 1000);
	ib_buf_addc(&b, '}');
	CU_ASSERT(refused(ib_buf_str(&b)) == IB_E_LIMIT);
}

static void test_hostile_percentile_names_are_decimal(void)
{
	ib_auto_results struct ib_results r = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(read_text(HEAD "\"num_prompts\":1,\"completed\":1,\"ttfts\":[0.5],\"output_lens\":[1],\"p0x10_ttft_ms\":500,\"p1e1_ttft_ms\":500,"
				       "\"p99.9_ttft_ms\":500,\"p1.2.3_ttft_ms\":500}",
				  &r, &err) == 0);
	CU_ASSERT(ib_result_find_claim(&r.v[0], "p99.9_ttft_ms") != NULL);
	CU_ASSERT(!ib_result_find_claim(&r.v[0], "p0x10_ttft_ms") && !ib_result_find_claim(&r.v[0], "p1e1_ttft_ms"));
	CU_ASSERT(!ib_result_find_claim(&r.v[0], "p1.2.3_ttft_ms"));
}

static void test_hostile_results_of_a_file_are_counted(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

	for (int i = 0; i < 1001; i++) {
		ib_buf_adds(&b, HEAD "\"num_prompts\":1,\"completed\":1}\n");
		if (i == 999)
			CU_ASSERT(refused(ib_buf_str(&b)) == IB_OK);
	}
	CU_ASSERT(refused(ib_buf_str(&b)) == IB_E_LIMIT);
}

/* An outcome that only begins with "ok". */
static void test_hostile_words_with_a_nul_are_refused(void)
{
	static const char head[] = "{\"schema\":\"urn:ibtools:requests:v1\",\"client\":{\"name\":\"x\"}}\n";
	ib_auto_free char *bad = ib_asprintf("%s{\"index\":0,\"outcome\":\"ok\\u0000no\",\"start_ns\":0,\"e2e_ns\":1}\n", head);
	ib_auto_free char *good = ib_asprintf("%s{\"index\":0,\"outcome\":\"ok\",\"start_ns\":0,\"e2e_ns\":1}\n", head);

	CU_ASSERT(refused(bad) == IB_E_SYNTAX);
	CU_ASSERT(refused(good) == IB_OK);
}

static const char *refused_why(const char *text, struct ib_err *err)
{
	ib_auto_results struct ib_results r = {0};

	*err = (struct ib_err){0};
	CU_ASSERT(read_text(text, &r, err) == IB_E_SYNTAX && r.n == 0);
	return err->text;
}

/* The key, the element, and where in the file. */
static void test_hostile_wrong_elements_are_named(void)
{
	static const char *const bad[][2] = {
		{"\"itls\":[[0.1],[0.2,\"x\"]]}", "request 1: 'result.json' line 1 column 125: element 1 of 'itls' is a string, not a number"},
		{"\"itls\":[[0.1],null]}", "'result.json' line 1 column 120: element 1 of 'itls' is not an array"},
		{"\"itls\":{}}", "'result.json' line 1 column 113: key 'itls' is not an array"},
		{"\"output_lens\":[1,2.5]}", "'result.json' line 1 column 126: element 1 of 'output_lens' is not a count"},
		{"\"generated_texts\":[\"a\",1]}", "'result.json' line 1 column 129: element 1 of 'generated_texts' is not a string"},
		{"\"ttfts\":[1],\"errors\":[]}", "'result.json': array 'errors' has 0 elements, 'ttfts' has 1"},
		{"\"ttfts\":[1],\"generated_texts\":[\"\",\"\"]}", "'result.json': array 'generated_texts' has 2 elements, 'ttfts' has 1"},
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_free char *text = ib_asprintf("%s\"num_prompts\":2,\"completed\":2,%s", HEAD, bad[i][0]);
		struct ib_err err;

		if (strcmp(refused_why(text, &err), bad[i][1]) != 0)
			printf("# gave %s\n", err.text);
		CU_ASSERT_STRING_EQUAL(err.text, bad[i][1]);
	}
}

/* Texts become hashes: equal for equal texts only, 0 for none. */
static void test_hostile_texts_and_literals(void)
{
	ib_auto_results struct ib_results r = {0};
	struct ib_err err = {0};
	const uint64_t *h;

	CU_ASSERT_EQUAL_FATAL(read_text(HEAD "\"num_prompts\":4,\"completed\":4,\"generated_texts\":[\"a\",\"b\",\"\\u0061\",null],\"ttfts\":[0.5,NaN,null,1]}", &r, &err), 0);
	h = r.v[0].columns.output_hash;
	CU_ASSERT(h && h[0] && h[0] == h[2] && h[1] && h[0] != h[1] && !h[3]);
	CU_ASSERT(r.v[0].literals == 1 && isnan(r.v[0].columns.ttft_s[1]) && isnan(r.v[0].columns.ttft_s[2]));
	CU_ASSERT(ib_streq(r.v[0].settings.v[IB_SET_MODEL], "m") && ib_streq(r.v[0].settings.v[IB_SET_REQUESTS], "4"));
}

static const struct ib_test tests[] = {
	IB_TEST(test_hostile_totals_do_not_overflow),
	IB_TEST(test_hostile_times_without_measure_are_refused),
	IB_TEST(test_hostile_infinite_derivations_differ),
	IB_TEST(test_hostile_null_output_lengths_are_not_failures),
	IB_TEST(test_hostile_statistics_are_counted),
	IB_TEST(test_hostile_percentile_names_are_decimal),
	IB_TEST(test_hostile_results_of_a_file_are_counted),
	IB_TEST(test_hostile_wrong_elements_are_named),
	IB_TEST(test_hostile_texts_and_literals),
	IB_TEST(test_hostile_words_with_a_nul_are_refused),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_hostile", tests};
