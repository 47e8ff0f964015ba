/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/capture and collectors/: one failing collector costs nothing but itself. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "capture/capture.h"
#include "redact/redact.h"

static const uint8_t test_key[] = "0123456789abcdef";

/* Collectors of this test: each goes wrong in its own way. */

static int fine(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)ctx;
	(void)err;
	ib_leaf_int(out, "steady", 1);
	ib_leaf_int(out, "list_size", 2);
	ib_leaf(out, "list", ib_json_array());
	ib_json_add(json_object_get(json_object_get(out, "data"), "list"), ib_json_object());
	ib_leaf_int(out, "list/0/now", ib_wall_ns(&ib_clock_system));
	ib_leaf_int(out, "now", ib_wall_ns(&ib_clock_system));
	return 0;
}

static int fails(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)ctx;
	ib_leaf_int(out, "before", 1);
	return ib_fail(err, IB_E_IO, EIO, "cannot go on");
}

static int reads_more(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)err;
	ib_leaf_file(ctx, out, "declared", "/etc/os-release");
	ib_leaf_file(ctx, out, "undeclared", "/etc/hostname");
	return 0;
}

static int crash(struct ib_ctx *ctx, void *arg, int fd)
{
	ib_auto_json json_t *out = ib_leaf_out();

	(void)ctx;
	(void)arg;
	ib_leaf_int(out, "sent", 1);
	ib_answer_emit(fd, out);
	raise(SIGSEGV);
	return 0;
}

static int hang(struct ib_ctx *ctx, void *arg, int fd)
{
	(void)ctx;
	(void)arg;
	(void)fd;
	while (pause() < 0)
		;
	return 0;
}

static int babble(struct ib_ctx *ctx, void *arg, int fd)
{
	(void)ctx;
	(void)arg;
	return write(fd, "{\"data\": 1}\nno json\n", 20) == 20 ? 0 : 1;
}

static int crashes(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "crash", .run = crash, .timeout_ns = 10 * IB_NS};

	return ib_answer_run(ctx, &job, out, err);
}

static int hangs(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "hang", .run = hang, .timeout_ns = IB_NS / 5};

	return ib_answer_run(ctx, &job, out, err);
}

static int babbles(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	const struct ib_answer_job job = {.name = "babble", .run = babble, .timeout_ns = 10 * IB_NS};

	return ib_answer_run(ctx, &job, out, err);
}

static int leaks(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	(void)ctx;
	(void)err;
	ib_leaf_str(out, "url", "https://user:hunter2@example.org/");
	return 0;
}

static const char *const reads[] = {"/etc/os-release", NULL};
static const char *const unstable[] = {"now", "list/*/now", NULL};
static const struct ib_collector c_fine = {.name = "fine", .title = "-", .reads = reads, .unstable = unstable, .collect = fine};
static const struct ib_collector c_fails = {.name = "fails", .title = "-", .reads = reads, .collect = fails};
static const struct ib_collector c_reads = {.name = "reads_more", .title = "-", .reads = reads, .collect = reads_more};
static const struct ib_collector c_crashes = {.name = "crashes", .title = "-", .reads = reads, .collect = crashes};
static const struct ib_collector c_hangs = {.name = "hangs", .title = "-", .reads = reads, .collect = hangs};
static const struct ib_collector c_babbles = {.name = "babbles", .title = "-", .reads = reads, .collect = babbles};
static const struct ib_collector c_leaks = {.name = "leaks", .title = "-", .reads = reads, .collect = leaks};
static const struct ib_collector *const table[] = {&c_fine, &c_fails, &c_reads, &c_crashes, &c_hangs, &c_babbles, NULL};
static const struct ib_collector *const table_fine[] = {&c_fine, NULL}, *const table_leaks[] = {&c_leaks, NULL};

/* Text of the value at "collector/section/key", or NULL. */
static const char *at(const struct ib_capture *c, const char *collector, const char *key)
{
	return json_string_value(json_object_get(json_object_get(json_object_get(c->doc, "collectors"), collector), key));
}

