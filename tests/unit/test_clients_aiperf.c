/* SPDX-License-Identifier: Apache-2.0 */
/* AIPerf: real result sets against the client's own numbers and those of another program, then files that lie, are torn or hostile. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "client_kit.h"
#include "unit.h"

#define SETS "tests/data/clients/sets/aiperf-0.13.0/"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static void read_set(const char *name, struct ib_outputs *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	ib_auto_fd int fd = open(ib_src(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ib_err err = {0};

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(ib_client_read_dir(fd, ret, &err) == 0);
	CU_ASSERT(ret->unreadable == 0);
}

static void load(const char *name, struct ib_buf *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	struct ib_err err = {0};

	*ret = IB_BUF(IB_SLURP_MAX);
	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(path), ret, &err) == 0);
}

/* Reads text as a file called name into the end of ret. */
static int add(const char *text, const char *name, struct ib_results *ret, struct ib_err *err)
{
	struct ib_source_mem mem = {.data = text, .n = strlen(text)};
	const struct ib_source in = ib_source_from_mem(&mem);
	ib_auto_results struct ib_results one = {0};
	int r = ib_client_read_source(&in, name, &one, err);

	if (r == 0)
		ib_results_move(ret, &one);
	return r;
}

static size_t with_status(const struct ib_result *r, enum ib_claim_status s)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_claims; i++)
		n += r->claims[i].status == s;
	return n;
}

static double derived(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	return c && c->derived.state == IB_STAT_VALUE ? c->derived.value : NAN;
}

static void test_aiperf_every_number_of_a_healthy_run(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	read_set("conc4", &o);
	CU_ASSERT_FATAL(o.results.n == 1);
	r = &o.results.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "aiperf/summary-1.4");
	CU_ASSERT_STRING_EQUAL(r->client_version, "0.13.0");
	CU_ASSERT(!r->unknown_version && r->epoch && r->records_file && ib_ends(r->records_file, "/profile_export.jsonl"));
	CU_ASSERT(r->requests.asked == 40 && r->requests.attempted == 40 && r->requests.succeeded == 40 && r->requests.failed == 0);
	CU_ASSERT(r->requests.without_output == 0 && r->requests.short_output == 0);
	CU_ASSERT(r->input_tokens == 2560 && r->output_tokens == 1280 && r->concurrency_asked == 4 && isnan(r->rate_asked));
	CU_ASSERT(r->n_claims == 193 && with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0);
	CU_ASSERT(r->n_hints == 0 && r->missing.n == 0);
	/* by a few lines of Python, from the records */
	CU_ASSERT(near(derived(r, "request_latency.avg"), 734.351782775));
	CU_ASSERT(near(derived(r, "time_to_first_token.p95"), 195.11616399999988));
	CU_ASSERT(near(derived(r, "inter_token_latency.avg"), 20.715857562903224));
	CU_ASSERT(near(derived(r, "inter_chunk_latency.p99"), 73.64349617999989));
	CU_ASSERT(near(r->duration_s, 7.87137) && r->n_spans == 2 && near(r->spans[1].s, 7.812601856));
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_SEED], "7");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_TOKENIZER], "/home/user/tokenizer");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_OUTPUT_LEN], "32");
}

/* Rounded clocks excuse a microsecond, however short the run is said to have been. */
static void test_aiperf_a_duration_of_nothing_is_found(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_buf struct ib_buf summary = {0}, records = {0};
	ib_auto_free char *edited = NULL;
	struct ib_err err = {0};
	char *at;

	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export_aiperf.json", &summary);
	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export.jsonl", &records);
	edited = ib_strdup(ib_buf_str(&summary));
	at = strstr(edited, "\"avg\": 7.81");
	CU_ASSERT_FATAL(at != NULL);
	memcpy(at + strlen("\"avg\": "), "1e-9 ", 5);
	memset(at + strlen("\"avg\": 1e-9 "), ' ', strcspn(at + strlen("\"avg\": 1e-9 "), ",\n}"));
	CU_ASSERT_FATAL(add(edited, "d/profile_export_aiperf.json", &all, &err) == 0);
	CU_ASSERT_FATAL(add(ib_buf_str(&records), "d/profile_export.jsonl", &all, &err) == 0);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 1);
	CU_ASSERT(ib_result_find_claim(&all.v[0], "benchmark_duration.avg")->status == IB_CLAIM_DIFFERS);
}

