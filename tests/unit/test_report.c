/* SPDX-License-Identifier: Apache-2.0 */
/* The report over made-up verdicts: every state and every kind of missing number, hostile names, and what must not be printed. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "report/escape.h"
#include "report/report.h"
#include "unit.h"

#define HOSTILE "a|b`c\x1b[31m\xe2\x80\xae<script>[x](http://e.vil)\n# h\\\xff"

/* A study with room for a few runs; everything in it is freed by world_clear(). */
struct world {
	struct ib_verdict v;
	struct ib_study_entry entries[8];
	struct ib_study_run runs[8];
};

static void world_init(struct world *w)
{
	*w = (struct world){0};
	w->v.kind = IB_KIND_STUDY;
	w->v.intact = w->v.consistent = IB_HOLDS_YES;
	w->v.study.runs = w->runs;
}

static struct ib_study_run *world_add(struct world *w, const char *id, enum ib_state state)
{
	struct ib_study_run *run = &w->runs[w->v.study.n_runs];
	struct ib_study_entry *e = &w->entries[w->v.study.n_runs++];

	w->v.study.n_ledger_runs = w->v.study.n_runs;
	e->e.repeat = e->e.attempt = 1;
	run->id = ib_strdup(id);
	run->start = e;
	run->state = state;
	run->has_dir = run->has_record = true;
	ib_record_init(&run->record);
	return run;
}

static void world_clear(struct world *w)
{
	for (size_t i = 0; i < w->v.study.n_runs; i++) {
		free(w->runs[i].id);
		ib_record_clear(&w->runs[i].record);
		ib_results_clear(&w->runs[i].results);
		ib_strv_clear(&w->runs[i].torn_results);
	}
	ib_findings_clear(&w->v.findings);
	free(w->v.path);
}

/* Gives the run the results of a file of tests/data/clients. */
static void give(struct ib_study_run *run, const char *name)
{
	ib_auto_free char *path = ib_asprintf("tests/data/clients/%s", name);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_SLURP_MAX);
	struct ib_err err = {0};

	if (ib_read_file(AT_FDCWD, ib_src(path), &b, &err) < 0 || ib_client_read(b.data, b.len, name, &run->results, &err) < 0)
		CU_FAIL_FATAL("test data cannot be read");
}

static char *render(const struct world *w, const char *format)
{
	const struct ib_report_format *f = ib_report_format_find(format);
	ib_auto_report struct ib_report r = {0};
	struct ib_buf b = IB_BUF(IB_REPORT_MAX);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	ib_report_build(&w->v, &r);
	f->render(&r, &b);
	return ib_buf_steal(&b);
}

/* The line of text that begins with start, with runs of blanks made one. */
static char *line(const char *text, const char *start)
{
	struct ib_buf b = IB_BUF(4096);

	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (strncmp(p, start, strlen(start)) == 0) {
			for (; *p && *p != '\n'; p++)
				if (*p != ' ' || (b.len && b.data[b.len - 1] != ' '))
					ib_buf_addc(&b, *p);
			break;
		}
	return ib_buf_steal(&b);
}

static void is_line(const char *text, const char *want)
{
	ib_auto_free char *start = ib_strndup(want, strcspn(want, " ") + 1);
	ib_auto_free char *got = line(text, start);

	if (strcmp(got, want) != 0)
		printf("# got:  %s\n# want: %s\n", got, want);
	CU_ASSERT_STRING_EQUAL(got, want);
}

static void test_report_rows_of_real_results(void)
{
	struct world w;
	ib_auto_free char *text = NULL, *md = NULL;

	world_init(&w);
	give(world_add(&w, "run-ok", IB_STATE_COMPLETED), "vllm/01_c1.json");
	give(world_add(&w, "run-mixed", IB_STATE_FAILED), "vllm/20_mix_http500.json");
	give(world_add(&w, "run-few", IB_STATE_COMPLETED), "vllm/10_overwrite.json");
	give(world_add(&w, "run-none", IB_STATE_FAILED), "vllm/31_all_fail.json");
	give(world_add(&w, "run-plain", IB_STATE_COMPLETED), "vllm/08_no_detail.json");
	give(world_add(&w, "run-old", IB_STATE_COMPLETED), "vllm/public-0.9.json");
	w.runs[0].record.cache.condition = ib_strdup("reset");
	w.runs[0].record.cache.evidence = IB_CONFIRMED;
	give(world_add(&w, "run-cut", IB_STATE_COMPLETED), "vllm/22_stream_error_event.json");
	text = render(&w, "text");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  run-cut: outputs have 10 to 64 tokens; the file does not say how many were asked\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "run-ok: outputs"));
	is_line(text, "run-ok 30/30/0 64.12 287.1 30 1.800 (16.67 s) reset: confirmed completed");
	is_line(text, "run-mixed 30/21/9 23.46 37.11 21 13.81 (1.520 s) unspecified: unconfirmed failed");
	is_line(text, "run-few 6/6/0 93.85 max 190.7 6 16.12 (0.372 s) unspecified: unconfirmed completed");
	is_line(text, "run-none 30/0/30 \u2014 \u2014 \u2014 0.000 (0.028 s) unspecified: unconfirmed failed");
	is_line(text, "run-plain 10/10/0 claimed 79.65 claimed 189.3 \u2014 12.84 (0.779 s) unspecified: unconfirmed completed");
	is_line(text, "run-old 500/500/\u2014 claimed 211.5 \u2014 \u2014 \u2014 unspecified: unconfirmed completed");
	md = render(&w, "md");
	CU_ASSERT_PTR_NOT_NULL(strstr(md, "\n| run-ok | 30/30/0 | 64.12 | 287.1 | 30 | 1.800 (16.67 s) | reset: confirmed | completed |\n"));
	world_clear(&w);
}

