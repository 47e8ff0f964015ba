/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/model/contract*.c and template.c. */
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/str.h"
#include "model/contract.h"
#include "model/contract_internal.h"

#define HEAD "study: s\n"
#define GROUP HEAD "groups:\n  - name: g\n    repeats: 2\n    command: [prog]\n"

struct bad {
	const char *yaml, *message;
};

static const char *find_secret(void *arg, const char *text)
{
	(void)arg;
	return strstr(text, "SECRET") ? "an API key" : NULL;
}

static const struct ib_contract_options options = {.secret = find_secret};

static void expect_bad(const struct bad *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ib_auto_contract struct ib_contract c = {0};
		struct ib_err err = {0};

		CU_ASSERT_EQUAL(ib_contract_parse(list[i].yaml, strlen(list[i].yaml), "c.yaml", &options, &c, &err), IB_E_USAGE);
		if (!ib_starts(err.text, list[i].message)) {
			printf("# for: %s\n# got: %s\n# want: %s\n", list[i].yaml, err.text, list[i].message);
			CU_FAIL("message");
		}
	}
}

/* Parses a good contract; fails the test otherwise. */
static bool parse(const char *yaml, struct ib_contract *c)
{
	struct ib_err err = {0};

	if (ib_contract_parse(yaml, strlen(yaml), "c.yaml", &options, c, &err) == 0)
		return true;
	printf("# %s\n", err.text);
	CU_FAIL("a good contract is refused");
	return false;
}

static char *read_source(const char *path)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

	CU_ASSERT_EQUAL_FATAL(ib_read_file(AT_FDCWD, ib_src(path), &b, NULL), 0);
	return ib_buf_steal(&b);
}