static void test_aiperf_failures_are_infinite_in_adjusted_numbers(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;
	const struct ib_claim *c;

	read_set("midstream", &o);
	CU_ASSERT_FATAL(o.results.n == 1);
	r = &o.results.v[0];
	CU_ASSERT(r->requests.attempted == 40 && r->requests.succeeded == 24 && r->requests.failed == 16);
	CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0);
	c = ib_result_find_claim(r, "adj_request_latency.p50");
	CU_ASSERT_FATAL(c != NULL);
	CU_ASSERT(c->rule == IB_RULE_NEAREST && c->status != IB_CLAIM_DIFFERS && near(c->claimed, 547.038539));
	CU_ASSERT(!ib_result_find_claim(r, "adj_request_latency.p99")); /* infinite: the client leaves it out */
}

static void test_aiperf_short_answers_are_told(void)
{
	ib_auto_outputs struct ib_outputs early = {0}, broken = {0};

	read_set("early", &early);
	read_set("sse_error", &broken);
	CU_ASSERT_FATAL(early.results.n == 1 && broken.results.n == 1);
	CU_ASSERT(early.results.v[0].requests.short_output == 24 && early.results.v[0].output_tokens == 905);
	CU_ASSERT(kit_hint(&early.results.v[0], "A16") && strncmp(kit_hint(&early.results.v[0], "A16")->message, "24 of 40 ", 9) == 0);
	CU_ASSERT(broken.results.v[0].requests.succeeded == 40 && broken.results.v[0].requests.short_output == 15);
	CU_ASSERT(kit_hint(&broken.results.v[0], "A16") != NULL);
	CU_ASSERT(with_status(&broken.results.v[0], IB_CLAIM_DIFFERS) == 0);
}

static void test_aiperf_cancelled_run_uses_the_other_window(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	const struct ib_result *r;

	read_set("sigint", &o);
	CU_ASSERT_FATAL(o.results.n == 1);
	r = &o.results.v[0];
	CU_ASSERT(r->cut && r->requests.asked == 400 && r->requests.attempted == 12);
	CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0);
	CU_ASSERT(near(r->duration_s, 12.364776448));
	CU_ASSERT_PTR_EQUAL(ib_result_find_claim(r, "request_throughput.avg")->formula, &ib_requests_over_ok);
}

static void test_aiperf_without_streaming_or_summary(void)
{
	ib_auto_outputs struct ib_outputs plain = {0}, failed = {0}, none = {0};
	const struct ib_result *r;

	read_set("nostream", &plain);
	read_set("allfail", &failed);
	read_set("offline_env_local_tokenizer", &none);
	CU_ASSERT(none.results.n == 0 && none.files == 0);
	CU_ASSERT_FATAL(plain.results.n == 1 && failed.results.n == 1);
	r = &plain.results.v[0];
	CU_ASSERT(!r->columns.ttft_s && !r->columns.itl_s && with_status(r, IB_CLAIM_DIFFERS) == 0 && r->requests.succeeded == 20);
	r = &failed.results.v[0];
	CU_ASSERT(r->part == IB_PART_RECORDS && r->requests.attempted == 20 && r->requests.succeeded == 0 && r->requests.failed == 20);
	CU_ASSERT(!r->columns.e2e_s && r->n_claims == 0); /* a refused request has no time that was measured */
}

static void test_aiperf_early_schema(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	ib_auto_free char *path = NULL;
	struct ib_err err = {0};
	const struct ib_result *r;

	if (!ib_vectors()) {
		ib_skip("no vectors");
		return;
	}
	path = ib_asprintf("%s/fixtures/public/aiperf-01.json", ib_vectors());
	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, path, &b, &err) == 0);
	CU_ASSERT_FATAL(ib_client_read(ib_buf_str(&b), b.len, "aiperf-01.json", &all, &err) == 0 && all.n == 1);
	r = &all.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "aiperf/summary-early");
	CU_ASSERT(!r->client_version && r->requests.asked == 100 && r->requests.attempted == 100 && r->requests.succeeded == 89 && r->requests.failed == 11);
	CU_ASSERT(r->n_claims == with_status(r, IB_CLAIM_NOT_DERIVABLE) && r->zone_unknown);
	CU_ASSERT_FATAL(kit_hint(r, "A12") != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(kit_hint(r, "A12")->message, "196.6 tokens/s"));
}

