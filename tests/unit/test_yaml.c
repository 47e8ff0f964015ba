/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/json/yaml.c: what is read, what is refused, and where. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/yaml.h"

struct bad {
	const char *yaml, *message; /* the message's start */
};

static void expect_bad(const struct bad *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ib_auto_yaml struct ib_yaml *y = NULL;
		struct ib_err err = {0};

		CU_ASSERT_EQUAL(ib_yaml_load(list[i].yaml, strlen(list[i].yaml), "c.yaml", &y, &err), IB_E_USAGE);
		if (!ib_starts(err.text, list[i].message)) {
			printf("# for: %s\n# got: %s\n# want: %s\n", list[i].yaml, err.text, list[i].message);
			CU_FAIL("message");
		}
	}
}

static void test_yaml_tree_has_positions(void)
{
	static const char text[] = "a: 1\nb:\n  - x\n  - 'y'\nc: {d: \"e\"}\n";
	ib_auto_yaml struct ib_yaml *y = NULL;
	const struct ib_yaml *b, *d;
	struct ib_err err;

	CU_ASSERT_EQUAL_FATAL(ib_yaml_load(text, strlen(text), "c.yaml", &y, &err), 0);
	CU_ASSERT_EQUAL(y->kind, IB_YAML_MAP);
	CU_ASSERT_EQUAL(y->n, 3);
	b = ib_yaml_get(y, "b");
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_EQUAL(b->key_at.line, 2);
	CU_ASSERT_EQUAL(b->key_at.column, 1);
	CU_ASSERT_EQUAL(ib_yaml_item(b, 1)->at.line, 4);
	CU_ASSERT_EQUAL(ib_yaml_item(b, 1)->at.column, 5);
	CU_ASSERT_TRUE(ib_yaml_item(b, 0)->plain);
	CU_ASSERT_FALSE(ib_yaml_item(b, 1)->plain);
	CU_ASSERT_PTR_NULL(ib_yaml_item(b, 2));
	d = ib_yaml_get(ib_yaml_get(y, "c"), "d");
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	CU_ASSERT_STRING_EQUAL(d->text, "e");
	CU_ASSERT_EQUAL(d->at.column, 8);
	CU_ASSERT_PTR_NULL(ib_yaml_get(d, "x"));
}

static void test_yaml_scalars_stay_text(void)
{
	static const char text[] = "[no, 1.10, 010, 1_000, 2026-01-02, 0x1F, \"null\", '', on]";
	static const char *const want[] = {"no", "1.10", "010", "1_000", "2026-01-02", "0x1F", "null", "", "on"};
	ib_auto_yaml struct ib_yaml *y = NULL;

	CU_ASSERT_EQUAL_FATAL(ib_yaml_load(text, strlen(text), "c.yaml", &y, NULL), 0);
	CU_ASSERT_EQUAL(y->n, IB_LEN(want));
	for (size_t i = 0; i < IB_LEN(want); i++)
		CU_ASSERT_STRING_EQUAL(ib_yaml_item(y, i)->text, want[i]);
}

