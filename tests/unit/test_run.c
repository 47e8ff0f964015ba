/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/run: run IDs, placeholders, children, steps. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"
#include "run/files.h"
#include "run/inside.h"
#include "run/run.h"
#include "run/runid.h"
#include "run/tree.h"

static void test_run_ids_are_made_of_time_names_and_chance(void)
{
	char id[IB_RUN_ID_MAX];

	ib_run_id(1796054462LL * IB_NS, "short", "cap-4", 2, 0x9f3a1c7e, id);
	CU_ASSERT_STRING_EQUAL(id, "20261130T160102Z-short.cap-4-r02-9f3a1c7e");
	ib_run_id(1796054462LL * IB_NS, NULL, NULL, 1, 0, id);
	CU_ASSERT_STRING_EQUAL(id, "20261130T160102Z-r01-00000000");
}

static void test_run_names_are_checked(void)
{
	static const char *const bad[] = {"", "A", "-a", "_a", "a b", "a/b", "..", "abcdefghijklmnopqrstuvwxyz0123456", "a\n"};

	for (size_t i = 0; i < IB_LEN(bad); i++)
		CU_ASSERT_EQUAL(ib_run_name_check("group", bad[i], NULL), IB_E_USAGE);
	CU_ASSERT_EQUAL(ib_run_name_check("group", "cap-4_x", NULL), 0);
	CU_ASSERT_EQUAL(ib_run_name_check("group", "abcdefghijklmnopqrstuvwxyz012345", NULL), 0);
}

static void test_run_placeholders(void)
{
	static char cap[] = "cap", four[] = "4", path[] = "/s";
	struct ib_var vars[] = {{cap, four}};
	struct ib_study study = {.path = path};
	struct ib_run_spec spec = {.repeat = 3, .variables = vars, .variables_n = 1};
	struct ib_run run = {.study = &study, .spec = &spec, .id = "ID", .dir = "/s/runs/ID", .output_dir = "/s/runs/ID/output", .group = "g"};
	static const struct {
		const char *in, *loose, *strict; /* strict NULL: an error */
	} cases[] = {
		{"plain", "plain", "plain"},
		{"{run_id}-{repeat}{cap}", "ID-34", "ID-34"},
		{"--out={output_dir}/x", "--out=/s/runs/ID/output/x", "--out=/s/runs/ID/output/x"},
		{"{unknown}", "{unknown}", NULL},
		{"{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}", NULL},
		{"{{run_id}}", "{ID}", "{run_id}}"},
		{"a } b", "a } b", "a } b"},
		{"{", "{", NULL},
	};

	for (size_t i = 0; i < IB_LEN(cases); i++) {
		ib_auto_free char *loose = NULL, *strict = NULL;
		struct ib_err err;

		CU_ASSERT_EQUAL(ib_run_expand(&run, cases[i].in, false, &loose, &err), 0);
		CU_ASSERT_STRING_EQUAL(loose, cases[i].loose);
		CU_ASSERT_EQUAL(ib_run_expand(&run, cases[i].in, true, &strict, &err), cases[i].strict ? 0 : IB_E_USAGE);
		if (cases[i].strict)
			CU_ASSERT_STRING_EQUAL(strict, cases[i].strict);
	}
}

/* --- children --- */

struct child {
	struct ib_ctx ctx;
	struct ib_signals signals;
	struct ib_child_result res;
};

static int run_shell(struct child *c, const char *script, int64_t timeout_ns, bool own_tree)
{
	static char sh[] = "sh", dash_c[] = "-c";
	ib_auto_free char *text = ib_strdup(script);
	char *argv[] = {sh, dash_c, text, NULL};
	struct ib_child_spec spec = {.argv = argv, .env = environ, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .timeout_ns = timeout_ns, .grace_ns = IB_NS / 5, .own_tree = own_tree};
	int r;

	c->ctx = (struct ib_ctx){.clock = &ib_clock_system, .env = environ};
	CU_ASSERT_EQUAL_FATAL(ib_signals_init(&c->signals, NULL), 0);
	r = ib_child_run(&c->ctx, &c->signals, &spec, &c->res, NULL);
	ib_signals_clear(&c->signals);
	return r;
}