/* The two files of the healthy run with `from` in one of them replaced by `to`. */
static void read_changed(bool in_summary, const char *from, const char *to, struct ib_results *ret)
{
	ib_auto_buf struct ib_buf summary = {0}, records = {0};
	struct ib_buf *b = in_summary ? &summary : &records;
	ib_auto_free char *changed = NULL;
	struct ib_err err = {0};
	const char *at;

	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export_aiperf.json", &summary);
	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export.jsonl", &records);
	at = strstr(ib_buf_str(b), from);
	CU_ASSERT_FATAL(at != NULL);
	changed = ib_asprintf("%.*s%s%s", (int)(at - ib_buf_str(b)), ib_buf_str(b), to, at + strlen(from));
	CU_ASSERT_FATAL(add(in_summary ? changed : ib_buf_str(&summary), "x/s.json", ret, &err) == 0);
	CU_ASSERT_FATAL(add(in_summary ? ib_buf_str(&records) : changed, "x/r.jsonl", ret, &err) == 0);
	ib_results_derive(ret);
	CU_ASSERT_FATAL(ret->n == 1);
}

static void test_aiperf_a_changed_number_differs(void)
{
	static const struct {
		bool in_summary;
		const char *from, *to, *claim;
	} changes[] = {
		{true, "\"avg\": 5.081706972569381", "\"avg\": 5.0817089", "request_throughput.avg"},
		{true, "\"p99\": 1061.4354038099998", "\"p99\": 1061.4354138", "request_latency.p99"},
		{true, "\"avg\": 40.0", "\"avg\": 41.0", "request_count.avg"},
		{true, "16:17:32.673781", "16:17:32.673791", "request_throughput.avg"},
		{false, "\"value\":880.585021", "\"value\":880.585121", "request_latency.avg"},
		{false, "\"value\":222.492542", "\"value\":222.492552", "time_to_first_token.avg"},
		{false, "\"output_sequence_length\":{\"value\":32", "\"output_sequence_length\":{\"value\":31", "total_osl.avg"},
		{false, "23.380291999999997", "23.380391999999997", "inter_chunk_latency.avg"},
	};

	for (size_t i = 0; i < IB_LEN(changes); i++) {
		ib_auto_results struct ib_results all = {0};
		const struct ib_claim *c;

		read_changed(changes[i].in_summary, changes[i].from, changes[i].to, &all);
		c = ib_result_find_claim(&all.v[0], changes[i].claim);
		CU_ASSERT_FATAL(c != NULL);
		CU_ASSERT(c->status == IB_CLAIM_DIFFERS);
	}
}

static void test_aiperf_versions_compute_differently(void)
{
	ib_auto_results struct ib_results old = {0}, next = {0};
	const struct ib_claim *c;

	read_changed(true, "\"schema_version\": \"1.4\"", "\"schema_version\": \"1.3\"", &old);
	CU_ASSERT_STRING_EQUAL(old.v[0].schema_id, "aiperf/summary-1.3");
	c = ib_result_find_claim(&old.v[0], "request_throughput.avg");
	CU_ASSERT(c && c->formula == &ib_requests_over_ok && c->status == IB_CLAIM_DIFFERS); /* of 0.13, so over another window */
	c = ib_result_find_claim(&old.v[0], "inter_chunk_latency.p99");
	CU_ASSERT(c && c->status == IB_CLAIM_NOT_DERIVABLE && c->why);
	read_changed(true, "\"schema_version\": \"1.4\"", "\"schema_version\": \"2.0\"", &next);
	CU_ASSERT(next.v[0].unknown_version);
}

