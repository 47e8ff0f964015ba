/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: from argv, from commands as text, from printed configurations; real command lines and logs, and hostile ones. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/io.h"
#include "clients/clients.h"
#include "clients/words.h"
#include "unit.h"

#define SETS "tests/data/clients/sets/"

static void load(const char *name, struct ib_buf *ret)
{
	ib_auto_free char *path = ib_asprintf(SETS "%s", name);
	struct ib_err err = {0};

	*ret = IB_BUF(1u << 20);
	if (ib_read_file(AT_FDCWD, ib_src(path), ret, &err) < 0)
		CU_FAIL_FATAL("test data cannot be read");
}

static const struct ib_client *from_command(const char *text, struct ib_settings *s)
{
	*s = (struct ib_settings){0};
	return ib_settings_from_command(text, strlen(text), s);
}

static const struct ib_client *from_log(const char *text, struct ib_settings *s)
{
	*s = (struct ib_settings){0};
	return ib_settings_from_log(text, strlen(text), s);
}

static bool is(const struct ib_settings *s, enum ib_setting_key key, const char *want)
{
	if (!ib_streq(s->v[key], want))
		printf("# %s: %s\n", ib_setting_name(key), s->v[key] ? s->v[key] : "(none)");
	return ib_streq(s->v[key], want) && (want != NULL) == (s->from[key] != NULL);
}

static void test_settings_words_are_split_as_a_shell_does(void)
{
	static const struct {
		const char *text, *want; /* words behind "|", commands behind ";" */
	} rows[] = {
		{"a b  c", "a|b|c;"},
		{"a\\,b 'c d' \"e \\\"f\\\" \\x\"", "a,b|c d|e \"f\" \\x;"},
		{"A=1 B='2 3' run x", "run|x;"},
		{"# only a remark\nx # y\nz", "x;z;"},
		{"a \\\n  b\\\r\n c\r\n", "a|b|c;"},
		{"a && b || c | d & e", "a;b;c;d;e;"},
		{"a >out 2>&1 b < in", "a|b;"},
		{"a '' \"\"", "a||;"},
		{"a#b c", "a#b|c;"},
		{"a 'not closed", "a|not closed;"},
		{"a \\", "a;"},
		{"A=1", ""},
		{"  \n;;&& \n", ""},
		{"x (y)", "x;y;"},
	};

	for (size_t i = 0; i < IB_LEN(rows); i++) {
		struct ib_words w = ib_words_of(rows[i].text, strlen(rows[i].text));
		ib_auto_strv struct ib_strv words = {0};
		ib_auto_buf struct ib_buf got = IB_BUF(1000);

		while (ib_words_command(&w, &words)) {
			for (size_t k = 0; k < words.n; k++)
				ib_buf_addf(&got, "%s%s", k ? "|" : "", words.v[k]);
			ib_buf_addc(&got, ';');
		}
		if (strcmp(ib_buf_str(&got), rows[i].want) != 0)
			printf("# %s -> %s\n", rows[i].text, ib_buf_str(&got));
		CU_ASSERT_STRING_EQUAL(ib_buf_str(&got), rows[i].want);
	}
}

static void test_settings_of_a_real_command_file(void)
{
	ib_auto_buf struct ib_buf b = {0}, rust = {0};
	struct ib_settings s = {0};

	load("vllm/11_goodput/cmd.txt", &b);
	CU_ASSERT_PTR_EQUAL(ib_settings_from_command(b.data, b.len, &s), &ib_client_vllm_bench);
	CU_ASSERT(is(&s, IB_SET_MODEL, "tiny") && is(&s, IB_SET_TOKENIZER, "/home/user/lab/model") && is(&s, IB_SET_DATASET, "random"));
	CU_ASSERT(is(&s, IB_SET_INPUT_LEN, "128") && is(&s, IB_SET_OUTPUT_LEN, "64") && is(&s, IB_SET_REQUESTS, "20") && is(&s, IB_SET_SEED, "7"));
	CU_ASSERT(is(&s, IB_SET_WARMUPS, "5") && is(&s, IB_SET_RATE, "inf") && is(&s, IB_SET_CONCURRENCY, "4"));
	CU_ASSERT(is(&s, IB_SET_GOODPUT, "ttft:150 e2el:900") && is(&s, IB_SET_ENDPOINT, "http://127.0.0.1:8000"));
	CU_ASSERT(is(&s, IB_SET_IGNORE_EOS, NULL) && is(&s, IB_SET_TEMPERATURE, NULL) && is(&s, IB_SET_BACKEND, NULL));
	CU_ASSERT(ib_setting_number(&s, IB_SET_INPUT_LEN) > 127.5 && isinf(ib_setting_number(&s, IB_SET_RATE)));
	CU_ASSERT_STRING_EQUAL(s.from[IB_SET_SEED], "the command line");
	ib_settings_clear(&s);
	load("llama-server-smollm2/rs-c1-cold-r1/cmd.txt", &rust);
	CU_ASSERT_PTR_EQUAL(ib_settings_from_command(rust.data, rust.len, &s), &ib_client_vllm_bench);
	CU_ASSERT(is(&s, IB_SET_MODEL, "smollm2-135m-instruct-q4_1") && is(&s, IB_SET_DATASET, "custom") && is(&s, IB_SET_WARMUPS, "0"));
	CU_ASSERT(is(&s, IB_SET_OUTPUT_LEN, NULL)); /* -1: as the file says */
	CU_ASSERT(is(&s, IB_SET_IGNORE_EOS, "true") && is(&s, IB_SET_TEMPERATURE, "0"));
	ib_settings_clear(&s);
}