static void test_contract_wrong_keys_name_the_nearest(void)
{
	static const struct bad list[] = {
		{"studdy: s\n", "c.yaml:1:1: unknown key 'studdy'; did you mean 'study'?"},
		{GROUP "    repeat: 2\n", "c.yaml:6:5: unknown key 'repeat'; did you mean 'repeats'?"},
		{GROUP "    license: x\n", "c.yaml:6:5: unknown key 'license'"},
		{GROUP "workloads:\n  - name: w\n    file: w\n    license: MIT\n", "c.yaml:9:5: unknown key 'license'; did you mean 'licence'?"},
		{GROUP "    cache:\n      reset:\n        comand: [x]\n", "c.yaml:8:9: unknown key 'comand'; did you mean 'command'?"},
		{GROUP "zzzzzz: 1\n", "c.yaml:6:1: unknown key 'zzzzzz'; see ib-contract(5)"},
		{"groups: []\n", "c.yaml:1:1: key 'study' is missing"},
		{HEAD, "c.yaml:1:1: key 'groups' is missing"},
		{HEAD "groups: []\n", "c.yaml:2:9: 'groups' is an empty list"},
		{HEAD "groups:\n  - repeats: 1\n    command: [x]\n", "c.yaml:3:5: key 'name' is missing"},
		{"- a\n", "c.yaml:1:1: a contract must be a map"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_contract_wrong_types_have_a_place(void)
{
	static const struct bad list[] = {
		{"study: [a]\n", "c.yaml:1:8: 'study' must be a name, not a list"},
		{"study: Big Name\n", "c.yaml:1:8: 'study' must be a name of at most 32"},
		{"study: -x\ngroups: []\n", "c.yaml:1:8: 'study' must be a name"},
		{HEAD "groups: x\n", "c.yaml:2:9: 'groups' must be a list of maps, not 'x'"},
		{HEAD "groups: [x]\n", "c.yaml:2:10: each element of 'groups' must be a map"},
		{HEAD "groups:\n  - name: g\n    repeats: two\n    command: [x]\n", "c.yaml:4:14: 'repeats' must be an integer, not 'two'"},
		{HEAD "groups:\n  - name: g\n    repeats: \"2\"\n    command: [x]\n", "c.yaml:4:14: 'repeats' must be an integer, without quotes"},
		{HEAD "groups:\n  - name: g\n    repeats: 02\n    command: [x]\n", "c.yaml:4:14: 'repeats' must be an integer"},
		{HEAD "groups:\n  - name: g\n    repeats: 1_0\n    command: [x]\n", "c.yaml:4:14: 'repeats' must be an integer"},
		{HEAD "groups:\n  - name: g\n    repeats: 0\n    command: [x]\n", "c.yaml:4:14: 'repeats' is '0', outside 1 to 1000"},
		{HEAD "groups:\n  - name: g\n    repeats: 99999999999999999999\n    command: [x]\n", "c.yaml:4:14: 'repeats' is '99999999999999999999', outside"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: prog -x\n", "c.yaml:5:14: 'command' must be a list of arguments"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: []\n", "c.yaml:5:14: 'command' is an empty list"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, [y]]\n", "c.yaml:5:18: 'command' must be a text, not a list"},
		{GROUP "    diagnostic: yes\n", "c.yaml:6:17: 'diagnostic' must be true or false, not 'yes'"},
		{GROUP "    diagnostic: \"true\"\n", "c.yaml:6:17: 'diagnostic' must be true or false, without quotes"},
		{GROUP "    timeout: 10\n", "c.yaml:6:14: 'timeout' must be a duration like 90s"},
		{GROUP "    timeout: 0s\n", "c.yaml:6:14: 'timeout' is '0s', which is too long or zero"},
		{GROUP "    timeout: 10 s\n", "c.yaml:6:14: 'timeout' must be a duration"},
		{GROUP "    timeout: 1e9s\n", "c.yaml:6:14: 'timeout' must be a duration"},
		{GROUP "    timeout: 999999999999h\n", "c.yaml:6:14: 'timeout' is '999999999999h', which is too long"},
		{GROUP "    memory: 8GB\n", "c.yaml:6:13: 'memory' must be a size like"},
		{GROUP "    memory: 99999999999999GiB\n", "c.yaml:6:13: 'memory' is '99999999999999GiB', outside"},
		{GROUP "    load: closd\n", "c.yaml:6:11: 'load' cannot be 'closd'; did you mean 'closed'?"},
		{GROUP "    order: xxxxxxxx\n", "c.yaml:6:12: 'order' cannot be 'xxxxxxxx'; it is one of: sequential, interleaved, shuffled"},
		{GROUP "    expect:\n      success_rate_min: 1.5\n", "c.yaml:7:25: 'success_rate_min' is '1.5', outside 0 to 1"},
		{GROUP "    expect:\n      success_rate_min: .5\n", "c.yaml:7:25: 'success_rate_min' must be a number"},
		{GROUP "    expect:\n      success_rate_min: .nan\n", "c.yaml:7:25: 'success_rate_min' must be a number"},
		{GROUP "    question: \"  \"\n", "c.yaml:6:15: 'question' is blank"},
		{GROUP "    fixed: [a]\n", "c.yaml:6:12: 'fixed' must be a map, not a list"},
		{GROUP "    fixed:\n      A b: c\n", "c.yaml:7:7: 'A b' in 'fixed' is no name"},
		{GROUP "workloads:\n  - {name: w, file: ../x}\n", "c.yaml:7:21: 'file' must be a path below the study directory"},
		{GROUP "workloads:\n  - {name: w, file: /x}\n", "c.yaml:7:21: 'file' must be a path"},
		{GROUP "workloads:\n  - {name: w, file: x, sha256: ABC}\n", "c.yaml:7:32: 'sha256' must be a SHA-256"},
		{GROUP "readiness: {url: ftp://x}\n", "c.yaml:6:18: 'url' must be a URL that starts with http"},
		{GROUP "readiness: {url: \"http://\"}\n", "c.yaml:6:18: 'url' must be a URL with a host"},
		{GROUP "readiness: {url: \"http://u:p@127.0.0.1/\"}\n", "c.yaml:6:18: 'url' holds a user name or password"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_contract_references_are_checked(void)
{
	static const struct bad list[] = {
		{GROUP "  - name: g\n    repeats: 1\n    command: [x]\n", "c.yaml:6:11: name 'g' occurs twice in 'groups', first on line 3"},
		{GROUP "    gate: g\n", "c.yaml:6:11: no earlier group is called 'g'"},
		{GROUP "  - name: h\n    gate: gg\n    repeats: 1\n    command: [x]\n", "c.yaml:7:11: no earlier group is called 'gg'; did you mean 'g'?"},
		{GROUP "    workload: w\n", "c.yaml:6:15: no workload is called 'w'"},
		{GROUP "    order: shuffled\n", "c.yaml:6:12: order 'shuffled' needs 'seed'"},
		{GROUP "    varies: [cap]\n", "c.yaml:6:14: 'cap' varies, but is no variable"},
		{GROUP "    fixed: {cap: \"1\"}\n    matrix: {cap: [1]}\n", "c.yaml:6:13: 'cap' is fixed, but is a variable"},
		{GROUP "    matrix: {cap: [1, 1]}\n", "c.yaml:6:23: value '1' of variable 'cap' occurs twice"},
		{GROUP "    matrix: {cap: []}\n", "c.yaml:6:19: variable 'cap' of 'matrix' needs a list"},
		{GROUP "    matrix: {cap: 1}\n", "c.yaml:6:19: variable 'cap' of 'matrix' needs a list"},
		{GROUP "    matrix: {repeat: [1]}\n", "c.yaml:6:14: variable 'repeat' has the name of a placeholder"},
		{GROUP "    matrix: {cache: [hot]}\n", "c.yaml:6:22: variable 'cache' cannot be 'hot'"},
		{GROUP "    matrix: {cache: [cold]}\n    cache: {condition: cold}\n", "c.yaml:7:13: 'condition' and the variable 'cache' exclude"},
		{GROUP "    cache: {condition: reset}\n", "c.yaml:6:24: cache condition 'reset' needs 'reset'"},
		{GROUP "    matrix: {cache: [cold, reuse]}\n", "c.yaml:6:28: cache condition 'reuse' needs 'reason'"},
		{GROUP "    cache: {reset: {command: [x], http: \"http://127.0.0.1/\"}}\n", "c.yaml:6:35: 'command' and 'http' exclude each other"},
		{GROUP "    cache: {reset: {timeout: 1s}}\n", "c.yaml:6:20: one of 'command', 'http' and 'page_cache' is missing"},
		{GROUP "    expect: {server_output_tokens: true}\n", "c.yaml:6:36: 'server_output_tokens' needs 'evidence'"},
		{GROUP "readiness: {timeout: 1s}\n", "c.yaml:6:12: one of 'url' and 'command' is missing"},
		{GROUP "workloads: [{name: w}]\n", "c.yaml:6:13: one of 'file', 'generator' and 'record' is missing"},
		{GROUP "targets: [{group: x, metric: m}]\n", "c.yaml:6:19: no group is called 'x'"},
		{GROUP "targets: [{group: g, cell: cap-1, metric: m}]\n", "c.yaml:6:28: group 'g' has no cell 'cap-1'"},
		{GROUP "quality: {command: [x], workload: w}\n", "c.yaml:6:35: no workload is called 'w'"},
		{GROUP "    matrix: {x: [1_y-2_y-3, 1_y-2, 1], y: [4, 3_y-4, 2_y-3_y-4]}\n", "c.yaml:6:13: two cells of group 'g' get the same name"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_contract_placeholders_are_checked(void)
{
	static const struct bad list[] = {
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, \"{ouput_dir}\"]\n", "c.yaml:5:18: unknown placeholder '{ouput_dir}'; did you mean '{output_dir}'?"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, \"{cap}\"]\n    matrix: {qap: [1]}\n", "c.yaml:5:18: unknown placeholder '{cap}'; did you mean '{qap}'?"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, '{\"a\": 1}']\n", "c.yaml:5:18: a brace that starts no placeholder must be written '{{'"},
		{GROUP "    convert: [x, \"{zzzzzz}\"]\n", "c.yaml:6:18: unknown placeholder '{zzzzzz}'; write '{{' for a brace"},
		{GROUP "    cache: {reset: {command: [x, \"{}\"]}}\n", "c.yaml:6:34: a brace"},
		{GROUP "    cache: {warmup: {command: [\"{cap}\"]}}\n", "c.yaml:6:32: unknown placeholder '{cap}'"},
		{GROUP "    convert: [\"${env:}\"]\n", "c.yaml:6:15: '${env:}' must be written ${env:NAME}"},
		{GROUP "    convert: [\"${env:A B}\"]\n", "c.yaml:6:15: '${env:A B}' must be written"},
	};
	ib_auto_contract struct ib_contract c = {0};

	expect_bad(list, IB_LEN(list));
	CU_ASSERT_TRUE(parse(HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, '{{\"a\": {cap}}', \"{repeat}{cell}\", \"${env:TOKEN}\"]\n    matrix: {cap: [\"{1}\"]}\n", &c));
	CU_ASSERT_EQUAL_FATAL(c.slots_n, 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(c.slots[0].command, 1)), "{{\"a\": {{1}}");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(c.slots[0].command, 2)), "{repeat}{cell}");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(c.slots[0].command, 3)), "${env:TOKEN}");
}

static void test_contract_load_on_others_needs_permission(void)
{
	static const char *const open[] = {"https://api.example.com/v1", "http://8.8.8.8:80/", "http://[2001:db8::1]/", "http://2130706433/", "http://0x7f.1/",
					   "http://127.0.0.1@example.com/", "http://example.com\\\\@127.0.0.1/", "http://${env:HOST}/", "http://100.64.0.1/"};
	static const char *const closed[] = {"http://127.0.0.1:8000/", "https://localhost/", "http://10.1.2.3/", "http://172.31.0.1/", "http://192.168.0.9:1/x",
					     "http://[::1]:8000/", "http://[fd00::1]/", "http://gpu-box:8000/", "http://node.cluster.local/"};
	static const struct bad list[] = {
		{GROUP "serving: {endpoint: \"https://api.example.com/v1\"}\n", "c.yaml:6:21: 'https://api.example.com/v1' is neither this machine nor on a private network"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, --base-url=HTTPS://example.com/]\n", "c.yaml:5:18: 'HTTPS://example.com/' is neither"},
	};
	ib_auto_contract struct ib_contract c = {0};

	for (size_t i = 0; i < IB_LEN(open); i++)
		CU_ASSERT_FALSE(ib_url_private(open[i]));
	for (size_t i = 0; i < IB_LEN(closed); i++)
		CU_ASSERT_TRUE(ib_url_private(closed[i]));
	expect_bad(list, IB_LEN(list));
	CU_ASSERT_TRUE(parse(GROUP "serving: {endpoint: \"https://api.example.com/v1\"}\npermission: J. Doe, 2026-11-30\n", &c));
	CU_ASSERT_STRING_EQUAL(c.permission, "J. Doe, 2026-11-30");
}

static void test_contract_secrets_are_refused(void)
{
	static const struct bad list[] = {
		{GROUP "next: sk-SECRET\n", "c.yaml:6:7: the value of 'next' holds an API key: write ${env:NAME} instead"},
		{HEAD "groups:\n  - name: g\n    repeats: 1\n    command: [x, SECRET]\n", "c.yaml:5:18: this value holds an API key"},
	};

	expect_bad(list, IB_LEN(list));
}

static void test_contract_text_keeps_its_looks(void)
{
	ib_auto_contract struct ib_contract c = {0};
	const json_t *serving;

	CU_ASSERT_TRUE(parse(GROUP "serving: {version: 1.10, engine: no, precision: 010, options: {enforce-eager: true}}\n", &c));
	serving = json_object_get(c.json, "serving");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(serving, "version")), "1.10");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(serving, "engine")), "no");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(serving, "precision")), "010");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_object_get(serving, "options"), "enforce-eager")), "true");
	CU_ASSERT_TRUE(json_is_null(json_object_get(serving, "commit")));
}

