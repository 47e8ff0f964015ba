/* SPDX-License-Identifier: Apache-2.0 */
/* Client readers: real result files against counts and statistics derived by another program, and files that lie, are torn or hostile. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "clients/head.h"
#include "unit.h"

#define DATA "tests/data/clients/"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static void load(const char *path, struct ib_buf *ret)
{
	struct ib_err err = {0};

	*ret = IB_BUF(IB_SLURP_MAX + 4096);
	if (ib_read_file(AT_FDCWD, ib_src(path), ret, &err) < 0)
		CU_FAIL_FATAL("test data cannot be read");
}

/* Reads data as a result file, expecting success. */
static void read_ok(const char *data, size_t n, struct ib_results *ret)
{
	struct ib_err err = {0};

	if (ib_client_read(data, n, "result.json", ret, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL_FATAL("result file was refused");
	}
}

static void read_data(const char *name, struct ib_results *ret)
{
	ib_auto_buf struct ib_buf b = {0};
	ib_auto_free char *path = ib_asprintf(DATA "%s", name);

	load(path, &b);
	read_ok(ib_buf_str(&b), b.len, ret);
}

static int64_t count_or_none(const json_t *row, const char *key)
{
	const json_t *v = json_object_get(row, key);

	return json_is_integer(v) ? json_integer_value(v) : IB_NOT_IN_FILE;
}

static void check_real(const json_t *row, const char *key, struct ib_stat st, double scale)
{
	const json_t *v = json_object_get(row, key);

	if (json_is_null(v)) {
		CU_ASSERT(st.state != IB_STAT_VALUE && isnan(st.value));
		return;
	}
	CU_ASSERT(st.state == IB_STAT_VALUE && near(st.value * scale, json_number_value(v)));
}

static void check_row(const json_t *row)
{
	ib_auto_results struct ib_results all = {0};
	const char *file = json_string_value(json_object_get(row, "file"));
	ib_auto_series struct ib_series tpot = {0};
	const struct ib_result *r;
	struct ib_stat p95;

	read_data(file, &all);
	CU_ASSERT_FATAL(all.n > (size_t)json_integer_value(json_object_get(row, "index")));
	r = &all.v[json_integer_value(json_object_get(row, "index"))];
	CU_ASSERT(r->requests.attempted == count_or_none(row, "attempted"));
	CU_ASSERT(r->requests.succeeded == count_or_none(row, "succeeded"));
	CU_ASSERT(r->requests.failed == count_or_none(row, "failed"));
	CU_ASSERT(r->output_tokens == count_or_none(row, "output_tokens"));
	check_real(row, "ttft_p50_ms", ib_result_percentile(r, r->ttft, 50), 1000);
	p95 = ib_result_percentile(r, r->ttft, 95);
	if (count_or_none(row, "ttft_n") >= 20)
		check_real(row, "ttft_p95_ms", p95, 1000);
	else
		CU_ASSERT(p95.state != IB_STAT_VALUE);
	ib_tpot_excl_first.series(&r->columns, &tpot);
	check_real(row, "tpot_mean_ms", ib_series_mean(&tpot), 1000);
	check_real(row, "requests_hz", ib_result_scalar(r, &ib_requests_over_duration), 1);
	for (size_t i = 0; i < r->n_claims; i++)
		if (r->claims[i].status == IB_CLAIM_DIFFERS) {
			printf("# %s: %s\n", file, r->claims[i].name);
			CU_FAIL("a number of an untouched file does not re-derive");
		}
	CU_ASSERT_STRING_EQUAL(r->client->name, ib_starts(file, "requests/") ? "ib-requests" : "vllm-bench");
}

static void test_clients_real_files_give_the_expected_rows(void)
{
	ib_auto_buf struct ib_buf b = {0};
	ib_auto_json json_t *rows = NULL;
	struct ib_err err = {0};

	load(DATA "expected.json", &b);
	CU_ASSERT_FATAL(ib_json_load(ib_buf_str(&b), b.len, "expected.json", &rows, &err) == 0);
	CU_ASSERT(json_array_size(rows) == 49);
	for (size_t i = 0; i < json_array_size(rows); i++)
		check_row(json_array_get(rows, i));
}

static const struct ib_claim *claim(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	return c;
}

static bool has_status(const struct ib_result *r, const char *name, enum ib_claim_status s)
{
	return claim(r, name)->status == s;
}

static json_t *load_object(const char *name)
{
	ib_auto_buf struct ib_buf b = {0};
	ib_auto_free char *path = ib_asprintf(DATA "%s", name);
	struct ib_err err = {0};
	json_t *o = NULL;

	load(path, &b);
	if (ib_json_load_foreign(ib_buf_str(&b), b.len, name, &o, &err) < 0)
		CU_FAIL_FATAL("test data does not parse");
	return o;
}

static void read_object(const json_t *o, struct ib_results *ret)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);

	ib_json_write(o, &b);
	read_ok(ib_buf_str(&b), b.len, ret);
}