static void test_settings_of_a_real_printed_configuration(void)
{
	ib_auto_buf struct ib_buf b = {0}, rust = {0};
	struct ib_settings s = {0};

	load("vllm/13_metadata_override/stdout.txt", &b);
	CU_ASSERT_PTR_EQUAL(ib_settings_from_log(b.data, b.len, &s), &ib_client_vllm_bench);
	CU_ASSERT(is(&s, IB_SET_MODEL, "tiny") && is(&s, IB_SET_SEED, "7") && is(&s, IB_SET_REQUESTS, "6") && is(&s, IB_SET_WARMUPS, "5"));
	CU_ASSERT(is(&s, IB_SET_DATASET, "random") && is(&s, IB_SET_INPUT_LEN, "128") && is(&s, IB_SET_OUTPUT_LEN, "16"));
	CU_ASSERT(is(&s, IB_SET_CONCURRENCY, "4") && is(&s, IB_SET_RATE, "inf") && is(&s, IB_SET_LENGTH_RANGE, "0.0"));
	CU_ASSERT(is(&s, IB_SET_IGNORE_EOS, "false") && is(&s, IB_SET_TEMPERATURE, NULL) && is(&s, IB_SET_GOODPUT, NULL));
	CU_ASSERT(is(&s, IB_SET_ENDPOINT, "http://127.0.0.1:8000") && is(&s, IB_SET_BACKEND, "openai"));
	CU_ASSERT_STRING_EQUAL(s.from[IB_SET_SEED], "the printed configuration");
	ib_settings_clear(&s);
	load("vllm/R1_rust_ok_fake/stdout.txt", &rust);
	CU_ASSERT_PTR_NULL(ib_settings_from_log(rust.data, rust.len, &s)); /* prints none */
	CU_ASSERT(is(&s, IB_SET_MODEL, NULL));
}

#define MARKS "percentile_metrics='', metric_percentiles='', save_result=True, burstiness=1.0"

static void test_settings_of_pythons_spellings(void)
{
	struct ib_settings s;

	CU_ASSERT_PTR_NOT_NULL(from_log("INFO args: Namespace(" MARKS ", f=<function <lambda> at 0x7f>, model=\"a'b\", tokenizer='x\\\\y\\'z, seed=9', p=PosixPath('/x)'), "
					"seed=0, goodput=['ttft:1', 'tpot:2'], cfg=C(a=[1, (2, '}')], model='no'), b=b'\\x00', d={'k': (1, 2)}, max_concurrency=None) done",
					&s));
	CU_ASSERT(is(&s, IB_SET_MODEL, "a'b") && is(&s, IB_SET_TOKENIZER, "x\\y'z, seed=9") && is(&s, IB_SET_SEED, "0"));
	CU_ASSERT(is(&s, IB_SET_GOODPUT, "ttft:1 tpot:2") && is(&s, IB_SET_CONCURRENCY, NULL));
	ib_settings_clear(&s);
}

static void test_settings_that_contradict_are_not_known(void)
{
	struct ib_settings s;

	CU_ASSERT_PTR_NOT_NULL(from_log("Namespace(" MARKS ", seed=1, model='m')\nNamespace(" MARKS ", seed=2, model='m')\n", &s));
	CU_ASSERT(is(&s, IB_SET_SEED, NULL) && is(&s, IB_SET_MODEL, "m"));
	ib_settings_clear(&s);
	CU_ASSERT_PTR_NOT_NULL(from_command("vllm bench serve --seed 1 --model m\nvllm bench serve --seed 2 --model m --num-warmups 3\n", &s));
	CU_ASSERT(is(&s, IB_SET_SEED, NULL) && is(&s, IB_SET_MODEL, "m") && is(&s, IB_SET_WARMUPS, NULL));
	ib_settings_clear(&s);
}

