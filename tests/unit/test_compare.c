/* SPDX-License-Identifier: Apache-2.0 */
/* What may be taken together, what may be compared, what can be told apart; coverage of the contract. */
#include <string.h>

#include "audit_world.h"
#include "base/auto.h"
#include "base/str.h"
#include "unit.h"
#include "verify/compare.h"
#include "verify/coverage.h"

static unsigned why_of(struct world *w)
{
	ib_auto_comparisons struct ib_comparisons c;

	ib_compare(&w->v, &c);
	CU_ASSERT_EQUAL_FATAL(c.n_cells, 1);
	return c.cells[0].n_pools > 1 ? c.cells[0].pools[1].why : 0;
}

static void test_compare_equal_repeats_are_one_pool(void)
{
	struct world w;

	for (int study = 0; study < 2; study++) {
		world_begin(&w, 3, study);
		CU_ASSERT_EQUAL(why_of(&w), 0);
		world_end(&w);
	}
}

static void test_compare_each_difference_has_its_reason(void)
{
	struct world w;
	struct ib_result *r;

	world_begin(&w, 2, true);
	r = world_result(&w, 1);
	r->ttft = &ib_ttft_first_text;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_FORMULA);
	r->ttft = &ib_ttft_first_chunk;
	r->requests.succeeded = 15;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_FAILURES);
	r->requests.succeeded = 20;
	r->output_tokens = 90;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_TOKENS);
	r->output_tokens = 100;
	w.study_runs[1].record.cache.condition = ib_strdup("warm");
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_CACHE);
	w.study_runs[1].record.cache.condition[0] = '\0';
	free(ib_steal(&w.study_runs[1].record.cache.condition));
	w.study_runs[1].state = IB_STATE_FAILED;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_STATE);
	w.study_runs[1].state = IB_STATE_COMPLETED;
	w.study_runs[1].record.time.started_ns = 1;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_OVERLAP);
	w.study_runs[1].record.time.started_ns = 100000000000;
	w.study_runs[0].before.v[IB_FACT_SERVER_VERSION] = ib_strdup("1");
	w.study_runs[1].before.v[IB_FACT_SERVER_VERSION] = ib_strdup("2");
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_BUILD);
	world_end(&w);
}

static void test_compare_contracts_before_and_after_an_amendment(void)
{
	struct ib_study_entry first = {.e = {.seq = 1}}, amended = {.e = {.seq = 3}};
	const struct ib_study_entry *both[] = {&first, &amended};
	struct world w;

	world_begin(&w, 2, true);
	w.starts[1].e.seq = 4;
	w.s.registrations = both;
	w.s.n_registrations = 1;
	CU_ASSERT_EQUAL(why_of(&w), 0);
	w.s.n_registrations = 2;
	CU_ASSERT_EQUAL(why_of(&w), IB_NC_AMENDED);
	world_end(&w);
}

/* What the group varies is no reason. */
static void test_compare_cells_but_for_what_varies(void)
{
	ib_auto_comparisons struct ib_comparisons c = {0};
	ib_auto_json json_t *group = json_pack("{s:{s:[s,s]}}", "matrix", "output_len", "5", "9");
	struct world w;

	world_begin(&w, 2, true);
	w.starts[1].e.cell = world_other;
	ib_compare(&w.v, &c);
	CU_ASSERT_EQUAL_FATAL(c.n_pairs, 1);
	CU_ASSERT_EQUAL(c.pairs[0].why, 0);
	CU_ASSERT_EQUAL(c.pairs[0].ttft, IB_ORDER_NOT_SEPARABLE);
	CU_ASSERT_EQUAL(c.pairs[0].rate, IB_ORDER_UNKNOWN); /* one run each */
	ib_comparisons_clear(&c);
	world_result(&w, 1)->output_tokens = 180;
	ib_compare(&w.v, &c);
	CU_ASSERT_EQUAL(c.pairs[0].why, IB_NC_TOKENS);
	ib_comparisons_clear(&c);
	w.runs[1].group = group;
	ib_compare(&w.v, &c);
	CU_ASSERT_EQUAL(c.pairs[0].why, 0);
	world_end(&w);
}

static void test_compare_cells_that_are_apart(void)
{
	ib_auto_comparisons struct ib_comparisons c = {0};
	struct world w;

	world_begin(&w, 2, true);
	w.starts[1].e.cell = world_other;
	for (size_t i = 0; i < world_result(&w, 1)->columns.n; i++)
		world_result(&w, 1)->columns.ttft_s[i] *= 3;
	ib_compare(&w.v, &c);
	CU_ASSERT_EQUAL(c.pairs[0].ttft, IB_ORDER_HIGHER);
	CU_ASSERT_DOUBLE_EQUAL(c.pairs[0].ttft_ratio, 3, 1e-9);
	world_end(&w);
}

static void test_compare_coverage(void)
{
	ib_auto_json json_t *contract = json_pack("{s:[s,s,s],s:[{s:s,s:s},{s:s,s:s}]}", "metrics", "TTFT p95", "itl", "beauty", "plan", "group", "g",
			"cell", "c",
						  "group", "g", "cell", "never");
	ib_auto_coverage struct ib_coverage c = {0};
	struct world w;

	world_begin(&w, 2, true);
	w.s.contract = contract;
	ib_coverage(&w.v, &c);
	CU_ASSERT_EQUAL_FATAL(c.n_metrics, 3);
	CU_ASSERT_EQUAL(c.metrics[0].how, IB_COVERED_DERIVED);
	CU_ASSERT_EQUAL(c.metrics[1].how, IB_COVERED_MISSING);
	CU_ASSERT(c.metrics[2].unknown);
	CU_ASSERT_EQUAL_FATAL(c.n_cells, 2);
	CU_ASSERT_EQUAL(c.cells[0].how, IB_CELL_COMPLETED);
	CU_ASSERT_EQUAL(c.cells[1].how, IB_CELL_UNRUN);
	ib_coverage_clear(&c);
	w.study_runs[0].state = w.study_runs[1].state = IB_STATE_FAILED;
	ib_coverage(&w.v, &c);
	CU_ASSERT_EQUAL(c.cells[0].how, IB_CELL_FAILED);
	CU_ASSERT_STRING_EQUAL(c.cells[0].run, "run-1");
	world_end(&w);
}

static const struct ib_test tests[] = {
	IB_TEST(test_compare_equal_repeats_are_one_pool),
	IB_TEST(test_compare_each_difference_has_its_reason),
	IB_TEST(test_compare_contracts_before_and_after_an_amendment),
	IB_TEST(test_compare_cells_but_for_what_varies),
	IB_TEST(test_compare_cells_that_are_apart),
	IB_TEST(test_compare_coverage),
	{0},
};

const struct ib_test_suite ib_suite = {.name = "compare", .tests = tests};