static void test_contract_units(void)
{
	ib_auto_contract struct ib_contract c = {0};

	CU_ASSERT_TRUE(parse(GROUP "    timeout: 1.5m\n    grace: 250ms\n    memory: 8GiB\n    expect: {attempts: 40, success_rate_min: 0.95}\n", &c));
	CU_ASSERT_EQUAL(c.groups[0].timeout_ns, 90000000000LL);
	CU_ASSERT_EQUAL(c.groups[0].grace_ns, 250000000LL);
	CU_ASSERT_EQUAL(c.groups[0].memory_bytes, 8LL << 30);
	CU_ASSERT_EQUAL(c.groups[0].expect.attempts, 40);
	CU_ASSERT_EQUAL(c.groups[0].expect.exit_status, 0);
	CU_ASSERT_EQUAL(c.groups[0].expect.output_tokens, IB_UNSET);
	CU_ASSERT_EQUAL(c.groups[0].expect.success_rate_min, 0.95);
	CU_ASSERT_EQUAL(c.stop_failed_runs, 1);
}

/* "cell/repeat cell/repeat …" */
static char *order_of(const struct ib_contract *c)
{
	struct ib_buf b = IB_BUF(4096);

	for (size_t i = 0; i < c->slots_n; i++)
		ib_buf_addf(&b, "%s%s/%d", i ? " " : "", c->slots[i].cell, (int)c->slots[i].repeat);
	return ib_buf_steal(&b);
}

