/* SPDX-License-Identifier: Apache-2.0 */
/* LLMPerf's two files; the report of llm-d, which holds aggregates only; genai-perf's files, known from its documentation. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "client_kit.h"
#include "unit.h"

#define RESPONSE(itl, ttft, e2e, speed)                                                                                                             \
	"{\"error_code\":null,\"error_msg\":\"\",\"inter_token_latency_s\":" itl ",\"ttft_s\":" ttft ",\"end_to_end_latency_s\":" e2e                  \
	",\"request_output_throughput_token_per_s\":" speed ",\"number_total_tokens\":9,\"number_output_tokens\":4,\"number_input_tokens\":5}"
#define FAILED                                                                                                                                      \
	"{\"error_code\":500,\"error_msg\":\"x\",\"inter_token_latency_s\":0,\"ttft_s\":0,\"end_to_end_latency_s\":0,"                                \
	"\"request_output_throughput_token_per_s\":0,\"number_total_tokens\":0,\"number_output_tokens\":0,\"number_input_tokens\":0}"
#define RESPONSES "[" RESPONSE("0.25", "0.5", "1.0", "4") "," RESPONSE("0.5", "0.25", "2.0", "2") "," FAILED "]"
#define SUMMARY                                                                                                                                     \
	"{\"version\":\"2023-08-31\",\"model\":\"m\",\"num_concurrent_requests\":2,\"mean_output_tokens\":4,\"stddev_output_tokens\":0,"             \
	"\"stddev_input_tokens\":0,\"results_ttft_s_mean\":0.375,\"results_ttft_s_stddev\":0.1767766952966369,"                                       \
	"\"results_inter_token_latency_s_quantiles_p50\":0.375,\"results_end_to_end_latency_s_max\":2.0,\"results_number_output_tokens_min\":\"4\","  \
	"\"results_request_output_throughput_token_per_s_mean\":3.0,"                                                                                \
	"\"results_num_requests_started\":3,\"results_num_completed_requests\":2,\"results_number_errors\":1,\"results_error_rate\":0.3333333333333333,"\
	"\"results_num_completed_requests_per_min\":30.0,\"results_mean_output_throughput_token_per_s\":2.0,\"timestamp\":1704851704}"

static void test_clients_llmperf_summary_derives_from_responses(void)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};
	const struct ib_result *r;

	CU_ASSERT_FATAL(kit_add(SUMMARY, "a_summary.json", &all, &err) == 0 && kit_add(RESPONSES, "a_individual_responses.json", &all, &err) == 0);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 1);
	r = &all.v[0];
	CU_ASSERT(r->requests.attempted == 3 && r->requests.succeeded == 2 && r->requests.failed == 1 && r->requests.without_output == 0);
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0 && kit_status(r, IB_CLAIM_NOT_DERIVABLE) == 1);
	CU_ASSERT(kit_claim(r, "results_ttft_s_stddev") == IB_CLAIM_EXACT || kit_claim(r, "results_ttft_s_stddev") == IB_CLAIM_WITHIN);
	CU_ASSERT(kit_claim(r, "results_number_output_tokens_min") == IB_CLAIM_EXACT && kit_near(r->duration_s, 4));
	CU_ASSERT(isnan(r->columns.ttft_s[2]) && isnan(r->columns.e2e_s[2])); /* the client's zeros */
	CU_ASSERT(!r->unknown_version && r->concurrency_asked == 2 && kit_near(r->ended_at, 1704851704));
}

static void test_clients_llmperf_pairs_do_not_mix(void)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(kit_add(SUMMARY, "a_summary.json", &all, &err) == 0 && kit_add(RESPONSES, "a_individual_responses.json", &all, &err) == 0);
	CU_ASSERT_FATAL(kit_add("[" FAILED "]", "b_individual_responses.json", &all, &err) == 0);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 2);
	CU_ASSERT(strcmp(all.v[0].records_file, "a_individual_responses.json") == 0 && kit_claim(&all.v[0], "results_ttft_s_mean") == IB_CLAIM_EXACT);
}

static void test_clients_llmperf_edits_are_told(void)
{
	static const struct {
		const char *from, *to, *claim;
	} edits[] = {
		{"\"results_ttft_s_mean\":0.375", "\"results_ttft_s_mean\":0.365", "results_ttft_s_mean"},
		{"\"results_num_completed_requests\":2", "\"results_num_completed_requests\":3", "results_num_completed_requests"},
		{"per_min\":30.0", "per_min\":33.0", "results_mean_output_throughput_token_per_s"},
		{"\"results_error_rate\":0.3", "\"results_error_rate\":0.0", "results_error_rate"},
	};

	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_free char *summary = kit_edit(SUMMARY, edits[i].from, edits[i].to);
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT_FATAL(kit_add(summary, "summary.json", &all, &err) == 0 && kit_add(RESPONSES, "individual.json", &all, &err) == 0);
		ib_results_derive(&all);
		CU_ASSERT_FATAL(all.n == 1);
		CU_ASSERT(kit_claim(&all.v[0], edits[i].claim) == IB_CLAIM_DIFFERS);
	}
}