static void test_aiperf_several_runs_in_one_directory(void)
{
	ib_auto_buf struct ib_buf s1 = {0}, s2 = {0}, r1 = {0}, r2 = {0};
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export_aiperf.json", &s1);
	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export.jsonl", &r1);
	load("early/artifacts/tiny-openai-chat-concurrency4/profile_export_aiperf.json", &s2);
	load("early/artifacts/tiny-openai-chat-concurrency4/profile_export.jsonl", &r2);
	CU_ASSERT(add(ib_buf_str(&s1), "x/a.json", &all, &err) == 0 && add(ib_buf_str(&s2), "x/b.json", &all, &err) == 0);
	CU_ASSERT(add(ib_buf_str(&r2), "x/c.jsonl", &all, &err) == 0 && add(ib_buf_str(&r1), "x/d.jsonl", &all, &err) == 0);
	ib_results_derive(&all);
	CU_ASSERT_FATAL(all.n == 2);
	CU_ASSERT_STRING_EQUAL(all.v[0].records_file, "x/d.jsonl");
	CU_ASSERT_STRING_EQUAL(all.v[1].records_file, "x/c.jsonl");
	CU_ASSERT(with_status(&all.v[0], IB_CLAIM_DIFFERS) == 0 && with_status(&all.v[1], IB_CLAIM_DIFFERS) == 0);
}

/* A record with these metrics (and what follows them). */
static char *record(const char *phase, int64_t start_ns, const char *metrics)
{
	return ib_asprintf("{\"metadata\":{\"request_start_ns\":%lld,\"request_end_ns\":%lld,\"was_cancelled\":false,\"benchmark_phase\":\"%s\"},\"metrics\":%s}\n",
			   (long long)start_ns, (long long)start_ns + 1000000000, phase, metrics);
}

