/* SPDX-License-Identifier: Apache-2.0 */
/* InferenceBench: real envelopes with and without their samples, edited and malleable ones; what each file's author knows to be wrong with it is found. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "unit.h"

#define SETS "tests/data/clients/sets/inferencebench-0.1.0/"

static void read_set(const char *name, struct ib_outputs *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	struct ib_err err = {0};
	ib_auto_fd int dir = -1;

	CU_ASSERT_FATAL(ib_open_dir(AT_FDCWD, ib_src(path), &dir, &err) == 0);
	CU_ASSERT_FATAL(ib_client_read_dir(dir, ret, &err) == 0);
}

static const struct ib_hint *hint(const struct ib_result *r, const char *check, const char *key)
{
	for (size_t i = 0; i < r->n_hints; i++)
		if (strcmp(r->hints[i].check, check) == 0 && ib_streq(r->hints[i].key, key))
			return &r->hints[i];
	return NULL;
}

static const struct ib_result *named(const struct ib_outputs *o, const char *file)
{
	for (size_t i = 0; i < o->results.n; i++)
		if (strcmp(o->results.v[i].file, file) == 0)
			return &o->results.v[i];
	CU_FAIL_FATAL("no such result");
	return NULL;
}

static bool holds(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	return c && (c->status == IB_CLAIM_EXACT || c->status == IB_CLAIM_WITHIN);
}

static void test_inferencebench_reasons_of_the_reader_stay_without_samples(void)
{
	ib_auto_outputs struct ib_outputs all = {0};
	ib_auto_results struct ib_results alone = {0};
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	const struct ib_claim *index, *rate, *ttft;
	struct ib_err err = {0};

	read_set("good", &all);
	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(SETS "good/envelope.json"), &b, &err) == 0);
	CU_ASSERT_FATAL(ib_client_read(ib_buf_str(&b), b.len, "envelope.json", &alone, &err) == 0 && alone.n == 1);
	index = ib_result_find_claim(&alone.v[0], "rekor_log_index");
	rate = ib_result_find_claim(&alone.v[0], "req_per_s_all");
	ttft = ib_result_find_claim(&alone.v[0], "ttft_p50_ms");
	CU_ASSERT_FATAL(index && rate && ttft);
	CU_ASSERT(ib_starts(index->why, "the signature is not verified here"));
	CU_ASSERT_STRING_EQUAL(rate->why, ib_result_find_claim(&all.results.v[0], "req_per_s_all")->why);
	CU_ASSERT_STRING_EQUAL(ttft->why, "the file of records is not there");
}

static void test_inferencebench_good_re_derives(void)
{
	static const char *const names[] = {"ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "total_p50_ms", "total_p99_ms", "ok_rate", "throughput_tok_per_s"};
	ib_auto_outputs struct ib_outputs all = {0};
	const struct ib_result *r;

	read_set("good", &all);
	CU_ASSERT_FATAL(all.results.n == 1 && all.unreadable == 0);
	r = &all.results.v[0];
	for (size_t i = 0; i < IB_LEN(names); i++)
		CU_ASSERT(holds(r, names[i]));
	CU_ASSERT(r->requests.attempted == 6 && r->requests.succeeded == 6 && r->output_tokens == 736 && r->requests.asked == IB_NOT_IN_FILE);
	CU_ASSERT(ib_result_find_claim(r, "req_per_s_all")->status == IB_CLAIM_NOT_DERIVABLE && isnan(r->duration_s));
	CU_ASSERT(ib_streq(r->settings.v[IB_SET_MODEL], "openai/smollm2") && !r->settings.v[IB_SET_MODEL_REVISION] && !r->client_version);
	CU_ASSERT(ib_streq(r->settings.v[IB_SET_SEED], "42") && !r->unknown_version && r->missing.n == 0);
	/* what its author knows to be wrong with it */
	CU_ASSERT(hint(r, "A18", "/request_idx") && hint(r, "A16", "/tokens_out") && hint(r, "A22", "/model/revision"));
	CU_ASSERT(hint(r, "A23", "/engine/version") && hint(r, "A25", "/hardware_fingerprint/memory") && hint(r, "A09", "/metrics/joules_per_token"));
	CU_ASSERT(!hint(r, "A13", "/metrics/throughput_tok_per_s") && !hint(r, "A07", "/request_idx") && !hint(r, "A30", "/error") && !ib_result_find_claim(r, "joules_per_token"));
}

