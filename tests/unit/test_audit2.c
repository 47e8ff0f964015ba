/* SPDX-License-Identifier: Apache-2.0 */
/* A19 to A33: each finds its fault, passes what is sound, and says "not checkable" where evidence is missing. */
#include <string.h>

#include "audit_world.h"
#include "base/auto.h"
#include "base/str.h"
#include "unit.h"

static json_t *contract(const char *text)
{
	json_t *j = NULL;
	struct ib_err err;

	if (ib_json_load(text, strlen(text), "contract", &j, &err) < 0)
		printf("# %s\n", err.text);
	return j;
}

/* Every check, over loose results without anything around them: no failure, no pass without evidence of what cannot be known. */
static void test_audit2_loose_results_fail_nothing(void)
{
	static const char *const open[] = {"A22", "A25", "A26", "A27", "A31", "A32", "A33", NULL};
	struct world w;

	world_begin(&w, 2, false);
	for (size_t i = 0; ib_audit_checks[i]; i++)
		if (strcmp(ib_audit_checks[i]->id, "A19") >= 0)
			CU_ASSERT_NOT_EQUAL(world_check(&w, ib_audit_checks[i]->id), IB_FAIL);
	for (size_t i = 0; open[i]; i++)
		CU_ASSERT_EQUAL(world_check(&w, open[i]), IB_NOT_CHECKABLE);
	world_end(&w);
}

static void test_audit2_cache_hits_without_a_label(void)
{
	struct world w;

	world_begin(&w, 1, false);
	world_pages(&w, 0, 0, 200, 15, 100, 20);
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_PASS);
	world_context(&w, 0)->after.v[IB_COUNTER_CACHE_HITS] = 190;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "190 of 200"));
	world_context(&w, 0)->after.v[IB_COUNTER_OUTPUT_TOKENS] = 0; /* the counters stood still */
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_NOT_CHECKABLE);
	world_end(&w);
}

static void test_audit2_repeats_in_other_cache_states(void)
{
	struct world w;

	world_begin(&w, 2, false);
	world_pages(&w, 0, 0, 200, 2, 100, 20);
	world_pages(&w, 1, 200, 200, 18, 100, 20);
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "2 repeats of one command were not in the same cache state: 2, 18"));
	world_setting(&w, 1, IB_SET_CONCURRENCY, "8"); /* another command */
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_PASS);
	world_end(&w);
}

static void test_audit2_records_of_cache(void)
{
	struct world w;
	struct ib_record *r;

	world_begin(&w, 1, true);
	r = &w.study_runs[0].record;
	r->cache.condition = ib_strdup("reset");
	r->cache.evidence = IB_CONFIRMED;
	r->cache.engine = ib_strdup("vllm");
	r->cache.expected_queries = world_result(&w, 0)->input_tokens = 200;
	ib_record_add_counter(r, "vllm:prefix_cache_hits_total", 5, 5);
	ib_record_add_counter(r, "vllm:prefix_cache_queries_total", 0, 200);
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_PASS);
	r->cache.counters[0].after = 50;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "called confirmed"));
	r->cache.counters[0].after = 5;
	r->cache.counters[1].after = 300; /* somebody else's, or no number that the client sent */
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "called confirmed"));
	r->cache.expected_queries = 300;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "another number of prompt tokens"));
	r->cache.counters[1].after = r->cache.expected_queries = 200;
	ib_record_add_hook(r, "00-reset")->exit_status = 7;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	CU_ASSERT(world_says(&w, "00-reset"));
	r->hooks[0].exit_status = 0;
	r->cache.evidence = IB_CONTRADICTED;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_FAIL);
	r->cache.evidence = IB_UNCONFIRMED;
	CU_ASSERT_EQUAL(world_check(&w, "A19"), IB_NOT_CHECKABLE);
	world_end(&w);
}