static json_t *data_of(const struct ib_capture *c, const char *collector)
{
	return json_object_get(json_object_get(json_object_get(c->doc, "collectors"), collector), "data");
}

static const char *missing_of(const struct ib_capture *c, const char *collector, const char *leaf)
{
	json_t *m = json_object_get(json_object_get(json_object_get(c->doc, "collectors"), collector), "missing");

	return json_string_value(json_object_get(json_object_get(m, leaf), "status"));
}

static const char *error_of(const struct ib_capture *c, const char *collector)
{
	const char *text = json_string_value(json_array_get(json_object_get(json_object_get(json_object_get(c->doc, "collectors"), collector), "errors"), 0));

	return text ? text : "";
}

static bool only_cpu(void *arg, const char *name)
{
	(void)arg;
	return ib_streq(name, "cpu");
}

static void test_capture_goes_on_after_a_failing_collector(void)
{
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_capture struct ib_capture c = {0};

	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, table, NULL, NULL, &c, NULL), 0);
	CU_ASSERT_STRING_EQUAL(at(&c, "fine", "status"), "ok");
	CU_ASSERT_STRING_EQUAL(at(&c, "fails", "status"), "error");
	CU_ASSERT_STRING_EQUAL(error_of(&c, "fails"), "cannot go on: Input/output error");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(data_of(&c, "fails"), "before")), 1);
	CU_ASSERT_STRING_EQUAL(at(&c, "reads_more", "status"), "error");
	CU_ASSERT_PTR_NOT_NULL(strstr(error_of(&c, "reads_more"), "'/etc/hostname'"));
	CU_ASSERT(json_is_null(json_object_get(data_of(&c, "reads_more"), "undeclared")));
	CU_ASSERT(json_is_string(json_object_get(data_of(&c, "reads_more"), "declared")));
	CU_ASSERT_STRING_EQUAL(at(&c, "crashes", "status"), "error");
	CU_ASSERT_PTR_NOT_NULL(strstr(error_of(&c, "crashes"), "SIGSEGV"));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(data_of(&c, "crashes"), "sent")), 1);
	CU_ASSERT_STRING_EQUAL(at(&c, "hangs", "status"), "timeout");
	CU_ASSERT_STRING_EQUAL(at(&c, "babbles", "status"), "error");
	ib_redactor_free(&r);
}

static void test_capture_stable_digest_leaves_out_what_changes(void)
{
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_capture struct ib_capture a = {0}, b = {0};

	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, table_fine, NULL, NULL, &a, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, table_fine, NULL, NULL, &b, NULL), 0);
	CU_ASSERT_FALSE(json_equal(data_of(&a, "fine"), data_of(&b, "fine")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(a.doc, "stable_sha256")), json_string_value(json_object_get(b.doc, "stable_sha256")));
	CU_ASSERT_NOT_EQUAL(json_object_get(data_of(&a, "fine"), "now"), NULL);
	ib_redactor_free(&r);
}

static void test_capture_with_a_secret_is_not_written(void)
{
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_buf struct ib_buf text = IB_BUF(IB_JSON_MAX);
	ib_auto_capture struct ib_capture c = {0};
	struct ib_err err = {0};

	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, table_leaks, NULL, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(ib_capture_text(&ctx, c.doc, &text, &err), IB_E_STATE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "url-userinfo"));
	CU_ASSERT_PTR_NULL(strstr(err.text, "hunter2"));
	ib_redactor_free(&r);
}

