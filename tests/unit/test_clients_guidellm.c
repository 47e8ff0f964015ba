/* SPDX-License-Identifier: Apache-2.0 */
/* GuideLLM: real result files of three shapes against the client's own numbers and those of another program, then files that lie, are torn or hostile. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "client_kit.h"
#include "unit.h"

#define SETS "tests/data/clients/sets/"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static void load(const char *set, struct ib_buf *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s/benchmarks.json", set);
	struct ib_err err = {0};

	*ret = IB_BUF(IB_SLURP_MAX);
	CU_ASSERT_FATAL(ib_read_file(AT_FDCWD, ib_src(path), ret, &err) == 0);
}

static void read_text(const char *text, struct ib_results *ret)
{
	struct ib_err err = {0};

	if (ib_client_read(text, strlen(text), "benchmarks.json", ret, &err) < 0) {
		printf("# %s\n", err.text);
		CU_FAIL_FATAL("a file was refused");
	}
}

static void read_set(const char *set, struct ib_results *ret)
{
	ib_auto_buf struct ib_buf b = {0};

	load(set, &b);
	read_text(ib_buf_str(&b), ret);
	CU_ASSERT_FATAL(ret->n == 1);
}

/* Claims of a status that are not of the mixed totals, nor the middle of a rate. */
static size_t with_status(const struct ib_result *r, enum ib_claim_status s)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_claims; i++)
		n += r->claims[i].status == s && !strstr(r->claims[i].name, ".total.") && r->claims[i].formula != &ib_claimed_only;
	return n;
}

static double derived(const struct ib_result *r, const char *name)
{
	const struct ib_claim *c = ib_result_find_claim(r, name);

	return c && c->derived.state == IB_STAT_VALUE ? c->derived.value : NAN;
}

/* The text with `from` replaced by `to` where it stands first behind `after`. */
static char *changed(const char *text, const char *after, const char *from, const char *to)
{
	const char *at = strstr(text, after);

	at = at ? strstr(at, from) : NULL;
	CU_ASSERT_FATAL(at != NULL);
	return ib_asprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* --- files made here --- */

#define TIMES "\"targeted_start\":100.25,\"resolve_start\":100,\"request_start\":100.5,\"first_token_iteration\":%s,\"last_token_iteration\":102,\"request_end\":103,\"resolve_end\":103,\"token_iterations\":5"

static char *record(const char *first, const char *more)
{
	return ib_asprintf("{\"request_args\":\"{\\\"body\\\":{\\\"max_tokens\\\":5,\\\"prompt\\\":\\\"a\\\"}}\",\"info\":{\"error\":null,\"timings\":{" TIMES "}},"
			   "\"prompt_tokens\":7,\"output_tokens\":5%s}",
			   first, more);
}

/* A file with these lists of records, its keys in an order that the client does not write. */
static char *file(const char *version, const char *successful, const char *errored, const char *incomplete)
{
	return ib_asprintf("{\"benchmarks\":[{\"requests\":{\"successful\":%s,\"errored\":%s,\"incomplete\":%s},\"type_\":\"generative_benchmark\","
			   "\"end_time\":103,\"start_time\":100.5,\"duration\":2.5,\"metrics\":{\"slo\":null,\"request_totals\":null,\"request_latency\":null,"
			   "\"time_to_first_token_ms\":{\"successful\":{\"mean\":500.0,\"count\":1},\"total\":null}},"
			   "\"scheduler_state\":{\"created_requests\":9,\"processed_requests\":3,\"successful_requests\":1,\"errored_requests\":1,"
			   "\"cancelled_requests\":1},\"config\":{\"strategy\":{\"type_\":\"throughput\",\"max_concurrency\":16}}}],"
			   "\"config\":null,\"metadata\":{\"version\":2,\"guidellm_version\":\"%s\"}}",
			   successful, errored, incomplete, version);
}

static void test_guidellm_every_number_of_a_healthy_run(void)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;

	read_set("guidellm-0.8.1/conc4", &all);
	r = &all.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "guidellm/0.8");
	CU_ASSERT_STRING_EQUAL(r->client_version, "0.8.1");
	CU_ASSERT_STRING_EQUAL(r->label, "concurrent, streams=4");
	CU_ASSERT(!r->unknown_version && r->epoch && r->part == IB_PART_WHOLE && !r->partial && r->n_hints == 0 && r->missing.n == 0);
	CU_ASSERT(r->requests.asked == 40 && r->requests.attempted == 40 && r->requests.succeeded == 40 && r->requests.failed == 0);
	CU_ASSERT(r->requests.incomplete == 0 && r->requests.without_output == 0 && r->requests.short_output == 0);
	CU_ASSERT(r->input_tokens == 2560 && r->output_tokens == 1280 && r->concurrency_asked == 4);
	CU_ASSERT(r->n_claims == 154 && with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0);
	/* by a few lines of Python, from the records */
	CU_ASSERT(near(derived(r, "inter_token_latency_ms.successful.mean"), 14.027542260385328));
	CU_ASSERT(near(derived(r, "time_per_output_token_ms.successful.mean"), 15.731375850737095));
	CU_ASSERT(near(derived(r, "output_tokens_per_second.successful.mean"), 241.66365429736953));
	CU_ASSERT(near(derived(r, "requests_per_second.successful.mean"), 7.551989196792798));
	/* ten of forty are a quarter, in exact arithmetic; in that of the client they are less */
	CU_ASSERT(near(derived(r, "request_latency.successful.p25"), 0.45308542251586914));
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_SEED], "42");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_TOKENIZER], "/home/user/tokenizer");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_REQUESTS], "40");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_OUTPUT_LEN], "32");
	CU_ASSERT(r->columns.chunks && r->columns.chunks[0] == 32 && r->columns.output_asked && r->columns.output_asked[0] == 32 && !r->columns.queue_s);
	CU_ASSERT(r->columns.prompt_hash && r->columns.prompt_hash[0] && r->columns.prompt_hash[0] != r->columns.prompt_hash[1] && r->columns.output_hash);
}

