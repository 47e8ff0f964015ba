/* SPDX-License-Identifier: Apache-2.0 */
/* An output is what a contract expects, or it is said what was found in its place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/answer.h"
#include "run/quality.h"
#include "unit.h"

struct judged {
	const char *answer, *output;
	bool met;
	const char *kind, *found; /* of the condition that is not met; found NULL: null */
};

static void judge(const struct judged *c, size_t n)
{
	ib_auto_json json_t *answer = NULL, *conditions = ib_json_array();
	struct ib_err err;
	bool met;

	CU_ASSERT_EQUAL_FATAL(ib_json_load(c->answer, strlen(c->answer), "answer", &answer, &err), 0);
	met = ib_run_answer_judge(answer, c->output, n, NULL, conditions);
	if (met != c->met)
		printf("# %s of '%s': %s\n", c->answer, c->output, met ? "met" : "not met");
	CU_ASSERT_EQUAL(met, c->met);
	CU_ASSERT(json_array_size(conditions) > 0 || !c->kind);
	for (size_t i = 0; i < json_array_size(conditions) && !c->met; i++) {
		const json_t *one = json_array_get(conditions, i);
		const char *found = json_string_value(json_object_get(one, "found"));

		if (strcmp(json_string_value(json_object_get(one, "status")), "passed") == 0)
			continue;
		if (!ib_streq(found, c->found))
			printf("# %s: found %s\n", c->answer, found ? found : "null");
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(one, "kind")), c->kind);
		CU_ASSERT(ib_streq(found, c->found));
		break;
	}
}

static void test_answer_of_text(void)
{
	static const struct judged cases[] = {
		{"{\"exact\":\"four\"}", "four\n", true, NULL, NULL},
		{"{\"exact\":\"four \"}", "four\r\n\n", true, NULL, NULL},
		{"{\"exact\":\"four\"}", " four", false, "exact", " four"},
		{"{\"exact\":\"four\"}", "four!", false, "exact", "four!"},
		{"{\"exact\":\"four\"}", "", false, "exact", ""},
		{"{\"contains\":[\"a\",\"b\"]}", "xbxax", true, NULL, NULL},
		{"{\"contains\":[\"a\",\"c\"]}", "xbxax", false, "contains", "xbxax"},
		{"{\"regex\":\"^[0-9]+ (tokens|words)$\"}", "12 words", true, NULL, NULL},
		{"{\"regex\":\"^[0-9]+$\"}", "12 words", false, "regex", "12 words"},
		{"{\"exact\":\"a\",\"regex\":\"b\"}", "a", false, "regex", "a"},
		{"{\"regex\":\"(\"}", "(", false, "regex", NULL}, /* refused with the contract; never a pass */
		{"{}", "anything", false, NULL, NULL},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++)
		judge(&cases[i], strlen(cases[i].output));
}

#define ANSWER "{\"choices\":[{\"text\":\" Paris \",\"n\":2.5,\"ok\":true,\"none\":null}],\"a/b\":{\"~\":\"x\"},\"n\":[1,[2]],\"four\":\"4.0\\n\"}"

static void test_answer_of_json(void)
{
	static const struct judged cases[] = {
		{"{\"json\":\"/choices/0/text\",\"equals\":\" Paris \"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/text\",\"equals\":\"Paris\"}", ANSWER, false, "equals", " Paris "},
		{"{\"json\":\"/choices/0/text\",\"contains\":[\"Paris\"]}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/text\",\"contains\":[\"choices\"]}", ANSWER, false, "contains", " Paris "},
		{"{\"json\":\"/choices/0/text\",\"regex\":\"^ [A-Z]\"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/1/text\",\"equals\":\"x\"}", ANSWER, false, "json", NULL},
		{"{\"json\":\"/choices/00/text\",\"contains\":[\"P\"]}", ANSWER, false, "json", NULL},
		{"{\"json\":\"/choices/-/text\",\"contains\":[\"P\"]}", ANSWER, false, "json", NULL},
		{"{\"json\":\"/choices/0/text/0\",\"contains\":[\"P\"]}", ANSWER, false, "json", NULL},
		{"{\"json\":\"choices\",\"contains\":[\"P\"]}", ANSWER, false, "json", NULL},
		{"{\"json\":\"/a~1b/~0\",\"equals\":\"x\"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/a~1b/~\",\"equals\":\"x\"}", ANSWER, false, "json", NULL},
		{"{\"json\":\"/choices/0/ok\",\"equals\":\"true\"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/none\",\"equals\":\"null\"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/n\",\"equals\":\"[1,[2]]\"}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/n\",\"near\":2.4,\"tolerance\":0.11}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/n\",\"near\":2.4,\"tolerance\":0.09}", ANSWER, false, "near", "2.5"},
		{"{\"json\":\"/four\",\"near\":4,\"tolerance\":0}", ANSWER, true, NULL, NULL},
		{"{\"json\":\"/choices/0/text\",\"near\":4,\"tolerance\":100}", ANSWER, false, "near", " Paris "},
		{"{\"json\":\"/choices/0/ok\",\"near\":1,\"tolerance\":100}", ANSWER, false, "near", "true"},
		{"{\"json\":\"/a\",\"equals\":\"nan\"}", "{\"a\":1,\"a\":2}", false, "json", "'the output' line 1 column 10: duplicate object key near '\"a\"'"},
		{"{\"json\":\"/a\",\"near\":1,\"tolerance\":1}", "{\"a\":\"nan\"}", false, "near", "nan"},
		{"{\"json\":\"/a\",\"near\":1,\"tolerance\":1}", "{\"a\":\"\"}", false, "near", ""},
	};
	for (size_t i = 0; i < IB_LEN(cases); i++)
		judge(&cases[i], strlen(cases[i].output));
}

