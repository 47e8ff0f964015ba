/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of the ledger's hash chain. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "ledger/chain.h"

/* n linked lines; skip leaves one out (0: none), as somebody would who deletes an entry. */
static char *make(int n, int skip)
{
	struct ib_buf b = IB_BUF(1u << 20);
	char prev[IB_HEX_LEN] = "";

	for (int i = 1; i <= n; i++) {
		char *quoted = prev[0] ? ib_asprintf("\"%s\"", prev) : ib_strdup("null");
		char *line = ib_asprintf("{\"seq\":%d,\"kind\":\"note\",\"text\":\"n%d\",\"prev\":%s}", i, i, quoted);

		if (i != skip)
			ib_buf_addf(&b, "%s\n", line);
		ib_sha256_of(line, strlen(line), prev);
		free(line);
		free(quoted);
	}
	return ib_buf_steal(&b);
}

static void count(void *arg, uint64_t seq, const char *line, size_t n, const json_t *entry)
{
	int *calls = arg;

	CU_ASSERT_EQUAL(seq, (uint64_t)++*calls);
	CU_ASSERT_EQUAL(strlen(line), n);
	CU_ASSERT_TRUE(json_is_object(entry));
}

/* Feeds text in pieces of step bytes. */
static int run(struct ib_chain *c, const char *text, size_t n, size_t step, int *calls, struct ib_err *err)
{
	ib_chain_init(c, count, calls);
	for (size_t at = 0; at < n; at += step) {
		int r = ib_chain_feed(c, text + at, n - at < step ? n - at : step, err);

		if (r < 0)
			return r;
	}
	ib_chain_end(c);
	return 0;
}

static void test_chain_holds_in_any_pieces(void)
{
	ib_auto_free char *text = make(5, 0);
	static const size_t steps[] = {1, 7, 100, 100000};
	char want[IB_HEX_LEN];
	const char *last = strstr(text, "{\"seq\":5");

	ib_sha256_of(last, strlen(last) - 1, want);
	for (size_t i = 0; i < IB_LEN(steps); i++) {
		ib_auto_chain struct ib_chain c;
		struct ib_err err;
		int calls = 0;

		CU_ASSERT_EQUAL(run(&c, text, strlen(text), steps[i], &calls, &err), 0);
		CU_ASSERT_STRING_EQUAL(c.why, "");
		CU_ASSERT_EQUAL(c.length, 5);
		CU_ASSERT_EQUAL(calls, 5);
		CU_ASSERT_STRING_EQUAL(c.head, want);
	}
}

static void expect_fault(const char *text, uint64_t line, int want_calls)
{
	ib_auto_chain struct ib_chain c;
	struct ib_err err;
	int calls = 0;

	CU_ASSERT_EQUAL(run(&c, text, strlen(text), 64, &calls, &err), 0);
	CU_ASSERT_STRING_NOT_EQUAL(c.why, "");
	CU_ASSERT_EQUAL(c.why_line, line);
	CU_ASSERT_EQUAL(calls, want_calls);
}

static void test_chain_names_the_line_at_fault(void)
{
	ib_auto_free char *removed = make(5, 3), *edited = make(5, 0), *torn = make(3, 0);

	expect_fault(removed, 3, 2);
	strstr(edited, "n2")[1] = 'x';
	expect_fault(edited, 3, 2);
	torn[strlen(torn) - 1] = '\0';
	expect_fault(torn, 3, 2);
	expect_fault("", 0, 0);
	expect_fault("[]\n", 1, 0);
	expect_fault("{\"seq\":1,\"seq\":1,\"prev\":null}\n", 1, 0);
	expect_fault("{\"seq\":1}\n", 1, 0);
	expect_fault("{\"seq\":1.0,\"prev\":null}\n", 1, 0);
	expect_fault("{\"seq\":1,\"prev\":\"\"}\n", 1, 0);
}

static void test_chain_drop_of_the_tail_changes_head_and_length(void)
{
	ib_auto_free char *text = make(4, 0);
	ib_auto_chain struct ib_chain c;
	struct ib_err err;
	int calls = 0;

	*strstr(text, "{\"seq\":4") = '\0';
	CU_ASSERT_EQUAL(run(&c, text, strlen(text), 50, &calls, &err), 0);
	CU_ASSERT_STRING_EQUAL(c.why, "");
	CU_ASSERT_EQUAL(c.length, 3);
}

static void test_chain_limits_a_line(void)
{
	size_t n = IB_LEDGER_LINE_MAX + 1;
	ib_auto_free char *text = ib_alloc(n + 1);
	struct ib_err err;

	memset(text, ' ', n);
	for (int over = 0; over < 2; over++) {
		ib_auto_chain struct ib_chain c;
		int calls = 0;

		text[IB_LEDGER_LINE_MAX] = over ? ' ' : '\n';
		CU_ASSERT_EQUAL(run(&c, text, n, 1000, &calls, &err), over ? IB_E_LIMIT : 0);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_chain_holds_in_any_pieces),
	IB_TEST(test_chain_names_the_line_at_fault),
	IB_TEST(test_chain_drop_of_the_tail_changes_head_and_length),
	IB_TEST(test_chain_limits_a_line),
	{0},
};

const struct ib_test_suite ib_suite = {"chain", tests};