static void test_guidellm_equal_keys_of_older_versions_mean_other_things(void)
{
	ib_auto_results struct ib_results v6 = {0}, v3 = {0};
	const struct ib_result *r;

	read_set("guidellm-0.6.1/conc4", &v6);
	r = &v6.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "guidellm/0.6");
	CU_ASSERT(r->n_claims == 154 && with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0 && r->n_hints == 0);
	CU_ASSERT_PTR_EQUAL(ib_result_find_claim(r, "output_tokens_per_second.successful.mean")->formula, &ib_output_tokens_over_tokens);
	CU_ASSERT_PTR_EQUAL(r->tpot, &ib_tpot_incl_first);
	read_set("guidellm-0.3.1/conc4", &v3);
	r = &v3.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "guidellm/0.3");
	CU_ASSERT(!r->client_version && !r->unknown_version && r->requests.asked == 40 && r->requests.succeeded == 40 && r->input_tokens == 2623);
	CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0 && r->n_hints == 0);
	CU_ASSERT_PTR_EQUAL(r->tpot, &ib_tpot_decode_over_all);
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_MODEL], "tiny");
	CU_ASSERT_STRING_EQUAL(r->settings.v[IB_SET_INPUT_LEN], "64");
	CU_ASSERT(!r->settings.v[IB_SET_SEED] && r->columns.prompt_hash && !r->columns.output_asked);
}

static void test_guidellm_failed_requests_are_counted_apart(void)
{
	static const struct {
		const char *set;
		int64_t asked, ok, failed, in, out;
		bool mixed;
	} sets[] = {
		{"guidellm-0.8.1/fail20", 40, 35, 5, 2240, 1120, true},  {"guidellm-0.8.1/sse_error", 40, 30, 10, 1920, 960, true},
		{"guidellm-0.8.1/early", 40, 40, 0, 2560, 922, false},   {"guidellm-0.8.1/sync_default", 20, 20, 0, 1280, 640, false},
		{"llama-server-smollm2/guidellm081-no-torch", 3, 3, 0, 282, 48, false},
	};

	for (size_t i = 0; i < IB_LEN(sets); i++) {
		ib_auto_results struct ib_results all = {0};
		const struct ib_result *r;

		read_set(sets[i].set, &all);
		r = &all.v[0];
		CU_ASSERT(r->requests.asked == sets[i].asked && r->requests.succeeded == sets[i].ok && r->requests.failed == sets[i].failed);
		CU_ASSERT(r->input_tokens == sets[i].in && r->output_tokens == sets[i].out);
		CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0 && with_status(r, IB_CLAIM_NOT_DERIVABLE) == 0);
		CU_ASSERT((kit_hint(r, "A12") != NULL) == sets[i].mixed);
		CU_ASSERT((ib_result_find_claim(r, "requests_per_second.total.mean")->status == IB_CLAIM_NOT_DERIVABLE) == sets[i].mixed);
	}
}

