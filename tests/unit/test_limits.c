/* SPDX-License-Identifier: Apache-2.0 */
/* A36 and A37: refusals that only a log tells of, and runs that measure their client. */
#include <math.h>

#include "audit_world.h"
#include "base/auto.h"
#include "base/str.h"
#include "clients/log_errors.h"
#include "unit.h"

/* --- lines --- */

static int64_t lines(const char *text)
{
	return ib_log_errors_in(text, strlen(text));
}

static void test_limits_lines_of_refusals(void)
{
	CU_ASSERT_EQUAL(lines("INFO: 127.0.0.1:1 - \"POST /v1/completions HTTP/1.1\" 503 Service Unavailable\n"), 1);
	CU_ASSERT_EQUAL(lines("a\nHTTP 429\r\nstatus=500\n503 Service Unavailable"), 3);
	CU_ASSERT_EQUAL(lines("INFO: 127.0.0.1:1 - \"GET /health HTTP/1.1\" 503 Service Unavailable\n"), 0);
	CU_ASSERT_EQUAL(lines("\"POST /v1/completions HTTP/1.1\" 200 OK\n503 requests were sent\nhttp: 15031 bytes, 1.503 s\n"), 0);
	CU_ASSERT_EQUAL(lines(""), 0);
	CU_ASSERT_TRUE(ib_log_named("server/engine.log") && ib_log_named("x.txt") && !ib_log_named("result.json"));
}

/* --- A36 --- */

static void test_limits_refusals_beside_success(void)
{
	struct world w;

	world_begin(&w, 1, false);
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_NOT_CHECKABLE);
	ib_context_take_log(world_context(&w, 0), "server.log", 0);
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_PASS);
	ib_context_take_log(world_context(&w, 0), "client.log", 20);
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_FAIL);
	CU_ASSERT_TRUE(world_says(&w, "20 lines tell of an answer with status 429 or 5xx, the results of 0 requests that did not succeed and 20 that did: refusals "
				      "may have been counted as successes"));
	/* those that the client owns up to, or left out of its successes, explain as many */
	world_result(&w, 0)->requests.failed = 19;
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_FAIL);
	world_result(&w, 0)->requests.failed = 20;
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_PASS);
	world_result(&w, 0)->requests.failed = IB_NOT_IN_FILE;
	world_result(&w, 0)->requests.attempted = 40;
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_PASS);
	world_result(&w, 0)->requests.succeeded = IB_NOT_IN_FILE;
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_NOT_CHECKABLE);
	world_end(&w);
}

static void test_limits_large_log_is_no_pass(void)
{
	struct world w;

	world_begin(&w, 1, false);
	ib_context_take_log(world_context(&w, 0), "server.log", -1);
	CU_ASSERT_EQUAL(world_check(&w, "A36"), IB_NOT_CHECKABLE);
	world_end(&w);
}

/* --- A37 --- */

#define SHA "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define CELL(load, status, requests, tokens) \
	"{\"group\":\"g\",\"cell\":\"c\",\"load\":" load ",\"status\":\"" status "\",\"requests_per_s\":" requests ",\"output_tokens_per_s\":" tokens "}"

struct ceiling_world {
	struct world w;
	struct ib_study_doc doc;
	struct ib_study_entry entry;
	json_t *slot, *contract;
	char path[32];
};