static void test_clients_schema_shows_in_the_keys(void)
{
	static const char *const want[][2] = {
		{"vllm/01_c1.json", "vllm-bench/python-0.32"},       {"vllm/08_no_detail.json", "vllm-bench/python-0.32"},
		{"vllm/R1_rust_ok_fake.json", "vllm-bench/rust-0.33"}, {"vllm/R7_rust_no_detail.json", "vllm-bench/rust-0.33"},
		{"vllm/public-0.9.json", "vllm-bench/python-0.9"},
	};

	for (size_t i = 0; i < IB_LEN(want); i++) {
		ib_auto_results struct ib_results all = {0};

		read_data(want[i][0], &all);
		CU_ASSERT_STRING_EQUAL(all.v[0].schema_id, want[i][1]);
		CU_ASSERT(all.v[0].missing.n == 0);
	}
}

/* The same run as an older client would have written it: keys that came later are taken away, newest first. */
static void test_clients_older_schemas_are_told_apart(void)
{
	static const struct {
		const char *drop[4];
		const char *schema;
	} steps[] = {{{"queue_times", "latencies"}, "vllm-bench/python-0.20"},
		     {{"rtfx"}, "vllm-bench/python-0.15"},
		     {{"start_times"}, "vllm-bench/python-0.11"},
		     {{"failed", "max_concurrent_requests", "max_output_tokens_per_s", "backend"}, "vllm-bench/python-0.9"},
		     {{"endpoint_type", "max_concurrency"}, "vllm-bench/python-0.6"}};
	ib_auto_json json_t *o = load_object("vllm/20_mix_http500.json");

	for (size_t i = 0; i < IB_LEN(steps); i++) {
		ib_auto_results struct ib_results all = {0};

		for (size_t k = 0; k < 4 && steps[i].drop[k]; k++)
			json_object_del(o, steps[i].drop[k]);
		if (i == 4)
			ib_json_set_str(o, "backend", "vllm");
		read_object(o, &all);
		CU_ASSERT_STRING_EQUAL(all.v[0].schema_id, steps[i].schema);
		CU_ASSERT(all.v[0].requests.succeeded == 21 && all.v[0].requests.failed == 9 && all.v[0].missing.n == 0);
		CU_ASSERT_PTR_EQUAL(all.v[0].e2e, &ib_e2e_ttft_plus_gaps);
		for (size_t c = 0; c < all.v[0].n_claims; c++)
			CU_ASSERT(all.v[0].claims[c].status != IB_CLAIM_DIFFERS);
		CU_ASSERT(claim(&all.v[0], "mean_tpot_ms")->derived.state == IB_STAT_VALUE);
	}
}

/* Of chat, the end of a request does not follow from gaps: neither TPOT nor E2EL is derived, and a TPOT that does not fit is no accusation. */
static void test_clients_without_end_times_tpot_is_not_derivable(void)
{
	ib_auto_json json_t *o = load_object("vllm/20_mix_http500.json");
	ib_auto_results struct ib_results chat = {0}, other = {0};

	json_object_del(o, "latencies");
	ib_json_set_real(o, "mean_tpot_ms", 99);
	read_object(o, &other);
	CU_ASSERT(has_status(&other.v[0], "mean_tpot_ms", IB_CLAIM_NOT_DERIVABLE) && isnan(claim(&other.v[0], "mean_tpot_ms")->derived.value));
	CU_ASSERT(claim(&other.v[0], "mean_tpot_ms")->why && has_status(&other.v[0], "completed", IB_CLAIM_EXACT));
	ib_json_set_str(o, "backend", "openai-chat");
	read_object(o, &chat);
	CU_ASSERT(has_status(&chat.v[0], "mean_tpot_ms", IB_CLAIM_NOT_DERIVABLE) && has_status(&chat.v[0], "p99_e2el_ms", IB_CLAIM_NOT_DERIVABLE));
	CU_ASSERT(claim(&chat.v[0], "p99_ttft_ms")->status >= IB_CLAIM_EXACT && chat.v[0].requests.succeeded == 21);
}

