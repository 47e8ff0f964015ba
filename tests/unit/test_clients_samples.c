/* SPDX-License-Identifier: Apache-2.0 */
/* hyperfine, pyperf, llama-bench, vLLM's offline benchmarks, MLPerf LoadGen: real and hand-written files, edited and hostile ones. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "unit.h"

#define DATA "tests/data/clients/samples/"

static char *load(const char *name)
{
	ib_auto_free char *path = ib_asprintf(DATA "%s", name);
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct ib_err err = {0};

	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(path), &b, &err) == 0);
	return ib_buf_steal(&b);
}

static int read_text(const char *text, struct ib_results *ret)
{
	struct ib_err err = {0};

	return ib_client_read(text, strlen(text), "x", ret, &err);
}

static void read_ok(const char *name, struct ib_results *ret)
{
	ib_auto_free char *text = load(name);

	CU_ASSERT_FATAL(read_text(text, ret) == 0);
	for (size_t i = 0; i < ret->n; i++) {
		CU_ASSERT(ret->v[i].any_benchmark && ret->v[i].missing.n == 0 && !ret->v[i].unknown_version);
		for (size_t k = 0; k < ret->v[i].n_claims; k++) {
			if (ret->v[i].claims[k].status == IB_CLAIM_DIFFERS)
				printf("# %s: %s\n", name, ret->v[i].claims[k].name);
			CU_ASSERT(ret->v[i].claims[k].status != IB_CLAIM_DIFFERS);
		}
	}
}

static bool holds(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	return c && (c->status == IB_CLAIM_EXACT || c->status == IB_CLAIM_WITHIN);
}

static const struct ib_hint *hint(const struct ib_result *r, const char *check)
{
	for (size_t i = 0; i < r->n_hints; i++)
		if (strcmp(r->hints[i].check, check) == 0)
			return &r->hints[i];
	return NULL;
}

static bool near(double a, double b, double within)
{
	return fabs(a - b) <= within * fabs(b);
}

static void test_samples_of_hyperfine_re_derive(void)
{
	ib_auto_results struct ib_results all = {0}, failing = {0}, one = {0};

	read_ok("hyperfine.json", &all);
	CU_ASSERT_FATAL(all.n == 1 && all.v[0].client == &ib_client_hyperfine);
	CU_ASSERT(holds(&all.v[0], "mean") && holds(&all.v[0], "stddev") && holds(&all.v[0], "median") && holds(&all.v[0], "min") && holds(&all.v[0], "max"));
	CU_ASSERT(ib_result_find_claim(&all.v[0], "user")->status == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(all.v[0].requests.attempted == 10 && all.v[0].requests.succeeded == 10 && ib_streq(all.v[0].label, "sleep 0.01"));
	CU_ASSERT(all.v[0].n_hints == 0 && !all.v[0].tpot && !all.v[0].itl && all.v[0].e2e == &ib_sample_time && all.v[0].output_tokens == IB_NOT_IN_FILE);
	read_ok("hyperfine-failing.json", &failing);
	CU_ASSERT(failing.n == 2 && failing.v[0].requests.failed == 12 && failing.v[1].requests.succeeded == 0);
	CU_ASSERT(hint(&failing.v[0], "A08") && holds(&failing.v[1], "mean"));
	read_ok("hyperfine-one-run.json", &one);
	CU_ASSERT(one.n == 1 && holds(&one.v[0], "mean") && !ib_result_find_claim(&one.v[0], "stddev"));
}

static void test_samples_of_pyperf_leave_warmups_out(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_series struct ib_series s = {0};
	const struct ib_result *r;

	read_ok("pyperf.json", &all);
	CU_ASSERT_FATAL(all.n == 1 && all.v[0].client == &ib_client_pyperf);
	r = &all.v[0];
	CU_ASSERT(r->requests.attempted == 12 && r->columns.n == 32 && ib_streq(r->label, "timeit") && ib_streq(r->client_version, "2.11.0"));
	ib_sample_time.series(&r->columns, &s);
	CU_ASSERT(s.n == 12 && near(ib_series_mean(&s).value, 41.9e-6, 2e-3)); /* as the tool printed it */
	CU_ASSERT(r->zone_unknown && r->ended_at - r->began_at > 3.5 && r->ended_at - r->began_at < 3.6);
}