/* The replay of a recorded root, also with the component walk instead of openat2(2): the same leaves. */
static void test_capture_of_a_recorded_root(void)
{
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_root struct ib_root *root = NULL;
	ib_auto_capture struct ib_capture a = {0}, b = {0};
	static const char model[] = "name=\"CPUModel\" value=\"";
	const char *cmdline;

	CU_ASSERT_EQUAL_FATAL(ib_root_open(ib_src("tests/data/roots/two-socket"), &root, NULL), 0);
	ctx.root = root;
	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, ib_collectors_all, NULL, NULL, &a, NULL), 0);
	ib_root_use_walk(root);
	CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, ib_collectors_all, NULL, NULL, &b, NULL), 0);
	for (const struct ib_collector *const *c = ib_collectors_all; *c; c++)
		CU_ASSERT(json_equal(data_of(&a, (*c)->name), data_of(&b, (*c)->name)));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(a.doc, "source")), "recorded");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(data_of(&a, "memory"), "total_bytes")), 17179869184LL);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(data_of(&a, "cpu"), "models")), 2);
	CU_ASSERT_STRING_EQUAL(missing_of(&a, "cpu", "frequency/scaling_min_hz"), "error");
	CU_ASSERT_STRING_EQUAL(missing_of(&a, "kernel", "release"), "absent");
	CU_ASSERT_STRING_EQUAL(missing_of(&a, "load", "pressure/cpu/full"), "absent");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(data_of(&a, "topology"), "packages")), 2);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(data_of(&a, "topology"), "numa_nodes")), 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a.xml);
	CU_ASSERT_PTR_NOT_NULL(strstr(a.xml, "Made Up CPU 7000"));
	for (const char *p = strstr(a.xml, model); p; p = strstr(p + 1, model)) /* nothing of the machine that runs the test */
		CU_ASSERT(ib_starts(p + strlen(model), "Made Up CPU 7000"));
	cmdline = json_string_value(json_object_get(data_of(&a, "kernel"), "cmdline"));
	CU_ASSERT_PTR_NULL(strstr(cmdline, "horse"));
	CU_ASSERT_PTR_NULL(strstr(cmdline, "0f1e2d3c"));
	CU_ASSERT_PTR_NULL(strstr(cmdline, "oak"));
	CU_ASSERT_PTR_NOT_NULL(strstr(cmdline, "isolcpus=2-3 mitigations=off"));
	ib_auto_free char *again = ib_cmdline_redact(&ctx, cmdline);

	CU_ASSERT_STRING_EQUAL(again, cmdline);
	ib_redactor_free(&r);
}

static void test_capture_volatile_is_quick(void)
{
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_json json_t *doc = NULL;
	int64_t cpu_ns;

	CU_ASSERT_EQUAL_FATAL(ib_capture_volatile(&ctx, &doc, NULL), 0);
	cpu_ns = json_integer_value(json_object_get(doc, "cpu_ns"));
	printf("# volatile capture: %.2f ms CPU\n", (double)cpu_ns / 1e6);
#ifndef IB_SANITIZED
	CU_ASSERT(cpu_ns < 10 * 1000000 || getenv("VALGRIND"));
#endif
	CU_ASSERT_PTR_NOT_NULL(json_object_get(json_object_get(doc, "collectors"), "load"));
	ib_redactor_free(&r);
}

static void test_capture_leaves_keep_large_integers_exact(void)
{
	ib_auto_json json_t *out = ib_leaf_out();
	json_t *data = json_object_get(out, "data");

	ib_leaf_int(out, "a/b", 1LL << 53);
	ib_leaf_int(out, "a/c", (1LL << 53) + 1);
	ib_leaf_missing(out, "d", (struct ib_fact){IB_FACT_DENIED, EACCES});
	CU_ASSERT(json_is_integer(json_object_get(json_object_get(data, "a"), "b")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_object_get(data, "a"), "c")), "9007199254740993");
	CU_ASSERT(json_is_null(json_object_get(data, "d")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_object_get(json_object_get(out, "missing"), "d"), "errno")), "EACCES");
}

