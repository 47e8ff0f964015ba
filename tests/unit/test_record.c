/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/model: records and entries. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"
#include "model/entry.h"
#include "model/record.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void fill(struct ib_record *r)
{
	struct ib_record_workload *w;
	struct ib_record_hook *h;

	ib_record_init(r);
	r->run_id = ib_strdup("20261130T160102Z-adhoc-r01-9f3a1c7e");
	r->study = ib_strdup("study");
	r->group = ib_strdup("short");
	r->repeat = 2;
	memcpy(r->command_sha256, HEX, IB_HEX_LEN);
	r->exit.status = 0;
	r->time.started_ns = 1764518462123456789;
	r->time.finished_ns = r->time.started_ns + 500;
	r->time.monotonic_ns = 499;
	r->rusage.user_ns = 7;
	ib_record_add_variable(r, "cap", "4");
	w = ib_record_add_workload(r, "prompts", "workload/p.jsonl");
	memcpy(w->sha256, HEX, IB_HEX_LEN);
	w->status = IB_WORKLOAD_OK;
	h = ib_record_add_hook(r, "00-reset");
	h->exit_status = 0;
	r->cache.condition = ib_strdup("reset");
	r->cache.evidence = IB_CONFIRMED;
	ib_record_add_counter(r, "hits", 3, 5);
	ib_record_add_counter(r, "queries", NAN, 2.5);
	ib_record_add_expectation(r, "attempts", "40", NULL, IB_EXPECT_UNKNOWN);
	ib_record_add_file(r, "stderr.log", 0, HEX);
	ib_record_add_file(r, "stdout.log", 12, HEX);
	r->requests.attempted = 40;
	r->synthetic = 1;
	r->survivors = 0;
}

static void test_record_round_trips(void)
{
	struct ib_record a, b;
	ib_auto_buf struct ib_buf x = IB_BUF(100000), y = IB_BUF(100000);
	json_t *j, *k;
	struct ib_err err;

	fill(&a);
	j = ib_record_to_json(&a);
	CU_ASSERT_EQUAL_FATAL(ib_record_from_json(j, "record.json", &b, &err), 0);
	k = ib_record_to_json(&b);
	ib_json_write_pretty(j, &x);
	ib_json_write_pretty(k, &y);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&x), ib_buf_str(&y));
	CU_ASSERT_PTR_NOT_NULL(strstr(ib_buf_str(&x), "\"delta\": 2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(ib_buf_str(&x), "\"succeeded\": null"));
	json_decref(j);
	json_decref(k);
	ib_record_clear(&a);
	ib_record_clear(&b);
	ib_buf_clear(&y);
}

static void refuse(const char *key, json_t *value, enum ib_code code)
{
	struct ib_record a, b;
	struct ib_err err;
	json_t *j;

	fill(&a);
	j = ib_record_to_json(&a);
	if (value)
		ib_json_set(j, key, value);
	else
		json_object_del(j, key);
	CU_ASSERT_EQUAL(ib_record_from_json(j, "record.json", &b, &err), code);
	ib_record_clear(&b); /* empty after a failure */
	json_decref(j);
	ib_record_clear(&a);
}

static void test_record_reading_is_strict(void)
{
	static const char *const keys[] = {"schema", "run_id", "repeat", "state", "reasons", "exit", "time", "command_sha256", "cache", "files", "tool"};

	for (size_t i = 0; i < IB_LEN(keys); i++) {
		refuse(keys[i], NULL, IB_E_SYNTAX);
		refuse(keys[i], ib_json_array(), strcmp(keys[i], "reasons") == 0 || strcmp(keys[i], "files") == 0 ? 0 : IB_E_SYNTAX);
	}
	refuse("schema", ib_json_str("urn:ibtools:record:v2"), IB_E_UNSUPPORTED);
	refuse("state", ib_json_str("abandoned"), IB_E_SYNTAX);
	refuse("synthetic", ib_json_str("yes"), IB_E_SYNTAX);
	refuse("unknown_key", ib_json_str("is ignored"), 0);
}