/* Nothing measured is never a zero, and no run is left out. */
static void test_report_every_state_has_a_row_of_dashes(void)
{
	static const enum ib_state states[] = {IB_STATE_COMPLETED, IB_STATE_FAILED,    IB_STATE_TIMED_OUT, IB_STATE_INTERRUPTED,
					       IB_STATE_REFUSED,   IB_STATE_ABANDONED, IB_STATE_IMPORTED};
	struct world w;
	ib_auto_free char *text = NULL;

	world_init(&w);
	for (size_t i = 0; i < IB_LEN(states); i++) {
		ib_auto_free char *id = ib_asprintf("run-%zu", i);

		world_add(&w, id, states[i])->has_record = false;
	}
	world_add(&w, "run-now", IB_STATE_ABANDONED)->running = true;
	w.runs[7].has_record = false;
	text = render(&w, "text");
	for (size_t i = 0; i < IB_LEN(states); i++) {
		ib_auto_free char *want = ib_asprintf("run-%zu \u2014 \u2014 \u2014 \u2014 \u2014 \u2014 %s", i, ib_state_name(states[i]));

		is_line(text, want);
	}
	is_line(text, "run-now \u2014 \u2014 \u2014 \u2014 \u2014 \u2014 running");
	world_clear(&w);
}

static void test_report_exclusion_reasons_and_cap_show(void)
{
	struct world w;
	struct ib_study_entry exclusion = {0};
	struct ib_study_run *run;
	ib_auto_free char *text = NULL;

	world_init(&w);
	run = world_add(&w, "run-a", IB_STATE_FAILED);
	give(run, "vllm/05_cap_unused.json");
	run->exclusion = &exclusion;
	exclusion.e.reason = ib_strdup("the fan failed");
	ib_strv_add(&run->record.reasons, "expectation:success_rate_min");
	run->record.cache.condition = ib_strdup("cold");
	run->record.cache.evidence = IB_CONTRADICTED;
	run->record.cache.why = ib_strdup("4480 of 14408 prompt tokens came from the cache");
	text = render(&w, "text");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "cold: contradicted  failed, excluded\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  run-a: excluded: the fan failed\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  run-a: reason: expectation:success_rate_min\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  run-a: cap 4 unused, peak 2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  run-a: cache: 4480 of 14408 prompt tokens came from the cache\n"));
	free(exclusion.e.reason);
	world_clear(&w);
}

static void test_report_synthetic_is_labelled(void)
{
	struct world w;
	ib_auto_free char *text = NULL, *md = NULL;

	world_init(&w);
	give(world_add(&w, "run-s", IB_STATE_COMPLETED), "requests/mixed.jsonl");
	world_add(&w, "run-r", IB_STATE_COMPLETED)->record.synthetic = 1;
	text = render(&w, "text");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nSYNTHETIC: 2 of 2 rows"));
	is_line(text, "run-s 5/2/3 15.00 max 20.00 2 1.000 (2.000 s) unspecified: unconfirmed completed, synthetic");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "not a model (endpoint fingerprint 'ib-loopback-synthetic-0.1-5c1e0a42')\n"));
	md = render(&w, "md");
	CU_ASSERT_PTR_NOT_NULL(strstr(md, "completed, synthetic |"));
	CU_ASSERT_PTR_NOT_NULL(strstr(md, "- SYNTHETIC: 2 of 2 rows"));
	world_clear(&w);
}

