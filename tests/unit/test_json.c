/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/json. */
#include "unit.h"

#include <math.h>

#include "base/auto.h"
#include "base/str.h"
#include "json/json.h"

static void test_json_loader_is_strict(void)
{
	static const char *const bad[] = {"{\"a\":1,\"a\":2}", "[1]x", "{\"a\":NaN}", "[1e999]", "\xEF\xBB\xBF{}", "[\"\xC0\x80\"]", "", "[01]", "{'a':1}", "[1,]", "nul"};
	struct ib_err err;
	json_t *j = NULL;

	for (size_t i = 0; i < IB_LEN(bad); i++)
		CU_ASSERT_EQUAL(ib_json_load(bad[i], strlen(bad[i]), "x.json", &j, &err), IB_E_JSON);
	CU_ASSERT_EQUAL(ib_json_load("1\0", 2, "x.json", &j, &err), IB_E_JSON);
	CU_ASSERT_STRING_EQUAL(err.where, "x.json");
}

static void test_json_depth_is_limited(void)
{
	struct ib_buf b = IB_BUF(1000);
	struct ib_err err;
	json_t *j = NULL;

	for (int i = 0; i < 33; i++)
		ib_buf_addc(&b, '[');
	for (int i = 0; i < 33; i++)
		ib_buf_addc(&b, ']');
	CU_ASSERT_EQUAL(ib_json_load(b.data, b.len, "x.json", &j, &err), IB_E_LIMIT);
	CU_ASSERT_EQUAL(ib_json_load(b.data + 1, b.len - 2, "x.json", &j, &err), 0);
	json_decref(j);
	ib_buf_clear(&b);
}

static void test_json_writer_round_trips(void)
{
	static const char text[] = "{\"a\":[1,-2,0.1,1e+300,12.5,true,null],\"\xC3\xBC\":\"\\\"\\\\\\n\\u0001/\",\"o\":{}}";
	ib_auto_json json_t *j = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(1000);

	CU_ASSERT_EQUAL_FATAL(ib_json_load(text, strlen(text), "x", &j, NULL), 0);
	ib_json_write(j, &b);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), text);
}

static void test_json_doubles_are_shortest(void)
{
	char out[32];

	ib_json_double(0.1, out);
	CU_ASSERT_STRING_EQUAL(out, "0.1");
	ib_json_double(3, out);
	CU_ASSERT_STRING_EQUAL(out, "3.0");
	ib_json_double(0.1 + 0.2, out);
	CU_ASSERT_STRING_EQUAL(out, "0.30000000000000004");
	ib_json_double(5e-324, out);
	CU_ASSERT_EQUAL(strtod(out, NULL), 5e-324);
}

static void test_json_building_scrubs_invalid_text(void)
{
	ib_auto_json json_t *o = ib_json_object();
	ib_auto_buf struct ib_buf b = IB_BUF(1000);

	ib_json_set_str(o, "a", "x\xFFy");
	ib_json_set_real(o, "b", NAN);
	ib_json_set_str(o, "c", NULL);
	ib_json_write(o, &b);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "{\"a\":\"x\xEF\xBF\xBDy\",\"b\":null,\"c\":null}");
}

static void test_json_look_ups_name_the_key(void)
{
	ib_auto_json json_t *j = NULL;
	struct ib_err err;
	const char *s;
	int64_t n;

	CU_ASSERT_EQUAL_FATAL(ib_json_load("{\"a\":1,\"s\":null}", 16, "x", &j, NULL), 0);
	CU_ASSERT_EQUAL(ib_get_str(j, "record.json", "a", &s, &err), IB_E_SYNTAX);
	CU_ASSERT_STRING_EQUAL(err.text, "'record.json': key 'a' is an integer, not a string");
	CU_ASSERT_EQUAL(ib_get_str_opt(j, "record.json", "s", &s, &err), 0);
	CU_ASSERT_PTR_NULL(s);
	CU_ASSERT_EQUAL(ib_get_int(j, "record.json", "a", 2, 9, &n, &err), IB_E_SYNTAX);
	CU_ASSERT_EQUAL(ib_get_int(j, "record.json", "zz", 2, 9, &n, &err), IB_E_SYNTAX);
}

/* Three bytes can become a few hundred in memory: their number is bounded, not only that of the bytes. */
static void test_json_numbers_of_values_are_bounded(void)
{
	static const struct {
		const char *piece;
		size_t fits;
	} cases[] = {{"{},", IB_JSON_CONTAINERS - 1}, {"0,", IB_JSON_VALUES}};

	for (size_t k = 0; k < IB_LEN(cases); k++)
		for (size_t more = 0; more < 2; more++) {
			ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
			ib_auto_json json_t *j = NULL;
			struct ib_err err = {0};
			int r;

			ib_buf_addc(&b, '[');
			for (size_t i = 0; i < cases[k].fits + more; i++)
				ib_buf_adds(&b, cases[k].piece);
			b.data[b.len - 1] = ']'; /* the last comma */
			r = ib_json_load(b.data, b.len, "big", &j, &err);
			CU_ASSERT(more ? r == IB_E_LIMIT : r == 0);
		}
}

static const struct ib_test tests[] = {
	IB_TEST(test_json_loader_is_strict),
	IB_TEST(test_json_depth_is_limited),
	IB_TEST(test_json_writer_round_trips),
	IB_TEST(test_json_doubles_are_shortest),
	IB_TEST(test_json_building_scrubs_invalid_text),
	IB_TEST(test_json_look_ups_name_the_key),
	IB_TEST(test_json_numbers_of_values_are_bounded),
	{0},
};

const struct ib_test_suite ib_suite = {"json", tests};