static void test_inferencebench_failures_are_counted_and_secrets_seen(void)
{
	ib_auto_outputs struct ib_outputs all = {0};
	const struct ib_result *r;

	read_set("mixed_failures", &all);
	CU_ASSERT_FATAL(all.results.n == 1);
	r = &all.results.v[0];
	CU_ASSERT(r->requests.attempted == 126 && r->requests.succeeded == 84 && r->requests.failed == 42);
	CU_ASSERT(holds(r, "ok_rate") && holds(r, "throughput_tok_per_s") && holds(r, "total_p99_ms"));
	CU_ASSERT(hint(r, "A30", "/error") && !strstr(hint(r, "A30", "/error")->message, "EMPTY") && hint(r, "A18", "/request_idx"));
	CU_ASSERT(r->columns.input_tokens[2] == IB_NOT_IN_FILE && isnan(r->columns.ttft_s[2])); /* the failed one: 0 stood for nothing */
}

static void test_inferencebench_no_samples_is_no_measurement(void)
{
	ib_auto_outputs struct ib_outputs all = {0};
	const struct ib_result *r;

	read_set("no_samples", &all);
	CU_ASSERT_FATAL(all.results.n == 1);
	r = &all.results.v[0];
	CU_ASSERT(r->requests.attempted == IB_NOT_IN_FILE && r->requests.succeeded == IB_NOT_IN_FILE && r->columns.n == 0);
	CU_ASSERT_FATAL(hint(r, "A09", "/metrics/ok_rate") != NULL);
	CU_ASSERT(strstr(hint(r, "A09", "/metrics/ok_rate")->message, "no request is recorded and nothing can be derived") != NULL);
	for (size_t i = 0; i < r->n_claims; i++)
		CU_ASSERT(r->claims[i].status == IB_CLAIM_NOT_DERIVABLE && r->claims[i].why);
}

static void test_inferencebench_edited_envelopes_contradict_themselves(void)
{
	static const char *const files[] = {"edited.json", "resigned.json"};
	ib_auto_outputs struct ib_outputs all = {0};

	read_set("edited", &all);
	for (size_t i = 0; i < IB_LEN(files); i++)
		CU_ASSERT(hint(named(&all, files[i]), "A13", "/metrics/throughput_tok_per_s") != NULL);
}

static void test_inferencebench_malleable_envelopes_are_told(void)
{
	ib_auto_outputs struct ib_outputs all = {0};
	const struct ib_result *r;

	read_set("malleable", &all);
	CU_ASSERT(all.unreadable == 1 && strstr(all.first.text, "duplicate_key.json") && strstr(all.first.text, "a second time"));
	r = named(&all, "coerced.json");
	CU_ASSERT(hint(r, "A03", "/seed") && hint(r, "A03", "/model/id") && hint(r, "A03", "/timestamp") && hint(r, "A03", "/signature"));
	CU_ASSERT(hint(r, "A03", "/hardware_fingerprint/memory/ecc") && !r->settings.v[IB_SET_SEED]);
	r = named(&all, "nan.json");
	CU_ASSERT(r->literals == 1 && hint(r, "A03", "/metrics/throughput_tok_per_s") && !ib_result_find_claim(r, "throughput_tok_per_s"));
}

/* --- edits --- */

static char *load(const char *name)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct ib_err err = {0};

	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(path), &b, &err) == 0);
	return ib_buf_steal(&b);
}

