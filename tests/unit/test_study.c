/* SPDX-License-Identifier: Apache-2.0 */
/* A study that was tampered with is found, by the class of what was done to it, naming the file. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "make_study.h"
#include "unit.h"
#include "verify/check.h"
#include "verify/verify.h"

struct fixture {
	char dir[64];
	struct ib_verdict v;
	struct ib_verify_opts opts;
	struct ib_err err;
	int r;
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static struct fixture *begin(const struct study_spec *spec)
{
	struct fixture *f = ib_alloc(sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/ib-study-XXXXXX");
	if (!mkdtemp(f->dir))
		exit(99);
	make_study(f->dir, spec);
	return f;
}

static void verify(struct fixture *f)
{
	static const struct ib_ctx ctx = {.clock = &ib_clock_system};

	ib_verdict_clear(&f->v);
	f->r = ib_verify_path(&ctx, f->dir, &f->opts, &f->v, &f->err);
}

static void end(struct fixture *f)
{
	ib_verdict_clear(&f->v);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
}

static char *path(const struct fixture *f, const char *below)
{
	static char full[4][4096];
	static unsigned at;
	char *p = full[at++ % 4];

	snprintf(p, sizeof(full[0]), "%s/%s", f->dir, below);
	return p;
}

/* Path of a file of run i (static buffer). */
static const char *of_run(size_t i, const char *rest)
{
	static char p[4][512];
	static unsigned at;
	char *s = p[at++ % 4];

	snprintf(s, sizeof(p[0]), "runs/%s%s%s", study_run_id(i), *rest ? "/" : "", rest);
	return s;
}

/* Is there a failing finding of that check, class and file (NULL: any)? */
static bool found(const struct fixture *f, const char *id, enum ib_code code, const char *file)
{
	for (size_t i = 0; i < f->v.findings.n; i++) {
		const struct ib_finding *one = &f->v.findings.v[i];

		if (one->status == IB_FAIL && strcmp(one->id, id) == 0 && one->code == code && (!file || ib_streq(one->file, file)))
			return true;
	}
	for (size_t i = 0; i < f->v.findings.n; i++)
		if (f->v.findings.v[i].status == IB_FAIL)
			printf("# %s %s %s: %s\n", f->v.findings.v[i].id, ib_code_name(f->v.findings.v[i].code), f->v.findings.v[i].file, f->v.findings.v[i].message);
	return false;
}

static size_t failures(const struct fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->v.findings.n; i++)
		if (f->v.findings.v[i].status == IB_FAIL) {
			const struct ib_finding *one = &f->v.findings.v[i];

			printf("# fails: %s %s %s (expected %s, found %s)\n", one->id, one->file, one->message, one->expected, one->found);
			n++;
		}
	return n;
}

static enum ib_status status_of(const struct fixture *f, const char *id)
{
	for (size_t i = 0; i < f->v.findings.n; i++)
		if (strcmp(f->v.findings.v[i].id, id) == 0)
			return f->v.findings.v[i].status;
	return IB_FAIL;
}

static void edit(const struct fixture *f, const char *below, const char *text)
{
	study_put(f->dir, below, text);
}

static const struct study_spec four = {.runs = 4};
static const struct study_spec sealed = {.runs = 4, .sealed = true};

static void test_study_sound_holds(void)
{
	const struct study_spec specs[] = {four, sealed, {.runs = 3, .ad_hoc = true}, {.runs = 4, .unfinished = true}, {.runs = 4, .adopted = true}};

	for (size_t i = 0; i < IB_LEN(specs); i++) {
		struct fixture *f = begin(&specs[i]);

		verify(f);
		CU_ASSERT_EQUAL(f->r, 0);
		CU_ASSERT_EQUAL(f->v.exit, 0);
		CU_ASSERT_EQUAL(failures(f), 0);
		CU_ASSERT_EQUAL(f->v.intact, IB_HOLDS_YES);
		CU_ASSERT_EQUAL(f->v.consistent, IB_HOLDS_YES);
		CU_ASSERT_EQUAL(f->v.is_signed, IB_HOLDS_NO);
		CU_ASSERT_EQUAL(f->v.trusted, IB_HOLDS_NOT_CHECKABLE);
		CU_ASSERT_EQUAL(f->v.study.n_ledger_runs, specs[i].runs + specs[i].unfinished);
		CU_ASSERT_EQUAL(f->v.study.runs[0].results.n, 1);
		CU_ASSERT_EQUAL((size_t)f->v.counts.completed, specs[i].runs);
		CU_ASSERT_EQUAL(f->v.counts.abandoned, specs[i].unfinished);
		end(f);
	}
}