static void test_guidellm_short_answers_rates_and_queues(void)
{
	ib_auto_results struct ib_results early = {0}, constant = {0};
	ib_auto_free char *ok = record("101", ",\"x\":0"), *list = ib_asprintf("[%s]", ok), *text = file("0.8.1", list, "[]", "[]"), *planned = NULL;

	read_set("guidellm-0.8.1/early", &early);
	CU_ASSERT(early.v[0].requests.short_output == 19);
	planned = changed(text, "strategy", "\"throughput\",\"max_concurrency\":16", "\"constant\",\"rate\":5.0,\"max_concurrency\":10240");
	read_text(planned, &constant);
	CU_ASSERT(near(constant.v[0].rate_asked, 5) && constant.v[0].concurrency_asked == IB_NOT_IN_FILE);
	CU_ASSERT(constant.v[0].columns.queue_s && near(constant.v[0].columns.queue_s[0], 0.25));
	CU_ASSERT_STRING_EQUAL(constant.v[0].label, "constant, rate=5");
}

static void test_guidellm_all_failed_proves_no_zero(void)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;
	const struct ib_claim *c;

	read_set("guidellm-0.8.1/allfail", &all);
	r = &all.v[0];
	CU_ASSERT(r->requests.attempted == 20 && r->requests.succeeded == 0 && r->requests.failed == 20);
	CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0);
	c = ib_result_find_claim(r, "time_to_first_token_ms.successful.mean");
	CU_ASSERT_FATAL(c != NULL);
	CU_ASSERT(c->status == IB_CLAIM_NOT_DERIVABLE && c->why && isnan(c->derived.value));
	CU_ASSERT(kit_hint(r, "A12") && strstr(kit_hint(r, "A12")->message, "20 that failed"));
}

static void test_guidellm_a_sample_of_the_records_derives_nothing(void)
{
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;

	read_set("guidellm-0.8.1/sample5", &all);
	r = &all.v[0];
	CU_ASSERT_FATAL(r->partial != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(r->partial, "5 of 20"));
	CU_ASSERT(r->columns.n == 5 && r->requests.attempted == 20 && r->requests.succeeded == 20 && r->requests.failed == 0);
	/* what five of them did is not what twenty did */
	CU_ASSERT(r->requests.timed_out == IB_NOT_IN_FILE && r->requests.without_output == IB_NOT_IN_FILE && r->requests.short_output == IB_NOT_IN_FILE);
	CU_ASSERT(r->input_tokens == 20 * 64 && r->output_tokens == 20 * 32);
	CU_ASSERT(with_status(r, IB_CLAIM_DIFFERS) == 0 && ib_result_find_claim(r, "request_latency.successful.mean")->status == IB_CLAIM_NOT_DERIVABLE);
	for (size_t k = 0; k < IB_SETTINGS; k++)
		CU_ASSERT(!r->settings.v[k] || !strstr(r->settings.v[k], "SECRET"));
}