static void test_record_files_are_in_order(void)
{
	struct ib_record a, b;
	struct ib_err err;
	json_t *j;

	fill(&a);
	ib_record_add_file(&a, "a.log", 1, HEX);
	j = ib_record_to_json(&a);
	CU_ASSERT_EQUAL(ib_record_from_json(j, "record.json", &b, &err), IB_E_SYNTAX);
	json_decref(j);
	ib_record_clear(&a);
}

static void test_record_failing_keeps_other_states(void)
{
	struct ib_record r;

	ib_record_init(&r);
	ib_record_fail(&r, "exit_status");
	ib_record_fail(&r, "exit_status");
	CU_ASSERT_EQUAL(r.state, IB_STATE_FAILED);
	CU_ASSERT_EQUAL(r.reasons.n, 1);
	r.state = IB_STATE_TIMED_OUT;
	ib_record_fail(&r, "no_output");
	CU_ASSERT_EQUAL(r.state, IB_STATE_TIMED_OUT);
	ib_record_clear(&r);
}

static void round_trip_entry(struct ib_entry *e)
{
	ib_auto_entry struct ib_entry back = {0};
	ib_auto_buf struct ib_buf x = IB_BUF(100000), y = IB_BUF(100000);
	ib_auto_json json_t *j = NULL, *k = NULL;
	struct ib_err err = {0};

	e->seq = 7;
	e->wall_ns = 1764518462123456789;
	e->monotonic_ns = 5;
	memcpy(e->prev, HEX, IB_HEX_LEN);
	j = ib_entry_to_json(e);
	CU_ASSERT_EQUAL_FATAL(ib_entry_from_json(j, "x", &back, &err), 0);
	k = ib_entry_to_json(&back);
	ib_json_write(j, &x);
	ib_json_write(k, &y);
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&x), ib_buf_str(&y));
}

static void test_record_every_kind_of_entry_round_trips(void)
{
	for (unsigned k = 0; k < IB_ENTRY_KINDS; k++) {
		ib_auto_entry struct ib_entry e = {.kind = (enum ib_entry_kind)k, .repeat = 1, .attempt = 1, .bytes = 1, .state = IB_STATE_FAILED};

		e.study = ib_strdup("s");
		e.reason = ib_strdup("r");
		e.run = ib_strdup("run");
		e.text = ib_strdup("t");
		e.file = ib_strdup("ledger.torn/1");
		memcpy(e.source_sha256, HEX, IB_HEX_LEN);
		memcpy(e.json_sha256, HEX, IB_HEX_LEN);
		memcpy(e.record_sha256, HEX, IB_HEX_LEN);
		memcpy(e.sha256, HEX, IB_HEX_LEN);
		memcpy(e.tree_sha256, HEX, IB_HEX_LEN);
		ib_strv_add(&e.captures, HEX);
		round_trip_entry(&e);
	}
}

static void test_record_entry_reading_is_strict(void)
{
	static const char *const bad[] = {
		"{\"seq\":0,\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"note\",\"text\":\"x\",\"prev\":null}",
		"{\"seq\":1,\"at\":{\"wall_at\":\"2026-11-31T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"note\",\"text\":\"x\",\"prev\":null}",
		"{\"seq\":1,\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"note\",\"prev\":null}",
		"{\"seq\":1,\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"note\",\"text\":\"x\",\"prev\":\"00\"}",
		"{\"seq\":1,\"at\":{\"wall_at\":\"2026-11-30T16:01:02Z\",\"monotonic_ns\":1,\"boot\":null},\"kind\":\"contract\",\"study\":\"x\",\"prev\":null}",
		"[]",
	};

	for (size_t i = 0; i < IB_LEN(bad); i++) {
		ib_auto_json json_t *j = NULL;
		struct ib_entry e;
		struct ib_err err;

		CU_ASSERT_EQUAL_FATAL(ib_json_load(bad[i], strlen(bad[i]), "x", &j, &err), 0);
		CU_ASSERT_EQUAL(ib_entry_from_json(j, "x", &e, &err), IB_E_SYNTAX);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_record_round_trips),
	IB_TEST(test_record_reading_is_strict),
	IB_TEST(test_record_files_are_in_order),
	IB_TEST(test_record_failing_keeps_other_states),
	IB_TEST(test_record_every_kind_of_entry_round_trips),
	IB_TEST(test_record_entry_reading_is_strict),
	{0},
};

const struct ib_test_suite ib_suite = {"record", tests};
