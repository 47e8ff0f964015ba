/* SPDX-License-Identifier: Apache-2.0 */
/* genai-bench: real result sets, then files that lie or hurt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "client_kit.h"
#include "unit.h"

#define SET "genai-bench-0.0.5/"
#define CONC4 SET "conc4/openai_vLLM_0_text-to-text_tok_20261130_164204/D64_32_text-to-text_num_concurrency_4_time_10s.json"

static void test_clients_genai_bench_healthy_set_derives(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "conc4", &o);
	CU_ASSERT_FATAL(o.results.n == 1 && o.files == 2);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 44 && r->requests.succeeded == 44 && r->requests.failed == 0 && r->requests.short_output == 0);
	CU_ASSERT(r->requests.asked == 40 && r->concurrency_asked == 4 && strcmp(r->client_version, "0.0.5") == 0);
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0 && kit_status(r, IB_CLAIM_NOT_DERIVABLE) == 1 && r->n_hints == 0);
	CU_ASSERT(kit_near(kit_derived(r, "ttft.p99"), 3.6978316776103113) && kit_near(kit_derived(r, "requests_per_second"), 3.115126022657587));
	CU_ASSERT(kit_near(kit_derived(r, "tpot.mean"), 0.0204638510660506)); /* 42 of 44: two came within a millisecond */
	for (size_t k = 0; k < IB_SETTINGS; k++) /* the command line with its key is not taken over */
		CU_ASSERT(!r->settings.v[k] || strstr(r->settings.v[k], "api-key") == NULL);
}

static void test_clients_genai_bench_error_rate_of_zero_is_told(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "fail20", &o);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 43 && r->requests.succeeded == 32 && r->requests.failed == 11);
	CU_ASSERT(kit_claim(r, "error_rate") == IB_CLAIM_DIFFERS && kit_near(kit_derived(r, "error_rate"), 11.0 / 43));
	CU_ASSERT_FATAL(kit_hint(r, "A07") != NULL);
	CU_ASSERT(strstr(kit_hint(r, "A07")->message, "error_rate is 0 beside 11 errors of 43") != NULL);
}

static void test_clients_genai_bench_counts_never_set_are_told(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "allfail", &o);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 48 && r->requests.succeeded == 0 && r->requests.failed == 48);
	CU_ASSERT(isnan(r->duration_s) && kit_hint(r, "A09") && kit_claim(r, "num_requests") == IB_CLAIM_DIFFERS);
	CU_ASSERT(r->output_tokens == IB_NOT_IN_FILE && !ib_result_find_claim(r, "requests_per_second")); /* 0 of nothing is no rate */
}

static void test_clients_genai_bench_edits_are_told(void)
{
	static const struct {
		const char *from, *to, *claim;
	} edits[] = {
		{"\"mean\": 0.5221273857273135", "\"mean\": 0.4221273857273135", "ttft.mean"},
		{"\"p99\": 3.741588628819991", "\"p99\": 3.731588628819991", "e2e_latency.p99"},
		{"\"num_completed_requests\": 44", "\"num_completed_requests\": 45", "num_completed_requests"},
		{"\"requests_per_second\": 3.11", "\"requests_per_second\": 3.21", "requests_per_second"},
		{"\"ttft\": 0.4667760349998389", "\"ttft\": 0.3667760349998389", "ttft.mean"},
		{"\"num_output_tokens\": 32,", "\"num_output_tokens\": 33,", "num_output_tokens.sum"},
	};
	ib_auto_buf struct ib_buf b = {0};

	kit_load(CONC4, &b);
	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_free char *text = kit_edit(ib_buf_str(&b), edits[i].from, edits[i].to);
		ib_auto_results struct ib_results r = {0};

		CU_ASSERT_FATAL(kit_read(text, &r) == IB_OK);
		CU_ASSERT(kit_claim(&r.v[0], edits[i].claim) == IB_CLAIM_DIFFERS);
	}
}