static void test_guidellm_a_changed_number_differs(void)
{
	static const struct {
		const char *after, *from, *to, *claim;
	} changes[] = {
		{"\"requests_per_second\"", "7.551989196792798", "7.551989296792798", "requests_per_second.successful.mean"},
		{"\"request_latency\"", "0.504433685541153", "0.504433785541153", "request_latency.successful.mean"},
		{"\"request_latency\"", "0.6255960464477539", "0.6255961464477539", "request_latency.successful.p95"},
		{"\"request_totals\"", "40", "41", "request_totals"},
		{"\"timings\"", "1796055346.9247093", "1796055346.9247193", "time_to_first_token_ms.successful.mean"},
		{"\"timings\"", "1796055347.366732", "1796055347.366742", "inter_token_latency_ms.successful.mean"},
		{"\"timings\"", "1796055347.3673398", "1796055347.3673498", "request_latency.successful.mean"},
		{"\"output_metrics\"", "\"output_tokens\":32", "\"output_tokens\":31", "output_token_count.successful.mean"},
		{"\"duration\"", "5.296617746353149", "5.296617846353149", "duration"},
	};
	ib_auto_buf struct ib_buf b = {0};

	load("guidellm-0.8.1/conc4", &b);
	for (size_t i = 0; i < IB_LEN(changes); i++) {
		bool spaced = strstr(ib_buf_str(&b), "\"output_tokens\": 32") && strchr(changes[i].from, ':');
		ib_auto_free char *text = changed(ib_buf_str(&b), changes[i].after, spaced ? "\"output_tokens\": 32" : changes[i].from,
						  spaced ? "\"output_tokens\": 31" : changes[i].to);
		ib_auto_results struct ib_results all = {0};
		size_t differ = 0;

		read_text(text, &all);
		for (size_t k = 0; k < all.v[0].n_claims; k++)
			differ += all.v[0].claims[k].status == IB_CLAIM_DIFFERS && strstr(all.v[0].claims[k].name, changes[i].claim);
		CU_ASSERT(differ > 0);
		if (!differ)
			printf("# change %zu was not seen\n", i);
	}
}

/* 0.3 leaves out the token at the very end, and no more than that. */
static void test_guidellm_old_rates_are_off_by_one_token(void)
{
	static const char claim[] = "output_tokens_per_second.successful.mean";
	ib_auto_results struct ib_results all = {0}, edited = {0};
	ib_auto_free char *from = NULL, *to = NULL, *text = NULL;
	ib_auto_buf struct ib_buf b = {0};
	double claimed;

	read_set("guidellm-0.3.1/conc4", &all);
	CU_ASSERT(ib_result_find_claim(&all.v[0], claim)->status == IB_CLAIM_WITHIN);
	claimed = ib_result_find_claim(&all.v[0], claim)->claimed;
	from = ib_asprintf("%.6f", claimed);
	from[strlen(from) - 2] = '\0';
	to = ib_asprintf("%.6f", claimed * 0.9995);
	load("guidellm-0.3.1/conc4", &b);
	text = changed(ib_buf_str(&b), "\"output_tokens_per_second\"", from, to);
	read_text(text, &edited);
	CU_ASSERT(ib_result_find_claim(&edited.v[0], claim)->status == IB_CLAIM_DIFFERS);
}

static void test_guidellm_keys_in_any_order(void)
{
	ib_auto_free char *ok = record("101", ""), *bad = record("null", ",\"x\":[1,{\"y\":2}]");
	ib_auto_free char *list = ib_asprintf("[%s]", ok), *others = ib_asprintf("[%s]", bad), *text = file("0.8.1", list, others, others);
	ib_auto_results struct ib_results all = {0};
	const struct ib_result *r;

	CU_ASSERT_PTR_EQUAL(ib_client_recognise(text, strlen(text)), &ib_client_guidellm);
	read_text(text, &all);
	r = &all.v[0];
	CU_ASSERT_STRING_EQUAL(r->schema_id, "guidellm/0.8");
	CU_ASSERT(r->requests.asked == 9 && r->requests.attempted == 3 && r->requests.succeeded == 1 && r->requests.failed == 1 && r->requests.incomplete == 1);
	CU_ASSERT(r->concurrency_asked == 16 && isinf(r->rate_asked));
	CU_ASSERT(r->columns.n == 3 && near(r->columns.ttft_s[0], 0.5) && isnan(r->columns.ttft_s[1]) && near(r->columns.e2e_s[0], 2.5));
	CU_ASSERT(r->columns.output_asked[0] == 5 && r->columns.prompt_hash[0] == r->columns.prompt_hash[1]);
	CU_ASSERT(ib_result_find_claim(r, "time_to_first_token_ms.successful.mean")->status == IB_CLAIM_EXACT);
	CU_ASSERT(!ib_result_find_claim(r, "request_latency.successful.mean"));
}

static void test_guidellm_versions_that_are_not_known(void)
{
	static const char *const versions[] = {"0.9.0", "1.0.0", "0.6.1", "next", ""};
	ib_auto_free char *ok = record("101", ""), *list = ib_asprintf("[%s]", ok);

	for (size_t i = 0; i < IB_LEN(versions); i++) {
		ib_auto_free char *text = file(versions[i], list, "[]", "[]");
		ib_auto_results struct ib_results all = {0};

		read_text(text, &all);
		CU_ASSERT(all.v[0].unknown_version); /* 0.6.1 wrote schema 1 */
		CU_ASSERT_STRING_EQUAL(all.v[0].schema_id, "guidellm/unknown");
	}
}