/* Different formulas never share a column. */
static void test_report_formulas_stand_in_tables_of_their_own(void)
{
	struct world w;
	ib_auto_free char *text = NULL;
	const char *first, *second;

	world_init(&w);
	give(world_add(&w, "run-v", IB_STATE_COMPLETED), "vllm/01_c1.json");
	give(world_add(&w, "run-q", IB_STATE_COMPLETED), "requests/mixed.jsonl");
	give(world_add(&w, "run-w", IB_STATE_COMPLETED), "vllm/02_c4_same_seed_warm.json");
	text = render(&w, "text");
	first = strstr(text, "TTFT: ttft_first_chunk");
	second = strstr(text, "TTFT: ttft_first_text");
	CU_ASSERT_FATAL(first && second && first < second);
	CU_ASSERT(strstr(text, "\nrun-v ") < first && strstr(text, "\nrun-w ") < first && strstr(text, "\nrun-q ") > first);
	CU_ASSERT_PTR_NULL(strstr(first + 5, "TTFT: ttft_first_chunk"));
	world_clear(&w);
}

static void test_report_several_results_are_not_pooled(void)
{
	struct world w;
	ib_auto_free char *text = NULL;

	world_init(&w);
	give(world_add(&w, "run-two", IB_STATE_COMPLETED), "vllm/09_append.json");
	text = render(&w, "text");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "run-two (1 of 2)  "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "run-two (2 of 2)  "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "one of 2 results of this run: 'vllm/09_append.json' number 2"));
	world_clear(&w);
}

/* The legend stands below the table that needs it, and there only. */
static void test_report_legend_is_of_its_own_table(void)
{
	struct world w;
	const char *legend;
	ib_auto_free char *text = NULL;

	world_init(&w);
	give(world_add(&w, "run-c", IB_STATE_COMPLETED), "vllm/08_no_detail.json");
	give(world_add(&w, "run-m", IB_STATE_COMPLETED), "requests/mixed.jsonl");
	text = render(&w, "text");
	legend = strstr(text, "claimed: the client's own number");
	CU_ASSERT_PTR_NOT_NULL_FATAL(legend);
	CU_ASSERT(legend < strstr(text, "ttft_first_text"));
	CU_ASSERT_PTR_NULL(strstr(legend + 1, "claimed: the client's own number"));
	world_clear(&w);
}

static void test_report_claims_that_do_not_follow_are_noted(void)
{
	struct world w;
	struct ib_result *r;
	ib_auto_free char *text = NULL;

	world_init(&w);
	give(world_add(&w, "run-e", IB_STATE_COMPLETED), "vllm/01_c1.json");
	r = &w.runs[0].results.v[0];
	ib_result_claim(r, "p99_ttft_ms", r->ttft, 1, ib_stat_value(2, 30), IB_CLAIM_TOLERANCE, NULL);
	text = render(&w, "text");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "run-e: 1 of the client's numbers does not follow from its records, first 'p99_ttft_ms'"));
	world_clear(&w);
}

/* A fault in one run's bytes hides that run's numbers; one in the ledger hides all; in a packet any does. */
static void test_report_no_number_from_bytes_that_are_not_intact(void)
{
	static const struct {
		const char *file;
		enum ib_kind kind;
		bool a, b; /* are the numbers of run-a and run-ab shown? */
	} cases[] = {{"runs/run-a/output/x.json", IB_KIND_STUDY, false, true},
		     {"runs/run-ab", IB_KIND_STUDY, true, false},
		     {"ledger.jsonl", IB_KIND_STUDY, false, false},
		     {NULL, IB_KIND_STUDY, false, false},
		     {"runs/run-a/record.json", IB_KIND_PACKET, false, false}};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		struct world w;
		struct ib_finding *f;
		ib_auto_free char *text = NULL, *json = NULL;

		world_init(&w);
		give(world_add(&w, "run-a", IB_STATE_COMPLETED), "vllm/01_c1.json");
		give(world_add(&w, "run-ab", IB_STATE_COMPLETED), "vllm/10_overwrite.json");
		w.v.kind = cases[i].kind;
		w.v.intact = IB_HOLDS_NO;
		f = ib_findings_add(&w.v.findings, "S07", IB_FINDING_E, IB_FAIL, "digest differs");
		f->code = IB_E_HASH;
		f->file = ib_strdup(cases[i].file);
		text = render(&w, "text");
		CU_ASSERT((strstr(text, "64.12") != NULL) == cases[i].a);
		CU_ASSERT((strstr(text, "93.85") != NULL) == cases[i].b);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "NOT INTACT"));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "completed, not established\n"));
		json = render(&w, "json");
		CU_ASSERT_PTR_NOT_NULL(strstr(json, "not_established"));
		world_clear(&w);
	}
}