static void test_clients_zero_statistics_of_no_success_are_not_numbers(void)
{
	static const char *const files[] = {"vllm/31_all_fail.json", "vllm/29_endpoint_down_default.json", "vllm/R3_rust_all_fail.json"};

	for (size_t i = 0; i < IB_LEN(files); i++) {
		ib_auto_results struct ib_results all = {0};

		read_data(files[i], &all);
		CU_ASSERT(claim(&all.v[0], "p99_e2el_ms")->claimed == 0 && has_status(&all.v[0], "p99_e2el_ms", IB_CLAIM_NOT_DERIVABLE));
		CU_ASSERT_STRING_EQUAL(claim(&all.v[0], "mean_ttft_ms")->why, "no request succeeded");
		CU_ASSERT(isnan(claim(&all.v[0], "mean_ttft_ms")->derived.value));
		CU_ASSERT(ib_result_percentile(&all.v[0], all.v[0].ttft, 50).state == IB_STAT_UNDEFINED);
		CU_ASSERT(has_status(&all.v[0], "completed", IB_CLAIM_EXACT) && has_status(&all.v[0], "failed", IB_CLAIM_EXACT));
	}
}

/* o with the thresholds of a command line around it. */
static enum ib_claim_status goodput_of(const json_t *o, const char *slo)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	ib_auto_results struct ib_results all = {0};
	struct ib_settings around = {0};
	struct ib_source_mem mem;
	struct ib_source in;
	struct ib_err err = {0};

	ib_json_write(o, &b);
	mem = (struct ib_source_mem){.data = ib_buf_str(&b), .n = b.len};
	in = ib_source_from_mem(&mem);
	CU_ASSERT_FATAL(ib_client_read_source(&in, "r.json", &all, &err) == 0);
	ib_setting_put(&around, IB_SET_GOODPUT, slo, "the command line");
	ib_results_apply(&all, &around);
	ib_results_derive(&all);
	ib_settings_clear(&around);
	return claim(&all.v[0], "request_goodput")->status;
}