static void test_guidellm_impossible_times_are_left_out(void)
{
	static const char *const firsts[] = {"0", "-1.7e9", "104", "102.5"};

	for (size_t i = 0; i < IB_LEN(firsts); i++) {
		ib_auto_free char *ok = record("101", ""), *bad = record(firsts[i], ""), *list = ib_asprintf("[%s,%s]", ok, bad);
		ib_auto_free char *text = file("0.8.1", list, "[]", "[]");
		ib_auto_results struct ib_results all = {0};
		const struct ib_result *r;

		read_text(text, &all);
		r = &all.v[0];
		CU_ASSERT(r->requests.succeeded == 2 && !isnan(r->columns.ttft_s[0]) && isnan(r->columns.ttft_s[1]) && isnan(r->columns.e2e_s[1]));
		CU_ASSERT(kit_hint(r, "A28") && strstr(kit_hint(r, "A28")->message, "record 2"));
	}
}

static void test_guidellm_a_record_that_contradicts_itself(void)
{
	ib_auto_free char *ok = record("101", ",\"time_to_first_token_ms\":500.0,\"request_latency\":2.5,\"inter_token_latency_ms\":250.0");
	ib_auto_free char *bad = record("101", ",\"time_to_first_token_ms\":400.0"), *list = ib_asprintf("[%s,%s]", ok, bad);
	ib_auto_free char *text = file("0.8.1", list, "[]", "[]");
	ib_auto_results struct ib_results all = {0};

	read_text(text, &all);
	CU_ASSERT_FATAL(kit_hint(&all.v[0], "A10") != NULL);
	CU_ASSERT(strncmp(kit_hint(&all.v[0], "A10")->message, "1 records", 9) == 0 && strstr(kit_hint(&all.v[0], "A10")->message, "record 2"));
}

static void test_guidellm_success_without_output_is_none(void)
{
	static const char empty[] = "[{\"info\":{\"timings\":{\"request_start\":100.5,\"request_end\":103,\"token_iterations\":0}},\"output_tokens\":null}]";
	ib_auto_free char *text = file("0.8.1", empty, empty, "[]");
	ib_auto_results struct ib_results all = {0};
	const struct ib_requests *q;

	read_text(text, &all);
	q = &all.v[0].requests;
	CU_ASSERT(q->attempted == 2 && q->succeeded == 0 && q->failed == 2 && q->without_output == 1);
	CU_ASSERT(!all.v[0].columns.ttft_s);
}

static void test_guidellm_warm_up_is_not_measured(void)
{
	static const char early[] = "{\"info\":{\"timings\":{\"request_start\":98,\"first_token_iteration\":99,\"last_token_iteration\":99.5,\"request_end\":100}},"
				    "\"output_tokens\":3}";
	ib_auto_free char *ok = record("101", ""), *list = ib_asprintf("[%s,%s]", early, ok), *text = file("0.8.1", list, "[]", "[]");
	ib_auto_results struct ib_results all = {0};

	read_text(text, &all);
	CU_ASSERT(all.v[0].columns.n == 2 && all.v[0].columns.warmup && all.v[0].columns.warmup[0] && !all.v[0].columns.warmup[1]);
	CU_ASSERT(all.v[0].requests.attempted == 1 && all.v[0].output_tokens == 5);
}