static void test_audit2_prompts(void)
{
	struct world w;

	world_begin(&w, 2, false);
	CU_ASSERT_EQUAL(world_check(&w, "A20"), IB_PASS);
	for (size_t i = 0; i < 5; i++)
		world_result(&w, 0)->columns.prompt_hash[i] = 1;
	CU_ASSERT_EQUAL(world_check(&w, "A20"), IB_FAIL);
	CU_ASSERT(world_says(&w, "only 16 of 20 prompts are different"));
	for (size_t i = 0; i < 5; i++)
		world_result(&w, 0)->columns.prompt_hash[i] = 1000 + i;
	CU_ASSERT_EQUAL(world_check(&w, "A20"), IB_PASS); /* nobody says that the seed is the same */
	world_setting(&w, 0, IB_SET_SEED, "7");
	world_setting(&w, 1, IB_SET_SEED, "7");
	CU_ASSERT_EQUAL(world_check(&w, "A20"), IB_FAIL);
	world_end(&w);
}

static void test_audit2_same_work(void)
{
	struct world w;

	world_begin(&w, 3, false);
	CU_ASSERT_EQUAL(world_check(&w, "A21"), IB_PASS);
	world_result(&w, 1)->output_tokens = 98;
	CU_ASSERT_EQUAL(world_check(&w, "A21"), IB_FAIL);
	CU_ASSERT(world_says(&w, "98 against 100 output tokens"));
	world_setting(&w, 1, IB_SET_OUTPUT_LEN, "4"); /* it was asked for other work */
	CU_ASSERT_EQUAL(world_check(&w, "A21"), IB_PASS);
	world_result(&w, 2)->columns.output_hash[3] = 1;
	world_setting(&w, 0, IB_SET_TEMPERATURE, "0");
	world_setting(&w, 2, IB_SET_TEMPERATURE, "0");
	CU_ASSERT_EQUAL(world_check(&w, "A21"), IB_NOT_CHECKABLE); /* a note alone */
	CU_ASSERT(world_says(&w, "1 of 20 prompts got another output"));
	world_end(&w);
}

static void test_audit2_identity_that_moves(void)
{
	ib_auto_json json_t *named = contract("{\"model\":{\"id\":\"m\",\"revision\":\"main\",\"files\":[]},\"serving\":{\"version\":\"latest\"}}");
	ib_auto_json json_t *pinned = contract("{\"model\":{\"id\":\"m\",\"revision\":\"0a1b2c3\",\"files\":[]},\"serving\":{\"version\":\"0.32.0\"}}");
	struct world w;

	world_begin(&w, 1, true);
	w.s.contract = named;
	CU_ASSERT_EQUAL(world_check(&w, "A22"), IB_FAIL);
	CU_ASSERT(world_says(&w, "'main'"));
	CU_ASSERT_EQUAL(world_check(&w, "A23"), IB_FAIL);
	w.s.contract = pinned;
	CU_ASSERT_EQUAL(world_check(&w, "A22"), IB_PASS);
	CU_ASSERT_EQUAL(world_check(&w, "A23"), IB_PASS);
	w.study_runs[0].before.v[IB_FACT_SERVER_VERSION] = ib_strdup("0.31.1");
	w.study_runs[0].before.v[IB_FACT_SERVED_MODEL] = ib_strdup("other");
	world_setting(&w, 0, IB_SET_MODEL, "m");
	CU_ASSERT_EQUAL(world_check(&w, "A23"), IB_FAIL);
	CU_ASSERT_EQUAL(world_check(&w, "A22"), IB_FAIL);
	CU_ASSERT(world_says(&w, "the endpoint serves 'other'"));
	world_end(&w);
}

static void test_audit2_mixed_builds(void)
{
	struct world w;

	world_begin(&w, 3, false);
	CU_ASSERT_EQUAL(world_check(&w, "A24"), IB_PASS);
	free(world_result(&w, 2)->client_version);
	world_result(&w, 2)->client_version = ib_strdup("1.1");
	CU_ASSERT_EQUAL(world_check(&w, "A24"), IB_FAIL);
	CU_ASSERT(world_says(&w, "'1.1', but '1.0'"));
	world_end(&w);
}