static void test_samples_of_pyperf_of_other_units_are_no_times(void)
{
	static const char text[] = "{\"benchmarks\":[{\"runs\":[{\"metadata\":{},\"values\":[1,2]}],\"metadata\":{\"unit\":\"byte\"}}],\"version\":\"1.0\"}";
	static const char newer[] = "{\"benchmarks\":[{\"runs\":[{\"metadata\":{},\"values\":[1,2]}]}],\"version\":\"2.0\"}";
	ib_auto_results struct ib_results all = {0}, next = {0};

	CU_ASSERT_FATAL(read_text(text, &all) == 0);
	CU_ASSERT(all.v[0].partial != NULL && !all.v[0].unknown_version);
	CU_ASSERT_FATAL(read_text(newer, &next) == 0);
	CU_ASSERT(next.v[0].unknown_version);
}

static void check_llama(const struct ib_results *all)
{
	const struct ib_result *r = all->v;

	CU_ASSERT_FATAL(all->n == 3 && r->client == &ib_client_llama_bench);
	for (size_t i = 0; i < 2; i++)
		CU_ASSERT(holds(&r[i], "avg_ns") && holds(&r[i], "stddev_ns") && holds(&r[i], "avg_ts") && holds(&r[i], "stddev_ts"));
	CU_ASSERT(ib_streq(r[0].label, "pp512") && ib_streq(r[1].label, "tg128") && ib_streq(r[2].label, "tg128 @ d4096"));
	CU_ASSERT(ib_streq(r[0].client_version, "4d9176092 (build 6543)") && ib_streq(r[0].settings.v[IB_SET_MODEL], "models/smollm2-135m-q4_1.gguf"));
	CU_ASSERT(near(r[0].began_at, 1796054462, 1e-12) && r[0].n_hints == 0);
	CU_ASSERT(hint(&r[1], "A18") != NULL); /* its first repetition took 2.5 times as long */
	CU_ASSERT(hint(&r[2], "A09") && holds(&r[2], "avg_ns") && !ib_result_find_claim(&r[2], "stddev_ns"));
}

static void test_samples_of_llama_bench_re_derive(void)
{
	ib_auto_results struct ib_results array = {0}, lines = {0};

	read_ok("llama-bench.json", &array);
	check_llama(&array);
	CU_ASSERT_STRING_EQUAL(array.v[0].schema_id, "llama-bench/json");
	read_ok("llama-bench.jsonl", &lines);
	check_llama(&lines);
	CU_ASSERT_STRING_EQUAL(lines.v[0].schema_id, "llama-bench/jsonl");
}

static void test_samples_of_vllm_offline_re_derive(void)
{
	ib_auto_results struct ib_results latency = {0}, throughput = {0};
	const struct ib_claim *p99;

	read_ok("vllm-latency.json", &latency);
	CU_ASSERT_FATAL(latency.n == 1 && latency.v[0].client == &ib_client_vllm_latency);
	CU_ASSERT(holds(&latency.v[0], "avg_latency") && holds(&latency.v[0], "percentiles/50"));
	p99 = ib_result_find_claim(&latency.v[0], "percentiles/99");
	CU_ASSERT(p99 && p99->derived.n == 10 && near(p99->p, 99, 0) && p99->status >= IB_CLAIM_EXACT);
	read_ok("vllm-throughput.json", &throughput);
	CU_ASSERT(holds(&throughput.v[0], "requests_per_second") && holds(&throughput.v[0], "tokens_per_second"));
	CU_ASSERT(throughput.v[0].requests.attempted == 100 && throughput.v[0].requests.succeeded == IB_NOT_IN_FILE && throughput.v[0].n_spans == 1);
}

static void test_samples_public_latency_file(void)
{
	const char *dir = ib_vectors();
	ib_auto_free char *path = dir ? ib_asprintf("%s/fixtures/public/vllm-bench-latency-02.json", dir) : NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};

	if (!path || ib_read_file(AT_FDCWD, path, &b, &err) < 0) {
		ib_skip("published result files are not here");
		return;
	}
	CU_ASSERT_FATAL(ib_client_read(b.data, b.len, "x", &all, &err) == 0);
	CU_ASSERT(all.v[0].columns.n == 2 && all.v[0].n_claims == 7);
	for (size_t i = 0; i < all.v[0].n_claims; i++)
		CU_ASSERT(all.v[0].claims[i].status == IB_CLAIM_EXACT || all.v[0].claims[i].status == IB_CLAIM_WITHIN);
}