static void read_lines(const char *a, const char *b, struct ib_results *ret)
{
	ib_auto_free char *text = ib_asprintf("%s%s", a, b);
	struct ib_err err = {0};

	if (add(text, "r.jsonl", ret, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL_FATAL("records were refused");
	}
	ib_results_derive(ret);
}

#define GOOD "{\"request_latency\":{\"value\":500.0,\"unit\":\"ms\"},\"time_to_first_token\":{\"value\":100,\"unit\":\"ms\"},\"output_sequence_length\":{\"value\":5,\"unit\":\"tokens\"}}"

static void test_aiperf_impossible_times_are_left_out(void)
{
	static const char *const bad[] = {
		"{\"request_latency\":{\"value\":500.0},\"time_to_first_token\":{\"value\":-1.7e12},\"output_sequence_length\":{\"value\":5}}",
		"{\"request_latency\":{\"value\":500.0},\"time_to_first_token\":{\"value\":600},\"output_sequence_length\":{\"value\":5}}",
		"{\"request_latency\":{\"value\":-1},\"output_sequence_length\":{\"value\":5}}",
		"{\"request_latency\":{\"value\":500.0},\"inter_chunk_latency\":{\"value\":[1,-1]},\"output_sequence_length\":{\"value\":5}}",
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_free char *good = record("profiling", 1796055444862412673, GOOD), *wrong = record("profiling", 1796055444862412673, bad[i]);
		ib_auto_results struct ib_results all = {0};
		const struct ib_result *r;

		read_lines(good, wrong, &all);
		r = &all.v[0];
		CU_ASSERT(r->requests.succeeded == 2 && r->columns.n == 2 && isnan(r->columns.e2e_s[1]) && isnan(r->columns.ttft_s[1]));
		CU_ASSERT(!r->columns.itl_s && kit_hint(r, "A28") && strstr(kit_hint(r, "A28")->message, "record 2"));
	}
}

static void test_aiperf_a_record_that_contradicts_itself(void)
{
	static const char bundled[] = "{\"request_latency\":{\"value\":500.0},\"time_to_first_token\":{\"value\":100},\"inter_token_latency\":{\"value\":200},"
				      "\"output_sequence_length\":{\"value\":5}}"; /* over 2 tokens: the first chunk held 3 */
	static const char wrong[] = "{\"request_latency\":{\"value\":500.0},\"time_to_first_token\":{\"value\":100},\"inter_token_latency\":{\"value\":98.0},"
				    "\"output_sequence_length\":{\"value\":5}}";
	ib_auto_free char *a = record("profiling", 1796055444862412673, bundled), *b = record("profiling", 1796055444862412673, wrong);
	ib_auto_results struct ib_results good = {0}, bad = {0};

	read_lines(a, a, &good);
	CU_ASSERT(good.v[0].n_hints == 0);
	read_lines(a, b, &bad);
	CU_ASSERT_FATAL(kit_hint(&bad.v[0], "A10") != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(kit_hint(&bad.v[0], "A10")->message, "record 2"));
}

static void test_aiperf_warm_up_is_not_measured(void)
{
	ib_auto_free char *warm = record("warmup", 1796055444862412673, GOOD), *good = record("profiling", 1796055454862412673, GOOD);
	ib_auto_results struct ib_results all = {0};

	read_lines(warm, good, &all);
	CU_ASSERT(all.v[0].columns.n == 2 && all.v[0].requests.attempted == 1 && all.v[0].requests.succeeded == 1 && all.v[0].output_tokens == 5);
	CU_ASSERT(all.v[0].began_at > 1796055454 && all.v[0].began_at < 1796055455);
}

static void test_aiperf_success_without_output_is_none(void)
{
	ib_auto_free char *good = record("profiling", 1796055444862412673, GOOD), *empty = record("profiling", 1796055444862412673, "{}");
	ib_auto_results struct ib_results all = {0};

	read_lines(good, empty, &all);
	CU_ASSERT(all.v[0].requests.attempted == 2 && all.v[0].requests.succeeded == 1 && all.v[0].requests.without_output == 1);
	CU_ASSERT(all.v[0].requests.failed == 1);
}

static void test_aiperf_null_is_not_recorded(void)
{
	static const char nulls[] = "{\"request_latency\":null,\"time_to_first_token\":{\"value\":null},\"inter_chunk_latency\":{\"value\":null},"
				    "\"output_sequence_length\":{\"value\":null},\"input_sequence_length\":{},\"osl_mismatch_diff_pct\":{\"value\":-100.0}}";
	ib_auto_free char *a = record("profiling", 1796055444862412673, nulls), *b = record("profiling", 1796055444862412673, nulls);
	ib_auto_results struct ib_results all = {0};
	const struct ib_columns *c;

	read_lines(a, b, &all);
	c = &all.v[0].columns;
	CU_ASSERT(c->n == 2 && c->start_s && !c->ttft_s && !c->e2e_s && !c->itl_s && !c->output_tokens && !c->input_tokens && !c->output_asked);
	CU_ASSERT(all.v[0].output_tokens == IB_NOT_IN_FILE && all.v[0].requests.without_output == IB_NOT_IN_FILE);
}

static void test_aiperf_refuses_torn_and_wrong_files(void)
{
	static const struct {
		const char *metrics;
		enum ib_code code;
	} bad[] = {
		{"{\"request_latency\":{\"value\":\"fast\"}}", IB_E_SYNTAX},
		{"{\"output_sequence_length\":{\"value\":1.5}}", IB_E_SYNTAX},
		{"{\"output_sequence_length\":{\"value\":1e300}}", IB_E_SYNTAX},
		{"{\"inter_chunk_latency\":{\"value\":[1,\"2\"]}}", IB_E_SYNTAX},
		{"{\"request_latency\":{\"value\":1,\"value\":2}}", IB_E_JSON},
		{"{\"request_latency\":{\"value\":1}", IB_E_JSON},
		{"{\"request_latency\":{\"value\":1e999}}", IB_E_JSON},
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_free char *good = record("profiling", 1796055444862412673, GOOD), *wrong = record("profiling", 1796055444862412673, bad[i].metrics);
		ib_auto_free char *text = ib_asprintf("%s%s", good, wrong);
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT(add(text, "r.jsonl", &all, &err) == (int)bad[i].code && all.n == 0);
		CU_ASSERT(strstr(err.text, "r.jsonl") != NULL);
	}
}

static void test_aiperf_a_torn_summary_is_refused(void)
{
	ib_auto_buf struct ib_buf b = {0};

	load("conc4/artifacts/tiny-openai-chat-concurrency4/profile_export_aiperf.json", &b);
	for (size_t n = b.len - 1; n > 200; n -= n / 9 + 1) {
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT(ib_client_read(ib_buf_str(&b), n, "s.json", &all, &err) < 0 && all.n == 0);
	}
}

static void test_aiperf_other_files_of_a_run_are_no_results(void)
{
	static const char *const others[] = {
		"{\"data\":[{\"session_id\":\"s\",\"payloads\":[{\"messages\":[]}]}]}",
		"{\"metadata\":{\"request_start_ns\":1,\"benchmark_phase\":\"profiling\"},\"start_perf_ns\":2,\"payload\":{},\"responses\":[]}",
		"{\"schema_version\":\"1.0\",\"aiperf_version\":\"0.13.0\",\"summary\":{},\"metrics\":{}}",
		"{\"schema_version\":\"1.0\",\"aiperf_version\":\"0.13.0\",\"metadata\":{},\"metrics\":{\"request_latency_avg\":{}}}",
		"{\"ready\":true,\"was_cancelled\":false,\"partial\":false}",
		"{\"records\":{\"a\":1},\"input_config\":{}}",
		"Metric,avg,min,max\nrequest_latency,1,1,1\n",
	};

	for (size_t i = 0; i < IB_LEN(others); i++)
		CU_ASSERT_PTR_NULL(ib_client_recognise(others[i], strlen(others[i])));
}

static void test_aiperf_keeps_no_secret(void)
{
	static const char text[] =
		"{\"schema_version\":\"1.4\",\"aiperf_version\":\"0.13.0\",\"request_count\":{\"unit\":\"requests\",\"avg\":1.0},"
		"\"input_config\":{\"endpoint\":{\"api_key\":\"sk-LABSECRET123\",\"urls\":[\"http://u:sk-LABSECRET123@h:1/v1?k=sk-LABSECRET123\"]}},"
		"\"run_info\":{\"cli_command\":\"aiperf profile --api-key sk-LABSECRET123 -m 'a b' --header 'Authorization: Bearer sk-LABSECRET123' --concurrency 3\"}}";
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(add(text, "s.json", &all, &err) == 0 && all.n == 1);
	CU_ASSERT_STRING_EQUAL(all.v[0].settings.v[IB_SET_MODEL], "a b");
	CU_ASSERT_STRING_EQUAL(all.v[0].settings.v[IB_SET_CONCURRENCY], "3");
	for (size_t k = 0; k < IB_SETTINGS; k++)
		CU_ASSERT(!all.v[0].settings.v[k] || !strstr(all.v[0].settings.v[k], "LABSECRET"));
}

static void test_aiperf_counts_that_do_not_add_up(void)
{
	static const char text[] = "{\"schema_version\":\"1.4\",\"aiperf_version\":\"0.13.0\",\"request_count\":{\"avg\":7.0},\"error_request_count\":{\"avg\":2.0},"
				   "\"completed_request_count\":{\"avg\":74.0},\"error_summary\":[{\"count\":1},{\"count\":2}]}";
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};
	const struct ib_hint *h;

	CU_ASSERT_FATAL(add(text, "s.json", &all, &err) == 0 && all.n == 1);
	h = kit_hint(&all.v[0], "A07");
	CU_ASSERT_FATAL(h != NULL && all.v[0].n_hints >= 2);
	CU_ASSERT_STRING_EQUAL(h->expected, "9");
	CU_ASSERT_STRING_EQUAL(h->found, "74");
}

