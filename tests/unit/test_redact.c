/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/redact. Planted values are made up. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "redact/redact.h"

static const uint8_t test_key[] = "0123456789abcdef";

/* A list that owns its strings, as argv and environ do. */
#define STRINGS(name, ...)                                                        \
	static const char *const name##_text[] = {__VA_ARGS__};                   \
	ib_auto_strv struct ib_strv name##_list = {0};                            \
	for (size_t name##_i = 0; name##_i < IB_LEN(name##_text); name##_i++)     \
		ib_strv_add(&name##_list, name##_text[name##_i]);                 \
	char *const *name = name##_list.v

static bool secret(const char *name)
{
	return ib_name_secret(name, strlen(name));
}

static void test_redact_names_that_hold_secrets(void)
{
	static const char *const yes[] = {"HF_TOKEN", "OPENAI_API_KEY", "api-key", "apiKey", "dbPassword", "PGPASSWORD2", "NCCL_PROXY_PASS", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "Authorization", "SENTRY_DSN", "DB_CONN_STR", "DATABASE_CONNECTION_STRING", "CLEARML_API_ACCESS_KEY", "MLFLOW_TRACKING_PASSWORD",
		"x.private.key", "COOKIE", "TOKEN1", "VLLM_API_KEY", "CUDA_LICENCE"};
	static const char *const no[] = {"TOKENIZERS_PARALLELISM", "NCCL_ACCESS_MODE", "CUDA_DRIVER_API", "VLLM_MAX_NEW_TOKENS", "VLLM_MOE_TOKEN_THRESHOLD",
		"VLLM_MAX_TOKENS_PER_EXPERT_FP4", "KEY_VALUE_CACHE", "PUBLIC_KEY", "MONKEY", "PATH", "max_tokens", "tokenizer", "eos_token_id", "PWD", "ssl-keyfile"};

	for (size_t i = 0; i < IB_LEN(yes); i++)
		CU_ASSERT(secret(yes[i]));
	for (size_t i = 0; i < IB_LEN(no); i++)
		CU_ASSERT(!secret(no[i]));
}

static void test_redact_environment_is_an_allow_list(void)
{
	CU_ASSERT_EQUAL(ib_env_rule("CUDA_VISIBLE_DEVICES"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("TOKENIZERS_PARALLELISM"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("NCCL_ACCESS_MODE"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("CUDA_DRIVER_API"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("VLLM_MOE_TOKEN_THRESHOLD"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("LC_ALL"), IB_ENV_VALUE);
	CU_ASSERT_EQUAL(ib_env_rule("VLLM_API_KEY"), IB_ENV_OTHER);
	CU_ASSERT_EQUAL(ib_env_rule("NCCL_PROXY_PASS"), IB_ENV_OTHER);
	CU_ASSERT_EQUAL(ib_env_rule("LANGUAGE"), IB_ENV_OTHER);
	CU_ASSERT_EQUAL(ib_env_rule("PATH"), IB_ENV_OTHER);
	CU_ASSERT_EQUAL(ib_env_rule("https_proxy"), IB_ENV_PRESENCE);
}

/* One planted value per family; parts are joined here so that scanners of source trees stay quiet. */
static const struct {
	const char *a, *b, *rule;
} planted[] = {
	{"hf", "_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567", "hugging-face-token"},
	{"hf", "_CANARY_0123456789abcdef", "hugging-face-token"},
	{"sk", "-proj-abcdEFGH1234567890abcd", "llm-api-key"},
	{"sk", "-ant-api03-abcdEFGH12345678", "llm-api-key"},
	{"gsk", "_abcdEFGH1234567890abcdEFGH", "llm-api-key"},
	{"nvapi", "-abcdEFGH1234567890abcdEFGH", "llm-api-key"},
	{"AI", "zaSyA1234567890abcdefghijklmnopqrstuv", "google-api-key"},
	{"ghp", "_abcdefghijklmnopqrstuvwxyz0123456789", "github-token"},
	{"github", "_pat_11ABCDEFG0abcdefghijkl_0123456789abcdefghijklmnopqrst", "github-token"},
	{"glpat", "-abcdefghij0123456789", "gitlab-token"},
	{"npm", "_abcdefghijklmnopqrstuvwxyz0123456789", "npm-token"},
	{"AK", "IAIOSFODNN7EXAMPLE", "aws-key-id"},
	{"xox", "b-123456789012-abcdefghijkl", "slack-token"},
	{"SG", ".abcdefghijklmnopqr.abcdefghijklmnopqrstuvwxyz", "mail-api-key"},
	{"ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "json-web-token"},
	{"-----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\n", "private-key"},
	{"-----BEGIN OPENSSH PRIV", "ATE KEY-----\\nb3BlbnNzaC1r\\n-----END OPENSSH PRIVATE KEY-----", "private-key"},
	{"https://user:", "hunter2@example.org/x", "url-userinfo"},
	{"https://example.org/x?a=1&X-Amz-Signature=", "0123456789abcdef", "url-query"},
	{"https://conda.example.org/t/", "tk-1234-abcd/channel", "url-path-token"},
	{"Authorization: Bearer ", "abcd1234efgh", "named-secret"},
	{"Authorization: Basic ", "dXNlcjpwYXNzMQ==", "named-secret"},
	{"{\"api_key\": \"", "abcd1234\"}", "named-secret"},
	{"WANDB_API_KEY=", "0123456789abcdef0123456789abcdef01234567", "named-secret"},
	{"AccountKey", "=abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789abcdefghijklmnopqr==", "azure-account-key"},
};

static void test_redact_scanner_finds_each_family(void)
{
	for (size_t i = 0; i < IB_LEN(planted); i++) {
		ib_auto_free char *text = ib_asprintf("some words before %s%s", planted[i].a, planted[i].b);
		struct ib_hit hit;

		hit.rule = "nothing";
		ib_scan_next(text, strlen(text), 0, 0, &hit);
		if (strcmp(hit.rule, planted[i].rule) != 0)
			printf("# %s found in: %s\n", hit.rule, text);
		CU_ASSERT_STRING_EQUAL(hit.rule, planted[i].rule);
		CU_ASSERT_PTR_NOT_NULL(ib_scan_value(text, strlen(text)));
	}
}

static const char *looks_like(const char *s)
{
	const char *rule = ib_scan_value(s, strlen(s));

	return rule ? rule : "";
}

/* A word begins behind what colours it, and behind a control character that JSON escapes. */
static void test_redact_scanner_sees_words_behind_control_sequences(void)
{
	static const char *const before[] = {"\033[31m", "\033[1;38;5;196m", "\033[m", "\033(B\033[m", "\\u001b[0m", "\\x1b[0m", "\\033[1m", "a\\n", "a\\t", "a\\\\n",
		"a\\u000a", "a\\u000D", "a\\u0009", "a\\x0a"};
	static const char *const ordinary[] = {"word", "[31m", "x[0m", "0", "u000a", "(B", "1;2m", "\\q", "\\u010a"};

	for (size_t i = 0; i < IB_LEN(before); i++)
		for (size_t k = 0; k < 13; k++) {
			ib_auto_free char *text = ib_asprintf("%s%s%s", before[i], planted[k].a, planted[k].b);

			if (ib_scan_text(text, strlen(text), NULL, NULL) != 1)
				printf("# not found in: %s\n", text);
			CU_ASSERT_EQUAL(ib_scan_text(text, strlen(text), NULL, NULL), 1);
		}
	for (size_t i = 0; i < IB_LEN(ordinary); i++) {
		ib_auto_free char *text = ib_asprintf("%s%s%s", ordinary[i], planted[8].a, planted[8].b);

		CU_ASSERT_EQUAL(ib_scan_text(text, strlen(text), NULL, NULL), 0);
	}
	CU_ASSERT_STRING_EQUAL(looks_like("\033[1mDB_PASSWORD\033[0m: \033[32mabc123456789\033[0m"), "named-secret");
	CU_ASSERT_STRING_EQUAL(looks_like("\033[1mlearning_rate\033[0m=\033[32mabc123456789\033[0m"), "");
}

static void test_redact_a_path_is_no_random_value(void)
{
	CU_ASSERT_STRING_EQUAL(looks_like("/home/runner/Work7Kq/Tools2Xb/main/tests/real"), "");
	CU_ASSERT_STRING_EQUAL(looks_like("PYTHONPATH=/srv/Bd7Kq/Tx2Lm/Zw9Rp/tests:/home/Yc4Nv/Qa8Hs/Jf3Ge/cache"), "");
	CU_ASSERT_STRING_EQUAL(looks_like("../Bd7Kq/Tx2Lm/Zw9Rp/Yc4Nv/Qa8Hs/out"), "");
	CU_ASSERT_STRING_EQUAL(looks_like("~/Bd7Kq/Tx2Lm/Zw9Rp/Yc4Nv/Qa8Hs/out"), "");
	CU_ASSERT_STRING_EQUAL(looks_like("Bd7Kq/Tx2Lm/Zw9Rp/Yc4Nv/Qa8Hs/Jf3Ge"), "random-text");
	CU_ASSERT_STRING_EQUAL(looks_like("value=Bd7KqTx2LmZw9RpYc4NvQa8Hs="), "random-text");
	CU_ASSERT_STRING_EQUAL(looks_like("/srv/Bd7KqTx2LmZw9RpYc4NvQa8Hs/out"), "random-text");
}

static void test_redact_scanner_lets_ordinary_text_pass(void)
{
	static const char *const text[] = {"TOKENIZERS_PARALLELISM=false", "hf_hub_enable_hf_transfer is on", "sk-estimator-doc-link-to-text-on-hover",
		"max_tokens: 128000", "\"eos_token\": \"<|im_end|>\"", "\"session\": \"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", "https://github.com/org/repo.git",
		"ssh://git@github.com/org/repo.git", "api_key=None", "--api-key API_KEY", "HF_TOKEN=${HF_TOKEN}", "password: ********", "key: value1234567",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "commit 1535efc0123456789abcdef0123456789abcdef0", "tpot_per_token: 12.3456789",
		"http://127.0.0.1:8000/v1/completions?stream=true", "time_to_first_token=0.123456789s", "https://x:<redacted:url-userinfo:12:0123456789abcdef>@h/",
		"GPU-f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "task-queue-manager-with-long-name-0001", "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15"};

	for (size_t i = 0; i < IB_LEN(text); i++) {
		struct ib_hit hit;
		bool found = ib_scan_next(text[i], strlen(text[i]), 0, 0, &hit);

		if (found)
			printf("# rule %s in: %s\n", hit.rule, text[i]);
		CU_ASSERT(!found);
	}
}

struct hits {
	uint64_t line[8];
	size_t n;
};

static void on_hit(void *arg, uint64_t line, const char *rule)
{
	struct hits *h = arg;

	CU_ASSERT_PTR_NOT_NULL(rule);
	if (h->n < 8)
		h->line[h->n++] = line;
}

static void test_redact_scan_of_text_and_file_names_lines(void)
{
	char path[] = "/tmp/ib-redact-XXXXXX";
	ib_auto_buf struct ib_buf b = IB_BUF(8u << 20);
	ib_auto_fd int fd = mkstemp(path);
	struct hits text = {0}, file = {0};
	uint64_t n = 0;

	unlink(path);
	ib_buf_adds(&b, "one\ntwo password=abcd12345\n");
	for (int i = 0; i < 200000; i++)
		ib_buf_adds(&b, "an ordinary line\n");
	ib_buf_addf(&b, "%s%s", planted[7].a, planted[7].b);
	CU_ASSERT_EQUAL(ib_scan_text(b.data, b.len, on_hit, &text), 2);
	CU_ASSERT_EQUAL(text.line[0], 2);
	CU_ASSERT_EQUAL(text.line[1], 200003);
	CU_ASSERT_EQUAL_FATAL(ib_write_all(fd, b.data, b.len, path, NULL), 0);
	lseek(fd, 0, SEEK_SET);
	CU_ASSERT_EQUAL(ib_scan_fd(fd, path, on_hit, &file, &n, NULL), 0);
	CU_ASSERT_EQUAL(n, 2);
	CU_ASSERT_EQUAL(file.line[0], 2);
	CU_ASSERT_EQUAL(file.line[1], 200003);
}

static void test_redact_scan_sees_a_secret_at_any_place_of_a_file(void)
{
	char path[] = "/tmp/ib-redact-XXXXXX";
	ib_auto_fd int fd = mkstemp(path);

	unlink(path);
	for (size_t before = (1u << 20) - 60; before < (1u << 20) + 60; before += 7) {
		ib_auto_buf struct ib_buf b = IB_BUF(8u << 20);
		uint64_t n = 0;

		for (size_t i = 0; i < before; i++)
			ib_buf_addc(&b, i % 50 ? 'a' : '\n');
		ib_buf_addf(&b, "\n%s%s\n", planted[15].a, planted[15].b);
		CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 0), 0);
		lseek(fd, 0, SEEK_SET);
		CU_ASSERT_EQUAL_FATAL(ib_write_all(fd, b.data, b.len, path, NULL), 0);
		lseek(fd, 0, SEEK_SET);
		CU_ASSERT_EQUAL(ib_scan_fd(fd, path, NULL, NULL, &n, NULL), 0);
		CU_ASSERT_EQUAL(n, 1);
	}
}

/* One line without an end, as machines write JSON: there is no good place to cut it. */
static void test_redact_scan_sees_a_secret_at_any_place_of_one_long_line(void)
{
	static const char *const fills[] = {"aaaaaaaaa,", "\"a\": 111, "};
	char path[] = "/tmp/ib-redact-XXXXXX";
	ib_auto_fd int fd = mkstemp(path);

	unlink(path);
	for (size_t k = 0; k < 2; k++)
		for (size_t step = 0; step < 40; step++) {
			size_t before = step < 20 ? (1u << 20) - 60 + step * 5 : (1u << 20) - (64u << 10) - 60 + (step - 20) * 5;
			ib_auto_buf struct ib_buf b = IB_BUF(8u << 20);
			uint64_t n = 0;

			for (size_t i = 0; i < before; i++)
				ib_buf_addc(&b, fills[k][(i + 10 - before % 10) % 10]);
			ib_buf_addf(&b, "\"%s\": \"%s\",", "api_key", "abcd1234efgh5678");
			for (size_t i = 0; i < 100000; i++)
				ib_buf_addc(&b, fills[k][i % 10]);
			CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 0), 0);
			lseek(fd, 0, SEEK_SET);
			CU_ASSERT_EQUAL_FATAL(ib_write_all(fd, b.data, b.len, path, NULL), 0);
			lseek(fd, 0, SEEK_SET);
			CU_ASSERT_EQUAL(ib_scan_fd(fd, path, NULL, NULL, &n, NULL), 0);
			CU_ASSERT_EQUAL(n, 1);
		}
}

/* CPU time to scan n bytes made of one piece. */
static clock_t scan_time(const char *piece, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF(2u << 20);
	clock_t start;

	while (b.len < n)
		ib_buf_adds(&b, piece);
	start = clock();
	ib_scan_text(b.data, b.len, NULL, NULL);
	return clock() - start;
}

/* Text made to be slow: four times as much must take about four times as long, not sixteen times. */
static void test_redact_scan_of_hostile_text_is_linear(void)
{
	static const char *const pieces[] = {"hf_", "eyJ-", "://a", "my_token=\"", "SG.", "-----BEGIN ", "?sig=", "api_key=", "Bearer ", "\033[1", "\033[1;1", "token\033[0m="};

	for (size_t i = 0; i < IB_LEN(pieces); i++) {
		clock_t small = scan_time(pieces[i], 1u << 17), large = scan_time(pieces[i], 1u << 19);

		if (large > 8 * small + CLOCKS_PER_SEC / 10)
			printf("# %s: %ld and %ld\n", pieces[i], (long)small, (long)large);
		CU_ASSERT(large <= 8 * small + CLOCKS_PER_SEC / 10);
	}
}

static void test_redact_urls_lose_user_information(void)
{
	static const char *const pairs[][2] = {
		{"https://user:hunter2@example.org/a.git", "https://example.org/a.git"},
		{"https://oauth2@example.org/a.git", "https://example.org/a.git"},
		{"https://a:b@c@example.org/a.git", "https://example.org/a.git"},
		{"ssh://git@example.org:22/a.git", "ssh://example.org:22/a.git"},
		{"git@example.org:a/b.git", "example.org:a/b.git"},
		{"https://example.org/a?x=1&token=abcd1234", "https://example.org/a?x=1&token=***"},
		{"/srv/git/a.git", "/srv/git/a.git"},
		{"https://example.org/@scope/x", "https://example.org/@scope/x"},
	};

	for (size_t i = 0; i < IB_LEN(pairs); i++) {
		ib_auto_free char *got = ib_url_scrub(pairs[i][0]);

		CU_ASSERT_STRING_EQUAL(got, pairs[i][1]);
	}
}

static void test_redact_command_lines(void)
{
	STRINGS(env, "HF_TOKEN=correct-horse-battery", "HOME=/home/alice", "CUDA_VISIBLE_DEVICES=0", "SSH_AUTH_SOCK=/tmp/ssh-agent.1");
	STRINGS(argv, "serve", "--api-key", "abc", "d", "--model", "/home/alice/models/m", "--hf-token=x1", "-H", "Authorization: Bearer y1y2", "HF_TOKEN=z", "sh", "-c",
		"tool --password q --n 3", "x correct-horse-battery y", "--max-tokens", "12", "-u", "me:pw", "--tokenizer", "t", "https://u:p1@h/");
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, env);
	ib_auto_strv struct ib_strv got = {0};
	struct ib_err err;

	ib_redact_argv(r, argv, &got);
	CU_ASSERT_EQUAL_FATAL(got.n, argv_list.n);
	CU_ASSERT(ib_starts(got.v[2], "<redacted:named-secret:3:"));
	CU_ASSERT(ib_starts(got.v[3], "<redacted:named-secret:1:"));
	CU_ASSERT_STRING_EQUAL(got.v[5], "~/models/m");
	CU_ASSERT(ib_starts(got.v[6], "--hf-token=<redacted:"));
	CU_ASSERT(ib_starts(got.v[8], "Authorization: Bearer <redacted:"));
	CU_ASSERT(ib_starts(got.v[9], "HF_TOKEN=<redacted:"));
	CU_ASSERT(ib_starts(got.v[12], "tool --password <redacted:") && ib_ends(got.v[12], " --n 3"));
	CU_ASSERT(ib_starts(got.v[13], "x <redacted:literal:21:") && ib_ends(got.v[13], "> y"));
	CU_ASSERT_STRING_EQUAL(got.v[15], "12");
	CU_ASSERT(ib_starts(got.v[17], "me:<redacted:"));
	CU_ASSERT_STRING_EQUAL(got.v[19], "t");
	CU_ASSERT(ib_starts(got.v[20], "https://<redacted:") && ib_ends(got.v[20], ">@h/"));
	for (size_t i = 0; i < got.n; i++) {
		ib_auto_free char *again = ib_redact_text(r, got.v[i]);

		CU_ASSERT_STRING_EQUAL(again, got.v[i]);
		CU_ASSERT_EQUAL(ib_gate(r, got.v[i], strlen(got.v[i]), "argument", &err), 0);
	}
	ib_redactor_free(&r);
}

static void test_redact_home_is_a_tilde_where_a_path_starts(void)
{
	static const char *const pairs[][2] = {
		{"/root", "~"},
		{"/root/x:/root", "~/x:~"},
		{"--cache=/root/x", "--cache=~/x"},
		{"file:/root/x", "file:~/x"},
		{"/rooted", "/rooted"},
		{"rd.lvm.lv=system/root", "rd.lvm.lv=system/root"},
		{"/mnt/root/x", "/mnt/root/x"},
	};
	STRINGS(env, "HOME=/root/");
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, env);

	for (size_t i = 0; i < IB_LEN(pairs); i++) {
		ib_auto_free char *got = ib_redact_text(r, pairs[i][0]);

		CU_ASSERT_STRING_EQUAL(got, pairs[i][1]);
	}
	ib_redactor_free(&r);
}

static void test_redact_gate_fails_closed(void)
{
	STRINGS(env, "DB_PASSWORD=a\"b\ncorrect horse battery", "XDG_SESSION_TYPE=wayland-like", "SHORT_KEY=abc");
	struct ib_redactor *r = ib_redactor_with_key(test_key, 16, env);
	struct ib_err err = {0};

	CU_ASSERT_EQUAL(ib_gate(r, "{\"a\": \"abc wayland-like\"}", 25, "x.json", &err), 0);
	CU_ASSERT_EQUAL(ib_gate(r, "{\"x\":\n\"a\\\"b\\ncorrect horse battery\"}", 36, "x.json", &err), IB_E_STATE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "line 2"));
	CU_ASSERT_PTR_NULL(strstr(err.text, "horse"));
	CU_ASSERT_EQUAL(ib_gate(r, "https://u:pw@h/", 15, "x.json", &err), IB_E_STATE);
	CU_ASSERT_EQUAL(ib_gate(r, "", 0, "x.json", &err), 0);
	ib_redactor_free(&r);
}

static void test_redact_pseudonyms_are_keyed_and_stable(void)
{
	struct ib_redactor *a = ib_redactor_with_key(test_key, 16, NULL), *b = ib_redactor_with_key(test_key, 15, NULL);
	char x[IB_PSEUDONYM_LEN], y[IB_PSEUDONYM_LEN];

	ib_pseudonym(a, "node", "host", 4, x);
	ib_pseudonym(a, "node", "host", 4, y);
	CU_ASSERT_STRING_EQUAL(x, y);
	CU_ASSERT(ib_is_hex(x, 16));
	ib_pseudonym(a, "boot", "host", 4, y);
	CU_ASSERT_STRING_NOT_EQUAL(x, y);
	ib_pseudonym(b, "node", "host", 4, y);
	CU_ASSERT_STRING_NOT_EQUAL(x, y);
	ib_redactor_free(&a);
	ib_redactor_free(&b);
}

static void log_count(void *arg, enum ib_level level, const char *line)
{
	(void)level;
	(void)line;
	++*(int *)arg;
}

static void test_redact_key_is_private_and_kept(void)
{
	char dir[] = "/tmp/ib-redact-XXXXXX";
	ib_auto_free char *state = NULL, *file = NULL;
	struct ib_redactor *r[4] = {0};
	char label[4][IB_PSEUDONYM_LEN];
	struct stat st;
	int warnings = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	state = ib_asprintf("XDG_STATE_HOME=%s", dir);
	file = ib_asprintf("%s/ibtools/keys/machine", dir);
	STRINGS(none, "XDG_STATE_HOME=/proc/nowhere");
	char *env[] = {state, NULL};
	const struct ib_ctx ctx = {.env = env, .log = log_count, .log_arg = &warnings}, bad = {.env = none, .log = log_count, .log_arg = &warnings};

	CU_ASSERT_EQUAL(ib_redactor_new(&ctx, NULL, &r[0], NULL), 0);
	CU_ASSERT_EQUAL(ib_redactor_new(&ctx, NULL, &r[1], NULL), 0);
	CU_ASSERT_EQUAL(ib_redactor_new(&ctx, dir, &r[2], NULL), 0);
	CU_ASSERT_EQUAL(warnings, 0);
	CU_ASSERT_EQUAL(ib_redactor_new(&bad, NULL, &r[3], NULL), 0);
	CU_ASSERT_EQUAL(warnings, 1);
	for (int i = 0; i < 4; i++) {
		ib_pseudonym(r[i], "node", "x", 1, label[i]);
		ib_redactor_free(&r[i]);
	}
	CU_ASSERT_STRING_EQUAL(label[0], label[1]);
	CU_ASSERT_STRING_NOT_EQUAL(label[0], label[2]);
	CU_ASSERT_STRING_NOT_EQUAL(label[0], label[3]);
	CU_ASSERT_EQUAL_FATAL(stat(file, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0600);
	CU_ASSERT_EQUAL(st.st_size, 32);
	ib_auto_fd int keys = -1;
	ib_auto_free char *keys_dir = ib_asprintf("%s/ibtools/keys", dir);

	CU_ASSERT_EQUAL_FATAL(ib_open_dir(AT_FDCWD, keys_dir, &keys, NULL), 0);
	ib_auto_dir DIR *d = fdopendir(dup(keys));

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (e->d_name[0] != '.')
			unlinkat(keys, e->d_name, 0);
	rmdir(keys_dir);
	*strrchr(keys_dir, '/') = '\0';
	rmdir(keys_dir);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
}

static const struct ib_test tests[] = {
	IB_TEST(test_redact_names_that_hold_secrets),
	IB_TEST(test_redact_environment_is_an_allow_list),
	IB_TEST(test_redact_scanner_finds_each_family),
	IB_TEST(test_redact_scanner_sees_words_behind_control_sequences),
	IB_TEST(test_redact_a_path_is_no_random_value),
	IB_TEST(test_redact_scanner_lets_ordinary_text_pass),
	IB_TEST(test_redact_scan_of_text_and_file_names_lines),
	IB_TEST(test_redact_scan_sees_a_secret_at_any_place_of_a_file),
	IB_TEST(test_redact_scan_sees_a_secret_at_any_place_of_one_long_line),
	IB_TEST(test_redact_scan_of_hostile_text_is_linear),
	IB_TEST(test_redact_urls_lose_user_information),
	IB_TEST(test_redact_command_lines),
	IB_TEST(test_redact_home_is_a_tilde_where_a_path_starts),
	IB_TEST(test_redact_gate_fails_closed),
	IB_TEST(test_redact_pseudonyms_are_keyed_and_stable),
	IB_TEST(test_redact_key_is_private_and_kept),
	{0},
};

const struct ib_test_suite ib_suite = {"redact", tests};