static void load_public(const char *name, struct ib_results *all)
{
	ib_auto_free char *path = ib_asprintf("%s/fixtures/public/%s", ib_vectors(), name);
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct ib_err err = {0};

	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, path, &b, &err) == 0 && kit_add(ib_buf_str(&b), name, all, &err) == 0);
}

/* What the public file's audit says: the client was idle half of the time, and its inter-token latency holds the first token. */
static void test_clients_llmperf_public_files(void)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;
	double work = 0;

	if (!ib_vectors()) {
		ib_skip("no public result files (IBTOOLS_VECTORS)");
		return;
	}
	load_public("llmperf-03-summary.json", &all);
	load_public("llmperf-03-individual.json", &all);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 1);
	r = &all.v[0];
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0 && kit_status(r, IB_CLAIM_NOT_DERIVABLE) == 1);
	CU_ASSERT(fabs(kit_derived(r, "results_inter_token_latency_s_mean") - 0.005384122478382455) < 1e-12);
	CU_ASSERT(fabs(r->duration_s - 50.922560879960656) < 1e-9);
	for (size_t i = 0; i < r->columns.n; i++)
		work += r->columns.e2e_s[i];
	CU_ASSERT(fabs(work / 5 - 24.45) < 0.01);
}

static void test_clients_llmperf_hostile_files_are_refused_or_read(void)
{
	static const struct {
		const char *text;
		enum ib_code code;
	} files[] = {
		{"[{\"error_code\":null,\"ttft_s\":1,\"end_to_end_latency_s\":2}", IB_E_JSON},
		{"[{\"error_code\":null,\"ttft_s\":1e200,\"end_to_end_latency_s\":2}]", IB_E_SYNTAX},
		{"[{\"error_code\":null,\"ttft_s\":1,\"end_to_end_latency_s\":2},null]", IB_E_SYNTAX},
		{"[{\"error_code\":null,\"ttft_s\":null,\"end_to_end_latency_s\":null,\"number_output_tokens\":null}]", IB_OK},
		{"[{\"error_code\":null,\"ttft_s\":-1,\"end_to_end_latency_s\":-2,\"request_output_throughput_token_per_s\":-1e300,\"number_output_tokens\":-4}]", IB_OK},
		{"{\"num_concurrent_requests\":null,\"results_ttft_s_mean\":{\"a\":1},\"results_num_completed_requests\":\"--\"}", IB_OK},
		{"{\"num_concurrent_requests\":1e300,\"results_ttft_s_mean\":\"1e9\",\"results_num_completed_requests_per_min\":0,\"results_num_completed_requests\":0}", IB_OK},
	};

	for (size_t i = 0; i < IB_LEN(files); i++) {
		ib_auto_results struct ib_results r = {0};
		enum ib_code code = kit_read(files[i].text, &r);

		CU_ASSERT(code == files[i].code);
		CU_ASSERT(code == IB_OK || r.n == 0);
	}
	kit_batter(RESPONSES, strlen(RESPONSES), 3);
	kit_batter(SUMMARY, strlen(SUMMARY), 3);
}

/* --- llm-d --- */

static void check_report(const char *text)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;

	CU_ASSERT_FATAL(kit_read(text, &all) == IB_OK);
	r = &all.v[0];
	CU_ASSERT(strcmp(r->client->name, "llm-d-report") == 0 && strcmp(r->schema_id, "llm-d/benchmark-report-0.2.1") == 0);
	CU_ASSERT(r->requests.attempted == 40 && r->requests.failed == 16 && r->requests.succeeded == 24 && r->requests.incomplete == IB_NOT_IN_FILE);
	CU_ASSERT(r->n_claims == 2 && kit_status(r, IB_CLAIM_NOT_DERIVABLE) == 2 && strcmp(r->claims[0].why, "aggregates only") == 0);
	CU_ASSERT(kit_near(r->ended_at - r->began_at, 12) && strcmp(r->settings.v[IB_SET_CONCURRENCY], "4") == 0);
}

static void test_clients_llmperf_reports_of_llmd_hold_aggregates_only(void)
{
	check_report("version: 0.2.1\nrun:\n  time:\n    start: '2026-11-30T16:29:17Z'\n    end: '2026-11-30T16:29:29Z'\nscenario:\n  load:\n    standardized:\n"
		     "      concurrency: 4\nresults:\n  request_performance:\n    aggregate:\n      requests:\n        total: 40\n        failures: 16\n"
		     "        incomplete: null\n      latency:\n        time_to_first_token:\n          units: s\n          mean: 0.05\n          p99: 0.1\n");
	check_report("{\"version\":\"0.2.1\",\"run\":{\"time\":{\"start\":\"2026-11-30T16:29:17Z\",\"end\":\"2026-11-30T16:29:29Z\"}},\"scenario\":{\"load\":{"
		     "\"standardized\":{\"concurrency\":4}}},\"results\":{\"request_performance\":{\"aggregate\":{\"requests\":{\"total\":40,\"failures\":16,"
		     "\"incomplete\":null},\"latency\":{\"time_to_first_token\":{\"units\":\"s\",\"mean\":0.05,\"p99\":0.1}}}}}}");
}

