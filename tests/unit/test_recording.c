/* SPDX-License-Identifier: Apache-2.0 */
/* No load reaches a server when a client is run against the loopback endpoint; recordings are compared request by request. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/ceiling.h"
#include "run/readdress.h"
#include "run/recording.h"
#include "unit.h"

struct addressed {
	const char *endpoint, *argv, *want; /* argv: arguments with | between; want NULL: refused */
};

static void split(const char *text, struct ib_strv *ret)
{
	for (;;) {
		size_t n = strcspn(text, "|");

		ib_strv_take(ret, ib_strndup(text, n));
		if (!text[n])
			return;
		text += n + 1;
	}
}

static char *join(const struct ib_strv *l)
{
	ib_auto_buf struct ib_buf b = IB_BUF(10000);

	for (size_t i = 0; i < l->n; i++)
		ib_buf_addf(&b, "%s%s", i ? "|" : "", l->v[i]);
	return ib_buf_steal(&b);
}

#define LOCAL "http://127.0.0.1:8000/v1"
#define FAR "https://llm.example.org/api"

static void test_recording_replaces_every_address(void)
{
	static const struct addressed cases[] = {
		{LOCAL, "x|--base-url|http://127.0.0.1:8000|-n|8000", "x|--base-url|http://127.0.0.1:99|-n|8000"},
		{LOCAL, "x|--base-url=http://localhost:8000/v1", "x|--base-url=http://127.0.0.1:99/v1"},
		{LOCAL, "x|http://LOCALHOST:8000?a=b", "x|http://127.0.0.1:99?a=b"},
		{LOCAL, "x|http://[::1]:8000/v1/completions", "x|http://127.0.0.1:99/v1/completions"},
		{LOCAL, "x|{\"target\":\"http://0.0.0.0:8000\"}", "x|{\"target\":\"http://127.0.0.1:99\"}"},
		{LOCAL, "x|127.0.0.1:8000,127.0.0.1:8000", "x|127.0.0.1:99,127.0.0.1:99"},
		{LOCAL, "x|--host|127.0.0.1|--port|8000", "x|--host|127.0.0.1|--port|99"},
		{LOCAL, "x|--port=8000", "x|--port=99"},
		{LOCAL, "x|--port|8000|--host=localhost", "x|--port|99|--host=127.0.0.1"},
		{FAR, "x|--url|https://llm.example.org/api", "x|--url|http://127.0.0.1:99/api"},
		{FAR, "x|--url|https://LLM.example.org:443/api", "x|--url|http://127.0.0.1:99/api"},
		{"http://10.0.0.5:8000", "x|http://10.0.0.5:8000", "x|http://127.0.0.1:99"},
		/* what still names the server, or names none, is not run */
		{LOCAL, "x|-n|10", NULL},
		{LOCAL, "x|--base-url|http://127.0.0.1:8001", NULL},
		{LOCAL, "x|http://127.0.0.1:80000", NULL},
		{LOCAL, "x|--host|127.0.0.1", NULL},
		{LOCAL, "x|--host|127.0.0.1|--port|9000", NULL},
		{LOCAL, "x|http://127.0.0.1:8000|http://myself.lan:8000", NULL},
		{LOCAL, "x|my-127.0.0.1:8000", NULL},
		{FAR, "x|https://llm.example.org:8443|https://llm.example.org", NULL},
		{FAR, "x|https://llm.example.org|--host|llm.example.org", NULL},
		{FAR, "x|https://other.example.org", NULL},
		{"http://10.0.0.5:8000", "x|http://10.0.0.5:8000|http://10.0.0.5:9000", NULL},
		{"http://10.0.0.5:8000", "x|http://10.0.0.55:8000", NULL},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_readdress struct ib_readdress r = {0};
		ib_auto_strv struct ib_strv argv = {0};
		ib_auto_free char *got = NULL;
		struct ib_err err = {0};
		int e = ib_readdress_init(&r, cases[i].endpoint, 99, &err);

		CU_ASSERT_EQUAL_FATAL(e, 0);
		split(cases[i].argv, &argv);
		e = ib_readdress_argv(&r, &argv, &err);
		got = join(&argv);
		if (e != (cases[i].want ? 0 : IB_E_USAGE) || (cases[i].want && strcmp(got, cases[i].want) != 0))
			printf("# %s: %s (%d %s)\n", cases[i].argv, got, e, err.text);
		CU_ASSERT_EQUAL(e, cases[i].want ? 0 : IB_E_USAGE);
		CU_ASSERT(!cases[i].want || strcmp(got, cases[i].want) == 0);
	}
}

static void test_recording_needs_an_endpoint_with_a_host(void)
{
	static const char *const bad[] = {"127.0.0.1:8000", "http://", "http://u@host:1/", "http://host:port/", "http://:80/"};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_readdress struct ib_readdress r = {0};

		CU_ASSERT_EQUAL(ib_readdress_init(&r, bad[i], 99, NULL), IB_E_USAGE);
	}
}

static void line(struct ib_buf *b, int n, char digit)
{
	char hex[IB_HEX_LEN];

	memset(hex, digit, 64);
	hex[64] = '\0';
	ib_buf_addf(b, "{\"n\":%d,\"path\":\"/v1/completions\",\"sha256\":\"%s\",\"prompt_sha256\":\"%s\",\"bytes\":1,\"canonical\":true}\n", n, hex, hex);
}