static void test_report_hostile_text_is_escaped(void)
{
	struct world w;
	struct ib_study_run *run;
	ib_auto_free char *text = NULL, *md = NULL, *json = NULL;

	world_init(&w);
	run = world_add(&w, HOSTILE, IB_STATE_COMPLETED);
	run->record.cache.condition = ib_strdup(HOSTILE);
	ib_strv_add(&run->record.reasons, HOSTILE);
	ib_strv_add(&run->torn_results, HOSTILE);
	text = render(&w, "text");
	for (const char *p = text; *p; p++)
		CU_ASSERT_FATAL(*p == '\n' || (unsigned char)*p >= 0x20);
	CU_ASSERT(strstr(text, "\xe2\x80\xae") == NULL && strstr(text, "\xff") == NULL && strstr(text, "\n# h") == NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "a|b`c\\x1B[31m\\xE2\\x80\\xAE<script>[x](http://e.vil)\\n# h\\\\\\xFF"));
	CU_ASSERT(ib_utf8_valid(text, strlen(text)));
	md = render(&w, "md");
	CU_ASSERT(strstr(md, "<script>") == NULL && strstr(md, "](http://") == NULL && strstr(md, "a|b") == NULL && strstr(md, "\x1b") == NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(md, "a\\|b\\`c\\\\x1B\\[31m"));
	json = render(&w, "json");
	CU_ASSERT(ib_utf8_valid(json, strlen(json)) && strchr(json, 0x1b) == NULL);
	world_clear(&w);
}

static void escaped(const char *in, const char *text, const char *md)
{
	ib_auto_buf struct ib_buf a = IB_BUF(4096), b = IB_BUF(4096);

	ib_escape_text(&a, in, 40);
	ib_escape_markdown(&b, in, 40);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&a), text);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), md);
}

static void test_report_escaping(void)
{
	escaped("cap-4 \u00fc\u4e2d", "cap-4 \u00fc\u4e2d", "cap-4 \u00fc\u4e2d");
	escaped("a\xe2\x80\xae" "b", "a\\u202Eb", "a\\\\u202Eb");
	escaped("\xc2\x9b" "1m", "\\x9B1m", "\\\\x9B1m");
	escaped("\U000e0041", "\\U000E0041", "\\\\U000E0041");
	escaped("e\u0301", "e\\u0301", "e\\\\u0301");
	escaped("bad\xc3(", "bad\\xC3(", "bad\\\\xC3(");
	escaped("www.x.y me@x.y", "www.x.y me@x.y", "www\\.x.y me\\@x.y");
	escaped("&lt;", "&lt;", "\\&lt;");
	escaped("\\", "\\\\", "\\\\\\\\");
	escaped(NULL, "\u2014", "\u2014");
	escaped("0123456789012345678901234567890123456789x", "0123456789012345678901234567890123456789\u2026",
		"0123456789012345678901234567890123456789\u2026");
	CU_ASSERT(ib_text_columns("a\u00fc\u2014") == 3);
}

static void test_report_json_is_total(void)
{
	static const char *const keys[] = {"group", "cell", "client", "file", "schema_id", "synthetic"};
	struct world w;
	ib_auto_free char *text = NULL;
	ib_auto_json json_t *j = NULL;
	struct ib_err err = {0};
	const json_t *run;

	world_init(&w);
	world_add(&w, "run-x", IB_STATE_REFUSED)->has_record = false;
	text = render(&w, "json");
	CU_ASSERT_FATAL(ib_json_load(text, strlen(text), "report", &j, &err) == 0);
	run = json_array_get(json_object_get(j, "runs"), 0);
	for (size_t i = 0; i < IB_LEN(keys); i++)
		CU_ASSERT(json_is_null(json_object_get(run, keys[i])));
	CU_ASSERT(json_is_null(json_object_get(json_object_get(run, "requests"), "attempted")));
	CU_ASSERT(json_is_null(json_object_get(json_object_get(json_object_get(run, "ttft"), "p50_ms"), "value")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(run, "state")), "refused");
	world_clear(&w);
}

static const struct ib_test tests[] = {
	IB_TEST(test_report_rows_of_real_results),
	IB_TEST(test_report_every_state_has_a_row_of_dashes),
	IB_TEST(test_report_exclusion_reasons_and_cap_show),
	IB_TEST(test_report_synthetic_is_labelled),
	IB_TEST(test_report_formulas_stand_in_tables_of_their_own),
	IB_TEST(test_report_several_results_are_not_pooled),
	IB_TEST(test_report_legend_is_of_its_own_table),
	IB_TEST(test_report_claims_that_do_not_follow_are_noted),
	IB_TEST(test_report_no_number_from_bytes_that_are_not_intact),
	IB_TEST(test_report_hostile_text_is_escaped),
	IB_TEST(test_report_escaping),
	IB_TEST(test_report_json_is_total),
	{0},
};

const struct ib_test_suite ib_suite = {"report", tests};
