/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run about processes: watchers of a child, ends in steps. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/record.h"
#include "run/child.h"

struct child {
	struct ib_ctx ctx;
	struct ib_signals signals;
	struct ib_child_spec spec;
	struct ib_child_result res;
};

static int run_shell(struct child *c, const char *script)
{
	static char sh[] = "sh", dash_c[] = "-c";
	ib_auto_free char *text = ib_strdup(script);
	char *argv[] = {sh, dash_c, text, NULL};
	int r;

	c->ctx = (struct ib_ctx){.clock = &ib_clock_system, .env = environ};
	c->spec.argv = argv;
	c->spec.env = environ;
	c->spec.stdin_fd = c->spec.stdout_fd = c->spec.stderr_fd = -1;
	c->spec.own_tree = true;
	CU_ASSERT_EQUAL_FATAL(ib_signals_init(&c->signals, NULL), 0);
	r = ib_child_run(&c->ctx, &c->signals, &c->spec, &c->res, NULL);
	ib_signals_clear(&c->signals);
	return r;
}

struct ticks {
	int n, end_at;
	int64_t last;
};

static bool count(void *arg, int64_t now_ns)
{
	struct ticks *t = arg;

	CU_ASSERT_TRUE(now_ns > t->last);
	t->last = now_ns;
	return ++t->n == t->end_at;
}

static void test_process_is_watched_while_it_runs(void)
{
	struct ticks t = {0};
	struct child c = {.spec = {.tick = count, .tick_arg = &t, .tick_ns = IB_NS / 50, .grace_ns = IB_NS / 5}};

	CU_ASSERT_EQUAL(run_shell(&c, "sleep 0.5"), 0);
	CU_ASSERT_TRUE(t.n >= 3 && t.n <= 26);
	CU_ASSERT_FALSE(c.res.ended_by_tick);
	CU_ASSERT_EQUAL(c.res.exit_status, 0);
	t = (struct ticks){0};
	c.spec.tick_ns = 0;
	CU_ASSERT_EQUAL(run_shell(&c, "sleep 0.1"), 0);
	CU_ASSERT_EQUAL(t.n, 0);
}

static void test_process_is_ended_by_its_watcher(void)
{
	struct ticks t = {.end_at = 3};
	struct child c = {.spec = {.tick = count, .tick_arg = &t, .tick_ns = IB_NS / 50, .grace_ns = IB_NS / 5}};

	CU_ASSERT_EQUAL(run_shell(&c, "trap '' TERM; (setsid sleep 60 &); while :; do sleep 0.1; done"), 0);
	CU_ASSERT_TRUE(c.res.ended_by_tick && !c.res.timed_out && !c.res.interrupted_by);
	CU_ASSERT_EQUAL(c.res.signal, SIGKILL);
	CU_ASSERT_TRUE(t.n > 3); /* what the command does in its grace time is still watched */
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static const struct ib_test tests[] = {
	IB_TEST(test_process_is_watched_while_it_runs),
	IB_TEST(test_process_is_ended_by_its_watcher),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"process", tests};