static char *edit(const char *text, const char *from, const char *to)
{
	const char *found = strstr(text, from);

	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	return ib_asprintf("%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
}

/* An envelope and samples as a directory would give them. */
static void read_pair(const char *envelope, const char *samples, struct ib_results *ret)
{
	struct ib_source_mem a = {.data = envelope, .n = strlen(envelope)}, b = {.data = samples, .n = strlen(samples)};
	const struct ib_source in_a = ib_source_from_mem(&a), in_b = ib_source_from_mem(&b);
	ib_auto_results struct ib_results more = {0};
	struct ib_err err = {0};

	CU_ASSERT_FATAL(ib_client_read_source(&in_a, "d/envelope.json", ret, &err) == 0);
	CU_ASSERT_FATAL(ib_client_read_source(&in_b, "d/samples.jsonl", &more, &err) == 0);
	ib_results_move(ret, &more);
	ib_results_derive(ret);
}

static void test_inferencebench_edits_are_found(void)
{
	static const struct {
		bool in_samples;
		const char *from, *to, *claim, *check, *key;
	} rows[] = {
		{false, "\"ttft_p50_ms\": 230.178098000124", "\"ttft_p50_ms\": 200.178098000124", "ttft_p50_ms", NULL, NULL},
		{false, "\"ok_rate\": 1.0", "\"ok_rate\": 0.99", "ok_rate", NULL, NULL},
		{false, "\"throughput_tok_per_s\": 27.8", "\"throughput_tok_per_s\": 28.8", "throughput_tok_per_s", NULL, NULL},
		{false, "\"req_per_s_all\": 0.227", "\"req_per_s_all\": 0.237", "throughput_tok_per_s", NULL, NULL},
		{true, "\"total_ms\":5287.76", "\"total_ms\":4287.76", "total_p99_ms", "A10", "/tpot_ms"},
		{true, "\"tokens_out\":126", "\"tokens_out\":226", "throughput_tok_per_s", "A10", "/tpot_ms"},
		{true, "\"tokens_out\":126", "\"tokens_out\":0", "ok_rate", "A08", "/ok"},
		{true, "\"request_idx\":4", "\"request_idx\":14", NULL, "A07", "/request_idx"},
		{true, "\"request_idx\":4", "\"request_idx\":5", NULL, NULL, NULL},
		{false, "\"envelope_version\": \"v1\"", "\"envelope_version\": \"v2\"", NULL, NULL, NULL},
	};
	ib_auto_free char *envelope = load("good/envelope.json"), *samples = load("good/samples.jsonl");

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		ib_auto_free char *changed = edit(rows[i].in_samples ? samples : envelope, rows[i].from, rows[i].to);
		ib_auto_results struct ib_results all = {0};

		read_pair(rows[i].in_samples ? envelope : changed, rows[i].in_samples ? changed : samples, &all);
		CU_ASSERT_FATAL(all.n == 1);
		if (rows[i].claim)
			CU_ASSERT(ib_result_find_claim(&all.v[0], rows[i].claim)->status == IB_CLAIM_DIFFERS);
		if (rows[i].check)
			CU_ASSERT(hint(&all.v[0], rows[i].check, rows[i].key) != NULL);
		CU_ASSERT(all.v[0].unknown_version == (i == IB_LEN(rows) - 1));
	}
}

static int read_text(const char *text, struct ib_results *ret)
{
	struct ib_err err = {0};

	return ib_client_read(text, strlen(text), "x", ret, &err);
}

static void test_inferencebench_survives_hostile_files(void)
{
	static const char *const bad[] = {
		"{\"envelope_version\":1,\"suite_id\":[],\"hardware_fingerprint\":7",
		"{\"request_idx\":1e99,\"ok\":true,\"total_ms\":1,\"tokens_out\":1}\n",
		"{\"request_idx\":1,\"ok\":5,\"total_ms\":1,\"tokens_out\":1}\n",
		"{\"request_idx\":1,\"ok\":true,\"total_ms\":[],\"tokens_out\":1}\n",
		"{\"envelope_version\":\"v1\",\"suite_id\":0,\"hardware_fingerprint\":0} {}",
	};
	static const char *const odd[] = {
		"{\"envelope_version\":1,\"suite_id\":[],\"hardware_fingerprint\":7}",
		"{\"envelope_version\":null,\"suite_id\":[],\"hardware_fingerprint\":7,\"metrics\":[1],\"signature\":{},\"model\":[]}",
		"{\"request_idx\":-5,\"ok\":null,\"total_ms\":null,\"tokens_out\":-9223372036854775808}\n{\"request_idx\":9223372036854775807,\"ok\":true}\n",
		"{\"request_idx\":5,\"ok\":true,\"total_ms\":-1e308,\"tokens_out\":9223372036854775807,\"ttft_ms\":1e308}\n",
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_results struct ib_results all = {0};

		CU_ASSERT(read_text(bad[i], &all) < 0 && all.n == 0);
	}
	for (size_t i = 0; i < IB_LEN(odd); i++) {
		ib_auto_results struct ib_results all = {0};

		CU_ASSERT(read_text(odd[i], &all) == 0 && all.n == 1 && all.v[0].client == &ib_client_inferencebench);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_inferencebench_good_re_derives),
	IB_TEST(test_inferencebench_reasons_of_the_reader_stay_without_samples),
	IB_TEST(test_inferencebench_failures_are_counted_and_secrets_seen),
	IB_TEST(test_inferencebench_no_samples_is_no_measurement),
	IB_TEST(test_inferencebench_edited_envelopes_contradict_themselves),
	IB_TEST(test_inferencebench_malleable_envelopes_are_told),
	IB_TEST(test_inferencebench_edits_are_found),
	IB_TEST(test_inferencebench_survives_hostile_files),
	{0},
};

const struct ib_test_suite ib_suite = {"clients_inferencebench", tests};