static void test_run_child_gives_its_status(void)
{
	struct child c;

	CU_ASSERT_EQUAL(run_shell(&c, "exit 7", 0, true), 0);
	CU_ASSERT_EQUAL(c.res.exit_status, 7);
	CU_ASSERT_EQUAL(c.res.signal, IB_NONE);
	CU_ASSERT_EQUAL(c.res.left_behind, 0);
	CU_ASSERT_TRUE(c.res.duration_ns > 0 && c.res.max_rss_bytes > 0);
	CU_ASSERT_EQUAL(run_shell(&c, "kill -9 $$", 0, true), 0);
	CU_ASSERT_EQUAL(c.res.exit_status, IB_NONE);
	CU_ASSERT_EQUAL(c.res.signal, 9);
}

static void test_run_child_has_default_signals(void)
{
	struct child c;

	signal(SIGINT, SIG_IGN);
	CU_ASSERT_EQUAL(run_shell(&c, "kill -INT $$; sleep 1; exit 0", 0, true), 0);
	signal(SIGINT, SIG_DFL);
	CU_ASSERT_EQUAL(c.res.signal, SIGINT);
}

static void test_run_timeout_ends_the_tree(void)
{
	struct child c;
	struct ib_pids left = {0}, none = {0};

	CU_ASSERT_EQUAL(run_shell(&c, "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 60' &) ; (sleep 60 &); sleep 60", IB_NS / 5, true), 0);
	CU_ASSERT_TRUE(c.res.timed_out);
	CU_ASSERT_EQUAL(c.res.signal, SIGKILL);
	CU_ASSERT_TRUE(ib_tree_descendants(&none, &left, NULL));
	CU_ASSERT_EQUAL(left.n, 0);
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* all are reaped */
	ib_pids_clear(&left);
}

static void test_run_what_outlives_the_command_is_ended(void)
{
	struct child c;

	CU_ASSERT_EQUAL(run_shell(&c, "(setsid sleep 60 &); exit 0", 0, true), 0);
	CU_ASSERT_EQUAL(c.res.exit_status, 0);
	CU_ASSERT_EQUAL(c.res.left_behind, 1);
	CU_ASSERT_EQUAL(run_shell(&c, "(sleep 0.2 &); exit 0", 0, true), 0);
	CU_ASSERT_EQUAL(c.res.left_behind, 0); /* it ended by itself */
}