/* One record of four is left out as a warm-up, another answered nothing: the client counts both, and no number of it was edited. */
static void test_clients_genai_bench_what_the_client_leaves_out_is_no_edit(void)
{
#define RECORD(e2e, out) "{\"ttft\":0.5,\"e2e_latency\":" e2e ",\"num_input_tokens\":8,\"num_output_tokens\":" out "}"
	ib_auto_results struct ib_results r = {0};

	CU_ASSERT_FATAL(kit_read("{\"aggregated_metrics\":{\"run_duration\":2,\"requests_per_second\":2,\"num_completed_requests\":4,"
				 "\"mean_output_throughput_tokens_per_s\":4,"
				 "\"stats\":{\"ttft\":{\"mean\":0.5,\"sum\":1.5},\"e2e_latency\":{\"mean\":1,\"sum\":3},"
				 "\"num_input_tokens\":{\"mean\":8,\"sum\":24},\"num_reasoning_tokens\":{}}},\"individual_request_metrics\":[" RECORD("9", "4")
				 "," RECORD("1", "4") "," RECORD("1", "4") "," RECORD("1", "0") "],\"_time_unit\":\"s\"}",
				 &r) == IB_OK);
	CU_ASSERT(kit_status(&r.v[0], IB_CLAIM_DIFFERS) == 0);
	CU_ASSERT(kit_claim(&r.v[0], "num_completed_requests") == IB_CLAIM_EXACT && kit_claim(&r.v[0], "requests_per_second") == IB_CLAIM_EXACT);
	CU_ASSERT(kit_claim(&r.v[0], "e2e_latency.mean") == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(r.v[0].requests.succeeded == 3 && r.v[0].requests.without_output == 1);
}

static void test_clients_genai_bench_milliseconds(void)
{
	ib_auto_results struct ib_results r = {0};

	CU_ASSERT_FATAL(kit_read("{\"aggregated_metrics\":{\"scenario\":\"D(8,4)\",\"run_duration\":2,\"stats\":{\"ttft\":{\"mean\":500},\"num_reasoning_tokens\":{}}},"
				 "\"individual_request_metrics\":[{\"ttft\":500,\"tpot\":250,\"e2e_latency\":1250,\"num_input_tokens\":8,\"num_output_tokens\":4}],"
				 "\"_time_unit\":\"ms\"}",
				 &r) == IB_OK);
	CU_ASSERT(kit_near(r.v[0].columns.e2e_s[0], 1.25) && kit_claim(&r.v[0], "ttft.mean") == IB_CLAIM_EXACT && r.v[0].n_hints == 0);
	CU_ASSERT(!r.v[0].unknown_version && r.v[0].columns.output_asked[0] == 4);
}

static void test_clients_genai_bench_hostile_files_are_refused_or_read(void)
{
	static const struct {
		const char *text;
		enum ib_code code;
	} files[] = {
		{"{\"aggregated_metrics\":{},\"individual_request_metrics\":[],\"_time_unit\":\"h\"}", IB_E_UNSUPPORTED},
		{"{\"aggregated_metrics\":[],\"individual_request_metrics\":[]}", IB_E_SYNTAX},
		{"{\"aggregated_metrics\":null,\"individual_request_metrics\":null}", IB_E_SYNTAX},
		{"{\"aggregated_metrics\":{},\"individual_request_metrics\":[1]}", IB_E_SYNTAX},
		{"{\"aggregated_metrics\":{},\"individual_request_metrics\":[{\"ttft\":1e300}]}", IB_E_SYNTAX},
		{"{\"aggregated_metrics\":{},\"individual_request_metrics\":[{\"ttft\":\"a\"}]}", IB_E_SYNTAX},
		{"{\"aggregated_metrics\":{\"a\":1,\"a\":2},\"individual_request_metrics\":[]}", IB_E_JSON},
		{"{\"aggregated_metrics\":{},\"individual_request_metrics\":[{}]} x", IB_E_JSON},
		{"{\"aggregated_metrics\":{\"stats\":7,\"num_requests\":1e300},\"individual_request_metrics\":[{\"ttft\":-5,\"e2e_latency\":-9,\"num_output_tokens\":99}]}", IB_OK},
		{"{\"aggregated_metrics\":{\"scenario\":\"D(99999999999,1)\"},\"individual_request_metrics\":[]}", IB_OK},
	};

	for (size_t i = 0; i < IB_LEN(files); i++) {
		ib_auto_results struct ib_results r = {0};
		enum ib_code code = kit_read(files[i].text, &r);

		CU_ASSERT(code == files[i].code);
		CU_ASSERT(code == IB_OK ? r.v[0].unknown_version : r.n == 0);
	}
}

static void test_clients_genai_bench_survives_cuts_and_flips(void)
{
	ib_auto_buf struct ib_buf b = {0};

	kit_load(CONC4, &b);
	kit_batter(ib_buf_str(&b), b.len, 173);
}

static const struct ib_test tests[] = {
	IB_TEST(test_clients_genai_bench_healthy_set_derives),
	IB_TEST(test_clients_genai_bench_error_rate_of_zero_is_told),
	IB_TEST(test_clients_genai_bench_counts_never_set_are_told),
	IB_TEST(test_clients_genai_bench_edits_are_told),
	IB_TEST(test_clients_genai_bench_what_the_client_leaves_out_is_no_edit),
	IB_TEST(test_clients_genai_bench_milliseconds),
	IB_TEST(test_clients_genai_bench_hostile_files_are_refused_or_read),
	IB_TEST(test_clients_genai_bench_survives_cuts_and_flips),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_genai_bench", tests};
