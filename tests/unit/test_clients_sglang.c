/* SPDX-License-Identifier: Apache-2.0 */
/* SGLang's benchmark: real result sets against numbers that another program took from their records, then files that lie or hurt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "client_kit.h"
#include "unit.h"

#define SET "sglang-bench-0.5.23/"
#define HEAD                                                                                                                                       \
	"{\"backend\":\"sglang\",\"dataset_name\":\"random\",\"request_rate\":Infinity,\"sharegpt_output_len\":null,\"random_output_len\":4,"      \
	"\"random_range_ratio\":1.0,\"duration\":2.0,\"max_concurrent_requests\":1,\"p95_tpot_ms\":0,"

static void test_clients_sglang_healthy_sets_derive(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "conc4", &o);
	CU_ASSERT_FATAL(o.results.n == 1);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 40 && r->requests.failed == 0 && r->requests.short_output == 0);
	CU_ASSERT(r->output_tokens == 1280 && r->input_tokens == 2560 && r->concurrency_asked == 4 && isinf(r->rate_asked));
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0 && r->n_hints == 0 && !r->unknown_version);
	CU_ASSERT(kit_near(kit_derived(r, "mean_ttft_ms"), 171.35547230000725));
	CU_ASSERT(kit_near(kit_derived(r, "p99_itl_ms"), 106.60599072006328));
	CU_ASSERT(kit_near(kit_derived(r, "mean_e2e_latency_ms"), 1101.3987944000007));
	CU_ASSERT(kit_claim(r, "mean_e2e_latency_ms") == IB_CLAIM_WITHIN && kit_claim(r, "mean_ttft_ms") == IB_CLAIM_EXACT);
	CU_ASSERT(strstr(ib_result_find_claim(r, "mean_e2e_latency_ms")->why, "approximate") != NULL);
	CU_ASSERT(kit_claim(r, "max_concurrent_requests") == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(ib_result_find_claim(r, "mean_ttft_ms")->headline && !ib_result_find_claim(r, "std_ttft_ms")->headline);
}

static void test_clients_sglang_without_details_only_identities(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "conc4_nodetail", &o);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == IB_NOT_IN_FILE && r->requests.succeeded == 40 && r->requests.failed == IB_NOT_IN_FILE);
	CU_ASSERT(r->requests.short_output == IB_NOT_IN_FILE && r->columns.n == 0);
	CU_ASSERT(kit_claim(r, "request_throughput") == IB_CLAIM_EXACT && kit_claim(r, "concurrency") == IB_CLAIM_EXACT);
	CU_ASSERT(kit_claim(r, "mean_ttft_ms") == IB_CLAIM_NOT_DERIVABLE && kit_status(r, IB_CLAIM_EXACT) == 5);
}

static void test_clients_sglang_failures_stand_in_errors_only(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "midstream", &o);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 30 && r->requests.failed == 10 && r->requests.without_output == 0);
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0);
}

/* The server's log holds 17 of 40 responses with fewer than 32 tokens, 1021 in all. */
static void test_clients_sglang_tokens_are_those_asked_for(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "early_completions", &o);
	r = &o.results.v[0];
	CU_ASSERT_FATAL(kit_hint(r, "A16") && kit_hint(r, "A08"));
	CU_ASSERT(strstr(kit_hint(r, "A16")->found, "1021") != NULL && strstr(kit_hint(r, "A08")->message, "17 of") != NULL);
	CU_ASSERT(r->requests.short_output == 17);
}

static void test_clients_sglang_a_rate_is_a_number(void)
{
	ib_auto_outputs struct ib_outputs o = {0};

	kit_set(SET "rate5", &o);
	CU_ASSERT(kit_near(o.results.v[0].rate_asked, 5) && o.results.v[0].concurrency_asked == IB_NOT_IN_FILE);
	CU_ASSERT(o.results.v[0].n_hints == 0 && kit_status(&o.results.v[0], IB_CLAIM_DIFFERS) == 0);
}