static void test_contract_plan_orders(void)
{
	static const char *const want[][2] = {
		{"    order: sequential\n", "a-1/1 a-1/2 a-2/1 a-2/2"},
		{"    order: interleaved\n", "a-1/1 a-2/1 a-1/2 a-2/2"},
		{"    order: shuffled\n    seed: 3\n", "a-2/1 a-2/2 a-1/1 a-1/2"},
		{"    order: shuffled\n    seed: 7\n", "a-1/1 a-2/1 a-1/2 a-2/2"},
	};

	for (size_t i = 0; i < IB_LEN(want); i++) {
		ib_auto_contract struct ib_contract c = {0};
		ib_auto_free char *yaml = ib_asprintf(GROUP "    matrix: {a: [1, 2]}\n%s", want[i][0]);
		ib_auto_free char *got = NULL;

		CU_ASSERT_TRUE_FATAL(parse(yaml, &c));
		got = order_of(&c);
		if (strcmp(got, want[i][1]) != 0)
			printf("# %s: %s\n", want[i][0], got);
		CU_ASSERT_STRING_EQUAL(got, want[i][1]);
	}
}

static void test_contract_splitmix64_is_the_known_one(void)
{
	uint64_t state = 1234567;

	CU_ASSERT_EQUAL(ib_splitmix64(&state), 6457827717110365317ULL);
	CU_ASSERT_EQUAL(ib_splitmix64(&state), 3203168211198807973ULL);
}