/* Captures of two machines, one for each run. */
static void capture(struct world *w, size_t i, const char *cpu, const char *git)
{
	struct ib_capture_facts *c;

	w->s.captures = ib_realloc(w->s.captures, w->s.n_captures + 1, sizeof(*w->s.captures));
	c = &w->s.captures[w->s.n_captures++];
	*c = (struct ib_capture_facts){0};
	snprintf(c->sha256, sizeof(c->sha256), "%064zx", i);
	snprintf(w->study_runs[i].record.capture_node, IB_HEX_LEN, "%064zx", i);
	c->facts.v[IB_FACT_CPU] = ib_strdup(cpu);
	c->facts.v[IB_FACT_GIT_STATE] = ib_strdup(git);
	for (int k = IB_FACT_CORES; k <= IB_FACT_MEMORY_BYTES; k++)
		c->facts.v[k] = ib_strdup("8");
	c->facts.v[IB_FACT_KERNEL] = ib_strdup("6.1");
	c->facts.v[IB_FACT_GPU] = ib_strdup("none");
}

static void test_audit2_captures(void)
{
	ib_auto_json json_t *varied = contract("{\"varies\":[\"machine\"]}");
	struct world w;

	world_begin(&w, 2, true);
	CU_ASSERT_EQUAL(world_check(&w, "A25"), IB_NOT_CHECKABLE);
	capture(&w, 0, "2 x A", "clean");
	capture(&w, 1, "2 x A", "dirty, not digested");
	CU_ASSERT_EQUAL(world_check(&w, "A25"), IB_PASS);
	CU_ASSERT_EQUAL(world_check(&w, "A27"), IB_FAIL);
	free(w.s.captures[1].facts.v[IB_FACT_CPU]);
	w.s.captures[1].facts.v[IB_FACT_CPU] = ib_strdup("2 x B");
	CU_ASSERT_EQUAL(world_check(&w, "A25"), IB_FAIL);
	w.runs[1].group = varied;
	CU_ASSERT_EQUAL(world_check(&w, "A25"), IB_PASS);
	world_end(&w);
}

static void test_audit2_bracketing(void)
{
	struct world w;
	struct ib_study_run *r;

	world_begin(&w, 1, true);
	r = &w.study_runs[0];
	CU_ASSERT_EQUAL(world_check(&w, "A26"), IB_NOT_CHECKABLE);
	r->record.capture_before = ib_strdup("ok");
	r->record.capture_after = ib_strdup("ok");
	CU_ASSERT_EQUAL(world_check(&w, "A26"), IB_PASS);
	r->before.v[IB_FACT_CORE_THROTTLES] = ib_strdup("3");
	r->after.v[IB_FACT_CORE_THROTTLES] = ib_strdup("4");
	CU_ASSERT_EQUAL(world_check(&w, "A26"), IB_NOT_CHECKABLE); /* a note alone */
	CU_ASSERT(world_says(&w, "throttled"));
	world_end(&w);
}

static void test_audit2_clocks(void)
{
	struct world w;

	world_begin(&w, 1, true);
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_PASS);
	w.study_runs[0].record.time.finished_ns += 900000000; /* less than a second */
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_PASS);
	w.study_runs[0].record.time.finished_ns += 3000000000;
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_FAIL);
	w.study_runs[0].record.time.finished_ns -= 3900000000;
	world_result(&w, 0)->columns.e2e_s[7] = -1;
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_FAIL);
	CU_ASSERT(world_says(&w, "1 negative"));
	world_result(&w, 0)->columns.e2e_s[7] = 60;
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_FAIL);
	CU_ASSERT(world_says(&w, "1 longer than the whole run"));
	world_result(&w, 0)->columns.e2e_s[7] = INFINITY; /* also where no duration is known */
	world_result(&w, 0)->duration_s = NAN;
	CU_ASSERT_EQUAL(world_check(&w, "A28"), IB_FAIL);
	world_end(&w);
}