/* What lies within the wait for the end of a stream is neither confirmed nor refuted; below the records, or far above, it is wrong. */
static void test_clients_sglang_edits_are_told(void)
{
	static const struct {
		const char *from, *to, *claim;
		enum ib_claim_status status;
	} edits[] = {
		{"\"mean_ttft_ms\": 171.355", "\"mean_ttft_ms\": 151.355", "mean_ttft_ms", IB_CLAIM_DIFFERS},
		{"\"p99_e2e_latency_ms\": 1304.74", "\"p99_e2e_latency_ms\": 1294.74", "p99_e2e_latency_ms", IB_CLAIM_DIFFERS},
		{"\"p99_e2e_latency_ms\": 1304.74", "\"p99_e2e_latency_ms\": 1314.74", "p99_e2e_latency_ms", IB_CLAIM_NOT_DERIVABLE},
		{"\"p99_e2e_latency_ms\": 1304.74", "\"p99_e2e_latency_ms\": 1504.74", "p99_e2e_latency_ms", IB_CLAIM_DIFFERS},
		{"\"mean_e2e_latency_ms\": 1102.52", "\"mean_e2e_latency_ms\": 1108.52", "concurrency", IB_CLAIM_DIFFERS},
		{"\"completed\": 40", "\"completed\": 41", "completed", IB_CLAIM_DIFFERS},
		{"\"duration\": 11.46", "\"duration\": 10.46", "output_throughput", IB_CLAIM_DIFFERS},
		{"\"total_input_tokens\": 2560", "\"total_input_tokens\": 2561", "total_input_tokens", IB_CLAIM_DIFFERS},
	};
	ib_auto_buf struct ib_buf b = {0};

	kit_load(SET "conc4/out.jsonl", &b);
	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_free char *text = kit_edit(ib_buf_str(&b), edits[i].from, edits[i].to);
		ib_auto_results struct ib_results r = {0};

		CU_ASSERT_FATAL(kit_read(text, &r) == IB_OK);
		CU_ASSERT(kit_claim(&r.v[0], edits[i].claim) == edits[i].status);
	}
}

static void test_clients_sglang_appended_lines_are_results(void)
{
	ib_auto_results struct ib_results r = {0};

	CU_ASSERT_FATAL(kit_read(HEAD "\"completed\":1}\nnoise\n" HEAD "\"completed\":2}\n", &r) == IB_OK);
	CU_ASSERT(r.n == 2 && r.v[1].index == 1 && r.v[1].requests.succeeded == 2 && r.v[0].foreign_lines == 1);
}

/* No error, no first token, no text: counted by the client with the tokens that it asked for, by us as without output. */
static void test_clients_sglang_success_takes_output(void)
{
	ib_auto_results struct ib_results r = {0};

	CU_ASSERT_FATAL(kit_read(HEAD "\"completed\":2,\"mean_ttft_ms\":250.0,\"output_lens\":[4,4],\"ttfts\":[0.5,0.0],\"itls\":[[0.1],[]],"
				      "\"generated_texts\":[\"a\",\"\"],\"errors\":[\"\",\"\"]}\n",
				 &r) == IB_OK);
	CU_ASSERT(r.v[0].requests.succeeded == 1 && r.v[0].requests.failed == 1 && r.v[0].requests.without_output == 1);
	CU_ASSERT(kit_claim(&r.v[0], "mean_ttft_ms") == IB_CLAIM_EXACT); /* as the client computes it */
	CU_ASSERT(isnan(r.v[0].columns.ttft_s[1]) && kit_near(r.v[0].columns.ttft_s[0], 0.5));
}

static void test_clients_sglang_unknown_shapes_do_not_pass(void)
{
	ib_auto_results struct ib_results r = {0};

	CU_ASSERT_FATAL(kit_read("{\"backend\":\"sglang\",\"dataset_name\":\"d\",\"request_rate\":1.0,\"sharegpt_output_len\":null,\"random_range_ratio\":0.0,"
				 "\"completed\":3}",
				 &r) == IB_OK);
	CU_ASSERT(r.v[0].unknown_version && r.v[0].missing.n == 1 && isnan(r.v[0].duration_s)); /* no duration */
}