static void test_contract_cells_are_named_safely(void)
{
	ib_auto_contract struct ib_contract c = {0};

	CU_ASSERT_TRUE_FATAL(parse(GROUP "    matrix: {m: [\"Org/Model X\", \"org/model x\", \"a value that is much longer than a name can be\"], cache: [cold]}\n", &c));
	CU_ASSERT_EQUAL_FATAL(c.slots_n, 6);
	CU_ASSERT_STRING_EQUAL(c.slots[0].cell, "m-org-model-x_cache-cold");
	CU_ASSERT_TRUE(ib_starts(c.slots[2].cell, "m-org-model-x_cache-col-"));
	CU_ASSERT_EQUAL(strlen(c.slots[2].cell), 32);
	CU_ASSERT_TRUE(ib_starts(c.slots[4].cell, "m-a-value-that-is-much--"));
	CU_ASSERT_EQUAL(c.slots[0].condition, IB_CACHE_COLD);
	for (size_t i = 0; i < c.slots_n; i++)
		CU_ASSERT_TRUE(ib_name_valid(c.slots[i].cell));
}

static void test_contract_plan_is_bounded(void)
{
	static const char many[] = GROUP "    matrix: {a: [1,2,3,4,5,6,7,8], b: [1,2,3,4,5,6,7,8], c: [1,2,3,4,5,6,7,8], d: [1,2,3,4,5,6,7,8], e: [1,2]}\n";
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);
	struct ib_contract c = {0};
	struct ib_err err;

	CU_ASSERT_EQUAL(ib_contract_parse(many, strlen(many), "c.yaml", NULL, &c, &err), IB_E_USAGE);
	CU_ASSERT_TRUE(ib_starts(err.text, "c.yaml:6:13: the plan is too large: more than 10000 slots"));
	ib_buf_adds(&b, HEAD "groups:\n  - name: g\n    repeats: 1000\n    matrix: {a: [x, \"");
	for (int i = 0; i < 60000; i++)
		ib_buf_addc(&b, 'y');
	ib_buf_adds(&b, "\"]}\n    command: [x");
	for (int i = 0; i < 9000; i++)
		ib_buf_adds(&b, ", \"{a}{a}{a}\"");
	ib_buf_adds(&b, "]\n");
	CU_ASSERT_EQUAL(ib_contract_parse(b.data, b.len, "c.yaml", NULL, &c, &err), IB_E_USAGE);
	CU_ASSERT_TRUE(strstr(err.text, "take more than 8 MiB") != NULL);
}