/* /proc/cpuinfo of other machines: a board's lines behind the last processor, and processors without lines of their own. */
static void test_capture_cpuinfo_of_other_architectures(void)
{
	static const struct {
		const char *text;
		size_t models;
		int64_t count;
		const char *key;
	} cases[] = {
		{"processor\t: 0\ncpu\t\t: POWER9\n\nprocessor\t: 1\ncpu\t\t: POWER9\n\ntimebase\t: 512\nmodel\t\t: board\n", 1, 2, "cpu"},
		{"processor\t: 0\nBogoMIPS\t: 1\n\nprocessor\t: 1\nBogoMIPS\t: 1\n\nCPU part\t: 0xc09\nSerial\t\t: 0123\n", 1, 1, "part"},
		{"vendor_id       : IBM/S390\nprocessor 0: version = FF\nprocessor 1: version = FF\n", 1, 1, "vendor"},
		{"processor : 0\nmodel name : big\n\nprocessor : 1\nmodel name : little\n", 2, 1, "model_name"},
		{"nothing that is known\n", 0, 0, NULL},
		{"", 0, 0, NULL},
	};
	char top[] = "/tmp/ib-capture-XXXXXX";
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	struct ib_ctx ctx = {.clock = &ib_clock_system, .redact = r};
	ib_auto_root struct ib_root *root = NULL;
	ib_auto_fd int fd = -1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	CU_ASSERT_EQUAL_FATAL(ib_open_dir(AT_FDCWD, top, &fd, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_make_dirs(fd, "proc", 0700, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_root_open(top, &root, NULL), 0);
	ctx.root = root;
	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_capture struct ib_capture c = {0};
		json_t *models;

		CU_ASSERT_EQUAL_FATAL(ib_write_file(fd, "proc/cpuinfo", cases[i].text, strlen(cases[i].text), 0600, true, NULL), 0);
		CU_ASSERT_EQUAL_FATAL(ib_capture_run(&ctx, ib_collectors_all, only_cpu, NULL, &c, NULL), 0);
		models = json_object_get(data_of(&c, "cpu"), "models");
		CU_ASSERT_EQUAL(json_array_size(models), cases[i].models);
		if (!cases[i].models) {
			CU_ASSERT_STRING_EQUAL(missing_of(&c, "cpu", "models"), "absent");
			continue;
		}
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(models, 0), "count")), cases[i].count);
		CU_ASSERT_PTR_NOT_NULL(json_object_get(json_array_get(models, 0), cases[i].key));
	}
	unlinkat(fd, "proc/cpuinfo", 0);
	unlinkat(fd, "proc", AT_REMOVEDIR);
	rmdir(top);
	ib_redactor_free(&r);
}

static void test_capture_environment_records_allowed_names_only(void)
{
	static const char *const text[] = {"HF_TOKEN=abcdefgh1", "CUDA_VISIBLE_DEVICES=0,1", "TOKENIZERS_PARALLELISM=false", "https_proxy=http://u:p@h", "CUDA_\xff=x",
		"VLLM_URL=http://me:pw1@h/x", "EDITOR=vi", "NCCL_ACCESS_MODE=1", "CUDA_DRIVER_API=12", "novalue"};
	ib_auto_strv struct ib_strv env = {0};
	ib_auto_json json_t *o = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(4096);
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, NULL);
	const struct ib_ctx ctx = {.redact = r};
	json_t *values;

	for (size_t i = 0; i < IB_LEN(text); i++)
		ib_strv_add(&env, text[i]);
	o = ib_environment_json(&ctx, env.v);
	ib_json_write(o, &b);
	values = json_object_get(o, "values");
	CU_ASSERT_EQUAL(json_object_size(values), 5);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(values, "CUDA_VISIBLE_DEVICES")), "0,1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(values, "TOKENIZERS_PARALLELISM")), "false");
	CU_ASSERT_EQUAL(json_array_size(json_object_get(o, "present")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(o, "others"), "count")), 3);
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&b), "pw1"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&b), "abcdefgh1"));
	CU_ASSERT_PTR_NULL(strstr(ib_buf_str(&b), "u:p"));
	ib_redactor_free(&r);
}

static const struct ib_test tests[] = {
	IB_TEST(test_capture_goes_on_after_a_failing_collector),
	IB_TEST(test_capture_stable_digest_leaves_out_what_changes),
	IB_TEST(test_capture_with_a_secret_is_not_written),
	IB_TEST(test_capture_of_a_recorded_root),
	IB_TEST(test_capture_volatile_is_quick),
	IB_TEST(test_capture_leaves_keep_large_integers_exact),
	IB_TEST(test_capture_cpuinfo_of_other_architectures),
	IB_TEST(test_capture_environment_records_allowed_names_only),
	{0},
};

const struct ib_test_suite ib_suite = {"capture", tests};
