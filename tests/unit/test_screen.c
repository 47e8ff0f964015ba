/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict screen and the findings document: what is shown, what is not, and that nothing hostile reaches a terminal. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/exit.h"
#include "base/str.h"
#include "make_study.h"
#include "unit.h"
#include "verify/settle.h"
#include "verify/text.h"
#include "verify/verify.h"

struct shown {
	char dir[64];
	struct ib_verdict v;
	struct ib_buf b;
};

static const struct ib_verify_opts none;

static void look(struct shown *s, const struct ib_verify_opts *opts)
{
	static const struct ib_ctx ctx = {.clock = &ib_clock_system};
	struct ib_err err;

	ib_verdict_clear(&s->v);
	ib_buf_clear(&s->b);
	s->b = IB_BUF(1u << 20);
	CU_ASSERT_EQUAL(ib_verify_path(&ctx, s->dir, opts, &s->v, &err), 0);
	ib_verdict_screen(&s->v, opts, false, &s->b);
}

static void begin(struct shown *s, const struct study_spec *spec)
{
	*s = (struct shown){0};
	snprintf(s->dir, sizeof(s->dir), "/tmp/ib-screen-XXXXXX");
	if (!mkdtemp(s->dir))
		exit(99);
	make_study(s->dir, spec);
	look(s, &none);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void end(struct shown *s)
{
	nftw(s->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	ib_verdict_clear(&s->v);
	ib_buf_clear(&s->b);
}

static bool has(const struct shown *s, const char *text)
{
	bool yes = strstr(ib_buf_str(&s->b), text) != NULL;

	if (!yes)
		printf("# no '%s' in:\n# %s\n", text, ib_buf_str(&s->b));
	return yes;
}

static size_t lines(const struct shown *s)
{
	size_t n = 0;

	for (const char *p = ib_buf_str(&s->b); *p; p++)
		n += *p == '\n';
	return n;
}

/* Nothing but printable ASCII and newlines. */
static bool plain(const struct ib_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] != '\n' && (b->data[i] < 0x20 || b->data[i] > 0x7e))
			return false;
	return true;
}

static void test_screen_good_study(void)
{
	const struct study_spec spec = {.runs = 6};
	struct shown s;

	begin(&s, &spec);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "HOLDS: study ", 13), 0);
	CU_ASSERT(has(&s, "\nquestion      does a cap of 4 help?\n"));
	CU_ASSERT(has(&s, "planned 6 = completed 6 + failed 0 + timed out 0"));
	CU_ASSERT(has(&s, "72/72"));
	CU_ASSERT(has(&s, "SYNTHETIC"));
	CU_ASSERT(has(&s, "not anchored"));
	CU_ASSERT(has(&s, s.v.study.chain.head));
	CU_ASSERT(has(&s, "Does not prove"));
	CU_ASSERT(lines(&s) <= 25);
	CU_ASSERT(plain(&s.b));
	end(&s);
}

static void test_screen_counts_warnings(void)
{
	const struct study_spec spec = {.runs = 40, .overlapping = true, .contradicted = true};
	const struct ib_verify_opts strict = {.strict = true};
	struct shown s;

	begin(&s, &spec);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "HOLDS, WITH 40 WARNINGS: ", 25), 0);
	CU_ASSERT(has(&s, "CONTRADICTED in 1"));
	CU_ASSERT(has(&s, "A35 x 39 "));
	CU_ASSERT(lines(&s) <= 25);
	look(&s, &strict);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "DOES NOT HOLD (--strict", 23), 0);
	end(&s);
}

static void test_screen_prints_no_number_of_altered_bytes(void)
{
	const struct study_spec spec = {.runs = 2};
	ib_auto_free char *path = NULL;
	ib_auto_json json_t *j = NULL;
	struct ib_err err;
	struct shown s;

	begin(&s, &spec);
	path = ib_asprintf("runs/%s/stdout.log", study_run_id(0));
	study_put(s.dir, path, "x");
	look(&s, &none);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "ALTERED: study ", 15), 0);
	CU_ASSERT(has(&s, path));
	CU_ASSERT(has(&s, "E_HASH"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&s.b), "TTFT"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&s.b), "24/24"));
	j = ib_verdict_json(&s.v);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(j, "results")), 0);
	CU_ASSERT(json_is_null(json_object_get(j, "study")));
	ib_buf_clear(&s.b);
	s.b = IB_BUF(65536);
	CU_ASSERT_EQUAL(ib_verdict_show(&s.v, study_run_id(0), &s.b, &err), 0);
	CU_ASSERT(has(&s, "not intact"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&s.b), "p50"));
	end(&s);
}