/* The example of the manual page, between .Bd and .Ed after .Sh EXAMPLES. */
static char *manual_example(void)
{
	ib_auto_free char *man = read_source("man/ib-contract.5");
	char *start = strstr(man, ".Bd -literal\n"), *end;

	CU_ASSERT_PTR_NOT_NULL_FATAL(start);
	start += strlen(".Bd -literal\n");
	end = strstr(start, "\n.Ed");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	return ib_strndup(start, (size_t)(end + 1 - start));
}

static void test_contract_manual_example_is_good(void)
{
	ib_auto_free char *yaml = manual_example();
	ib_auto_contract struct ib_contract c = {0};

	CU_ASSERT_TRUE_FATAL(parse(yaml, &c));
	CU_ASSERT_EQUAL(c.slots_n, 12);
	CU_ASSERT_EQUAL(c.groups[1].evidence.hit_share_min, 0.8);
	CU_ASSERT_EQUAL(c.groups[0].condition, IB_CACHE_RESET);
	CU_ASSERT_EQUAL(c.slots[7].condition, IB_CACHE_REUSE);
	CU_ASSERT_STRING_EQUAL(c.groups[1].gate, "baseline");
	CU_ASSERT_EQUAL(c.slots[7].group_at, 1);
	CU_ASSERT_EQUAL(c.stop_failed_runs, 2);
	CU_ASSERT_TRUE(isnan(c.groups[0].evidence.hit_share_min));
}

static void count_keys(const struct ib_field *f, const char *man, const char *schema, int *missing)
{
	for (; f->key; f++) {
		ib_auto_free char *row = ib_asprintf(".It Cm %s\n", f->key);
		ib_auto_free char *inline_row = ib_asprintf("\n.Cm %s\n", f->key);
		ib_auto_free char *property = ib_asprintf("\"%s\":", f->json ? f->json : f->key);

		if (!strstr(man, row) && !strstr(man, inline_row)) {
			printf("# man/ib-contract.5 lacks '%s'\n", f->key);
			(*missing)++;
		}
		if (!strstr(schema, property)) {
			printf("# schemas/contract-v1.schema.json lacks '%s'\n", property);
			(*missing)++;
		}
		if (f->fields)
			count_keys(f->fields, man, schema, missing);
	}
}

static void test_contract_every_key_is_in_manual_and_schema(void)
{
	ib_auto_free char *man = read_source("man/ib-contract.5");
	ib_auto_free char *schema = read_source("schemas/contract-v1.schema.json");
	int missing = 0;

	count_keys(ib_contract_fields, man, schema, &missing);
	CU_ASSERT_EQUAL(missing, 0);
}

static void test_contract_typed_form_reads_back(void)
{
	ib_auto_free char *yaml = manual_example();
	ib_auto_contract struct ib_contract a = {0}, b = {0};
	ib_auto_buf struct ib_buf first = IB_BUF(1u << 20), second = IB_BUF(1u << 20);
	ib_auto_json json_t *j = NULL;
	char sha_a[IB_HEX_LEN], sha_b[IB_HEX_LEN];
	struct ib_err err;

	CU_ASSERT_TRUE_FATAL(parse(yaml, &a));
	CU_ASSERT_EQUAL_FATAL(ib_contract_write(&a, &first, sha_a, &err), 0);
	CU_ASSERT_EQUAL_FATAL(ib_json_load(first.data, first.len, "c.json", &j, &err), 0);
	CU_ASSERT_EQUAL_FATAL(ib_contract_from_json(j, "c.json", &b, &err), 0);
	CU_ASSERT_EQUAL_FATAL(ib_contract_write(&b, &second, sha_b, &err), 0);
	CU_ASSERT_STRING_EQUAL(sha_a, sha_b);
	ib_sha256_of(yaml, strlen(yaml), sha_b);
	CU_ASSERT_STRING_EQUAL(b.source_sha256, sha_b);
}