static void test_samples_mlperf_verdicts_are_passed_on(void)
{
	ib_auto_results struct ib_results valid = {0}, invalid = {0}, detail = {0};

	read_ok("mlperf-valid.txt", &valid);
	CU_ASSERT_FATAL(valid.n == 1 && valid.v[0].client == &ib_client_mlperf);
	CU_ASSERT(valid.v[0].n_hints == 0 && ib_streq(valid.v[0].label, "Server PerformanceOnly") && ib_streq(valid.v[0].settings.v[IB_SET_RATE], "20"));
	CU_ASSERT(near(ib_result_find_claim(&valid.v[0], "Completed samples per second")->claimed, 18.38, 0));
	CU_ASSERT(ib_result_find_claim(&valid.v[0], "99.00 percentile latency (ns)")->status == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(valid.v[0].requests.attempted == IB_NOT_IN_FILE && valid.v[0].columns.n == 0);
	read_ok("mlperf-invalid.txt", &invalid);
	CU_ASSERT(hint(&invalid.v[0], "A10") && hint(&invalid.v[0], "A11") && hint(&invalid.v[0], "A07") && !hint(&invalid.v[0], "A14"));
	read_ok("mlperf-detail.txt", &detail);
	CU_ASSERT(hint(&detail.v[0], "A10") && hint(&detail.v[0], "A11") && hint(&detail.v[0], "A07") && ib_streq(detail.v[0].client_version, "5.0.4 @ 1a2b3c4d"));
}

static void test_samples_edits_are_found(void)
{
	static const struct {
		const char *file, *from, *to, *claim, *check;
	} rows[] = {
		{"hyperfine.json", "\"mean\": 0.0149", "\"mean\": 0.0139", "mean", NULL},
		{"hyperfine.json", "0.016003069220000003", "0.015003069220000003", "mean", NULL},
		{"hyperfine.json", "\"stddev\": 0.00559", "\"stddev\": 0.00459", "stddev", NULL},
		{"hyperfine.json", "\"max\": 0.0233", "\"max\": 0.0223", "max", NULL},
		{"hyperfine.json", "\"exit_codes\": [\n        0", "\"exit_codes\": [\n        null", NULL, "A08"},
		{"llama-bench.json", "\"avg_ts\": 56", "\"avg_ts\": 66", "avg_ts", NULL},
		{"llama-bench.json", "\"avg_ts\": 564.25098", "\"avg_ts\": 0.0000001", "avg_ts", NULL}, /* the last decimal is a step, not a share */
		{"llama-bench.json", "\"stddev_ns\": 2849460", "\"stddev_ns\": 0", "stddev_ns", NULL},
		{"llama-bench.json", "912345678", "912345688", "avg_ns", NULL},
		{"llama-bench.json", "\"n_prompt\": 512", "\"n_prompt\": 612", "avg_ts", "A10"},
		{"vllm-latency.json", "1.4987", "1.3987", "avg_latency", NULL},
		{"vllm-throughput.json", "\"total_num_tokens\": 25600", "\"total_num_tokens\": 35600", "tokens_per_second", NULL},
		{"mlperf-valid.txt", "Mode     : PerformanceOnly", "Mode     : AccuracyOnly", NULL, "A16"},
		{"mlperf-valid.txt", "constraints satisfied : Yes", "constraints satisfied : NO", NULL, "A14"},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		ib_auto_free char *text = load(rows[i].file), *changed = NULL;
		ib_auto_results struct ib_results all = {0};
		const char *found = strstr(text, rows[i].from);

		if (!found)
			printf("# %s: %s\n", rows[i].file, rows[i].from);
		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		changed = ib_asprintf("%.*s%s%s", (int)(found - text), text, rows[i].to, found + strlen(rows[i].from));
		CU_ASSERT_FATAL(read_text(changed, &all) == 0);
		if (rows[i].claim && ib_result_find_claim(&all.v[0], rows[i].claim)->status != IB_CLAIM_DIFFERS)
			printf("# %zu\n", i);
		if (rows[i].claim)
			CU_ASSERT(ib_result_find_claim(&all.v[0], rows[i].claim)->status == IB_CLAIM_DIFFERS);
		if (rows[i].check)
			CU_ASSERT(hint(&all.v[0], rows[i].check) != NULL);
	}
}

static void test_samples_missing_keys_are_reported(void)
{
	static const char *const texts[] = {
		"{\"results\":[{\"command\":\"x\",\"mean\":1,\"user\":1,\"system\":1}]}",
		"[{\"build_commit\":\"x\",\"model_filename\":\"m\",\"n_prompt\":1,\"n_gen\":0}]",
		"{\"avg_latency\":1,\"latencies\":[]}",
		"{\"elapsed_time\":null,\"num_requests\":null,\"requests_per_second\":1,\"tokens_per_second\":1}",
		"MLPerf Results Summary\nSUT name : x\n",
	};

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		ib_auto_results struct ib_results all = {0};

		CU_ASSERT_FATAL(read_text(texts[i], &all) == 0);
		CU_ASSERT(all.v[0].missing.n > 0 && all.v[0].requests.succeeded == IB_NOT_IN_FILE);
		for (size_t k = 0; k < all.v[0].n_claims; k++)
			CU_ASSERT(all.v[0].claims[k].status == IB_CLAIM_NOT_DERIVABLE && all.v[0].claims[k].why);
	}
}