static void test_run_children_of_before_are_spared(void)
{
	struct child c;
	pid_t before = fork();

	if (before == 0) {
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	CU_ASSERT_EQUAL(run_shell(&c, "(sleep 60 &); sleep 60", IB_NS / 5, true), 0);
	CU_ASSERT_EQUAL(waitpid(before, NULL, WNOHANG), 0);
	kill(before, SIGKILL);
	waitpid(before, NULL, 0);
}

static void test_run_hooks_may_leave_a_server(void)
{
	struct child c;
	char file[] = "/tmp/ib-hook-XXXXXX";
	ib_auto_free char *script = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(100);
	int fd = mkstemp(file);
	int64_t pid = 0;

	script = ib_asprintf("sleep 60 > /dev/null 2>&1 & echo $! > %s", file);
	CU_ASSERT_EQUAL(run_shell(&c, script, 0, false), 0);
	CU_ASSERT_EQUAL(ib_read_all(fd, file, &b, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(sscanf(ib_buf_str(&b), "%ld", &pid), 1);
	CU_ASSERT_EQUAL(kill((pid_t)pid, 0), 0);
	kill((pid_t)pid, SIGKILL);
	close(fd);
	unlink(file);
}

static void test_run_missing_program_is_told(void)
{
	static char name[] = "/no/such/program";
	char *argv[] = {name, NULL};
	struct child c = {.ctx = {.clock = &ib_clock_system}};
	struct ib_child_spec spec = {.argv = argv, .env = environ, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .own_tree = true};

	CU_ASSERT_EQUAL_FATAL(ib_signals_init(&c.signals, NULL), 0);
	CU_ASSERT_EQUAL(ib_child_run(&c.ctx, &c.signals, &spec, &c.res, NULL), 0);
	ib_signals_clear(&c.signals);
	CU_ASSERT_EQUAL(c.res.exec_errno, ENOENT);
	CU_ASSERT_EQUAL(c.res.exit_status, IB_NONE);
}

/* --- steps --- */

/* A reset that leaves a server running, which goes on writing to what was its output. */
static int noisy_reset(void *arg, struct ib_run *run, struct ib_err *err)
{
	static char sh[] = "sh", dash_c[] = "-c", pid_name[] = "{output_dir}/pid",
		    script[] = "echo \"$IB_HOOK {repeat}\"; echo err >&2; (while :; do echo noise; sleep 0.01; done) & echo $! > $0; exit 3";
	char *argv[] = {sh, dash_c, script, pid_name, NULL};
	struct ib_child_result *res = arg;

	return ib_run_hook(run, "00-reset", argv, 0, res, err);
}


struct steps {
	struct ib_strv order;
	const char *fails;
	const char *signals; /* this step gets a TERM, and ends well unless it fails */
};

#define STEP(n)                                                                                  \
	static int step_##n(void *arg, struct ib_run *run, struct ib_err *err)                   \
	{                                                                                        \
		struct steps *s = arg;                                                           \
                                                                                                 \
		ib_strv_add(&s->order, #n);                                                      \
		if (ib_streq(s->signals, #n))                                                    \
			kill(getpid(), SIGTERM);                                                 \
		(void)run;                                                                       \
		return ib_streq(s->fails, #n) ? ib_fail(err, IB_E_STATE, 0, "no " #n) : 0;       \
	}
STEP(ready)
STEP(check)
STEP(quiesce)
STEP(reset)
STEP(warmup)
STEP(before)
STEP(after)
STEP(convert)
STEP(outcome)

/* One run of "true" in a study of its own; each(dir, arg), unless NULL, looks at the run's directory. */
static void run_in_study(const struct ib_run_steps *steps, struct ib_record *ret, void (*each)(const char *dir, void *arg), void *arg)
{
	static char sh[] = "true";
	char *argv[] = {sh, NULL};
	char dir[] = "/tmp/ib-steps-XXXXXX", state[] = "XDG_STATE_HOME=/tmp/ib-steps-state";
	char path[] = "PATH=/usr/bin:/bin";
	char *env[] = {state, path, NULL};
	struct ib_ctx ctx = {.clock = &ib_clock_system, .env = env};
	struct ib_run_spec spec = {.argv = argv, .repeat = 1, .attempt = 1, .no_capture = true, .steps = *steps};
	ib_auto_study struct ib_study study = {.fd = -1};
	ib_auto_free char *run_dir = NULL;
	struct ib_signals signals;
	struct ib_err err = {0};
	struct child c;
	char cmd[128];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL_FATAL(ib_signals_init(&signals, &err), 0);
	CU_ASSERT_EQUAL_FATAL(ib_study_open(&ctx, dir, NULL, NULL, NULL, &study, &err), 0);
	CU_ASSERT_EQUAL_FATAL(ib_run_one(&ctx, &study, &signals, &spec, ret, &err), 0);
	ib_signals_clear(&signals);
	run_dir = ib_asprintf("%s/runs/%s", dir, ret->run_id);
	if (each)
		each(run_dir, arg);
	snprintf(cmd, sizeof(cmd), "chmod -R u+w %s; rm -rf %s /tmp/ib-steps-state", dir, dir);
	CU_ASSERT_EQUAL(run_shell(&c, cmd, 0, true), 0);
}

/* A run with all steps, of which one fails; order of what was called, as one text. */
static void run_steps(const char *fails, const char *signals, struct ib_record *ret, char *order, size_t size)
{
	struct steps s = {.fails = fails, .signals = signals};
	const struct ib_run_steps steps = {&s, step_ready, step_check, step_quiesce, step_reset, step_warmup, step_before, step_after, step_convert, step_outcome};

	run_in_study(&steps, ret, NULL, NULL);
	*order = '\0';
	for (size_t i = 0; i < s.order.n; i++)
		snprintf(order + strlen(order), size - strlen(order), "%s ", s.order.v[i]);
	ib_strv_clear(&s.order);
}

static void look_at_hook(const char *dir, void *arg)
{
	ib_auto_buf struct ib_buf out = IB_BUF(100000), errors = IB_BUF(100), pid = IB_BUF(100);
	ib_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct ib_record *r = arg;
	char hex[IB_HEX_LEN];
	int64_t n = 0;

	usleep(50000); /* time for more noise, if it could get in */
	CU_ASSERT_EQUAL_FATAL(ib_read_file(fd, "hooks/00-reset.out", &out, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_read_file(fd, "hooks/00-reset.err", &errors, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ib_read_file(fd, "output/pid", &pid, NULL), 0);
	CU_ASSERT_TRUE(ib_starts(ib_buf_str(&out), "00-reset 1\n"));
	CU_ASSERT_STRING_EQUAL(ib_buf_str(&errors), "err\n");
	ib_sha256_of(out.data, out.len, hex);
	for (size_t i = 0; i < r->files_n; i++)
		if (strcmp(r->files[i].path, "hooks/00-reset.out") == 0)
			CU_ASSERT_STRING_EQUAL(r->files[i].sha256, hex);
	CU_ASSERT_EQUAL_FATAL(sscanf(ib_buf_str(&pid), "%ld", &n), 1);
	CU_ASSERT_EQUAL(kill((pid_t)n, SIGKILL), 0); /* it lives */
}

static void test_run_hook_may_leave_a_server_that_goes_on_writing(void)
{
	struct ib_child_result res;
	const struct ib_run_steps steps = {.arg = &res, .reset = noisy_reset};
	struct ib_record r;

	run_in_study(&steps, &r, look_at_hook, &r);
	CU_ASSERT_EQUAL(r.hooks_n, 1);
	CU_ASSERT_EQUAL(r.hooks[0].exit_status, 3);
	CU_ASSERT_EQUAL(r.state, IB_STATE_COMPLETED); /* the step decides what a status means */
	CU_ASSERT_EQUAL(r.left_behind, 0);
	ib_record_clear(&r);
}

static void test_run_steps_come_in_order(void)
{
	struct ib_record r;
	char order[200];

	run_steps(NULL, NULL, &r, order, sizeof(order));
	CU_ASSERT_STRING_EQUAL(order, "ready check quiesce reset warmup before after convert outcome ");
	CU_ASSERT_EQUAL(r.state, IB_STATE_COMPLETED);
	ib_record_clear(&r);
}

static void test_run_failing_step_before_the_command_refuses_it(void)
{
	struct ib_record r;
	char order[200];

	run_steps("reset", NULL, &r, order, sizeof(order));
	CU_ASSERT_STRING_EQUAL(order, "ready check quiesce reset ");
	CU_ASSERT_EQUAL(r.state, IB_STATE_REFUSED);
	CU_ASSERT_EQUAL(r.exit.status, IB_NONE);
	CU_ASSERT_EQUAL(r.time.started_ns, IB_NONE);
	CU_ASSERT_STRING_EQUAL(r.reasons.v[0], "reset");
	CU_ASSERT_STRING_EQUAL(r.notes.v[0], "no reset");
	ib_record_clear(&r);
}

static void test_run_failing_step_after_the_command_fails_it(void)
{
	struct ib_record r;
	char order[200];

	run_steps("convert", NULL, &r, order, sizeof(order));
	CU_ASSERT_STRING_EQUAL(order, "ready check quiesce reset warmup before after convert outcome ");
	CU_ASSERT_EQUAL(r.state, IB_STATE_FAILED);
	CU_ASSERT_EQUAL(r.exit.status, 0);
	CU_ASSERT_STRING_EQUAL(r.reasons.v[0], "convert");
	ib_record_clear(&r);
}

static void test_run_signal_before_the_command_keeps_it_from_running(void)
{
	struct ib_record r;
	char order[200];

	run_steps(NULL, "before", &r, order, sizeof(order));
	CU_ASSERT_STRING_EQUAL(order, "ready check quiesce reset warmup before ");
	CU_ASSERT_EQUAL(r.state, IB_STATE_INTERRUPTED);
	CU_ASSERT_EQUAL(r.time.started_ns, IB_NONE);
	ib_record_clear(&r);
}

static void test_run_signal_after_the_command_is_no_failure(void)
{
	struct ib_record r;
	char order[200];

	run_steps("convert", "convert", &r, order, sizeof(order));
	CU_ASSERT_STRING_EQUAL(order, "ready check quiesce reset warmup before after convert ");
	CU_ASSERT_EQUAL(r.state, IB_STATE_INTERRUPTED);
	CU_ASSERT_EQUAL(r.exit.status, 0);
	CU_ASSERT_STRING_EQUAL(r.reasons.v[0], "convert");
	ib_record_clear(&r);
}

/* In a process that no root right helps: a directory in dir that may not be searched. Status 0: it is noted, and the rest recorded. */
static int list_closed(const char *dir)
{
	ib_auto_record struct ib_record r;
	const struct timespec none = {0};
	ib_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY);
	int e;

	ib_record_init(&r);
	if ((getuid() == 0 && setuid(65534) < 0) || mkdirat(fd, "closed", 0700) < 0 || mkdirat(fd, "shut", 0700) < 0 ||
	    ib_write_file(fd, "closed/x", "x", 1, 0644, false, NULL) < 0 || ib_write_file(fd, "y", "y", 1, 0644, false, NULL) < 0 ||
	    fchmodat(fd, "closed", 0444, 0) < 0 || fchmodat(fd, "shut", 0, 0) < 0)
		return 2;
	e = ib_run_files(fd, &none, &r, NULL);
	if (fchmodat(fd, "closed", 0700, 0) < 0 || fchmodat(fd, "shut", 0700, 0) < 0)
		return 2;
	return e == 0 && r.files_n == 1 && strcmp(r.files[0].path, "y") == 0 && r.notes.n == 2 ? 0 : 1;
}

static void test_run_directory_that_cannot_be_listed_costs_no_record(void)
{
	char dir[] = "/tmp/ib-closed-XXXXXX", cmd[64];
	struct child c;
	int status = -1;
	pid_t p;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL_FATAL(chmod(dir, 0777), 0);
	p = fork();
	if (p == 0)
		_exit(list_closed(dir));
	CU_ASSERT_EQUAL(waitpid(p, &status, 0), p);
	CU_ASSERT_EQUAL(status, 0);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CU_ASSERT_EQUAL(run_shell(&c, cmd, 0, true), 0);
}

/* Files with paths of about 3 KiB, so that few are enough. */
static void test_run_more_files_than_a_record_holds_are_counted(void)
{
	char dir[] = "/tmp/ib-many-XXXXXX", cmd[1024], name[201] = "";
	ib_auto_record struct ib_record r;
	const struct timespec none = {0};
	ib_auto_fd int top = -1;
	struct child c;
	int at;

	ib_record_init(&r);
	memset(name, 'n', 200);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	top = open(dir, O_RDONLY | O_DIRECTORY);
	at = dup(top);
	for (int i = 0; i < 15; i++) {
		int next;

		CU_ASSERT_EQUAL_FATAL(mkdirat(at, name, 0700), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	for (int i = 0; i < 2100; i++) {
		snprintf(cmd, sizeof(cmd), "%d", i);
		close(openat(at, cmd, O_CREAT | O_WRONLY, 0600));
	}
	close(at);
	CU_ASSERT_EQUAL(ib_run_files(top, &none, &r, NULL), 0);
	CU_ASSERT_TRUE(r.files_n > 1900 && r.files_n < 2100);
	CU_ASSERT_EQUAL(r.state, IB_STATE_FAILED);
	CU_ASSERT_STRING_EQUAL(r.reasons.v[0], "truncated_output");
	CU_ASSERT_EQUAL((size_t)strtol(r.notes.v[0], NULL, 10), 2100 - r.files_n);
	CU_ASSERT_PTR_NOT_NULL(strstr(r.notes.v[0], "files are not recorded"));
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CU_ASSERT_EQUAL(run_shell(&c, cmd, 0, true), 0);
}

static const struct ib_test tests[] = {
	IB_TEST(test_run_ids_are_made_of_time_names_and_chance),
	IB_TEST(test_run_names_are_checked),
	IB_TEST(test_run_placeholders),
	IB_TEST(test_run_child_gives_its_status),
	IB_TEST(test_run_child_has_default_signals),
	IB_TEST(test_run_timeout_ends_the_tree),
	IB_TEST(test_run_what_outlives_the_command_is_ended),
	IB_TEST(test_run_children_of_before_are_spared),
	IB_TEST(test_run_hooks_may_leave_a_server),
	IB_TEST(test_run_missing_program_is_told),
	IB_TEST(test_run_hook_may_leave_a_server_that_goes_on_writing),
	IB_TEST(test_run_steps_come_in_order),
	IB_TEST(test_run_failing_step_before_the_command_refuses_it),
	IB_TEST(test_run_failing_step_after_the_command_fails_it),
	IB_TEST(test_run_directory_that_cannot_be_listed_costs_no_record),
	IB_TEST(test_run_more_files_than_a_record_holds_are_counted),
	IB_TEST(test_run_signal_before_the_command_keeps_it_from_running),
	IB_TEST(test_run_signal_after_the_command_is_no_failure),
	{0},
};

const struct ib_test_suite ib_suite = {"run", tests};