static void test_clients_sglang_hostile_files_are_refused_or_read(void)
{
	static const struct {
		const char *rest;
		enum ib_code code;
	} files[] = {
		{"\"completed\":1,\"ttfts\":[1,2],\"errors\":[\"\"]}", IB_E_SYNTAX},
		{"\"completed\":1,\"ttfts\":[1e13]}", IB_E_SYNTAX},
		{"\"completed\":1,\"itls\":[[null]]}", IB_E_SYNTAX},
		{"\"completed\":1,\"itls\":[[-1e300]]}", IB_E_SYNTAX},
		{"\"completed\":1,\"output_lens\":[-1]}", IB_E_SYNTAX},
		{"\"completed\":1,\"output_lens\":[0.5]}", IB_E_SYNTAX},
		{"\"completed\":1,\"output_lens\":[1e300]}", IB_E_SYNTAX},
		{"\"completed\":1,\"errors\":[1]}", IB_E_SYNTAX},
		{"\"completed\":1,\"completed\":2}", IB_E_JSON},
		{"\"completed\":-1}", IB_E_SYNTAX},
		{"\"completed\":null}", IB_E_SYNTAX},
		{"\"completed\":1,\"ttfts\":[-0.5],\"errors\":[\"\"],\"output_lens\":[3],\"itls\":[[-1]]}", IB_OK},
		{"\"completed\":1,\"ttfts\":[null],\"errors\":[null],\"output_lens\":[null],\"itls\":[null],\"generated_texts\":[null],\"input_lens\":[null]}", IB_OK},
		{"\"completed\":1e300}", IB_E_SYNTAX},
	};

	for (size_t i = 0; i < IB_LEN(files); i++) {
		ib_auto_free char *text = ib_asprintf(HEAD "%s", files[i].rest);
		ib_auto_results struct ib_results r = {0};
		enum ib_code code = kit_read(text, &r);

		CU_ASSERT(code == files[i].code);
		CU_ASSERT(code == IB_OK || r.n == 0);
	}
}

/* Of more numbers than the limit some would be left out, the false one among them. */
static void test_clients_sglang_too_many_numbers_are_refused(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	ib_auto_results struct ib_results r = {0};

	ib_buf_adds(&b, HEAD "\"completed\":1");
	for (int i = 0; i < IB_CLAIMS_MAX; i++)
		ib_buf_addf(&b, ",\"p0.%04d_ttft_ms\":1", i);
	ib_buf_adds(&b, "}");
	CU_ASSERT(kit_read(ib_buf_str(&b), &r) == IB_E_LIMIT);
}

static void test_clients_sglang_survives_cuts_and_flips(void)
{
	ib_auto_buf struct ib_buf b = {0};

	kit_load(SET "midstream/out.jsonl", &b);
	kit_batter(ib_buf_str(&b), b.len, 211);
}

static const struct ib_test tests[] = {
	IB_TEST(test_clients_sglang_healthy_sets_derive),
	IB_TEST(test_clients_sglang_without_details_only_identities),
	IB_TEST(test_clients_sglang_failures_stand_in_errors_only),
	IB_TEST(test_clients_sglang_tokens_are_those_asked_for),
	IB_TEST(test_clients_sglang_a_rate_is_a_number),
	IB_TEST(test_clients_sglang_edits_are_told),
	IB_TEST(test_clients_sglang_appended_lines_are_results),
	IB_TEST(test_clients_sglang_success_takes_output),
	IB_TEST(test_clients_sglang_unknown_shapes_do_not_pass),
	IB_TEST(test_clients_sglang_hostile_files_are_refused_or_read),
	IB_TEST(test_clients_sglang_too_many_numbers_are_refused),
	IB_TEST(test_clients_sglang_survives_cuts_and_flips),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_sglang", tests};
