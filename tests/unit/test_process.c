/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run about processes: watchers of a child, ends in steps. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "model/record.h"
#include "run/child.h"
#include "run/outside.h"

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

/* --- ends in steps --- */

static bool interrupt(void *arg, int64_t now_ns)
{
	int *n = arg;

	(void)now_ns;
	if ((*n)++ == 0)
		kill(getpid(), SIGINT);
	return false;
}

static bool interrupt_thrice(void *arg, int64_t now_ns)
{
	int *n = arg;

	(void)now_ns;
	if ((*n)++ < 3)
		kill(getpid(), SIGINT);
	return false;
}

/* What a command that notes its signals has noted at its end. */
static void run_noting(struct child *c, const char *traps, char *ret, size_t size)
{
	char file[] = "/tmp/ib-noted-XXXXXX";
	ib_auto_fd int fd = mkstemp(file);
	ib_auto_free char *script = ib_asprintf("exec 3> %s; %s; while :; do sleep 0.05; done", file, traps);
	ib_auto_buf struct ib_buf b = IB_BUF(1000);

	CU_ASSERT_EQUAL(run_shell(c, script), 0);
	CU_ASSERT_EQUAL(ib_read_all(fd, file, &b, NULL), 0);
	snprintf(ret, size, "%s", ib_buf_str(&b));
	unlink(file);
}

static void test_process_gets_the_signal_then_term_then_kill(void)
{
	int n = 0;
	struct child c = {.spec = {.tick = interrupt, .tick_arg = &n, .tick_ns = IB_NS / 10, .grace_ns = IB_NS / 2}};
	char noted[100];

	run_noting(&c, "trap 'printf I >&3' INT; trap 'printf T >&3' TERM", noted, sizeof(noted));
	CU_ASSERT_STRING_EQUAL(noted, "IT");
	CU_ASSERT_EQUAL(c.res.interrupted_by, SIGINT);
	CU_ASSERT_EQUAL(c.res.signal, SIGKILL);
	CU_ASSERT_TRUE(c.res.duration_ns >= IB_NS && c.res.duration_ns < 8 * IB_NS);
}

static void test_process_is_hurried_one_step_by_each_signal(void)
{
	int n = 0;
	struct child c = {.spec = {.tick = interrupt_thrice, .tick_arg = &n, .tick_ns = IB_NS / 3, .grace_ns = 60 * IB_NS}};
	char noted[100];

	run_noting(&c, "trap 'printf I >&3' INT; trap 'printf T >&3' TERM", noted, sizeof(noted));
	CU_ASSERT_STRING_EQUAL(noted, "IT");
	CU_ASSERT_EQUAL(c.res.signal, SIGKILL);
	CU_ASSERT_TRUE(c.res.duration_ns < 20 * IB_NS);
}

static void test_process_may_write_its_results_in_the_grace_time(void)
{
	int n = 0;
	struct child c = {.spec = {.tick = interrupt, .tick_arg = &n, .tick_ns = IB_NS / 10, .grace_ns = 60 * IB_NS}};
	char noted[100];

	run_noting(&c, "trap 'sleep 0.4; printf saved >&3; exit 0' INT; trap 'printf T >&3' TERM", noted, sizeof(noted));
	CU_ASSERT_STRING_EQUAL(noted, "saved");
	CU_ASSERT_EQUAL(c.res.exit_status, 0);
	CU_ASSERT_TRUE(c.res.duration_ns < 30 * IB_NS);
}

static void test_process_out_of_time_gets_the_signal_of_its_client(void)
{
	struct child c = {.spec = {.timeout_ns = IB_NS / 5, .end_signal = SIGINT, .grace_ns = 60 * IB_NS}};
	char noted[100];

	run_noting(&c, "trap 'printf I >&3; exit 0' INT; trap 'printf T >&3; exit 1' TERM", noted, sizeof(noted));
	CU_ASSERT_STRING_EQUAL(noted, "I");
	CU_ASSERT_TRUE(c.res.timed_out);
	c.spec.end_signal = 0;
	run_noting(&c, "trap 'printf I >&3; exit 0' INT; trap 'printf T >&3; exit 1' TERM", noted, sizeof(noted));
	CU_ASSERT_STRING_EQUAL(noted, "T");
}