static void test_screen_wrong_numbers_do_not_hold(void)
{
	const struct study_spec spec = {.runs = 2, .wrong_requests = true};
	struct shown s;

	begin(&s, &spec);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "DOES NOT HOLD: study ", 21), 0);
	CU_ASSERT(has(&s, "S16"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&s.b), "TTFT"));
	end(&s);
}

static void test_screen_design_only(void)
{
	const struct study_spec spec = {.runs = 0};
	struct shown s;

	begin(&s, &spec);
	CU_ASSERT_EQUAL(strncmp(ib_buf_str(&s.b), "DESIGN ONLY: ", 13), 0);
	CU_ASSERT_EQUAL(s.v.exit, IB_EXIT_OK);
	end(&s);
}

static void test_screen_hostile_bytes_are_escaped(void)
{
	static const char *const names[] = {"a\nFAILS nothing", "\033[31mred\033[0m", "\xff\xfe", "caf\xc3\xa9", "\xe2\x80\xae", "\x7f", "a\\x41", "\r"};
	const struct study_spec spec = {.runs = 1};

	for (size_t i = 0; i < IB_LEN(names); i++) {
		ib_auto_free char *path = ib_asprintf("runs/%s/%s", study_run_id(0), names[i]);
		ib_auto_json json_t *j = NULL;
		ib_auto_buf struct ib_buf text = IB_BUF(1u << 20);
		struct shown s;

		begin(&s, &spec);
		study_put(s.dir, path, "x");
		look(&s, &none);
		CU_ASSERT_EQUAL(s.v.exit, 1);
		CU_ASSERT(plain(&s.b));
		CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&s.b), "\nFAILS nothing"));
		j = ib_verdict_json(&s.v);
		ib_json_write_pretty(j, &text);
		CU_ASSERT(ib_utf8_valid(text.data, text.len));
		end(&s);
	}
}

static void test_screen_text_is_cut(void)
{
	struct ib_buf b = IB_BUF(100);

	ib_text_safe(&b, "abcdef", 3);
	ib_text_safe(&b, NULL, 3);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "abc...-");
	ib_buf_reset(&b);
	ib_text_bytes(&b, 999);
	ib_buf_addc(&b, ' ');
	ib_text_bytes(&b, 1234567);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "999 bytes 1.2 MB");
	ib_buf_clear(&b);
}

static void test_screen_show(void)
{
	const struct study_spec spec = {.runs = 2, .contradicted = true};
	struct ib_err err;
	struct shown s;

	begin(&s, &spec);
	ib_buf_reset(&s.b);
	CU_ASSERT_EQUAL(ib_verdict_show(&s.v, study_run_id(0), &s.b, &err), 0);
	CU_ASSERT(has(&s, "cache         reset, contradicted"));
	CU_ASSERT(has(&s, "p50 19.15 ms (n 24, 95 % interval 18.60 to 19.70)"));
	CU_ASSERT(has(&s, "A19"));
	CU_ASSERT_EQUAL(ib_verdict_show(&s.v, "nope", &s.b, &err), IB_E_USAGE);
	end(&s);
}