static void test_clients_goodput_derives_where_its_thresholds_are_known(void)
{
	ib_auto_json json_t *o = load_object("vllm/11_goodput.json");

	CU_ASSERT(goodput_of(o, NULL) == IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(goodput_of(o, "ttft:150 e2el:900") == IB_CLAIM_EXACT);
	CU_ASSERT(goodput_of(o, "ttft:1") == IB_CLAIM_DIFFERS);
	ib_json_set_real(o, "request_goodput", 11);
	CU_ASSERT(goodput_of(o, "ttft:150 e2el:900") == IB_CLAIM_DIFFERS);
	json_array_set_new(json_object_get(o, "ttfts"), 0, json_real(0)); /* none, to us; the client counts it as within */
	CU_ASSERT(goodput_of(o, "ttft:150 e2el:900") == IB_CLAIM_NOT_DERIVABLE);
}

static void test_clients_without_records_only_what_the_file_proves(void)
{
	ib_auto_results struct ib_results all = {0}, old = {0};

	read_data("vllm/08_no_detail.json", &all);
	CU_ASSERT(has_status(&all.v[0], "p99_ttft_ms", IB_CLAIM_NOT_DERIVABLE) && has_status(&all.v[0], "total_output_tokens", IB_CLAIM_NOT_DERIVABLE));
	CU_ASSERT(claim(&all.v[0], "p99_e2el_ms")->status >= IB_CLAIM_EXACT && claim(&all.v[0], "p99_e2el_ms")->status <= IB_CLAIM_WITHIN);
	CU_ASSERT(claim(&all.v[0], "output_throughput")->status != IB_CLAIM_NOT_DERIVABLE);
	CU_ASSERT(all.v[0].requests.without_output == IB_NOT_IN_FILE && all.v[0].requests.short_output == IB_NOT_IN_FILE);
	read_data("vllm/public-0.9.json", &old);
	CU_ASSERT(old.v[0].requests.failed == IB_NOT_IN_FILE && old.v[0].requests.attempted == 500);
	CU_ASSERT(ib_result_find_claim(&old.v[0], "failed") == NULL);
}

/* An error inside a stream leaves no trace but shorter outputs: the client calls these requests completed, and so does its file. */
static void test_clients_error_inside_a_stream_is_a_blind_spot(void)
{
	ib_auto_results struct ib_results all = {0};
	int64_t cut = 0;

	read_data("vllm/22_stream_error_event.json", &all);
	CU_ASSERT(all.v[0].requests.succeeded == 30 && all.v[0].requests.failed == 0 && all.v[0].requests.short_output == IB_NOT_IN_FILE);
	for (size_t i = 0; i < all.v[0].columns.n; i++)
		cut += all.v[0].columns.output_tokens[i] < 64;
	CU_ASSERT(cut == 9);
}

static void test_clients_failed_rows_keep_no_zero(void)
{
	ib_auto_results struct ib_results all = {0};
	size_t broken = 0;

	read_data("vllm/23_stream_cut.json", &all);
	for (size_t i = 0; i < all.v[0].columns.n; i++) {
		if (ib_columns_counts(&all.v[0].columns, i))
			continue;
		CU_ASSERT(isnan(all.v[0].columns.e2e_s[i]));
		broken += all.v[0].columns.ttft_s[i] > 0;
	}
	CU_ASSERT(broken == 9); /* each broke after its first token */
}

static void test_clients_append_mode_gives_one_result_a_line(void)
{
	ib_auto_results struct ib_results all = {0};

	read_data("vllm/09_append.json", &all);
	CU_ASSERT(all.n == 2 && all.v[0].index == 0 && all.v[1].index == 1);
	CU_ASSERT(all.v[0].duration_s != all.v[1].duration_s);
}

static void test_clients_edited_numbers_differ(void)
{
	static const struct {
		const char *key;
		double factor;
	} edits[] = {{"p99_ttft_ms", 0.999},  {"mean_tpot_ms", 1 + 1e-9}, {"median_itl_ms", 0.9},      {"std_e2el_ms", 1.1}, {"output_throughput", 1.001},
		     {"request_throughput", 2}, {"total_token_throughput", 0.5}, {"max_output_tokens_per_s", 2}, {"duration", 0.9}};

	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_json json_t *o = load_object("vllm/20_mix_http500.json");
		ib_auto_results struct ib_results all = {0};

		CU_ASSERT_FATAL(json_is_number(json_object_get(o, edits[i].key)));
		ib_json_set_real(o, edits[i].key, json_number_value(json_object_get(o, edits[i].key)) * edits[i].factor);
		read_object(o, &all);
		if (!has_status(&all.v[0], edits[i].key, IB_CLAIM_DIFFERS))
			printf("# %s\n", edits[i].key);
		CU_ASSERT(has_status(&all.v[0], edits[i].key, IB_CLAIM_DIFFERS));
	}
}

static void test_clients_edited_counts_differ(void)
{
	ib_auto_json json_t *o = load_object("vllm/20_mix_http500.json");
	ib_auto_results struct ib_results all = {0};

	ib_json_set_int(o, "completed", 30);
	ib_json_set_int(o, "failed", 0);
	ib_json_set_int(o, "total_output_tokens", 1345);
	read_object(o, &all);
	CU_ASSERT(has_status(&all.v[0], "completed", IB_CLAIM_DIFFERS) && has_status(&all.v[0], "failed", IB_CLAIM_DIFFERS));
	CU_ASSERT(has_status(&all.v[0], "total_output_tokens", IB_CLAIM_DIFFERS));
	CU_ASSERT(all.v[0].requests.succeeded == 21 && all.v[0].requests.failed == 9);
}

