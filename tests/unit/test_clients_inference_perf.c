/* SPDX-License-Identifier: Apache-2.0 */
/* inference-perf: summaries, stages, records and configuration of real runs, then reports that lie or hurt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "client_kit.h"
#include "unit.h"

#define SET "inference-perf-0.7.0/"
#define SUMMARY "inference-perf/summary-0.7"
#define STAGE "inference-perf/stage-0.7"

static void test_clients_inference_perf_summary_and_stage_derive_from_records(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r, *stage;

	kit_set(SET "conc4", &o);
	CU_ASSERT_FATAL(o.results.n == 2 && o.files == 4);
	r = kit_result(&o.results, SUMMARY, NULL);
	stage = kit_result(&o.results, STAGE, "stage 0");
	CU_ASSERT(!r->within && stage->within && r->records_file && stage->records_file && r->columns.n == 40);
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 40 && r->requests.failed == 0 && r->requests.short_output == 0);
	CU_ASSERT(kit_status(r, IB_CLAIM_EXACT) == 122 && kit_status(stage, IB_CLAIM_EXACT) == 124);
	CU_ASSERT(kit_near(kit_derived(stage, "achieved_rate"), 3.3096916892848594) && kit_near(kit_derived(r, "benchmark_time_seconds"), 13.165588639999896));
	CU_ASSERT(stage->concurrency_asked == 4 && isnan(stage->rate_asked) && stage->requests.asked == 40);
	CU_ASSERT(r->n_hints == 0 && stage->n_hints == 0); /* a closed loop is behind its nominal rate by design */
	CU_ASSERT(strcmp(r->settings.v[IB_SET_OUTPUT_LEN], "32") == 0 && strcmp(r->settings.from[IB_SET_OUTPUT_LEN], "the configuration") == 0);
}

static void test_clients_inference_perf_failures_and_their_labels(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "fail20", &o);
	r = kit_result(&o.results, SUMMARY, NULL);
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 24 && r->requests.failed == 16 && r->requests.timed_out == 0);
	CU_ASSERT(kit_status(r, IB_CLAIM_DIFFERS) == 0 && r->n_hints == 0);
}

static void test_clients_inference_perf_all_failed_is_no_zero(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "allfail", &o);
	r = kit_result(&o.results, SUMMARY, NULL);
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 0 && r->requests.failed == 40);
	CU_ASSERT(r->requests.short_output == IB_NOT_IN_FILE && kit_status(r, IB_CLAIM_DIFFERS) == 0);
	CU_ASSERT(!ib_result_find_claim(r, "request_latency.mean"));
}

/* The server's log: 13 streams with an error in them after 16 of 32 tokens. */
static void test_clients_inference_perf_streams_cut_by_errors_are_told(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "sse_error", &o);
	r = kit_result(&o.results, SUMMARY, NULL);
	CU_ASSERT(r->requests.succeeded == 40 && r->requests.short_output == 13);
	CU_ASSERT_FATAL(kit_hint(r, "A08") != NULL);
	CU_ASSERT(strstr(kit_hint(r, "A08")->message, "13 of 40") != NULL);
	CU_ASSERT(kit_claim(r, "output_tokens.total") == IB_CLAIM_EXACT && kit_near(kit_derived(r, "output_tokens.total"), 1072));
}

static void test_clients_inference_perf_interrupted_runs_show_in_what_was_asked(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r, *stage;

	kit_set(SET "sigint_loaded", &o);
	r = kit_result(&o.results, SUMMARY, NULL);
	stage = kit_result(&o.results, STAGE, NULL);
	CU_ASSERT(r->requests.attempted == 14 && r->requests.asked == 400 && stage->requests.asked == 400);
	CU_ASSERT_FATAL(kit_hint(stage, "A07") != NULL);
	CU_ASSERT(strstr(kit_hint(stage, "A07")->message, "400") != NULL);
}