/* Every combination of what decides the exit status. */
static void test_screen_settle_exit(void)
{
	const struct {
		enum ib_level_of level;
		enum ib_status status;
		enum ib_code code;
		int exit, strict;
	} rows[] = {
		{IB_FINDING_E, IB_PASS, 0, 0, 0},
		{IB_FINDING_E, IB_FAIL, 0, 1, 1},
		{IB_FINDING_E, IB_FAIL, IB_E_HASH, 1, 1},
		{IB_FINDING_E, IB_FAIL, IB_E_BINDING, 1, 1},
		{IB_FINDING_E, IB_FAIL, IB_E_TYPE, 4, 4},
		{IB_FINDING_E, IB_FAIL, IB_E_JSON, 4, 4},
		{IB_FINDING_E, IB_NOT_CHECKABLE, 0, 0, 0},
		{IB_FINDING_E, IB_NOT_CHECKABLE, IB_E_IO, 3, 3},
		{IB_FINDING_E, IB_NOT_CHECKABLE, IB_E_UNSUPPORTED, 3, 3},
		{IB_FINDING_W, IB_FAIL, 0, 0, 1},
		{IB_FINDING_W, IB_NOT_CHECKABLE, 0, 0, 0},
		{IB_FINDING_I, IB_FAIL, 0, 0, 0},
		{IB_FINDING_I, IB_NOT_CHECKABLE, 0, 0, 0},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++)
		for (int strict = 0; strict < 2; strict++) {
			const struct ib_verify_opts opts = {.strict = strict};
			struct ib_verdict v = {.kind = IB_KIND_STUDY, .intact = IB_HOLDS_YES, .consistent = IB_HOLDS_YES};

			ib_findings_add(&v.findings, "S01", rows[i].level, rows[i].status, "x")->code = rows[i].code;
			ib_verdict_settle(&v, &opts);
			CU_ASSERT_EQUAL(v.exit, strict ? rows[i].strict : rows[i].exit);
			ib_findings_clear(&v.findings);
		}
}

/* A packet that nobody looked at holds nothing, whatever its findings. */
static void test_screen_settle_starts_at_nothing(void)
{
	struct ib_verdict v = {.kind = IB_KIND_PACKET};
	const struct ib_verify_opts opts = {.unsigned_ok = true};

	ib_verdict_settle(&v, &opts);
	CU_ASSERT_EQUAL(v.exit, IB_EXIT_UNDECIDED);
	v = (struct ib_verdict){.kind = IB_KIND_PACKET, .intact = IB_HOLDS_YES, .consistent = IB_HOLDS_YES, .is_signed = IB_HOLDS_YES};
	ib_verdict_settle(&v, &none);
	CU_ASSERT_EQUAL(v.exit, IB_EXIT_UNDECIDED);
	v.trusted = IB_HOLDS_YES;
	ib_verdict_settle(&v, &none);
	CU_ASSERT_EQUAL(v.exit, IB_EXIT_OK);
}

static void test_screen_a_flood_of_warnings_hides_no_failure(void)
{
	struct ib_findings f = {0};

	for (int i = 0; i < 10100; i++)
		ib_findings_add(&f, "A35", IB_FINDING_W, IB_FAIL, "overlap %d", i)->file = ib_strdup("x");
	ib_findings_add(&f, "E_HASH", IB_FINDING_E, IB_FAIL, "digest differs")->code = IB_E_HASH;
	ib_findings_add(&f, "A35", IB_FINDING_W, IB_FAIL, "one more")->code = IB_OK;
	CU_ASSERT_EQUAL(f.n, 10002);
	CU_ASSERT_EQUAL(ib_findings_count(&f, IB_FINDING_E, IB_FAIL), 1);
	CU_ASSERT_EQUAL(f.v[10001].code, IB_E_HASH);
	CU_ASSERT_STRING_EQUAL(f.v[10000].message, "more than 10000 findings: the rest is not listed");
	ib_findings_clear(&f);
}

static const struct ib_test tests[] = {
	IB_TEST(test_screen_good_study),
	IB_TEST(test_screen_counts_warnings),
	IB_TEST(test_screen_prints_no_number_of_altered_bytes),
	IB_TEST(test_screen_wrong_numbers_do_not_hold),
	IB_TEST(test_screen_design_only),
	IB_TEST(test_screen_hostile_bytes_are_escaped),
	IB_TEST(test_screen_text_is_cut),
	IB_TEST(test_screen_show),
	IB_TEST(test_screen_settle_exit),
	IB_TEST(test_screen_settle_starts_at_nothing),
	IB_TEST(test_screen_a_flood_of_warnings_hides_no_failure),
	{0},
};

const struct ib_test_suite ib_suite = {.name = "screen", .tests = tests};