static void test_samples_malformed_files_are_refused(void)
{
	static const char *const texts[] = {
		"{\"results\":[{\"command\":\"x\",\"mean\":1,\"user\":1,\"system\":1,\"times\":[1,2],\"exit_codes\":[0]}]}",
		"{\"results\":[{\"command\":\"x\",\"mean\":\"1\",\"user\":1,\"system\":1}]}",
		"{\"results\":[{\"command\":\"x\",\"mean\":1,\"user\":1,\"system\":1}",
		"{\"benchmarks\":[{\"runs\":[{\"metadata\":{},\"warmups\":[[1]]}]}],\"version\":\"1.0\"}",
		"{\"benchmarks\":[{\"runs\":[{\"metadata\":{},\"values\":[\"x\"]}]}],\"version\":\"1.0\"}",
		"[{\"build_commit\":\"x\",\"model_filename\":\"m\",\"n_prompt\":1,\"n_gen\":0,\"samples_ns\":[1],\"samples_ts\":[1,2]}]",
		"[{\"build_commit\":\"x\",\"model_filename\":\"m\",\"n_prompt\":1,\"n_gen\":0},7]",
		"[{\"build_commit\":\"x\",\"model_filename\":\"m\",\"n_prompt\":1,\"n_gen\":0}",
		"{\"avg_latency\":1,\"latencies\":[1,{}]}",
		":::MLLOG {\"key\": \"x\"\n",
	};

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		ib_auto_results struct ib_results all = {0};

		if (read_text(texts[i], &all) >= 0)
			printf("# %zu\n", i);
		CU_ASSERT(all.n == 0);
	}
}

static void test_samples_survive_odd_numbers(void)
{
	static const char *const texts[] = {
		"{\"results\":[{\"command\":\"x\",\"mean\":NaN,\"user\":-1,\"system\":Infinity,\"times\":[0,-1,1e308,null],\"exit_codes\":[1e300,null,-1,0]}]}",
		"[{\"build_commit\":\"x\",\"model_filename\":\"m\",\"n_prompt\":9223372036854775807,\"n_gen\":9223372036854775807,\"samples_ns\":[0,-5,1e308],\"samples_ts\":[0,1,2],\"avg_ns\":0,\"stddev_ns\":0,\"avg_ts\":0}]",
		"{\"avg_latency\":-1e308,\"latencies\":[-1e308,1e308,null],\"percentiles\":{\"x\":1,\"1e5\":2,\"-5\":3,\"50\":null,\"\":1,\"99.9\":4}}",
		"{\"elapsed_time\":0,\"num_requests\":1e300,\"total_num_tokens\":-5,\"requests_per_second\":1,\"tokens_per_second\":1}",
		"MLPerf Results Summary\n:\n : \nx:1e999\ny:--\nResult is : maybe\n99999999999999999999 ERRORS encountered\n* a : 1\n",
		":::MLLOG {\"key\": \"num_errors\", \"value\": -5}\n:::MLLOG {}\n:::MLLOG []\nrubbish\n",
		"{\"benchmarks\":[{\"runs\":[{\"metadata\":{\"date\":\"9999-99-99 99:99:99\"},\"values\":[null,-1],\"warmups\":[[0,0]]}]}],\"version\":\"1.0\"}",
	};

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		ib_auto_results struct ib_results all = {0};

		CU_ASSERT(read_text(texts[i], &all) == 0 && all.n == 1);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_samples_of_hyperfine_re_derive),
	IB_TEST(test_samples_of_pyperf_leave_warmups_out),
	IB_TEST(test_samples_of_pyperf_of_other_units_are_no_times),
	IB_TEST(test_samples_of_llama_bench_re_derive),
	IB_TEST(test_samples_of_vllm_offline_re_derive),
	IB_TEST(test_samples_public_latency_file),
	IB_TEST(test_samples_mlperf_verdicts_are_passed_on),
	IB_TEST(test_samples_edits_are_found),
	IB_TEST(test_samples_missing_keys_are_reported),
	IB_TEST(test_samples_malformed_files_are_refused),
	IB_TEST(test_samples_survive_odd_numbers),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_samples", tests};