static const struct ib_test tests[] = {
	IB_TEST(test_aiperf_every_number_of_a_healthy_run),
	IB_TEST(test_aiperf_a_duration_of_nothing_is_found),
	IB_TEST(test_aiperf_failures_are_infinite_in_adjusted_numbers),
	IB_TEST(test_aiperf_short_answers_are_told),
	IB_TEST(test_aiperf_cancelled_run_uses_the_other_window),
	IB_TEST(test_aiperf_without_streaming_or_summary),
	IB_TEST(test_aiperf_early_schema),
	IB_TEST(test_aiperf_a_changed_number_differs),
	IB_TEST(test_aiperf_versions_compute_differently),
	IB_TEST(test_aiperf_several_runs_in_one_directory),
	IB_TEST(test_aiperf_impossible_times_are_left_out),
	IB_TEST(test_aiperf_a_record_that_contradicts_itself),
	IB_TEST(test_aiperf_warm_up_is_not_measured),
	IB_TEST(test_aiperf_success_without_output_is_none),
	IB_TEST(test_aiperf_null_is_not_recorded),
	IB_TEST(test_aiperf_refuses_torn_and_wrong_files),
	IB_TEST(test_aiperf_a_torn_summary_is_refused),
	IB_TEST(test_aiperf_other_files_of_a_run_are_no_results),
	IB_TEST(test_aiperf_keeps_no_secret),
	IB_TEST(test_aiperf_counts_that_do_not_add_up),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"clients_aiperf", tests};