static void test_settings_of_another_data_set_do_not_count(void)
{
	struct ib_settings s;

	CU_ASSERT_PTR_NOT_NULL(from_log("Namespace(" MARKS ", dataset_name='sharegpt', random_input_len=1024, random_output_len=128, sharegpt_output_len=77)", &s));
	CU_ASSERT(is(&s, IB_SET_INPUT_LEN, NULL) && is(&s, IB_SET_OUTPUT_LEN, "77"));
	ib_settings_clear(&s);
}

static void test_settings_never_hold_secrets_nor_expansions(void)
{
	struct ib_settings s;
	bool found = false;

	CU_ASSERT_PTR_NOT_NULL(from_command("OPENAI_API_KEY=sk-hidden1 env HF_TOKEN=hf_hidden2 vllm bench serve --header Authorization='Bearer hidden3' --api-key hidden4 "
					    "--base-url 'http://me:hidden5@host:8000/v1?key=hidden6' --model $MODEL --tokenizer \"`hidden7`\" --seed=3 --seed 4",
					    &s));
	CU_ASSERT(is(&s, IB_SET_ENDPOINT, "http://host:8000/v1") && is(&s, IB_SET_MODEL, NULL) && is(&s, IB_SET_TOKENIZER, NULL) && is(&s, IB_SET_SEED, "4"));
	for (size_t i = 0; i < IB_SETTINGS; i++)
		found = found || (s.v[i] && strstr(s.v[i], "hidden"));
	CU_ASSERT(!found);
	ib_settings_clear(&s);
}

static void test_settings_tell_commands_apart(void)
{
	static const char *const others[] = {"vllm serve m --seed 1", "echo bench serve", "vllm bench --seed 3", "", "serve bench vllm", "bench serve --seed 1"};
	struct ib_settings s;

	for (size_t i = 0; i < IB_LEN(others); i++)
		CU_ASSERT_PTR_NULL(from_command(others[i], &s));
	CU_ASSERT_PTR_NOT_NULL(from_command("cd /x && nohup /opt/bin/python3 -m vllm.entrypoints.cli.main bench serve --num_prompts 5 > log 2>&1 &", &s));
	CU_ASSERT(is(&s, IB_SET_REQUESTS, "5"));
	ib_settings_clear(&s);
	CU_ASSERT_PTR_NOT_NULL(from_command("python benchmarks/benchmark_serving.py --num-prompts 6 --ignore-eos --seed 1", &s));
	CU_ASSERT(is(&s, IB_SET_REQUESTS, "6") && is(&s, IB_SET_IGNORE_EOS, "true"));
	ib_settings_clear(&s);
}

static void test_settings_survive_hostile_logs(void)
{
	static const char *const bad[] = {"Namespace(", "Namespace()", "Namespace(a", "Namespace(a=", "Namespace(a='", "Namespace(a=[", "Namespace(a=[1,", "Namespace(a=,)",
					  "Namespace(a=<", "Namespace(a=x(", "Namespace(**{'a': 1})", "Namespace(a=1 b=2)", "Namespace(a=\\", "Namespace(a='\\", "Namespace(a=b'"};
	ib_auto_buf struct ib_buf deep = IB_BUF(1u << 21), b = {0};
	struct ib_settings s;

	for (size_t i = 0; i < IB_LEN(bad); i++)
		CU_ASSERT_PTR_NULL(from_log(bad[i], &s));
	ib_buf_adds(&deep, "Namespace(a=");
	for (size_t i = 0; i < 100000; i++)
		ib_buf_adds(&deep, "[(");
	CU_ASSERT_PTR_NULL(from_log(ib_buf_str(&deep), &s));
	load("vllm/13_metadata_override/stdout.txt", &b);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strchr(b.data, '\n'));
	for (size_t n = 0; n < (size_t)(strchr(b.data, '\n') - b.data); n += 7) { /* torn: not whole is not known */
		ib_auto_free char *copy = ib_strndup(b.data, n);

		CU_ASSERT_PTR_NULL(from_log(copy, &s));
	}
	s = (struct ib_settings){0};
	CU_ASSERT_PTR_NULL(ib_settings_from_log(NULL, 0, &s));
	CU_ASSERT_PTR_NULL(ib_settings_from_command(NULL, 0, &s));
}

static const struct ib_test tests[] = {
	IB_TEST(test_settings_words_are_split_as_a_shell_does),
	IB_TEST(test_settings_of_a_real_command_file),
	IB_TEST(test_settings_of_a_real_printed_configuration),
	IB_TEST(test_settings_of_pythons_spellings),
	IB_TEST(test_settings_that_contradict_are_not_known),
	IB_TEST(test_settings_of_another_data_set_do_not_count),
	IB_TEST(test_settings_never_hold_secrets_nor_expansions),
	IB_TEST(test_settings_tell_commands_apart),
	IB_TEST(test_settings_survive_hostile_logs),
	{0},
};

const struct ib_test_suite ib_suite = {"settings", tests};
