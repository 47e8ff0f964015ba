/* SPDX-License-Identifier: Apache-2.0 */
/* A client, and an endpoint that is none of the contract's. */
#include "run/against.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "model/template.h"
#include "redact/redact.h"
#include "run/aside.h"
#include "run/hooks.h"
#include "run/inside.h"
#include "run/probe.h"
#include "run/readdress.h"

#define START_NS (10 * IB_NS)
#define STOP_NS (10 * IB_NS)
#define METRICS_NS (5 * IB_NS)
#define METRICS_MAX (16u << 20)
#define TAIL 400 /* bytes of what a failed command said last */

/* --- the endpoint --- */

static void exec_endpoint(const struct ib_plan *plan, const struct ib_against *a, pid_t parent, const char *const *argv)
{
	int null = open("/dev/null", O_RDWR), errors = openat(a->dir_fd, "loopback.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(errors, 2) < 0)
		_exit(126);
	sigprocmask(SIG_SETMASK, &plan->signals.before, NULL);
	execve(argv[0], (char *const *)(uintptr_t)argv, plan->ctx->env);
	_exit(127);
}

static int wait_port(const struct ib_plan *plan, const struct ib_against *a, pid_t *pid, int *ret, struct ib_err *err)
{
	int64_t until = ib_monotonic_ns(plan->ctx->clock) + START_NS, port;

	while (ib_monotonic_ns(plan->ctx->clock) < until) {
		ib_auto_buf struct ib_buf b = IB_BUF(64);
		int status;

		if (ib_read_file(a->dir_fd, "port", &b, NULL) == 0 && b.len > 1 && b.data[b.len - 1] == '\n') {
			b.data[b.len - 1] = '\0';
			if (ib_parse_int(b.data, 1, 65535, &port, NULL) == 0) {
				*ret = (int)port;
				return 0;
			}
		}
		if (waitpid(*pid, &status, WNOHANG) == *pid) {
			*pid = 0;
			return ib_fail(err, IB_E_IO, 0, "the helper 'ib-loopback' ended at once: is ibtools installed completely?");
		}
		usleep(10000);
	}
	return ib_fail(err, IB_E_TIMEOUT, 0, "the helper 'ib-loopback' does not listen");
}

static int start_endpoint(const struct ib_plan *plan, const struct ib_against *a, pid_t *ret_pid, int *ret_port, struct ib_err *err)
{
	static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";
	ib_auto_free char *helper = ib_helper_path("ib-loopback");
	ib_auto_free char *port = ib_asprintf("%s/port", a->dir), *truth = ib_asprintf("%s/truth.jsonl", a->dir), *record = ib_asprintf("%s/record.jsonl", a->dir);
	const char *argv[40] = {helper, "--port-file", port, "--truth", truth, "--any-model", "--prefill-base-us", "0", "--prefill-token-us", "0",
				"--decode-token-us", "0", "--slowdown-pct", "0", "--max-running", "128", "--max-model-len", "1048576", "--lifetime", "24h"};
	const char *model = json_string_value(json_object_get(json_object_get(plan->contract.json, "model"), "id"));
	pid_t parent = getpid();
	size_t n = 20;

	if (model && *model && strlen(model) <= 100 && !model[strspn(model, name_letters)]) {
		argv[n++] = "--model";
		argv[n++] = model;
	}
	if (a->record) {
		argv[n++] = "--record";
		argv[n++] = record;
	}
	if (a->bodies)
		argv[n++] = "--record-bodies";
	*ret_pid = fork();
	if (*ret_pid == 0)
		exec_endpoint(plan, a, parent, argv);
	if (*ret_pid < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a child process");
	return wait_port(plan, a, ret_pid, ret_port, err);
}

static void stop_endpoint(const struct ib_plan *plan, pid_t pid)
{
	int64_t until = ib_monotonic_ns(plan->ctx->clock) + STOP_NS;
	int status;

	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (ib_monotonic_ns(plan->ctx->clock) > until)
			kill(pid, SIGKILL);
		usleep(5000);
	}
}

/* --- the server, which must not notice --- */

/* The sum of counters of prompt tokens on a page of metrics; IB_NONE: none. */
static int64_t prompt_tokens(const char *page)
{
	int64_t sum = IB_NONE;

	for (const char *p = page; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		size_t name = strcspn(p, " {\n");
		const char *value = p + name;

		if (*p == '#' || name < 19 || strncmp(p + name - 19, "prompt_tokens_total", 19) != 0)
			continue;
		if (*value == '{')
			value += strcspn(value, "}\n") + 1;
		if (*value == ' ')
			sum = (sum == IB_NONE ? 0 : sum) + (int64_t)strtod(value, NULL);
	}
	return sum;
}

static int64_t ask_server(const struct ib_run *run, const struct ib_contract_group *g)
{
	ib_auto_buf struct ib_buf body = IB_BUF(METRICS_MAX);
	const char *url = g->has_evidence && ib_evidence_urls(&g->evidence) ? ib_evidence_url(&g->evidence, 0) : NULL;

	if (!url || ib_probe(run, url, METRICS_NS, &body, NULL) < 0)
		return IB_NONE;
	return prompt_tokens(ib_buf_str(&body));
}

/* --- the client --- */

static int make_scratch(struct ib_against *a, const struct ib_plan *plan, struct ib_err *err)
{
	const char *tmp = ib_env(plan->ctx, "TMPDIR");

	a->dir = ib_asprintf("%s/ib-run-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(a->dir)) {
		int e = errno;

		free(ib_steal(&a->dir));
		return ib_fail(err, IB_E_IO, e, "cannot make a scratch directory");
	}
	return ib_open_dir(AT_FDCWD, a->dir, &a->dir_fd, err);
}

static int target(const struct ib_plan *plan, int port, struct ib_readdress *ret, struct ib_err *err)
{
	struct ib_template t = {.env = plan->ctx->env, .mode = IB_TEMPLATE_ENV};
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	int r = ib_template_expand(&t, plan->contract.endpoint, &b, err);

	return r < 0 ? r : ib_readdress_init(ret, ib_buf_str(&b), port, err);
}

/* Variables of the environment may name the server, too; a proxy is not for the endpoint. */
static void readdress_env(const struct ib_readdress *r, struct ib_aside *aside)
{
	size_t n = 0;

	for (size_t i = 0; i < aside->env.n; i++) {
		char *text = ib_readdress_text(r, aside->env.v[i], &n);

		if (strncasecmp(text, "no_proxy=", 9) == 0)
			text[0] = '_'; /* replaced below */
		free(aside->env.v[i]);
		aside->env.v[i] = text;
	}
	ib_strv_add(&aside->env, "no_proxy=127.0.0.1,localhost");
	ib_strv_add(&aside->env, "NO_PROXY=127.0.0.1,localhost");
	aside->run.env = aside->env.v;
}

/* Why it did not end well, with the end of its standard error. */
static char *failure(const struct ib_plan *plan, const struct ib_against *a)
{
	ib_auto_buf struct ib_buf b = IB_BUF(16u << 20);
	ib_auto_free char *how = NULL, *tail = NULL;
	const struct ib_child_result *res = &a->res;
	size_t from = 0;

	if (res->exit_status == 0)
		return NULL;
	if (res->exec_errno != IB_NONE)
		return ib_asprintf("cannot be executed: %s", strerror((int)res->exec_errno));
	how = res->timed_out ? ib_strdup("did not end in time")
	      : res->signal != IB_NONE ? ib_asprintf("ended by signal %" PRId64, res->signal)
				       : ib_asprintf("ended with status %" PRId64, res->exit_status);
	if (ib_read_file(a->dir_fd, "client.err", &b, NULL) < 0 || b.len == 0)
		return ib_steal(&how);
	while (b.len > 0 && (unsigned char)b.data[b.len - 1] <= ' ')
		b.data[--b.len] = '\0';
	from = b.len > TAIL ? b.len - TAIL : 0;
	for (size_t i = from; i < b.len; i++)
		if ((unsigned char)b.data[i] < ' ')
			b.data[i] = ' ';
	tail = ib_redact_text(plan->study.redactor, b.data + from);
	return ib_asprintf("%s: %s", how, tail);
}

static int run_client(struct ib_plan *plan, const struct ib_contract_slot *slot, struct ib_against *a, int port, struct ib_err *err)
{
	const struct ib_contract_group *g = &plan->contract.groups[slot->group_at];
	ib_auto_strv struct ib_strv raw = {0}, argv = {0};
	ib_auto_readdress struct ib_readdress to = {0};
	struct ib_run_ask ask = {.dir = "", .name = "client", .stdin_fd = -1, .timeout_ns = g->timeout_ns, .verbatim = true};
	struct ib_aside aside;
	int64_t before, after;
	int r = ib_aside_begin(plan, "aside", a->dir_fd, a->dir, slot, &aside, err);

	ib_hook_argv(slot->command, &raw);
	if (r == 0)
		r = ib_run_expand_all(&aside.run, raw.v, true, &argv, err);
	if (r == 0)
		r = target(plan, port, &to, err);
	if (r == 0)
		r = ib_readdress_argv(&to, &argv, err);
	if (r == 0) {
		before = ask_server(&aside.run, g);
		readdress_env(&to, &aside);
		ask.argv = argv.v;
		r = ib_run_ask(&aside.run, &ask, &a->res, err);
		after = before == IB_NONE ? IB_NONE : ask_server(&aside.run, g);
		a->server_tokens = after == IB_NONE ? IB_NONE : after - before;
	}
	ib_aside_clear(&aside);
	return r;
}

int ib_against(struct ib_plan *plan, const struct ib_contract_slot *slot, struct ib_against *a, struct ib_err *err)
{
	pid_t pid = 0;
	int port = 0, r;

	a->dir_fd = -1;
	a->server_tokens = IB_NONE;
	if (!plan->contract.endpoint)
		return ib_fail(err, IB_E_USAGE, 0, "the contract has no 'endpoint' in 'serving': where the load goes is not known");
	r = make_scratch(a, plan, err);
	if (r == 0)
		r = start_endpoint(plan, a, &pid, &port, err);
	if (r == 0)
		r = run_client(plan, slot, a, port, err);
	stop_endpoint(plan, pid);
	if (r == 0)
		a->why = failure(plan, a);
	return r < 0 ? ib_wrap(err, "group '%s' cell '%s'", slot->group, slot->cell) : 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	(void)!remove(path);
	return 0;
}

void ib_against_clear(struct ib_against *a)
{
	if (a->dir_fd > 0)
		close(a->dir_fd);
	if (a->dir)
		nftw(a->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(a->dir);
	free(a->why);
	*a = (struct ib_against){.dir_fd = -1};
}

bool ib_against_same(const struct ib_contract *c, size_t a, size_t b)
{
	const struct ib_contract_slot *x = &c->slots[a], *y = &c->slots[b];

	if (strcmp(x->group, y->group) != 0 || strcmp(x->cell, y->cell) != 0 || !json_equal(x->command, y->command))
		return false;
	for (size_t i = 0; x->repeat != y->repeat && i < json_array_size(x->command); i++)
		if (strstr(json_string_value(json_array_get(x->command, i)), "{repeat}"))
			return false;
	return true;
}