static void test_audit2_names(void)
{
	char names[3][20] = {"a/result.json", "A/Result.json", "b/\x01"};
	struct ib_audit_file files[] = {{.path = names[0]}, {.path = names[1]}, {.path = names[2]}};
	struct world w;

	world_begin(&w, 1, false);
	w.v.files = files;
	w.v.n_files = 1;
	CU_ASSERT_EQUAL(world_check(&w, "A29"), IB_PASS);
	w.v.n_files = 2;
	CU_ASSERT_EQUAL(world_check(&w, "A29"), IB_FAIL);
	CU_ASSERT(world_says(&w, "the same as another's"));
	w.v.files = &files[2];
	w.v.n_files = 1;
	CU_ASSERT_EQUAL(world_check(&w, "A29"), IB_FAIL);
	w.v.n_files = 0;
	world_end(&w);
}

static void test_audit2_secrets_are_told_and_not_shown(void)
{
	static const char text[] = "run on 10.1.2.3 by /home/alice/x\n--api-key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH\n";
	static const char plain[] = "/home/user/lab 127.0.0.1 0.32.1.2 vllm-1.2.3.4 /home/ubuntu\n";
	struct world w;

	world_begin(&w, 1, false);
	ib_privacy_scan(&w.v.privacy, "cmd.txt", plain, strlen(plain));
	CU_ASSERT_EQUAL(w.v.privacy.n, 0);
	ib_privacy_scan(&w.v.privacy, "cmd.txt", text, strlen(text));
	CU_ASSERT_EQUAL(world_check(&w, "A30"), IB_FAIL);
	CU_ASSERT(world_says(&w, "what looks like a secret"));
	CU_ASSERT(world_says(&w, "home directories of users: 1"));
	CU_ASSERT(world_says(&w, "addresses of machines: 1"));
	for (size_t i = 0; i < w.f.n; i++) {
		CU_ASSERT_PTR_NULL(strstr(w.f.v[i].message, "alice"));
		CU_ASSERT_PTR_NULL(strstr(w.f.v[i].message, "sk-"));
	}
	world_end(&w);
}

static void test_audit2_quality(void)
{
	ib_auto_json json_t *none = contract("{\"groups\":[{\"name\":\"g\",\"matrix\":{\"cap\":[\"1\",\"2\"]}}],\"quality\":null}");
	ib_auto_json json_t *dtype = contract("{\"groups\":[{\"name\":\"g\",\"matrix\":{\"dtype\":[\"a\",\"b\"]}}],\"quality\":null}");
	ib_auto_json json_t *checked = contract("{\"groups\":[{\"name\":\"g\",\"matrix\":{\"dtype\":[\"a\",\"b\"]}}],\"quality\":{\"command\":[\"x\"]}}");
	ib_auto_json json_t *good = contract("{\"status\":\"passed\",\"cases\":[{\"status\":\"passed\"}]}");
	ib_auto_json json_t *bad = contract("{\"status\":\"failed\",\"cases\":[{\"status\":\"passed\"},{\"status\":\"failed\"}]}");
	char name[] = "quality/1/result.json";
	struct ib_study_doc doc = {.path = name};
	struct world w;

	world_begin(&w, 1, true);
	w.s.contract = none;
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_PASS);
	w.s.contract = dtype;
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_FAIL);
	w.s.contract = checked;
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_FAIL);
	CU_ASSERT(world_says(&w, "no quality check of the ledger passed"));
	doc.json = good;
	w.s.quality = &doc;
	w.s.n_quality = 1;
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_PASS);
	doc.json = bad;
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_FAIL);
	CU_ASSERT(world_says(&w, "1 of 2 cases did not pass"));
	w.s.contract = none; /* nothing varies: what failed is said all the same */
	CU_ASSERT_EQUAL(world_check(&w, "A31"), IB_FAIL);
	world_end(&w);
}