static void test_answer_of_hostile_output(void)
{
	static const char zeros[] = "a\0b";
	struct judged cut = {"{\"exact\":\"a\"}", zeros, false, "exact", "a"};
	struct judged hidden = {"{\"contains\":[\"b\"]}", zeros, true, NULL, NULL};
	struct judged beyond = {"{\"regex\":\"b\"}", zeros, true, NULL, NULL};

	judge(&cut, 3);
	judge(&hidden, 3);
	judge(&beyond, 3);
}

static void test_answer_is_kept_short_and_redacted(void)
{
	static const char secret[] = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
	static const uint8_t key[32] = {1};
	ib_auto_redactor struct ib_redactor *r = ib_redactor_with_key(key, sizeof(key), NULL);
	ib_auto_json json_t *answer = NULL, *conditions = ib_json_array();
	ib_auto_buf struct ib_buf b = IB_BUF(10000);
	const char *found;

	ib_buf_addf(&b, "key %s ", secret);
	for (int i = 0; i < 500; i++)
		ib_buf_adds(&b, "\xc3\xa9");
	CU_ASSERT_EQUAL_FATAL(ib_json_load("{\"exact\":\"x\"}", 13, "a", &answer, NULL), 0);
	CU_ASSERT_FALSE(ib_run_answer_judge(answer, ib_buf_str(&b), b.len, r, conditions));
	found = json_string_value(json_object_get(json_array_get(conditions, 0), "found"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_PTR_NULL(strstr(found, secret));
	CU_ASSERT(strlen(found) <= IB_ANSWER_SHOWN + 3);
	CU_ASSERT(ib_ends(found, "..."));
	CU_ASSERT_TRUE(ib_utf8_valid(found, strlen(found)));
	CU_ASSERT_PTR_NULL(strstr(found, "\xef\xbf\xbd")); /* cut between characters */
}

static void test_answer_metric_of_a_command(void)
{
	static const struct {
		const char *output;
		double want; /* NAN: none */
	} cases[] = {
		{"0.75\n", 0.75},
		{"{\"acc\": 0.75, \"n\": 3}", 0.75},
		{"loading ...\ndone\n{\"acc\": 7e-1}\n\n", 0.7},
		{"{\n  \"acc\": 1\n}\n", 1},
		{"1 2\n-3\n", -3},
		{"acc 0.75", NAN},
		{"0.75\nacc", NAN},
		{"{\"acc\": \"0.75\"}", NAN},
		{"{\"loss\": 0.75}", NAN},
		{"{\"acc\": {\"acc\": 1}}", NAN},
		{"nan", NAN},
		{"-inf", NAN},
		{"0x10", NAN},
		{"1e999", NAN},
		{"", NAN},
		{"\n\n", NAN},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		double got = ib_quality_metric(cases[i].output, strlen(cases[i].output), "acc");

		bool same = isnan(cases[i].want) ? isnan(got) : got == cases[i].want;

		if (!same)
			printf("# '%s' gives %g\n", cases[i].output, got);
		CU_ASSERT(same);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_answer_metric_of_a_command),
	IB_TEST(test_answer_of_text),
	IB_TEST(test_answer_of_json),
	IB_TEST(test_answer_of_hostile_output),
	IB_TEST(test_answer_is_kept_short_and_redacted),
	{0},
};

const struct ib_test_suite ib_suite = {"answer", tests};