static void test_clients_edited_records_differ(void)
{
	ib_auto_json json_t *o = load_object("vllm/01_c1.json");
	ib_auto_results struct ib_results all = {0};
	json_t *ttfts = json_object_get(o, "ttfts"), *lens = json_object_get(o, "output_lens");

	json_array_set_new(ttfts, 3, json_real(json_number_value(json_array_get(ttfts, 3)) * 1.0001));
	json_array_set_new(lens, 4, json_integer(0));
	read_object(o, &all);
	CU_ASSERT(has_status(&all.v[0], "mean_ttft_ms", IB_CLAIM_DIFFERS) && has_status(&all.v[0], "completed", IB_CLAIM_DIFFERS));
	CU_ASSERT(all.v[0].requests.without_output == 1 && all.v[0].requests.failed == 1);
}

/* 0 is how this client writes "no value": its own statistics take it in, ours leave it out. */
static void test_clients_a_first_token_time_of_zero_is_no_time(void)
{
	ib_auto_json json_t *o = load_object("vllm/10_overwrite.json");
	ib_auto_results struct ib_results all = {0};
	struct ib_stat p50;

	json_array_set_new(json_object_get(o, "ttfts"), 2, json_real(0));
	read_object(o, &all);
	p50 = ib_result_percentile(&all.v[0], all.v[0].ttft, 50);
	CU_ASSERT(all.v[0].requests.succeeded == 6 && p50.n == 5 && p50.value > 0);
	CU_ASSERT(claim(&all.v[0], "mean_ttft_ms")->derived.n == 6);
}

/* A key of the measured part that is gone is listed; one that nobody knows is ignored. */
static void test_clients_missing_keys_are_reported_unknown_ones_ignored(void)
{
	ib_auto_json json_t *o = load_object("vllm/01_c1.json");
	ib_auto_results struct ib_results all = {0};

	json_object_del(o, "failed");
	ib_json_set_str(o, "colour", "blue");
	ib_json_set_str(o, "p42_ttft_ms", "not a number");
	read_object(o, &all);
	CU_ASSERT(all.v[0].missing.n == 1 && strcmp(all.v[0].missing.v[0], "failed") == 0);
	CU_ASSERT(all.v[0].requests.failed == 0); /* derived */
}

/* A string may begin with U+0000 and still be an error text. */
static void test_clients_error_text_of_a_nul_is_an_error(void)
{
	ib_auto_json json_t *o = load_object("vllm/10_overwrite.json");
	ib_auto_results struct ib_results all = {0};
	json_t *nul = json_stringn("\0", 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(nul);
	json_array_set_new(json_object_get(o, "errors"), 0, nul);
	read_object(o, &all);
	CU_ASSERT(all.v[0].requests.failed == 1);
}

static int refused(const char *data, size_t n)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_err err = {0};
	int r = ib_client_read(data, n, "result.json", &all, &err);

	CU_ASSERT(r == 0 || (all.n == 0 && all.v == NULL && err.text[0]));
	return r;
}

static int refused_edit(const char *name, const char *key, json_t *value)
{
	ib_auto_json json_t *o = load_object(name);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);

	ib_json_set(o, key, value);
	ib_json_write(o, &b);
	return refused(ib_buf_str(&b), b.len);
}

static void test_clients_malformed_files_are_refused(void)
{
	ib_auto_buf struct ib_buf b = {0};
	json_t *wrong = ib_json_array();

	load(DATA "vllm/01_c1.json", &b);
	CU_ASSERT(refused(b.data, b.len - 1) == IB_E_JSON);
	CU_ASSERT(refused(b.data, b.len / 2) == IB_E_JSON);
	CU_ASSERT(refused(b.data, 0) == IB_E_UNSUPPORTED);
	CU_ASSERT(refused("{\"latency\": 1}", 14) == IB_E_UNSUPPORTED);
	CU_ASSERT(refused("[]", 2) == IB_E_UNSUPPORTED);
	CU_ASSERT(refused_edit("vllm/01_c1.json", "ttfts", json_string("0.1")) == IB_E_SYNTAX);
	ib_json_add(wrong, json_real(0.5));
	CU_ASSERT(refused_edit("vllm/01_c1.json", "ttfts", wrong) == IB_E_SYNTAX); /* one element, others have 30 */
}