static void test_process_that_stands_still_is_ended_too(void)
{
	struct child c = {.spec = {.timeout_ns = IB_NS / 2, .grace_ns = 60 * IB_NS}};

	CU_ASSERT_EQUAL(run_shell(&c, "trap 'exit 3' TERM; kill -STOP $$; while :; do sleep 0.05; done"), 0);
	CU_ASSERT_TRUE(c.res.timed_out);
	CU_ASSERT_EQUAL(c.res.exit_status, 3);
	CU_ASSERT_TRUE(c.res.duration_ns < 30 * IB_NS);
}

static void test_process_of_a_client_has_its_grace_time(void)
{
	int sig;

	CU_ASSERT_TRUE(ib_client_grace_ns("guidellm", &sig) > 38 * IB_NS);
	CU_ASSERT_EQUAL(sig, SIGINT);
	CU_ASSERT_TRUE(ib_client_grace_ns("inference-perf", &sig) > 13 * IB_NS);
	CU_ASSERT_EQUAL(ib_client_grace_ns(NULL, &sig), 10 * IB_NS);
	CU_ASSERT_EQUAL(sig, SIGTERM);
	CU_ASSERT_EQUAL(ib_client_grace_ns("command", &sig), 10 * IB_NS);
}

/* --- what cannot be seen --- */

static char *outside_of(const char *words)
{
	ib_auto_free char *text = ib_strdup(words);
	char *argv[20] = {0}, *at = text, *word;
	size_t n = 0;

	while (n < 19 && (word = strsep(&at, " ")))
		argv[n++] = word;
	return ib_outside_note(argv);
}

static void test_process_outside_of_the_tree_is_told(void)
{
	static const char *const yes[] = {"docker exec -it c python bench.py", "/usr/bin/docker run --rm image", "kubectl exec pod -- bench", "ssh host bench",
					  "srun -N 2 bench", "podman exec c bench", "nohup ssh host x", "env A=1 docker exec c x", "taskset -c 0-3 srun x",
					  "nice -n 5 ssh host", "kubectl -n space exec pod -- x"};
	static const char *const no[] = {"docker ps", "kubectl get pods", "python bench.py", "sshd", "./exec", "env docker", "nice -n 5 python ssh.py"};

	for (size_t i = 0; i < IB_LEN(yes); i++) {
		ib_auto_free char *note = outside_of(yes[i]);

		CU_ASSERT_PTR_NOT_NULL(note);
		CU_ASSERT_PTR_NOT_NULL(note ? strstr(note, "signals and time limits reach only this end") : NULL);
	}
	for (size_t i = 0; i < IB_LEN(no); i++) {
		ib_auto_free char *note = outside_of(no[i]);

		CU_ASSERT_PTR_NULL(note);
	}
}

static void test_process_pipe_without_pipefail_is_told(void)
{
	static const struct {
		const char *shell, *flag, *text;
		bool told;
	} cases[] = {
		{"sh", "-c", "false | tee x", true},
		{"/bin/bash", "-ec", "a | b", true},
		{"sh", "-c", "set -o pipefail; false | tee x", false},
		{"sh", "-c", "false || true", false},
		{"sh", "-c", "echo 'a | b'", false},
		{"sh", "-c", "echo \"a \\\" | b\"", false},
		{"sh", "-c", "echo a \\| b", false},
		{"sh", "-c", "a |& b", true},
		{"sh", "script", "a | b", false},
		{"python", "-c", "a | b", false},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_free char *shell = ib_strdup(cases[i].shell), *flag = ib_strdup(cases[i].flag), *text = ib_strdup(cases[i].text);
		char *argv[] = {shell, flag, text, NULL};

		CU_ASSERT_EQUAL(ib_pipe_note(argv) != NULL, cases[i].told);
	}
}

static const struct ib_test tests[] = {
	IB_TEST(test_process_is_watched_while_it_runs),
	IB_TEST(test_process_is_ended_by_its_watcher),
	IB_TEST(test_process_gets_the_signal_then_term_then_kill),
	IB_TEST(test_process_is_hurried_one_step_by_each_signal),
	IB_TEST(test_process_may_write_its_results_in_the_grace_time),
	IB_TEST(test_process_out_of_time_gets_the_signal_of_its_client),
	IB_TEST(test_process_that_stands_still_is_ended_too),
	IB_TEST(test_process_of_a_client_has_its_grace_time),
	IB_TEST(test_process_outside_of_the_tree_is_told),
	IB_TEST(test_process_pipe_without_pipefail_is_told),
	{NULL, NULL},
};

const struct ib_test_suite ib_suite = {"process", tests};