static void test_guidellm_nulls_and_nothing(void)
{
	static const char *const texts[] = {
		"{\"metadata\":{\"version\":2,\"guidellm_version\":\"0.8.1\"},\"benchmarks\":[{}]}",
		"{\"metadata\":{\"version\":2,\"guidellm_version\":\"0.8.1\"},\"benchmarks\":[{\"metrics\":null,\"requests\":null,\"scheduler_state\":null,"
		"\"config\":null,\"start_time\":null,\"end_time\":null,\"duration\":null}]}",
		"{\"metadata\":{\"version\":2,\"guidellm_version\":\"0.8.1\"},\"config\":{\"spec\":{\"data\":[[[]]],\"constraints\":{\"a\":1}}},"
		"\"benchmarks\":[{\"requests\":{\"successful\":[],\"errored\":[{}],\"incomplete\":[{\"info\":null,\"request_args\":\"{\"}]}}]}",
		"{\"benchmarks\":[{\"type_\":\"generative_benchmark\",\"requests\":{\"successful\":[{\"start_time\":1,\"end_time\":null}]},\"args\":{\"strategy\":null}}]}",
	};

	for (size_t i = 0; i < IB_LEN(texts); i++) {
		ib_auto_results struct ib_results all = {0};
		const struct ib_result *r;

		read_text(texts[i], &all);
		r = &all.v[0];
		CU_ASSERT(isnan(r->duration_s) && r->n_claims == 0 && r->missing.n >= 4 && r->requests.asked == IB_NOT_IN_FILE);
		CU_ASSERT(!r->columns.ttft_s && !r->columns.e2e_s && !r->columns.input_tokens && r->requests.succeeded == 0);
	}
}

static void test_guidellm_refuses_torn_and_wrong_files(void)
{
	static const struct {
		const char *successful;
		enum ib_code code;
	} bad[] = {
		{"[{\"output_tokens\":\"many\"}]", IB_E_SYNTAX},
		{"[{\"info\":{\"timings\":{\"request_start\":[]}}}]", IB_E_SYNTAX},
		{"[{\"output_tokens\":1,\"output_tokens\":2}]", IB_E_JSON},
		{"[{\"output_tokens\":01}]", IB_E_JSON},
		{"[5]", IB_E_SYNTAX},
		{"[{\"request_args\":{}}]", IB_E_SYNTAX},
		{"[{\"output_tokens\":99999999999999999999}]", IB_E_SYNTAX},
	};
	ib_auto_buf struct ib_buf b = {0};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_free char *text = file("0.8.1", bad[i].successful, "[]", "[]");
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT(ib_client_read(text, strlen(text), "benchmarks.json", &all, &err) == (int)bad[i].code && all.n == 0);
		if (err.code != bad[i].code)
			printf("# %s: %s\n", bad[i].successful, err.text);
	}
	load("guidellm-0.6.1/conc4", &b);
	for (size_t n = b.len - 2; n > 2000; n -= n / 7 + 1) {
		ib_auto_results struct ib_results all = {0};
		struct ib_err err = {0};

		CU_ASSERT(ib_client_read(ib_buf_str(&b), n, "benchmarks.json", &all, &err) < 0 && all.n == 0);
	}
}

static void test_guidellm_lost_records_are_told(void)
{
	ib_auto_free char *ok = record("101", ""), *list = ib_asprintf("[%s]", ok), *text = file("0.8.1", list, "[]", "[]"), *more = NULL;
	ib_auto_results struct ib_results all = {0};

	more = changed(text, "request_totals", "null", "{\"successful\":4,\"errored\":0,\"incomplete\":0,\"total\":4}");
	read_text(more, &all);
	CU_ASSERT(all.v[0].partial && kit_hint(&all.v[0], "A07") && all.v[0].requests.succeeded == 4);
}

static void test_guidellm_a_window_of_another_length_is_told(void)
{
	ib_auto_free char *ok = record("101", ""), *list = ib_asprintf("[%s]", ok), *text = file("0.8.1", list, "[]", "[]"), *more = NULL;
	ib_auto_results struct ib_results all = {0};

	more = changed(text, "end_time", "103", "104.5");
	read_text(more, &all);
	CU_ASSERT(kit_hint(&all.v[0], "A13") && ib_streq(kit_hint(&all.v[0], "A13")->expected, "4.000000"));
}

static void test_guidellm_a_sweep_is_several_results(void)
{
	ib_auto_free char *ok = record("101", ""), *list = ib_asprintf("[%s]", ok), *one = file("0.8.1", list, "[]", "[]"), *text = NULL;
	const char *body = strstr(one, "[{"), *end = strstr(one, "],\"config\":null");
	ib_auto_results struct ib_results all = {0};

	CU_ASSERT_FATAL(body && end);
	text = ib_asprintf("%.*s,%.*s%s", (int)(end - one), one, (int)(end - body) - 1, body + 1, end);
	read_text(text, &all);
	CU_ASSERT_FATAL(all.n == 2);
	CU_ASSERT(all.v[1].index == 1 && all.v[1].columns.n == 1 && all.v[1].requests.succeeded == 1);
}