static void test_audit2_settings(void)
{
	ib_auto_json json_t *c = contract("{\"serving\":{\"prefix_cache\":\"off\",\"context_length\":1024}}");
	char off[] = "False", on[] = "True";
	struct world w;

	world_begin(&w, 1, true);
	w.s.contract = c;
	CU_ASSERT_EQUAL(world_check(&w, "A32"), IB_NOT_CHECKABLE);
	w.study_runs[0].context.before.prefix_caching = off;
	CU_ASSERT_EQUAL(world_check(&w, "A32"), IB_PASS);
	w.study_runs[0].context.before.prefix_caching = on;
	CU_ASSERT_EQUAL(world_check(&w, "A32"), IB_FAIL);
	w.study_runs[0].context.before.prefix_caching = NULL;
	w.study_runs[0].before.v[IB_FACT_CONTEXT_LENGTH] = ib_strdup("4096");
	CU_ASSERT_EQUAL(world_check(&w, "A32"), IB_FAIL);
	CU_ASSERT(world_says(&w, "asks for context_length '1024', the server says '4096'"));
	world_end(&w);
}

static void test_audit2_server_counts(void)
{
	struct world w;

	world_begin(&w, 2, false);
	for (size_t i = 0; i < 2; i++)
		world_setting(&w, i, IB_SET_WARMUPS, "0");
	world_pages(&w, 0, 0, 200, 0, 100, 20);
	CU_ASSERT_EQUAL(world_check(&w, "A33"), IB_PASS);
	world_context(&w, 0)->after.v[IB_COUNTER_OUTPUT_TOKENS] = 90;
	CU_ASSERT_EQUAL(world_check(&w, "A33"), IB_FAIL);
	CU_ASSERT(world_says(&w, "the client counts 100 output tokens, the server made 90"));
	world_context(&w, 0)->after.v[IB_COUNTER_OUTPUT_TOKENS] = 110;
	CU_ASSERT_EQUAL(world_check(&w, "A33"), IB_FAIL);
	world_context(&w, 0)->after.v[IB_COUNTER_OUTPUT_TOKENS] = 100;
	world_context(&w, 0)->after.v[IB_COUNTER_DONE_LENGTH] = 30;
	CU_ASSERT_EQUAL(world_check(&w, "A33"), IB_FAIL);
	CU_ASSERT(world_says(&w, "somebody else used it"));
	world_context(&w, 0)->after.v[IB_COUNTER_DONE_LENGTH] = 20;
	world_pages(&w, 1, 100, 200, 0, 100, 20);
	CU_ASSERT_EQUAL(world_check(&w, "A33"), IB_FAIL); /* 80 requests finished between them */
	CU_ASSERT(world_says(&w, "finished 80 requests"));
	world_end(&w);
}

static const struct ib_test tests[] = {
	IB_TEST(test_audit2_loose_results_fail_nothing),
	IB_TEST(test_audit2_cache_hits_without_a_label),
	IB_TEST(test_audit2_repeats_in_other_cache_states),
	IB_TEST(test_audit2_records_of_cache),
	IB_TEST(test_audit2_prompts),
	IB_TEST(test_audit2_same_work),
	IB_TEST(test_audit2_identity_that_moves),
	IB_TEST(test_audit2_mixed_builds),
	IB_TEST(test_audit2_captures),
	IB_TEST(test_audit2_bracketing),
	IB_TEST(test_audit2_clocks),
	IB_TEST(test_audit2_names),
	IB_TEST(test_audit2_secrets_are_told_and_not_shown),
	IB_TEST(test_audit2_quality),
	IB_TEST(test_audit2_settings),
	IB_TEST(test_audit2_server_counts),
	{0},
};

const struct ib_test_suite ib_suite = {.name = "audit2", .tests = tests};