static void begin(struct ceiling_world *c, const char *cell)
{
	ib_auto_free char *text = ib_asprintf("{\"schema\":\"urn:ibtools:ceiling:v1\",\"contract_sha256\":\"" SHA "\",\"cells\":[%s]}", cell);
	static const char slot[] = "{\"group\":\"g\",\"cell\":\"c\",\"command\":[\"x\"]}", contract[] = "{\"plan\":[{\"group\":\"g\",\"cell\":\"d\",\"command\":[\"x\"]}]}";

	world_begin(&c->w, 1, true);
	memcpy(c->path, "ceiling/1.json", sizeof("ceiling/1.json"));
	c->doc = (struct ib_study_doc){.path = c->path};
	CU_ASSERT_EQUAL_FATAL(ib_json_load(text, strlen(text), "x", &c->doc.json, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_json_load(slot, strlen(slot), "x", &c->slot, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_json_load(contract, strlen(contract), "x", &c->contract, NULL), 0);
	c->entry = (struct ib_study_entry){.e = {.kind = IB_ENTRY_CEILING, .file = c->path}};
	memcpy(c->doc.sha256, SHA, IB_HEX_LEN);
	memcpy(c->entry.e.sha256, SHA, IB_HEX_LEN);
	memcpy(c->w.study_runs[0].record.contract_sha256, SHA, IB_HEX_LEN);
	c->w.s.ceilings = &c->doc;
	c->w.s.n_ceilings = 1;
	c->w.s.entries = &c->entry;
	c->w.s.n_entries = 1;
	c->w.s.contract = c->contract;
	c->w.runs[0].slot = c->slot;
}

static void end(struct ceiling_world *c)
{
	world_end(&c->w);
	json_decref(c->doc.json);
	json_decref(c->slot);
	json_decref(c->contract);
}

/* A run of 10 requests and 50 tokens a second against that cell of a ceiling. */
static enum ib_status against(const char *cell)
{
	struct ceiling_world c;
	enum ib_status s;

	begin(&c, cell);
	s = world_check(&c.w, "A37");
	end(&c);
	return s;
}

static void test_limits_runs_at_the_ceiling(void)
{
	struct ceiling_world c;

	CU_ASSERT_EQUAL(against(CELL("\"closed\"", "measured", "12.6", "63")), IB_PASS);
	CU_ASSERT_EQUAL(against(CELL("\"closed\"", "measured", "12.5", "630")), IB_FAIL);
	CU_ASSERT_EQUAL(against(CELL("null", "measured", "126", "60")), IB_FAIL);
	CU_ASSERT_EQUAL(against(CELL("null", "measured", "null", "null")), IB_NOT_CHECKABLE);
	CU_ASSERT_EQUAL(against(CELL("null", "failed", "10", "50")), IB_NOT_CHECKABLE);
	CU_ASSERT_EQUAL(against(CELL("\"open\"", "measured", "10", "50")), IB_NOT_CHECKABLE);
	CU_ASSERT_EQUAL(against("{\"group\":\"other\",\"cell\":\"c\"}"), IB_NOT_CHECKABLE);
	CU_ASSERT_EQUAL(against("7,[],{}"), IB_NOT_CHECKABLE);
	begin(&c, CELL("\"closed\"", "measured", "10", "50"));
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_FAIL);
	CU_ASSERT_TRUE(world_says(&c.w, "10 requests/s, 100 % of the 10 that its client reaches without a server"));
	end(&c);
}

static void test_limits_ceilings_that_say_nothing(void)
{
	struct ceiling_world c;

	begin(&c, "{\"group\":\"g\",\"cell\":\"d\",\"status\":\"measured\",\"requests_per_s\":10}");
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_FAIL); /* another cell, the same command */
	c.entry.e.sha256[0] = 'd';
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_NOT_CHECKABLE); /* not what the ledger holds */
	c.entry.e.sha256[0] = 'c';
	c.w.study_runs[0].record.contract_sha256[0] = 'd';
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_NOT_CHECKABLE);
	c.w.study_runs[0].record.contract_sha256[0] = 'c';
	world_setting(&c.w, 0, IB_SET_RATE, "10");
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_NOT_CHECKABLE);
	c.w.s.n_ceilings = 0;
	CU_ASSERT_EQUAL(world_check(&c.w, "A37"), IB_NOT_CHECKABLE);
	end(&c);
}

static const struct ib_test tests[] = {
	IB_TEST(test_limits_lines_of_refusals),	   IB_TEST(test_limits_refusals_beside_success), IB_TEST(test_limits_large_log_is_no_pass),
	IB_TEST(test_limits_runs_at_the_ceiling), IB_TEST(test_limits_ceilings_that_say_nothing), {NULL, NULL},
};

const struct ib_test_suite ib_suite = {"limits", tests};