static void test_study_every_check_speaks(void)
{
	struct fixture *f = begin(&sealed);

	verify(f);
	for (size_t i = 0; ib_study_checks[i]; i++) {
		bool spoke = false;

		for (size_t k = 0; k < f->v.findings.n; k++)
			spoke |= strcmp(f->v.findings.v[k].id, ib_study_checks[i]->id) == 0;
		CU_ASSERT(spoke);
		for (size_t k = 0; k < i; k++)
			CU_ASSERT_STRING_NOT_EQUAL(ib_study_checks[k]->id, ib_study_checks[i]->id);
	}
	end(f);
}

/* One tampering, done to a fresh study; the finding and the exit status that it must give. */
struct tampering {
	const char *name;
	void (*act)(const struct fixture *f);
	const char *id;
	enum ib_code code;
	int exit;
	size_t run;       /* file is below this run … */
	const char *file; /* … or below the study when it starts with "/"; NULL: any */
	bool on_sealed;
};

static void act_edit(const struct fixture *f) { edit(f, of_run(1, "stdout.log"), "run 7\n"); }
static void act_truncate(const struct fixture *f) { CU_ASSERT_EQUAL(truncate(path(f, of_run(1, "output/requests.jsonl")), 100), 0); }
static void act_rename(const struct fixture *f) { rename(path(f, of_run(1, "stdout.log")), path(f, of_run(1, "stdout.txt"))); }
static void act_add(const struct fixture *f) { edit(f, of_run(2, "output/more.json"), "{}"); }
static void act_remove(const struct fixture *f) { unlink(path(f, of_run(3, "before.json"))); }
static void act_record_edit(const struct fixture *f) { edit(f, of_run(0, "record.json"), "{}\n"); }
static void act_record_remove(const struct fixture *f) { unlink(path(f, of_run(0, "record.json"))); }
static void act_run_remove(const struct fixture *f)
{
	nftw(path(f, of_run(2, "")), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
static void act_run_copy(const struct fixture *f) { edit(f, "runs/20261130T160102Z-copy/record.json", "{}\n"); }
static void act_run_empty(const struct fixture *f) { mkdir(path(f, "runs/20261130T160102Z-new"), 0755); }
static void act_run_file(const struct fixture *f) { edit(f, "runs/stray", "x"); }
static void act_swap(const struct fixture *f)
{
	rename(path(f, of_run(0, "record.json")), path(f, "t"));
	rename(path(f, of_run(1, "record.json")), path(f, of_run(0, "record.json")));
	rename(path(f, "t"), path(f, of_run(1, "record.json")));
}
static void act_swap_dirs(const struct fixture *f)
{
	rename(path(f, of_run(0, "")), path(f, "t"));
	rename(path(f, of_run(1, "")), path(f, of_run(0, "")));
	rename(path(f, "t"), path(f, of_run(1, "")));
}
static void act_symlink(const struct fixture *f)
{
	unlink(path(f, of_run(1, "stdout.log")));
	CU_ASSERT_EQUAL(symlink("../../contract.yaml", path(f, of_run(1, "stdout.log"))), 0);
}
static void act_symlink_dir(const struct fixture *f) { CU_ASSERT_EQUAL(symlink("runs", path(f, "again")), 0); }
static void act_fifo(const struct fixture *f) { CU_ASSERT_EQUAL(mkfifo(path(f, of_run(1, "output/pipe")), 0644), 0); }
static void act_contract(const struct fixture *f) { edit(f, "contract.yaml", "study: loopback\n"); }
static void registered(const struct fixture *f, const char *suffix, char ret[200])
{
	snprintf(ret, 200, "contracts/%s%s", f->v.study.registrations[0]->e.source_sha256, suffix);
}
static void act_contract_json(const struct fixture *f)
{
	char p[200];

	registered(f, ".json", p);
	edit(f, p, "{\"schema\":\"urn:ibtools:contract:v1\"}\n");
}
static void act_contract_gone(const struct fixture *f)
{
	char p[200];

	registered(f, ".yaml", p);
	unlink(path(f, p));
}
static void act_contract_more(const struct fixture *f) { edit(f, "contracts/other.yaml", "study: x\n"); }
static void act_capture(const struct fixture *f)
{
	char p[200];

	snprintf(p, sizeof(p), "captures/%.64s.json", f->v.study.runs[0].start->e.capture);
	edit(f, p, "{\"schema\":\"urn:ibtools:capture:v1\",\"x\":1}\n");
}
static void act_capture_gone(const struct fixture *f)
{
	char p[200];

	snprintf(p, sizeof(p), "captures/%.64s.json", f->v.study.runs[0].start->e.capture);
	unlink(path(f, p));
}
static void act_capture_more(const struct fixture *f) { edit(f, "captures/notes.txt", "x"); }
static void act_workload(const struct fixture *f) { edit(f, "workload/prompts.jsonl", "{ }\n"); }
static void act_torn(const struct fixture *f) { edit(f, "ledger.torn/9", "x"); }
static void act_tree(const struct fixture *f) { edit(f, "analysis/late.py", "x"); }
static void act_line_drop(const struct fixture *f) { study_rechain(f->dir, 4); } /* a start */
static void act_withheld(const struct fixture *f)
{
	unlink(path(f, of_run(3, "before.json")));
	edit(f, "withheld.json", "{\"schema\":\"urn:ibtools:withheld:v1\",\"withheld\":[{\"path\":\"x\"}]}");
}

static const struct tampering tamperings[] = {
	{"a byte edited", act_edit, "S07", IB_E_HASH, 1, 1, "stdout.log", false},
	{"a result truncated", act_truncate, "S07", IB_E_HASH, 1, 1, "output/requests.jsonl", false},
	{"a file renamed: old name", act_rename, "S07", IB_E_MISSING, 1, 1, "stdout.log", false},
	{"a file renamed: new name", act_rename, "S07", IB_E_EXTRA, 1, 1, "stdout.txt", false},
	{"a file added", act_add, "S07", IB_E_EXTRA, 1, 2, "output/more.json", false},
	{"a file removed", act_remove, "S07", IB_E_MISSING, 1, 3, "before.json", false},
	{"a record edited", act_record_edit, "S05", IB_E_HASH, 1, 0, "record.json", false},
	{"a record removed", act_record_remove, "S05", IB_E_MISSING, 1, 0, "record.json", false},
	{"a run removed", act_run_remove, "S08", IB_E_MISSING, 1, 2, "", false},
	{"a run copied", act_run_copy, "S08", IB_E_EXTRA, 1, 0, "/runs/20261130T160102Z-copy", false},
	{"an empty run added", act_run_empty, "S08", IB_E_EXTRA, 1, 0, "/runs/20261130T160102Z-new", false},
	{"a file beside the runs", act_run_file, "S08", IB_E_EXTRA, 1, 0, "/runs/stray", false},
	{"records swapped", act_swap, "S05", IB_E_HASH, 1, 1, "record.json", false},
	{"run directories swapped", act_swap_dirs, "S05", IB_E_HASH, 1, 0, "record.json", false},
	{"a symbolic link", act_symlink, "S00", IB_E_TYPE, 4, 1, "stdout.log", false},
	{"a link to a directory", act_symlink_dir, "S00", IB_E_TYPE, 4, 0, "/again", false},
	{"a named pipe", act_fifo, "S00", IB_E_TYPE, 4, 1, "output/pipe", false},
	{"the contract changed", act_contract, "S09", IB_E_BINDING, 1, 0, "/contract.yaml", false},
	{"the contract's JSON form changed", act_contract_json, "S09", IB_E_HASH, 1, 0, NULL, false},
	{"a registered contract removed", act_contract_gone, "S09", IB_E_MISSING, 1, 0, NULL, false},
	{"a contract added", act_contract_more, "S09", IB_E_EXTRA, 1, 0, "/contracts/other.yaml", false},
	{"a capture changed", act_capture, "S10", IB_E_HASH, 1, 0, NULL, false},
	{"a capture removed", act_capture_gone, "S10", IB_E_MISSING, 1, 0, NULL, false},
	{"a file beside the captures", act_capture_more, "S10", IB_E_EXTRA, 1, 0, "/captures/notes.txt", false},
	{"the workload changed", act_workload, "A20", IB_E_HASH, 1, 0, "/workload/prompts.jsonl", false},
	{"a torn line added", act_torn, "S15", IB_E_EXTRA, 1, 0, "/ledger.torn/9", false},
	{"a file added after the seal", act_tree, "S12", IB_E_HASH, 1, 0, NULL, true},
	{"a start dropped from the ledger and the chain made anew", act_line_drop, "S08", IB_E_EXTRA, 1, 1, "", false},
	{"withholding claimed in an unsealed study", act_withheld, "S07", IB_E_MISSING, 1, 3, "before.json", false},
};

static void test_study_tampering_is_found(void)
{
	for (size_t i = 0; i < IB_LEN(tamperings); i++) {
		const struct tampering *t = &tamperings[i];
		struct fixture *f = begin(t->on_sealed ? &sealed : &four);
		char want[512] = "";
		bool ok;

		verify(f); /* some need the study's digests */
		t->act(f);
		verify(f);
		if (t->file)
			snprintf(want, sizeof(want), "%s", t->file[0] == '/' ? t->file + 1 : of_run(t->run, t->file));
		ok = found(f, t->id, t->code, t->file ? want : NULL) && f->v.exit == t->exit && f->v.consistent == IB_HOLDS_NO;
		if (!ok)
			printf("# %s: exit %d, wanted %s %s %s, exit %d\n", t->name, f->v.exit, t->id, ib_code_name(t->code), want, t->exit);
		CU_ASSERT(ok);
		end(f);
	}
}

#define CHECKED "quality/20261130T160000Z-before-00000001/"

static void kept_edit(const struct fixture *f) { edit(f, CHECKED "sum.out", "4\n"); }
static void kept_gone(const struct fixture *f) { unlink(path(f, CHECKED "sum.out")); }
static void kept_more(const struct fixture *f) { edit(f, CHECKED "sun.out", "5\n"); }
static void kept_result(const struct fixture *f) { edit(f, CHECKED "result.json", "{}\n"); }
static void kept_result_gone(const struct fixture *f) { unlink(path(f, CHECKED "result.json")); }
static void kept_copy(const struct fixture *f) { edit(f, "quality/20261130T160000Z-after-00000003/result.json", "{}\n"); }
static void kept_beside(const struct fixture *f) { edit(f, "quality/stray", "x"); }
static void kept_recording(const struct fixture *f) { edit(f, "workload/recorded/baseline.cap-1.jsonl", "{ }"); }
static void kept_recording_more(const struct fixture *f) { edit(f, "workload/recorded/baseline.cap-4.jsonl", "{}\n"); }
static void kept_ceiling_gone(const struct fixture *f) { unlink(path(f, "ceiling/20261130T160000Z-00000002.json")); }

static void test_study_kept_files_are_those_of_the_ledger(void)
{
	static const struct study_spec spec = {.runs = 4, .kept = true};
	static const struct tampering acts[] = {
		{"an output of a quality check edited", kept_edit, "S17", IB_E_HASH, 1, 0, CHECKED "sum.out", false},
		{"an output of a quality check removed", kept_gone, "S17", IB_E_MISSING, 1, 0, CHECKED "sum.out", false},
		{"an output added to a quality check", kept_more, "S17", IB_E_EXTRA, 1, 0, CHECKED "sun.out", false},
		{"a quality check's result edited", kept_result, "S17", IB_E_HASH, 1, 0, CHECKED "result.json", false},
		{"a quality check's result removed", kept_result_gone, "S17", IB_E_MISSING, 1, 0, CHECKED "result.json", false},
		{"a quality check added", kept_copy, "S17", IB_E_EXTRA, 1, 0, "quality/20261130T160000Z-after-00000003/result.json", false},
		{"a file beside the quality checks", kept_beside, "S17", IB_E_EXTRA, 1, 0, "quality/stray", false},
		{"a recorded workload edited", kept_recording, "S17", IB_E_HASH, 1, 0, "workload/recorded/baseline.cap-1.jsonl", false},
		{"a recorded workload added", kept_recording_more, "S17", IB_E_EXTRA, 1, 0, "workload/recorded/baseline.cap-4.jsonl", false},
		{"a ceiling removed", kept_ceiling_gone, "S17", IB_E_MISSING, 1, 0, "ceiling/20261130T160000Z-00000002.json", false},
	};
	struct fixture *f = begin(&spec);

	verify(f);
	CU_ASSERT_EQUAL(failures(f), 0);
	CU_ASSERT_EQUAL(status_of(f, "S17"), IB_PASS);
	end(f);
	for (size_t i = 0; i < IB_LEN(acts); i++) {
		f = begin(&spec);
		acts[i].act(f);
		verify(f);
		if (!found(f, acts[i].id, acts[i].code, acts[i].file) || f->v.exit != 1) {
			printf("# not found: %s\n", acts[i].name);
			CU_FAIL("a change of a kept file is not found");
		}
		end(f);
	}
}

#define ANALYSIS "analysis/20261130T160000Z-00000004/analysis.json"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ANALYSIS_OF(rest) "{\"schema\":\"urn:ibtools:analysis:v1\"," rest "}\n"

static void test_study_analyses_are_read_with_care(void)
{
	static const struct {
		const char *text, *file;
		enum ib_code code;
	} acts[] = {
		{"{}\n", ANALYSIS, IB_OK},
		{"{", ANALYSIS, IB_E_JSON},
		{ANALYSIS_OF("\"outputs\":[7]"), ANALYSIS, IB_E_BINDING},
		{ANALYSIS_OF("\"outputs\":[{\"path\":\"report/x\",\"bytes\":-1,\"sha256\":null}]"), ANALYSIS, IB_E_BINDING},
		{ANALYSIS_OF("\"inputs\":{\"status\":\"ok\",\"files\":[{\"path\":[],\"bytes\":1,\"sha256\":null}]}"), ANALYSIS, IB_E_BINDING},
		{ANALYSIS_OF("\"scripts\":[[]]"), ANALYSIS, IB_E_BINDING},
		{ANALYSIS_OF("\"logs\":[{\"path\":\"../../etc/passwd\",\"bytes\":1,\"sha256\":\"" ZEROS "\"}]"), "../../etc/passwd", IB_E_MISSING},
	};
	static const struct study_spec later = {.runs = 4, .analysis = "{\"schema\":\"urn:ibtools:analysis:v2\"}\n"};
	static const struct study_spec sound = {.runs = 4, .analysis = ANALYSIS_OF("\"inputs\":{\"status\":\"ok\",\"files\":[]}")};
	struct fixture *f = begin(&sound);

	verify(f);
	CU_ASSERT_EQUAL(failures(f), 0);
	CU_ASSERT_EQUAL(status_of(f, "S18"), IB_PASS);
	end(f);
	for (size_t i = 0; i < IB_LEN(acts); i++) {
		const struct study_spec spec = {.runs = 4, .analysis = acts[i].text};

		f = begin(&spec);
		verify(f);
		if (!found(f, "S18", acts[i].code, acts[i].file) || f->v.exit == 0) {
			printf("# not found: %s", acts[i].text);
			CU_FAIL("an analysis that is none is not found");
		}
		end(f);
	}
	f = begin(&later);
	verify(f);
	CU_ASSERT_EQUAL(failures(f), 0);
	CU_ASSERT_EQUAL(status_of(f, "S18"), IB_NOT_CHECKABLE);
	end(f);
	f = begin(&sound);
	edit(f, ANALYSIS, "{}\n");
	verify(f);
	CU_ASSERT_TRUE(found(f, "S18", IB_E_HASH, ANALYSIS));
	end(f);
}

/* Rewrites one line of the ledger by a function over its text. */
static void on_ledger(const struct fixture *f, void (*act)(char *text, size_t n))
{
	char text[65536];
	FILE *in = fopen(path(f, "ledger.jsonl"), "r");
	size_t n = fread(text, 1, sizeof(text) - 1, in);

	fclose(in);
	text[n] = '\0';
	act(text, n);
	study_put(f->dir, "ledger.jsonl", text);
}

static char *line(char *text, int n)
{
	while (n-- > 1)
		text = strchr(text, '\n') + 1;
	return text;
}

static void drop_third(char *text, size_t n)
{
	char *at = line(text, 3), *next = line(text, 4);

	(void)n;
	memmove(at, next, strlen(next) + 1);
}

static void swap_lines(char *text, size_t n)
{
	char *a = line(text, 4), *b = line(text, 5), *c = line(text, 6);
	char *copy = ib_strndup(a, (size_t)(b - a));
	size_t first = (size_t)(b - a), second = (size_t)(c - b);

	(void)n;
	memmove(a, b, second);
	memcpy(a + second, copy, first);
	free(copy);
}

static void edit_state(char *text, size_t n)
{
	char *at = strstr(text, "\"completed\"");

	(void)n;
	memcpy(at, "\"timed_out\"", 11);
}

static void tear(char *text, size_t n)
{
	text[n - 1] = '\0';
}

static void test_study_ledger_changes_are_found(void)
{
	void (*const acts[])(char *, size_t) = {drop_third, swap_lines, edit_state, tear};

	for (size_t i = 0; i < IB_LEN(acts); i++) {
		struct fixture *f = begin(&four);

		on_ledger(f, acts[i]);
		verify(f);
		CU_ASSERT(found(f, "S01", IB_E_LEDGER, "ledger.jsonl"));
		CU_ASSERT_EQUAL(f->v.exit, 1);
		CU_ASSERT_EQUAL(f->v.intact, IB_HOLDS_NO);
		end(f);
	}
}

static void test_study_without_ledger_is_none(void)
{
	struct fixture *f = begin(&four);

	unlink(path(f, "ledger.jsonl"));
	verify(f);
	CU_ASSERT_EQUAL(f->v.kind, IB_KIND_FOLDER);
	CU_ASSERT_EQUAL(status_of(f, "S05"), IB_NOT_CHECKABLE);
	CU_ASSERT_EQUAL(f->v.exit, 3);
	end(f);
}

static void test_study_cut_tail_is_not_anchored(void)
{
	struct fixture *f = begin(&four);
	char head[IB_HEX_LEN];

	verify(f);
	memcpy(head, f->v.study.chain.head, sizeof(head));
	CU_ASSERT_EQUAL(status_of(f, "S14"), IB_NOT_CHECKABLE);
	f->opts.expect_head = head;
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 0);
	CU_ASSERT_EQUAL(status_of(f, "S14"), IB_PASS);
	study_rechain(f->dir, 9); /* the last line: the end of the last run */
	f->opts.expect_head = NULL;
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 0); /* its record is adopted; nothing says that the line was there */
	CU_ASSERT_EQUAL(status_of(f, "S14"), IB_NOT_CHECKABLE);
	CU_ASSERT(f->v.study.runs[3].adopted);
	f->opts.expect_head = head;
	verify(f);
	CU_ASSERT(found(f, "S14", IB_E_LEDGER, "ledger.jsonl"));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_seal_must_add_up(void)
{
	const struct study_spec wrong = {.runs = 2, .sealed = true, .wrong_counts = true};
	const struct study_spec open = {.runs = 2, .sealed = true, .unfinished = true};
	struct fixture *f = begin(&wrong);

	verify(f);
	CU_ASSERT(found(f, "S12", IB_E_BINDING, "ledger.jsonl"));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
	f = begin(&open);
	verify(f);
	CU_ASSERT(found(f, "S04", IB_E_LEDGER, "ledger.jsonl"));
	end(f);
}

static void test_study_record_must_match_client(void)
{
	const struct study_spec spec = {.runs = 2, .wrong_requests = true};
	struct fixture *f = begin(&spec);

	verify(f);
	CU_ASSERT(found(f, "S16", IB_OK, of_run(0, "record.json")));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	CU_ASSERT_EQUAL(f->v.intact, IB_HOLDS_YES); /* the bytes are those that were recorded: what they say is wrong */
	CU_ASSERT_EQUAL(f->v.consistent, IB_HOLDS_NO);
	end(f);
}

/* Of four results one was not read: the three others do not stand for it. */
static void test_study_unread_result_passes_nothing(void)
{
	struct fixture *f = begin(&four);
	struct ib_findings again = {0};
	size_t passes = 0, open = 0;

	verify(f);
	CU_ASSERT_EQUAL(status_of(f, "A07"), IB_PASS);
	CU_ASSERT_EQUAL(status_of(f, "A10"), IB_PASS);
	ib_results_clear(&f->v.study.runs[1].results);
	ib_study_check(&f->v.study, &again);
	for (size_t i = 0; i < again.n; i++)
		if (strcmp(again.v[i].id, "A07") == 0 || strcmp(again.v[i].id, "A10") == 0) {
			passes += again.v[i].status == IB_PASS;
			open += again.v[i].status == IB_NOT_CHECKABLE;
		}
	CU_ASSERT_EQUAL(passes, 0);
	CU_ASSERT_EQUAL(open, 2);
	ib_findings_clear(&again);
	end(f);
}

/* Evidence of a run that went wrong is evidence: what its record says truly is no fault. */
static void test_study_honest_failures_hold(void)
{
	const struct study_spec specs[] = {{.runs = 2, .two_results = true}, {.runs = 2, .torn = true}, {.runs = 2, .cut_off = true}};

	for (size_t i = 0; i < IB_LEN(specs); i++) {
		struct fixture *f = begin(&specs[i]);

		verify(f);
		CU_ASSERT_EQUAL(f->v.exit, 0);
		CU_ASSERT_EQUAL(failures(f), i == 1 ? 1 : 2); /* warnings: cells of a single run; of the third, the plan was not carried out */
		CU_ASSERT_EQUAL(f->v.study.runs[0].results.n, i == 0 ? 2 : i == 1 ? 0 : 1);
		end(f);
	}
}

static void test_study_counts_from_a_torn_result_are_found(void)
{
	const struct study_spec spec = {.runs = 2, .torn_counted = true};
	struct fixture *f = begin(&spec);

	verify(f);
	CU_ASSERT(found(f, "S16", IB_OK, of_run(0, "record.json")));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_other_workload_is_found(void)
{
	const struct study_spec spec = {.runs = 2, .wrong_workload = true};
	struct fixture *f = begin(&spec);

	verify(f);
	CU_ASSERT(found(f, "A20", IB_E_BINDING, of_run(0, "record.json")));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_warnings_change_exit_only_when_strict(void)
{
	const struct study_spec spec = {.runs = 4, .overlapping = true, .contradicted = true};
	struct fixture *f = begin(&spec);

	verify(f);
	CU_ASSERT(found(f, "A35", IB_OK, of_run(1, "record.json")));
	CU_ASSERT(found(f, "A19", IB_OK, of_run(0, "record.json")));
	CU_ASSERT_EQUAL(f->v.exit, 0);
	f->opts.strict = true;
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_running_is_not_abandoned(void)
{
	const struct study_spec spec = {.runs = 2, .unfinished = true};
	struct fixture *f = begin(&spec);
	int fd;

	mkdir(path(f, "runs/20261130T170102Z-baseline.cap-1-r01-0badcafe"), 0755);
	fd = open(path(f, "runs/20261130T170102Z-baseline.cap-1-r01-0badcafe"), O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(flock(fd, LOCK_EX), 0);
	verify(f);
	CU_ASSERT_EQUAL(f->v.counts.abandoned, 0);
	CU_ASSERT(f->v.study.runs[2].running);
	CU_ASSERT_EQUAL(status_of(f, "S04"), IB_NOT_CHECKABLE);
	close(fd);
	verify(f);
	CU_ASSERT_EQUAL(f->v.counts.abandoned, 1);
	CU_ASSERT_EQUAL(f->v.exit, 0);
	end(f);
}

static void test_study_trust_does_not_apply(void)
{
	static const char *const print[] = {"SHA256:YMCt1796qdM9GyR6cT19Ayy+L9cys3DkCTLUh0bSj5Y"};
	struct fixture *f = begin(&four);

	f->opts.fingerprints = print;
	f->opts.n_fingerprints = 1;
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 3);
	end(f);
}

static void verify_run(struct fixture *f, const char *run)
{
	static const struct ib_ctx ctx = {.clock = &ib_clock_system};

	ib_verdict_clear(&f->v);
	f->r = ib_verify_path(&ctx, run, NULL, &f->v, &f->err);
	CU_ASSERT_EQUAL(f->r, 0);
	CU_ASSERT_EQUAL(f->v.kind, IB_KIND_RUN);
}

static void test_study_single_run(void)
{
	struct fixture *f = begin(&four);
	const char *run = path(f, of_run(1, "")), *away = path(f, study_run_id(1));

	verify_run(f, run);
	CU_ASSERT_EQUAL(f->v.exit, 0);
	CU_ASSERT_EQUAL(failures(f), 0);
	CU_ASSERT_EQUAL(rename(run, away), 0); /* away from its ledger: nothing vouches for it */
	verify_run(f, away);
	CU_ASSERT_EQUAL(f->v.exit, 3);
	CU_ASSERT_EQUAL(failures(f), 0);
	CU_ASSERT_EQUAL(rename(away, run), 0);
	edit(f, of_run(1, "stdout.log"), "x");
	verify_run(f, run);
	CU_ASSERT(found(f, "S07", IB_E_HASH, of_run(1, "stdout.log")));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_single_run_expected_head(void)
{
	static const char wrong[] = "0000000000000000000000000000000000000000000000000000000000000000";
	static const struct ib_ctx ctx = {.clock = &ib_clock_system};
	struct fixture *f = begin(&four);

	f->opts.expect_head = wrong;
	f->r = ib_verify_path(&ctx, path(f, of_run(1, "")), &f->opts, &f->v, &f->err);
	CU_ASSERT(found(f, "S14", IB_E_LEDGER, "ledger.jsonl"));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_single_run_of_no_ledger(void)
{
	struct fixture *f = begin(&four);

	edit(f, "runs/20261130T160102Z-new/record.json", "{}\n");
	verify_run(f, path(f, "runs/20261130T160102Z-new"));
	CU_ASSERT(found(f, "S05", IB_E_EXTRA, NULL));
	CU_ASSERT_EQUAL(f->v.exit, 1);
	end(f);
}

static void test_study_hostile_names(void)
{
	static const char *const names[] = {"a\nb", "\033[31mred", "\xff\xfe", "caf\xc3\xa9", "-rf", "..x", "a\\b", "\xe2\x80\xae"};

	for (size_t i = 0; i < IB_LEN(names); i++) {
		struct fixture *f = begin(&four);
		char below[200];
		json_t *j;

		snprintf(below, sizeof(below), "output/%s", names[i]);
		edit(f, of_run(0, below), "x");
		verify(f);
		CU_ASSERT(found(f, "S07", IB_E_EXTRA, of_run(0, below)));
		j = ib_findings_json(&f->v.findings);
		CU_ASSERT_PTR_NOT_NULL(j);
		json_decref(j);
		end(f);
	}
}

static void test_study_deep_tree_is_a_limit(void)
{
	struct fixture *f = begin(&four);
	ib_auto_buf struct ib_buf deep = IB_BUF(1000);

	ib_buf_adds(&deep, "analysis");
	for (int i = 0; i < 70; i++)
		ib_buf_adds(&deep, "/d");
	ib_buf_adds(&deep, "/f");
	edit(f, deep.data, "x");
	verify(f);
	CU_ASSERT_EQUAL(f->r, 0);
	CU_ASSERT_EQUAL(f->v.exit, 4);
	end(f);
}

static void test_study_unreadable_is_undecided(void)
{
	struct fixture *f = begin(&four);

	if (geteuid() == 0) {
		/* root reads everything; a socket path that cannot be opened stands in for nothing useful */
		end(f);
		ib_skip("root reads every file");
		return;
	}
	chmod(path(f, of_run(0, "stdout.log")), 0);
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 3);
	end(f);
}

/* Flips one bit at every step-th byte of a file; every flip must be found. */
static size_t flip_file(struct fixture *f, const char *below, size_t step)
{
	const char *full = path(f, below);
	int fd = open(full, O_RDWR | O_CLOEXEC);
	size_t missed = 0;
	struct stat st;

	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &st) == 0);
	for (off_t at = 0; at < st.st_size; at += (off_t)step) {
		char c, flipped;

		CU_ASSERT_EQUAL(pread(fd, &c, 1, at), 1);
		flipped = (char)(c ^ (1 << (at % 7)));
		CU_ASSERT_EQUAL(pwrite(fd, &flipped, 1, at), 1);
		verify(f);
		if (f->r == 0 && f->v.exit == 0) {
			printf("# missed: byte %lld of %s\n", (long long)at, below);
			missed++;
		}
		CU_ASSERT_EQUAL(pwrite(fd, &c, 1, at), 1);
	}
	close(fd);
	return missed;
}

/* With the head known from elsewhere, no bit of a study can change unseen. */
static void test_study_every_flip_is_found(void)
{
	const struct study_spec spec = {.runs = 2};
	struct fixture *f = begin(&spec);
	struct ib_strv files = {0};
	char head[IB_HEX_LEN];
	size_t missed = 0;

	verify(f);
	memcpy(head, f->v.study.chain.head, sizeof(head));
	f->opts.expect_head = head;
	for (size_t i = 0; i < f->v.study.n_files; i++)
		ib_strv_add(&files, f->v.study.files[i].path);
	for (size_t i = 0; i < files.n; i++)
		missed += flip_file(f, files.v[i], strcmp(files.v[i], "ledger.jsonl") == 0 ? 1 : 31);
	CU_ASSERT_EQUAL(missed, 0);
	verify(f);
	CU_ASSERT_EQUAL(f->v.exit, 0);
	ib_strv_clear(&files);
	end(f);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_of(size_t runs)
{
	const struct study_spec spec = {.runs = runs, .sealed = true};
	struct fixture *f = begin(&spec);
	double t = now_s();

	f->opts.no_clients = true;
	verify(f);
	t = now_s() - t;
	CU_ASSERT_EQUAL(f->v.exit, 0);
	CU_ASSERT_EQUAL(failures(f), 0);
	end(f);
	return t;
}

/* Ten times the runs take about ten times the time: nothing is quadratic. The bound leaves room for a busy machine. */
static void test_study_large_is_linear(void)
{
	double small = time_of(100), large = time_of(1000);

	printf("# 100 runs %.3f s, 1000 runs %.3f s\n", small, large);
	CU_ASSERT(large < 40 * small + 0.5);
}

static const struct ib_test tests[] = {
	IB_TEST(test_study_sound_holds),
	IB_TEST(test_study_every_check_speaks),
	IB_TEST(test_study_tampering_is_found),
	IB_TEST(test_study_kept_files_are_those_of_the_ledger),
	IB_TEST(test_study_analyses_are_read_with_care),
	IB_TEST(test_study_ledger_changes_are_found),
	IB_TEST(test_study_without_ledger_is_none),
	IB_TEST(test_study_cut_tail_is_not_anchored),
	IB_TEST(test_study_seal_must_add_up),
	IB_TEST(test_study_record_must_match_client),
	IB_TEST(test_study_unread_result_passes_nothing),
	IB_TEST(test_study_honest_failures_hold),
	IB_TEST(test_study_counts_from_a_torn_result_are_found),
	IB_TEST(test_study_other_workload_is_found),
	IB_TEST(test_study_warnings_change_exit_only_when_strict),
	IB_TEST(test_study_running_is_not_abandoned),
	IB_TEST(test_study_trust_does_not_apply),
	IB_TEST(test_study_single_run),
	IB_TEST(test_study_single_run_expected_head),
	IB_TEST(test_study_single_run_of_no_ledger),
	IB_TEST(test_study_hostile_names),
	IB_TEST(test_study_deep_tree_is_a_limit),
	IB_TEST(test_study_unreadable_is_undecided),
	IB_TEST(test_study_every_flip_is_found),
	IB_TEST(test_study_large_is_linear),
	{0},
};

const struct ib_test_suite ib_suite = {.name = "study", .tests = tests};