static void test_contract_changed_typed_form_is_refused(void)
{
	ib_auto_contract struct ib_contract a = {0}, b = {0};
	struct ib_err err;
	json_t *j;

	CU_ASSERT_TRUE_FATAL(parse(GROUP "    matrix: {a: [1, 2]}\n", &a));
	j = json_deep_copy(a.json);
	json_array_remove(json_object_get(j, "plan"), 3);
	CU_ASSERT_EQUAL(ib_contract_from_json(j, "c.json", &b, &err), IB_E_SYNTAX);
	CU_ASSERT_STRING_EQUAL(err.text, "'c.json': key 'plan' has 3 slots, its groups give 4");
	json_decref(j);
	j = json_deep_copy(a.json);
	ib_json_set_int(json_array_get(json_object_get(j, "plan"), 2), "repeat", 9);
	CU_ASSERT_EQUAL(ib_contract_from_json(j, "c.json", &b, &err), IB_E_SYNTAX);
	json_decref(j);
	j = json_deep_copy(a.json);
	ib_json_set_str(j, "schema", "urn:ibtools:contract:v2");
	CU_ASSERT_EQUAL(ib_contract_from_json(j, "c.json", &b, &err), IB_E_UNSUPPORTED);
	json_decref(j);
	j = json_deep_copy(a.json);
	ib_json_set_int(json_array_get(json_object_get(j, "groups"), 0), "matrix", 9);
	CU_ASSERT_EQUAL(ib_contract_from_json(j, "c.json", &b, &err), IB_E_SYNTAX);
	json_decref(j);
	CU_ASSERT_PTR_NULL(b.json);
}

static void test_contract_template_expands(void)
{
	static const struct ib_template_var vars[] = {{"a", "x{y}"}, {"repeat", "3"}};
	char home[] = "HOME=/h", other[] = "HOMER=no";
	char *const env[] = {home, other, NULL};
	struct ib_template t = {.vars = vars, .n = 2, .env = env, .mode = IB_TEMPLATE_STRICT};
	ib_auto_buf struct ib_buf b = IB_BUF(100);
	struct ib_err err;

	CU_ASSERT_EQUAL(ib_template_expand(&t, "{a}-{{{repeat}}} ${env:HOME} $HOME ${{env:HOME}", &b, &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "x{y}-{3}} /h $HOME ${env:HOME}");
	CU_ASSERT_EQUAL(ib_template_expand(&t, "${env:NO_SUCH}", &b, &err), IB_E_USAGE);
	CU_ASSERT_STRING_EQUAL(err.text, "environment variable 'NO_SUCH' is not set");
	ib_buf_reset(&b);
	t.env = NULL;
	CU_ASSERT_EQUAL(ib_template_expand(&t, "${env:NO_SUCH}", &b, &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "${env:NO_SUCH}");
	CU_ASSERT_EQUAL(ib_template_expand(&t, "{", &b, &err), IB_E_USAGE);
	ib_buf_reset(&b);
	t.env = env;
	t.mode = IB_TEMPLATE_ENV;
	CU_ASSERT_EQUAL(ib_template_expand(&t, "{a}${env:HOME}{{", &b, &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "{a}/h{{");
	ib_buf_reset(&b);
	t.mode = IB_TEMPLATE_PARTIAL;
	CU_ASSERT_EQUAL(ib_template_expand(&t, "{a} {{ {run_id} {", &b, &err), 0);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&b), "x{{y} {{ {run_id} {");
}

static const struct ib_test tests[] = {
	IB_TEST(test_contract_wrong_keys_name_the_nearest),
	IB_TEST(test_contract_wrong_types_have_a_place),
	IB_TEST(test_contract_references_are_checked),
	IB_TEST(test_contract_placeholders_are_checked),
	IB_TEST(test_contract_load_on_others_needs_permission),
	IB_TEST(test_contract_secrets_are_refused),
	IB_TEST(test_contract_text_keeps_its_looks),
	IB_TEST(test_contract_units),
	IB_TEST(test_contract_plan_orders),
	IB_TEST(test_contract_splitmix64_is_the_known_one),
	IB_TEST(test_contract_cells_are_named_safely),
	IB_TEST(test_contract_plan_is_bounded),
	IB_TEST(test_contract_manual_example_is_good),
	IB_TEST(test_contract_every_key_is_in_manual_and_schema),
	IB_TEST(test_contract_typed_form_reads_back),
	IB_TEST(test_contract_changed_typed_form_is_refused),
	IB_TEST(test_contract_template_expands),
	{0},
};

const struct ib_test_suite ib_suite = {"contract", tests};