/* Any prefix and any flipped byte: refused or read, never a crash, never half a result. */
static void test_clients_survive_every_truncation_and_flip(void)
{
	static const char *const files[] = {"vllm/10_overwrite.json", "requests/mixed.jsonl"};

	for (size_t f = 0; f < IB_LEN(files); f++) {
		ib_auto_buf struct ib_buf b = {0};
		ib_auto_free char *path = ib_asprintf(DATA "%s", files[f]);

		load(path, &b);
		for (size_t i = 0; i < b.len; i++) {
			ib_auto_free char *copy = ib_strndup(b.data, b.len);

			(void)refused(b.data, i);
			copy[i] ^= 0x04;
			(void)refused(copy, b.len);
			copy[i] = 0;
			(void)refused(copy, b.len);
		}
	}
}

static void test_clients_requests_file_in_full(void)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;

	read_data("requests/mixed.jsonl", &all);
	CU_ASSERT_FATAL(all.n == 1);
	r = &all.v[0];
	CU_ASSERT(strcmp(r->client->name, "ib-requests") == 0 && strcmp(r->client_version, "0.1") == 0);
	CU_ASSERT(r->requests.asked == 5 && r->requests.attempted == 5 && r->requests.succeeded == 2 && r->requests.failed == 1);
	CU_ASSERT(r->requests.timed_out == 1 && r->requests.incomplete == 1 && r->requests.without_output == 0 && r->requests.short_output == 1);
	CU_ASSERT(r->columns.n == 6 && r->output_tokens == 5 && r->input_tokens == 128 && r->concurrency_asked == 2);
	CU_ASSERT(near(ib_result_percentile(r, r->ttft, 50).value, 0.015)); /* the warm-up's 0.09 is not in it */
	CU_ASSERT(near(ib_result_scalar(r, &ib_requests_over_duration).value, 1));
	CU_ASSERT(near(ib_result_percentile(r, &ib_tpot_excl_first, 50).value, 0.002));
	CU_ASSERT(r->synthetic && strstr(r->synthetic, "ib-loopback-synthetic") != NULL);
	CU_ASSERT(r->n_claims == 2 && r->claims[0].status == IB_CLAIM_EXACT && r->claims[1].status == IB_CLAIM_EXACT);
	CU_ASSERT(r->ttft == &ib_ttft_first_text);
}

/* Replaces the first occurrence of from in the requests fixture and reads it. */
static int requests_edit(const char *from, const char *to, struct ib_results *ret)
{
	ib_auto_buf struct ib_buf b = {0}, out = IB_BUF(IB_SLURP_MAX);
	struct ib_err err = {0};
	char *at;

	load(DATA "requests/mixed.jsonl", &b);
	at = strstr(b.data, from);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	ib_buf_add(&out, b.data, (size_t)(at - b.data));
	ib_buf_adds(&out, to);
	ib_buf_adds(&out, at + strlen(from));
	return ib_client_read(ib_buf_str(&out), out.len, "requests.jsonl", ret, &err);
}