static void recorded(const char *digits, struct ib_recorded *ret)
{
	ib_auto_buf struct ib_buf b = IB_BUF(100000);

	for (int i = 0; digits[i]; i++)
		line(&b, i, digits[i]);
	ib_buf_addf(&b, "{\"requests\":%zu}\n", strlen(digits));
	CU_ASSERT_EQUAL_FATAL(ib_recorded_read(ib_buf_str(&b), b.len, false, ret, NULL), 0);
}

static void test_recording_compares_whatever_the_order(void)
{
	static const struct {
		const char *before, *now;
		size_t differ, first;
	} cases[] = {{"abc", "cab", 0, 3}, {"aab", "abb", 1, 1}, {"abc", "abcd", 1, 3}, {"abcd", "abc", 0, 3}, {"", "ff", 2, 0}, {"abc", "dba", 1, 0}};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_recorded struct ib_recorded a = {0}, b = {0};
		size_t first, n;

		recorded(cases[i].before, &a);
		recorded(cases[i].now, &b);
		n = ib_recorded_differ(&a, &b, &first);
		CU_ASSERT_EQUAL(n, cases[i].differ);
		CU_ASSERT_EQUAL(first, cases[i].first);
		CU_ASSERT_EQUAL(strcmp(a.set_sha256, b.set_sha256) == 0, n == 0 && a.n == b.n);
	}
}

static void test_recording_counts_what_is_unique(void)
{
	ib_auto_recorded struct ib_recorded r = {0};

	recorded("abcabcaa", &r);
	CU_ASSERT_EQUAL(r.n, 8);
	CU_ASSERT_EQUAL(r.unique, 3);
	CU_ASSERT_EQUAL(r.unique_prompts, 3);
}

static void test_recording_that_is_not_whole_is_refused(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(100000);
	ib_auto_recorded struct ib_recorded r = {0};
	size_t whole;

	line(&b, 0, 'a');
	CU_ASSERT_EQUAL(ib_recorded_read(ib_buf_str(&b), b.len, false, &r, NULL), IB_E_TRUNC);
	line(&b, 1, 'b');
	whole = b.len;
	ib_buf_adds(&b, "{\"requests\":3}\n");
	CU_ASSERT_EQUAL(ib_recorded_read(ib_buf_str(&b), b.len, false, &r, NULL), IB_E_TRUNC);
	b.len = whole;
	ib_buf_adds(&b, "{\"requests\":2}\n{\"requests\":2}\n");
	CU_ASSERT_EQUAL(ib_recorded_read(ib_buf_str(&b), b.len, false, &r, NULL), IB_E_TRAILING);
	b.len = whole;
	line(&b, 3, 'c'); /* one is missing */
	ib_buf_adds(&b, "{\"requests\":3}\n");
	CU_ASSERT_EQUAL(ib_recorded_read(ib_buf_str(&b), b.len, false, &r, NULL), IB_E_SYNTAX);
	b.len = whole;
	ib_buf_adds(&b, "{\"requests\":2}");
	CU_ASSERT_EQUAL(ib_recorded_read(ib_buf_str(&b), b.len, false, &r, NULL), IB_E_TRUNC);
}

static void test_recording_ceiling_from_the_endpoints_log(void)
{
	static const char text[] =
		"{\"what\":\"completion\",\"arrived_ns\":1000,\"ended_ns\":500,\"status\":200,\"output_tokens\":8,\"finish_reason\":\"length\"}\n"
		"{\"what\":\"reset_prefix_cache\",\"status\":200}\n"
		"{\"what\":\"chat\",\"arrived_ns\":2000,\"ended_ns\":3000,\"status\":200,\"output_tokens\":4,\"finish_reason\":\"length\"}\n"
		"{\"what\":\"chat\",\"arrived_ns\":0,\"ended_ns\":9000,\"status\":200,\"output_tokens\":4,\"finish_reason\":\"abort\"}\n"
		"{\"what\":\"completion\",\"arrived_ns\":10,\"ended_ns\":1,\"status\":400,\"output_tokens\":0,\"finish_reason\":null}\n";
	struct ib_truth_sum s;

	CU_ASSERT_EQUAL_FATAL(ib_truth_sum(text, strlen(text), &s, NULL), 0);
	CU_ASSERT_EQUAL(s.requests, 4);
	CU_ASSERT_EQUAL(s.succeeded, 2);
	CU_ASSERT_EQUAL(s.output_tokens, 12);
	CU_ASSERT_EQUAL(s.window_ns, 4000);
	CU_ASSERT_EQUAL(ib_truth_sum(text, strlen(text) - 1, &s, NULL), IB_E_TRUNC);
	CU_ASSERT_EQUAL_FATAL(ib_truth_sum("", 0, &s, NULL), 0);
	CU_ASSERT_EQUAL(s.window_ns, IB_NONE);
}

static const struct ib_test tests[] = {
	IB_TEST(test_recording_replaces_every_address),
	IB_TEST(test_recording_needs_an_endpoint_with_a_host),
	IB_TEST(test_recording_compares_whatever_the_order),
	IB_TEST(test_recording_counts_what_is_unique),
	IB_TEST(test_recording_that_is_not_whole_is_refused),
	IB_TEST(test_recording_ceiling_from_the_endpoints_log),
	{0},
};

const struct ib_test_suite ib_suite = {"recording", tests};