static void test_clients_inference_perf_without_records_only_identities(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	kit_set(SET "default_noperreq", &o);
	r = kit_result(&o.results, SUMMARY, NULL);
	CU_ASSERT(r->requests.attempted == 30 && r->requests.short_output == IB_NOT_IN_FILE && r->columns.n == 0);
	CU_ASSERT(kit_claim(r, "requests_per_sec") == IB_CLAIM_EXACT && kit_claim(r, "request_latency.mean") == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(strstr(ib_result_find_claim(r, "requests_per_sec")->why, "own totals") != NULL && kit_status(r, IB_CLAIM_EXACT) == 4);
	CU_ASSERT(kit_near(kit_result(&o.results, STAGE, NULL)->rate_asked, 5));
}

/* --- stages --- */

#define ROW(start, end, first, last)                                                                                                            \
	"{\"start_time\":" start ",\"end_time\":" end ",\"info\":{\"request_metrics\":{\"text\":{\"input_tokens\":3}},\"response_metrics\":{"       \
	"\"output_tokens\":2,\"server_usage\":{\"prompt_tokens\":3,\"completion_tokens\":2},\"output_token_times\":[" first "," last "]}},\"error\":null}"
#define RECORDS "[" ROW("20", "22", "21", "22") "," ROW("1", "2", "1.5", "2") "," ROW("3", "4", "3.25", "4") "]"
#define REPORT(load, n, time, mean)                                                                                                             \
	"{\"benchmark_time_seconds\":" time ",\"load_summary\":{\"count\":" n load "},\"successes\":{\"count\":" n ",\"latency\":{"                 \
	"\"request_latency\":{\"mean\":" mean "}},\"prompt_tokens\":{}},\"failures\":{\"count\":0,\"by_label\":{}}}"
#define RATE ",\"requested_rate\":1.0,\"send_duration\":1.0"

static void add_all(struct ib_results *all, const char *second)
{
	struct ib_err err = {0};

	CU_ASSERT_FATAL(kit_add(RECORDS, "r/per_request.json", all, &err) == 0);
	CU_ASSERT_FATAL(kit_add(REPORT(RATE, "2", "3", "1.0"), "r/stage_0_x.json", all, &err) == 0);
	CU_ASSERT_FATAL(kit_add(second, "r/stage_1_x.json", all, &err) == 0);
	CU_ASSERT_FATAL(kit_add(REPORT("", "3", "21", "1.3333333333333333"), "r/summary_x.json", all, &err) == 0);
	ib_results_derive(all);
}

/* In the order of their starts, two requests are those of the first stage and one that of the second. */
static void test_clients_inference_perf_stages_take_their_own_requests(void)
{
	ib_auto_results struct ib_results all = {0};

	add_all(&all, REPORT(RATE, "1", "2", "2.0"));
	CU_ASSERT_FATAL(all.n == 3);
	for (size_t i = 0; i < all.n; i++) {
		CU_ASSERT(kit_claim(&all.v[i], "request_latency.mean") == IB_CLAIM_EXACT);
		CU_ASSERT(kit_claim(&all.v[i], "benchmark_time_seconds") == IB_CLAIM_EXACT);
	}
	CU_ASSERT(kit_claim(&all.v[0], "send_duration") == IB_CLAIM_DIFFERS); /* 2 s lie between the starts, not 1 */
}

static void test_clients_inference_perf_stages_that_do_not_add_up_are_not_guessed(void)
{
	ib_auto_results struct ib_results all = {0};

	add_all(&all, REPORT(RATE, "2", "2", "2.0"));
	CU_ASSERT(kit_claim(kit_result(&all, STAGE, "stage 0"), "request_latency.mean") == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(kit_claim(kit_result(&all, STAGE, "stage 1"), "request_latency.mean") == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(kit_claim(kit_result(&all, SUMMARY, NULL), "request_latency.mean") == IB_CLAIM_EXACT);
}

static void test_clients_inference_perf_a_stage_alone_is_the_run(void)
{
	ib_auto_results struct ib_results all = {0};

	CU_ASSERT_FATAL(kit_read(REPORT(RATE, "1", "2", "2.0"), &all) == IB_OK);
	CU_ASSERT(!all.v[0].within && all.v[0].requests.attempted == 1);
}

/* --- lies --- */

static void test_clients_inference_perf_edits_are_told(void)
{
	static const struct {
		const char *from, *to, *claim;
	} edits[] = {
		{"\"start_time\":1,", "\"start_time\":1.25,", "request_latency.mean"},
		{"\"end_time\":22,", "\"end_time\":22.5,", "benchmark_time_seconds"},
	};

	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_free char *records = kit_edit(RECORDS, edits[i].from, edits[i].to);
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT_FATAL(kit_add(records, "r.json", &all, &err) == 0);
		CU_ASSERT_FATAL(kit_add(REPORT("", "3", "21", "1.3333333333333333"), "s.json", &all, &err) == 0);
		ib_results_derive(&all);
		CU_ASSERT_FATAL(all.n == 1);
		CU_ASSERT(kit_claim(&all.v[0], edits[i].claim) == IB_CLAIM_DIFFERS);
	}
}

static void test_clients_inference_perf_counts_must_add_up(void)
{
	ib_auto_results struct ib_results all = {0};

	CU_ASSERT_FATAL(kit_read("{\"load_summary\":{\"count\":5,\"requested_rate\":2.0,\"schedule_delay\":{\"p99\":1.5}},\"successes\":{\"count\":3,"
				 "\"prompt_tokens\":{}},\"failures\":{\"count\":1,\"by_label\":{\"x\":{\"count\":4}}}}",
				 &all) == IB_OK);
	CU_ASSERT(kit_hint(&all.v[0], "A07") && kit_hint(&all.v[0], "A14") && all.v[0].n_hints == 3);
}

static void test_clients_inference_perf_configuration_gives_no_keys_away(void)
{
	ib_auto_results struct ib_results all = {0};

	CU_ASSERT_FATAL(kit_read("api:\n  type: chat\ndata:\n  output_distribution:\n    max: 8\n    mean: 8.0\n    min: 8\nload:\n  type: constant\n  stages:\n"
				 "  - rate: 2.0\n    duration: 3\n  - rate: 2.0\n    duration: 4\nreport:\n  x: 1\nserver:\n  api_key: sesame\n  model_name: m\n",
				 &all) == IB_OK);
	CU_ASSERT(all.v[0].part == IB_PART_CONFIG && strcmp(all.v[0].settings.v[IB_SET_REQUESTS], "14") == 0);
	CU_ASSERT(strcmp(all.v[0].settings.v[IB_SET_RATE], "2") == 0 && strcmp(all.v[0].settings.v[IB_SET_MODEL], "m") == 0);
	for (size_t k = 0; k < IB_SETTINGS; k++)
		CU_ASSERT(!all.v[0].settings.v[k] || strstr(all.v[0].settings.v[k], "sesame") == NULL);
}

static void test_clients_inference_perf_hostile_files_are_refused_or_read(void)
{
	static const struct {
		const char *text;
		enum ib_code code;
	} files[] = {
		{"[{\"start_time\":1,\"end_time\":2,\"error\":null}", IB_E_JSON},
		{"[{\"start_time\":1,\"end_time\":2,\"error\":null}, 5]", IB_E_SYNTAX},
		{"[{\"start_time\":1,\"end_time\":2,\"error\":null}] []", IB_E_JSON},
		{"[{\"start_time\":1e300,\"end_time\":2,\"error\":null}]", IB_E_SYNTAX},
		{"[{\"start_time\":\"1\",\"end_time\":2,\"error\":null}]", IB_E_SYNTAX},
		{"[{\"start_time\":1,\"end_time\":2,\"error\":null,\"info\":{\"response_metrics\":{\"output_token_times\":[1,null]}}}]", IB_E_SYNTAX},
		{"[{\"start_time\":1,\"start_time\":1,\"end_time\":2,\"error\":null}]", IB_E_JSON},
		{"[{\"start_time\":null,\"end_time\":null,\"error\":null,\"info\":null,\"request\":null}]", IB_OK},
		{"[{\"start_time\":5,\"end_time\":-2,\"error\":{\"error_type\":7},\"info\":{\"response_metrics\":{\"output_tokens\":99999999999999}}}]", IB_OK},
		{"{\"load_summary\":{\"count\":null},\"successes\":[],\"failures\":3}", IB_OK},
		{"{\"load_summary\":{\"count\":1e300},\"successes\":{\"latency\":7,\"throughput\":[]},\"failures\":{\"by_label\":[1]}}", IB_OK},
	};

	for (size_t i = 0; i < IB_LEN(files); i++) {
		ib_auto_results struct ib_results r = {0};
		enum ib_code code = kit_read(files[i].text, &r);

		CU_ASSERT(code == files[i].code);
		CU_ASSERT(code == IB_OK || r.n == 0);
	}
}

static void test_clients_inference_perf_survives_cuts_and_flips(void)
{
	ib_auto_buf struct ib_buf b = {0};

	kit_batter(RECORDS, strlen(RECORDS), 3);
	kit_load(SET "fail20/reports-20261130-162547/stage_0_lifecycle_metrics.json", &b);
	kit_batter(ib_buf_str(&b), b.len, 37);
}

static const struct ib_test tests[] = {
	IB_TEST(test_clients_inference_perf_summary_and_stage_derive_from_records),
	IB_TEST(test_clients_inference_perf_failures_and_their_labels),
	IB_TEST(test_clients_inference_perf_all_failed_is_no_zero),
	IB_TEST(test_clients_inference_perf_streams_cut_by_errors_are_told),
	IB_TEST(test_clients_inference_perf_interrupted_runs_show_in_what_was_asked),
	IB_TEST(test_clients_inference_perf_without_records_only_identities),
	IB_TEST(test_clients_inference_perf_stages_take_their_own_requests),
	IB_TEST(test_clients_inference_perf_stages_that_do_not_add_up_are_not_guessed),
	IB_TEST(test_clients_inference_perf_a_stage_alone_is_the_run),
	IB_TEST(test_clients_inference_perf_edits_are_told),
	IB_TEST(test_clients_inference_perf_counts_must_add_up),
	IB_TEST(test_clients_inference_perf_configuration_gives_no_keys_away),
	IB_TEST(test_clients_inference_perf_hostile_files_are_refused_or_read),
	IB_TEST(test_clients_inference_perf_survives_cuts_and_flips),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_inference_perf", tests};