static void test_guidellm_other_files_are_no_results(void)
{
	static const char *const others[] = {
		"{\"benchmarks\":[{\"metadata\":{\"name\":\"x\"},\"runs\":[]}],\"version\":\"1.0\"}", /* pyperf */
		"{\"context\":{},\"benchmarks\":[{\"name\":\"BM_x\",\"run_type\":\"iteration\"}]}",   /* Google's */
		"{\"benchmarks\":[]}",
		"metadata,benchmarks\n1,2\n",
		"type_: generative_benchmarks_report\nbenchmarks:\n",
	};

	for (size_t i = 0; i < IB_LEN(others); i++)
		CU_ASSERT(ib_client_recognise(others[i], strlen(others[i])) != &ib_client_guidellm);
}

static void test_guidellm_command_lines(void)
{
	static const char now[] = "guidellm run --backend kind=openai_http,target=http://127.0.0.1:8108,model=tiny,api_key=sk-LABSECRET123 --profile "
				  "kind=concurrent,streams=4 --constraint kind=max_requests,count=20 --tokenizer kind=huggingface_auto,model=/t --data "
				  "kind=synthetic_text,prompt_tokens=64,output_tokens=32";
	static const char then[] = "guidellm benchmark run --target http://127.0.0.1:8106 --model tiny --processor /t --rate-type concurrent --rate 4 --max-requests 40 "
				   "--data prompt_tokens=64,output_tokens=32";
	struct ib_settings s = {0};

	CU_ASSERT_PTR_EQUAL(ib_settings_from_command(now, strlen(now), &s), &ib_client_guidellm);
	CU_ASSERT(ib_streq(s.v[IB_SET_MODEL], "tiny") && ib_streq(s.v[IB_SET_ENDPOINT], "http://127.0.0.1:8108") && ib_streq(s.v[IB_SET_REQUESTS], "20"));
	CU_ASSERT(ib_streq(s.v[IB_SET_CONCURRENCY], "4") && ib_streq(s.v[IB_SET_INPUT_LEN], "64") && ib_streq(s.v[IB_SET_TOKENIZER], "/t"));
	for (size_t k = 0; k < IB_SETTINGS; k++)
		CU_ASSERT(!s.v[k] || !strstr(s.v[k], "SECRET"));
	ib_settings_clear(&s);
	CU_ASSERT_PTR_EQUAL(ib_settings_from_command(then, strlen(then), &s), &ib_client_guidellm);
	CU_ASSERT(ib_streq(s.v[IB_SET_MODEL], "tiny") && ib_streq(s.v[IB_SET_REQUESTS], "40") && ib_streq(s.v[IB_SET_OUTPUT_LEN], "32"));
	ib_settings_clear(&s);
}

static const struct ib_test tests[] = {
	IB_TEST(test_guidellm_every_number_of_a_healthy_run),
	IB_TEST(test_guidellm_equal_keys_of_older_versions_mean_other_things),
	IB_TEST(test_guidellm_failed_requests_are_counted_apart),
	IB_TEST(test_guidellm_short_answers_rates_and_queues),
	IB_TEST(test_guidellm_all_failed_proves_no_zero),
	IB_TEST(test_guidellm_a_sample_of_the_records_derives_nothing),
	IB_TEST(test_guidellm_a_changed_number_differs),
	IB_TEST(test_guidellm_old_rates_are_off_by_one_token),
	IB_TEST(test_guidellm_keys_in_any_order),
	IB_TEST(test_guidellm_versions_that_are_not_known),
	IB_TEST(test_guidellm_impossible_times_are_left_out),
	IB_TEST(test_guidellm_a_record_that_contradicts_itself),
	IB_TEST(test_guidellm_success_without_output_is_none),
	IB_TEST(test_guidellm_warm_up_is_not_measured),
	IB_TEST(test_guidellm_nulls_and_nothing),
	IB_TEST(test_guidellm_refuses_torn_and_wrong_files),
	IB_TEST(test_guidellm_lost_records_are_told),
	IB_TEST(test_guidellm_a_window_of_another_length_is_told),
	IB_TEST(test_guidellm_a_sweep_is_several_results),
	IB_TEST(test_guidellm_other_files_are_no_results),
	IB_TEST(test_guidellm_command_lines),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"clients_guidellm", tests};