static void test_clients_llmperf_reports_of_other_versions_do_not_pass(void)
{
	ib_auto_results struct ib_results all = {0};

	CU_ASSERT_FATAL(kit_read("{\"version\":\"0.3\",\"run\":{},\"results\":{\"request_performance\":{\"aggregate\":{\"requests\":{\"total\":-1}}}}}", &all) == IB_OK);
	CU_ASSERT(all.v[0].unknown_version && all.v[0].requests.attempted == IB_NOT_IN_FILE && all.v[0].n_claims == 0);
}

/* --- genai-perf --- */

#define REQUEST(at, a, b, text)                                                                                                                     \
	"{\"timestamp\":" at ",\"request_inputs\":{\"payload\":\"x\"},\"response_timestamps\":[" a "," b "],\"response_outputs\":["                    \
	"{\"response\":\"data: {\\\"choices\\\":[{\\\"delta\\\":{\\\"content\\\":\\\"" text "\\\"}}]}\"},"                                                  \
	"{\"response\":\"data: {\\\"choices\\\":[{\\\"delta\\\":{\\\"content\\\":\\\"b\\\"}}]}\"}]}"
#define PROFILE                                                                                                                                     \
	"{\"experiments\":[{\"experiment\":{\"mode\":\"concurrency\",\"value\":2},\"requests\":[" REQUEST("1000000000000000000", "1000000000500000000", \
		"1000000002000000000", "a") "," REQUEST("1000000001000000000", "1000000001500000000", "1000000003000000000", "")                      \
		"],\"window_boundaries\":[]}],\"version\":\"\",\"service_kind\":\"openai\"}"

/* The empty first response of the second request does not count. Its numbers are derived, and pass for nothing. */
static void test_clients_llmperf_genai_perf_is_never_more_than_shown(void)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};
	const struct ib_result *r;

	CU_ASSERT_FATAL(kit_add("{\"request_throughput\":{\"unit\":\"requests/sec\",\"avg\":0.6666666666666666},\"request_latency\":{\"unit\":\"ms\",\"avg\":2000.0,"
				"\"max\":2000.0},\"time_to_first_token\":{\"unit\":\"ms\",\"avg\":1250.0},\"output_sequence_length\":{\"unit\":\"tokens\",\"avg\":2},"
				"\"input_config\":{\"model\":[\"m\"],\"concurrency\":2}}",
				"a.json", &all, &err) == 0);
	CU_ASSERT_FATAL(kit_add(PROFILE, "b.json", &all, &err) == 0);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 1);
	r = &all.v[0];
	CU_ASSERT(r->unknown_version && r->columns.n == 2 && r->requests.succeeded == 2);
	CU_ASSERT(kit_near(kit_derived(r, "request_latency.avg"), 2000) && kit_near(kit_derived(r, "time_to_first_token.avg"), 1250));
	CU_ASSERT(kit_claim(r, "output_sequence_length.avg") == IB_CLAIM_NOT_DERIVABLE && kit_near(kit_derived(r, "request_throughput"), 2.0 / 3));
	CU_ASSERT(strcmp(r->settings.v[IB_SET_MODEL], "m") == 0);
}

static void test_clients_llmperf_genai_perf_hostile_profiles(void)
{
	ib_auto_results struct ib_results a = {0}, b = {0}, c = {0};

	CU_ASSERT(kit_read("{\"experiments\":[{\"requests\":[{\"timestamp\":1,\"response_timestamps\":[-1]}]}]}", &a) == IB_E_SYNTAX);
	CU_ASSERT(kit_read("{\"experiments\":[{\"requests\":[{\"response_timestamps\":[1]}]}]}", &b) == IB_E_SYNTAX);
	CU_ASSERT(kit_read("{\"experiments\":[{\"experiment\":null,\"requests\":null}]}", &c) == IB_OK);
	CU_ASSERT(c.n == 1 && c.v[0].columns.n == 0 && c.v[0].requests.succeeded == IB_NOT_IN_FILE);
	kit_batter(PROFILE, strlen(PROFILE), 3);
}

static const struct ib_test tests[] = {
	IB_TEST(test_clients_llmperf_summary_derives_from_responses),
	IB_TEST(test_clients_llmperf_pairs_do_not_mix),
	IB_TEST(test_clients_llmperf_edits_are_told),
	IB_TEST(test_clients_llmperf_public_files),
	IB_TEST(test_clients_llmperf_hostile_files_are_refused_or_read),
	IB_TEST(test_clients_llmperf_reports_of_llmd_hold_aggregates_only),
	IB_TEST(test_clients_llmperf_reports_of_other_versions_do_not_pass),
	IB_TEST(test_clients_llmperf_genai_perf_is_never_more_than_shown),
	IB_TEST(test_clients_llmperf_genai_perf_hostile_profiles),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_llmperf", tests};