static void test_clients_requests_rules_are_enforced(void)
{
	static const struct {
		const char *from, *to;
		int want;
	} edits[] = {
		{"requests:v1", "requests:v2", IB_E_UNSUPPORTED},
		{"\"ttft_ns\":10000000", "\"ttft_ns\":10000001", IB_E_SYNTAX}, /* no longer e2e - gaps */
		{"\"outcome\":\"ok\"", "\"outcome\":\"fine\"", IB_E_SYNTAX},
		{"\"outcome\":\"ok\",\"http_status\":200,\"error_class\":null", "\"outcome\":\"ok\",\"http_status\":200,\"error_class\":\"connect\"",
		 IB_E_SYNTAX},
		{"\"output_tokens\":3,\"token", "\"output_tokens\":0,\"token", IB_E_SYNTAX},
		{"\"output_tokens\":3,\"token", "\"output_tokens\":3.5,\"token", IB_E_SYNTAX},
		{"\"start_ns\":1000,\"queue_ns\":0,\"ttft_ns\":10000000", "\"start_ns\":null,\"queue_ns\":0,\"ttft_ns\":10000000", IB_E_SYNTAX},
		{"\"index\":3", "\"index\":2", IB_E_SYNTAX},
		{"\"index\":3", "\"index\":-3", IB_E_SYNTAX},
		{"\"index\":3,", "\"index\":3,\"index\":4,", IB_E_JSON},
		{"\"end_ns\":2000001000", "\"end_ns\":900", IB_E_SYNTAX},
		{"\"itl_ns\":[2000000]", "\"itl_ns\":[-2000000]", IB_E_SYNTAX},
		{"\"itl_ns\":[2000000]", "\"itl_ns\":[9223372036854775807]", IB_E_SYNTAX},
	};

	for (size_t i = 0; i < IB_LEN(edits); i++) {
		ib_auto_results struct ib_results all = {0};

		if (requests_edit(edits[i].from, edits[i].to, &all) != edits[i].want)
			printf("# %s -> %s\n", edits[i].from, edits[i].to);
		CU_ASSERT(requests_edit(edits[i].from, edits[i].to, &all) == edits[i].want);
	}
}

static void test_clients_requests_lost_lines_show(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_buf struct ib_buf b = {0};
	const char *end;

	load(DATA "requests/mixed.jsonl", &b);
	CU_ASSERT(refused(b.data, b.len - 1) == IB_E_SYNTAX); /* the last line feed is gone */
	end = strstr(b.data, "{\"index\":4");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	read_ok(b.data, (size_t)(end - b.data), &all); /* cut at a line's end */
	CU_ASSERT(has_status(&all.v[0], "args/num_prompts", IB_CLAIM_DIFFERS));
	CU_ASSERT(has_status(&all.v[0], "args/num_warmups", IB_CLAIM_EXACT));
}

static void test_clients_recognise_by_content(void)
{
	static const char first[] = "{ \"schema\" : \"urn:ibtools:requests:v1\" , \"a\":{\"x\":[1,\"}\"]}, \"b\\\"\":1, \"c\":2";
	static const char nested[] = "{\"a\":{\"schema\":\"urn:ibtools:requests:v1\"}}";
	const struct ib_head head = {first, strlen(first)};

	CU_ASSERT_PTR_EQUAL(ib_client_recognise(first, strlen(first)), &ib_client_requests);
	CU_ASSERT_PTR_NULL(ib_client_recognise(nested, strlen(nested)));
	CU_ASSERT(ib_head_has(&head, "c") && ib_head_has(&head, "a") && !ib_head_has(&head, "x") && !ib_head_has(&head, "b"));
}

/* A tree: a result, something else, a torn result, a link to a result outside. */
static void test_clients_read_dir_counts_files(void)
{
	ib_auto_outputs struct ib_outputs o = {0};
	ib_auto_buf struct ib_buf b = {0};
	ib_auto_fd int fd = -1;
	struct ib_err err = {0};
	char dir[] = "/tmp/ib-test-clients-XXXXXX";

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(ib_client_read_dir(fd, &o, &err) == 0 && o.files == 0 && o.results.n == 0);
	load(DATA "vllm/09_append.json", &b);
	CU_ASSERT_FATAL(mkdirat(fd, "sub", 0700) == 0);
	CU_ASSERT_FATAL(ib_write_file(fd, "sub/b.txt", b.data, b.len, 0600, false, &err) == 0);
	CU_ASSERT_FATAL(ib_write_file(fd, "a.json", b.data, b.len - 100, 0600, false, &err) == 0);
	CU_ASSERT_FATAL(ib_write_file(fd, "notes", "hello\n", 6, 0600, false, &err) == 0);
	CU_ASSERT_FATAL(symlinkat("sub/b.txt", fd, "link.json") == 0);
	CU_ASSERT(ib_client_read_dir(fd, &o, &err) == 0);
	CU_ASSERT(o.files == 2 && o.unreadable == 1 && o.results.n == 2);
	CU_ASSERT(strstr(o.first.text, "a.json") != NULL);
	CU_ASSERT(o.results.n && strcmp(o.results.v[0].file, "sub/b.txt") == 0);
	CU_ASSERT(unlinkat(fd, "sub/b.txt", 0) == 0 && unlinkat(fd, "sub", AT_REMOVEDIR) == 0 && unlinkat(fd, "a.json", 0) == 0);
	CU_ASSERT(unlinkat(fd, "notes", 0) == 0 && unlinkat(fd, "link.json", 0) == 0 && rmdir(dir) == 0);
}