static void test_yaml_surprising_parts_are_refused(void)
{
	static const struct bad list[] = {
		{"a: 1\na: 2\n", "c.yaml:2:1: key 'a' occurs twice, first on line 1"},
		{"a: 1\n\"a\": 2\n", "c.yaml:2:1: key 'a' occurs twice"},
		{"a: &x 1\n", "c.yaml:1:4: anchor '&x'"},
		{"a: &x [1]\n", "c.yaml:1:4: anchor '&x'"},
		{"b: 1\na: *x\n", "c.yaml:2:4: alias '*x'"},
		{"a: !!str 1\n", "c.yaml:1:4: tag 'tag:yaml.org,2002:str'"},
		{"a: !exec x\n", "c.yaml:1:4: tag '!exec'"},
		{"a: ! x\n", "c.yaml:1:4: tag '!'"},
		{"a: !!map {}\n", "c.yaml:1:4: tag"},
		{"b: 1\n<<: {a: 1}\n", "c.yaml:2:1: merge key '<<'"},
		{"%YAML 1.1\n---\na: 1\n", "c.yaml:1:1: directives"},
		{"%TAG ! tag:x,2000:\n---\na: 1\n", "c.yaml:1:1: directives"},
		{"a: 1\n---\nb: 1\n", "c.yaml:2:1: a second document"},
		{"a: 1\n...\n---\nb: 1\n", "c.yaml:3:1: a second document"},
		{"? [a]\n: 1\n", "c.yaml:1:3: a key must be a name"},
		{"? {a: 1}\n: 1\n", "c.yaml:1:3: a key must be a name"},
		{"{[a]: 1}\n", "c.yaml:1:2: a key must be a name"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_yaml_nothing_is_no_value(void)
{
	static const struct bad list[] = {
		{"a:\n", "c.yaml:1:1: key 'a' has no value"},
		{"a: ~\n", "c.yaml:1:1: key 'a' has no value"},
		{"x: 1\na: null\n", "c.yaml:2:1: key 'a' has no value"},
		{"a: Null\n", "c.yaml:1:1: key 'a' has no value"},
		{"a: NULL\n", "c.yaml:1:1: key 'a' has no value"},
		{"a: [x, null]\n", "c.yaml:1:8: empty value: write \"null\""},
		{"a:\n  -\n", "c.yaml:2:4: empty value"},
		{"~: x\n", "c.yaml:1:1: empty key"},
		{": x\n", "c.yaml:1:1: did not find expected key while parsing a block mapping"},
		{"{: x}\n", "c.yaml:1:2: did not find expected node content"},
		{"", "c.yaml:1:1: the file is empty"},
		{"# only a comment\n", "c.yaml:1:1: the file is empty"},
		{"---\n", "c.yaml:2:1: empty value"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_yaml_bytes_that_are_no_text_are_refused(void)
{
	static const struct bad list[] = {
		{"a: \xFF\n", "c.yaml:1:4: not UTF-8"},
		{"a: gr\xC3\xBC\nb: \xC0\x80\n", "c.yaml:2:4: not UTF-8"},
		{"a: \xED\xA0\x80\n", "c.yaml:1:4: not UTF-8"},
		{"\xEF\xBB\xBF" "a: 1\n", "c.yaml:1:1: byte order mark"},
		{"\xFE\xFF", "c.yaml:1:1: not UTF-8"},
		{"a: \x01\n", "c.yaml:1:4: control characters are not allowed"},
		{"a: \"\\0\"\n", "c.yaml:1:4: text holds byte 0"},
	};
	ib_auto_yaml struct ib_yaml *y = NULL;
	struct ib_err err;

	expect_bad(list, IB_LEN(list));
	CU_ASSERT_EQUAL(ib_yaml_load("a: 1\nb: \0\n", 10, "c.yaml", &y, &err), IB_E_USAGE);
	CU_ASSERT_STRING_EQUAL(err.text, "c.yaml:2:4: byte 0: not a text file");
	CU_ASSERT_STRING_EQUAL(err.where, "c.yaml:2:4");
}

static void test_yaml_broken_syntax_has_a_place(void)
{
	static const struct bad list[] = {
		{"a: [1\nb: 2\n", "c.yaml:2:"},
		{"a: 1\n b: 2\n", "c.yaml:2:3: mapping values are not allowed"},
		{"a: \"x\n", "c.yaml:2:1: found unexpected end of stream"},
		{"\ta: 1\n", "c.yaml:1:1: a tab where only spaces may stand: indent with spaces"},
		{"a: 1\n- b\n", "c.yaml:2:1:"},
		{"a: 1\nb\n", "c.yaml:3:1:"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_yaml_limits_hold(void)
{
	ib_auto_buf struct ib_buf b = IB_BUF(4u << 20);
	struct ib_yaml *y = NULL;
	struct ib_err err;

	for (int i = 0; i < 32; i++)
		ib_buf_addc(&b, '[');
	ib_buf_adds(&b, "x");
	for (int i = 0; i < 32; i++)
		ib_buf_addc(&b, ']');
	CU_ASSERT_EQUAL(ib_yaml_load(b.data, b.len, "c.yaml", &y, &err), 0);
	ib_yaml_free(&y);
	ib_buf_reset(&b);
	for (int i = 0; i < 100000; i++)
		ib_buf_addc(&b, '[');
	CU_ASSERT_EQUAL(ib_yaml_load(b.data, b.len, "c.yaml", &y, &err), IB_E_USAGE);
	CU_ASSERT_STRING_EQUAL(err.text, "c.yaml:1:33: nested more than 32 deep");
	ib_buf_reset(&b);
	for (int i = 0; i < 1025; i++)
		ib_buf_addf(&b, "k%d: x\n", i);
	CU_ASSERT_EQUAL(ib_yaml_load(b.data, b.len, "c.yaml", &y, &err), IB_E_USAGE);
	CU_ASSERT_STRING_EQUAL(err.text, "c.yaml:1025:1: more than 1024 keys in one map");
	ib_buf_reset(&b);
	for (int i = 0; i < 60000; i++)
		ib_buf_adds(&b, "- x\n");
	CU_ASSERT_EQUAL(ib_yaml_load(b.data, b.len, "c.yaml", &y, &err), IB_E_USAGE);
	CU_ASSERT_TRUE(strstr(err.text, "more than 50000 values") != NULL);
	ib_buf_reset(&b);
	ib_buf_adds(&b, "a: ");
	for (size_t i = 0; i < IB_YAML_MAX; i++)
		ib_buf_addc(&b, 'x');
	CU_ASSERT_EQUAL(ib_yaml_load(b.data, b.len, "c.yaml", &y, &err), IB_E_USAGE);
	CU_ASSERT_PTR_NULL(y);
}

static const struct ib_test tests[] = {
	IB_TEST(test_yaml_tree_has_positions),
	IB_TEST(test_yaml_scalars_stay_text),
	IB_TEST(test_yaml_surprising_parts_are_refused),
	IB_TEST(test_yaml_nothing_is_no_value),
	IB_TEST(test_yaml_bytes_that_are_no_text_are_refused),
	IB_TEST(test_yaml_broken_syntax_has_a_place),
	IB_TEST(test_yaml_limits_hold),
	{0},
};

const struct ib_test_suite ib_suite = {"yaml", tests};