static void test_clients_documents_keep_absent_as_null(void)
{
	ib_auto_results struct ib_results all = {0};
	ib_auto_json json_t *j = NULL, *record = NULL, *none = ib_result_record_json(NULL);
	const json_t *q;

	read_data("vllm/31_all_fail.json", &all);
	j = ib_result_json(&all.v[0], NULL);
	record = ib_result_record_json(&all.v[0]);
	q = json_object_get(j, "requests");
	CU_ASSERT(json_integer_value(json_object_get(q, "attempted")) == 30 && json_is_null(json_object_get(q, "timed_out")));
	CU_ASSERT(json_is_null(json_object_get(j, "client_version")) && json_is_null(json_object_get(j, "run_id")));
	CU_ASSERT(json_is_null(json_object_get(json_array_get(json_object_get(j, "claims"), 20), "derived")));
	CU_ASSERT(json_integer_value(json_object_get(record, "output_tokens")) == 0 && json_is_null(json_object_get(record, "timed_out")));
	CU_ASSERT(json_is_null(json_object_get(none, "client")) && json_is_null(json_object_get(none, "attempted")));
}

static void test_clients_a_flood_of_hints_is_an_error_itself(void)
{
	ib_auto_results struct ib_results all = {0};
	struct ib_result *r = ib_results_add(&all, &ib_client_vllm_bench, "result.json");

	for (int i = 0; i < 2 * IB_HINTS_MAX; i++)
		ib_result_hint(r, "A12", "/key", "a", "b", "note %d", i);
	CU_ASSERT_EQUAL_FATAL(r->n_hints, IB_HINTS_MAX);
	CU_ASSERT_STRING_EQUAL(r->hints[IB_HINTS_MAX - 2].check, "A12");
	CU_ASSERT_STRING_EQUAL(r->hints[IB_HINTS_MAX - 1].check, "A03");
	CU_ASSERT_PTR_NULL(r->hints[IB_HINTS_MAX - 1].key);
}

static const struct ib_test tests[] = {
	IB_TEST(test_clients_real_files_give_the_expected_rows),
	IB_TEST(test_clients_schema_shows_in_the_keys),
	IB_TEST(test_clients_older_schemas_are_told_apart),
	IB_TEST(test_clients_without_end_times_tpot_is_not_derivable),
	IB_TEST(test_clients_goodput_derives_where_its_thresholds_are_known),
	IB_TEST(test_clients_zero_statistics_of_no_success_are_not_numbers),
	IB_TEST(test_clients_without_records_only_what_the_file_proves),
	IB_TEST(test_clients_error_inside_a_stream_is_a_blind_spot),
	IB_TEST(test_clients_failed_rows_keep_no_zero),
	IB_TEST(test_clients_append_mode_gives_one_result_a_line),
	IB_TEST(test_clients_edited_numbers_differ),
	IB_TEST(test_clients_edited_counts_differ),
	IB_TEST(test_clients_edited_records_differ),
	IB_TEST(test_clients_a_first_token_time_of_zero_is_no_time),
	IB_TEST(test_clients_missing_keys_are_reported_unknown_ones_ignored),
	IB_TEST(test_clients_error_text_of_a_nul_is_an_error),
	IB_TEST(test_clients_malformed_files_are_refused),
	IB_TEST(test_clients_survive_every_truncation_and_flip),
	IB_TEST(test_clients_requests_file_in_full),
	IB_TEST(test_clients_requests_rules_are_enforced),
	IB_TEST(test_clients_requests_lost_lines_show),
	IB_TEST(test_clients_recognise_by_content),
	IB_TEST(test_clients_read_dir_counts_files),
	IB_TEST(test_clients_documents_keep_absent_as_null),
	IB_TEST(test_clients_a_flood_of_hints_is_an_error_itself),
	{0},
};

const struct ib_test_suite ib_suite = {"clients", tests};
