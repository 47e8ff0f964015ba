/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for an output, before or beside a run. */
#include "run/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "model/template.h"
#include "run/hooks.h"
#include "run/inside.h"
#include "run/probe.h"

#define TIMEOUT_NS (60 * IB_NS) /* where the typed form has none */
#define LATE_NS (5 * IB_NS)     /* the helper's own limit comes first */

/* How an output was asked for. */
struct asked {
	struct ib_run *run;
	const char *dir, *name;
	const json_t *answer;
	int64_t timeout_ns;
	struct ib_child_result res;
	char *why; /* no output was to be had: why */
};

static int body_fd(const struct ib_run *run, const char *body, int *ret, struct ib_err *err)
{
	struct ib_template t = {.env = run->ctx->env, .mode = IB_TEMPLATE_ENV};
	ib_auto_buf struct ib_buf b = IB_BUF(IB_ANSWER_MAX);
	ib_auto_fd int fd = -1;
	int r = ib_template_expand(&t, body, &b, err);

	if (r == 0)
		r = ib_buf_check(&b, "the body", err);
	if (r < 0)
		return r;
	fd = memfd_create("body", MFD_CLOEXEC);
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot hold what is to be posted");
	r = ib_write_all(fd, ib_buf_str(&b), b.len, "body", err);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot hold what is to be posted");
	*ret = ib_steal_fd(&fd);
	return 0;
}

/* The body may hold what nobody else is to see: it goes through standard input, the URL through the environment. */
static int post(struct asked *a, const char *url, struct ib_err *err)
{
	struct ib_run *run = a->run;
	ib_auto_free char *helper = ib_helper_path("ib-probe");
	ib_auto_free char *limit = ib_asprintf("%" PRId64 "ms", a->timeout_ns / 1000000 + 1), *most = ib_asprintf("%u", IB_ANSWER_MAX);
	const char *const argv[] = {helper, "--body", "--timeout", limit, "--limit", most, "-", NULL};
	const char *body = json_string_value(json_object_get(a->answer, "body"));
	ib_auto_strv struct ib_strv env = {0};
	ib_auto_fd int fd = -1;
	char *const *before = run->env;
	struct ib_run_ask ask = {.dir = a->dir, .name = a->name, .argv = (char *const *)(uintptr_t)argv, .timeout_ns = a->timeout_ns + LATE_NS};
	int r = body_fd(run, body ? body : "{}", &fd, err);

	if (r == 0)
		r = ib_probe_env(run, url, false, &env, err);
	if (r < 0)
		return r;
	ask.stdin_fd = fd;
	run->env = env.v;
	r = ib_run_ask(run, &ask, &a->res, err);
	run->env = before;
	return r;
}

static int run_command(struct asked *a, struct ib_err *err)
{
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_run_ask ask = {.dir = a->dir, .name = a->name, .stdin_fd = -1, .timeout_ns = a->timeout_ns};

	ib_hook_argv(json_object_get(a->answer, "command"), &argv);
	ask.argv = argv.v;
	return ib_run_ask(a->run, &ask, &a->res, err);
}

static char *file_of(const struct asked *a, const char *suffix)
{
	return ib_asprintf("%s%s%s.%s", a->dir, *a->dir ? "/" : "", a->name, suffix);
}

/* Why there is no output that could be judged, or NULL. */
static char *no_output(const struct asked *a, bool http)
{
	const struct ib_child_result *res = &a->res;
	ib_auto_free char *errors = file_of(a, "err");

	if (res->exec_errno != IB_NONE)
		return ib_asprintf("cannot be executed: %s", strerror((int)res->exec_errno));
	if (res->timed_out || (http && res->exit_status == 124))
		return ib_strdup("no output in time");
	if (res->signal != IB_NONE)
		return ib_asprintf("ended by signal %" PRId64, res->signal);
	if (http && res->exit_status == 1)
		return ib_asprintf("the answer's status is not 200 to 299: see '%s'", errors);
	if (http && res->exit_status == 3)
		return ib_asprintf("no answer: see '%s'", errors);
	if (http && res->exit_status == 4)
		return ib_asprintf("the answer is larger than %u bytes", IB_ANSWER_MAX);
	if (res->exit_status != 0)
		return ib_asprintf("ended with status %" PRId64 ": see '%s'", res->exit_status, errors);
	return NULL;
}

static json_t *file_json(const char *path, const struct ib_buf *b)
{
	json_t *o = ib_json_object();
	char hex[IB_HEX_LEN];

	ib_sha256_of(ib_buf_str(b), b->len, hex);
	ib_json_set_str(o, "file", path);
	ib_json_set_int(o, "bytes", (int64_t)b->len);
	ib_json_set_str(o, "sha256", hex);
	return o;
}

static json_t *outcome(struct asked *a, const char *how)
{
	ib_auto_free char *path = file_of(a, "out"), *why = no_output(a, strcmp(how, "http") == 0);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_ANSWER_MAX);
	json_t *o = ib_json_object(), *conditions = ib_json_array(), *output = NULL;
	bool met = false;
	struct ib_err e;

	if (ib_read_file(a->run->dir_fd, path, &b, &e) == 0)
		output = file_json(path, &b);
	else if (!why)
		why = e.code == IB_E_LIMIT ? ib_asprintf("the output is larger than %u bytes", IB_ANSWER_MAX) : ib_strdup(e.text);
	if (!why)
		met = ib_run_answer_judge(a->answer, ib_buf_str(&b), b.len, a->run->study->redactor, conditions);
	ib_json_set_str(o, "name", a->name);
	ib_json_set_str(o, "status", why ? "not_judged" : met ? "passed" : "failed");
	ib_json_set_str(o, "why", why);
	ib_json_set_str(o, "how", how);
	ib_json_set(o, "exit_status", a->res.exit_status != IB_NONE ? json_integer(a->res.exit_status) : NULL);
	ib_json_set_int(o, "duration_ns", a->res.duration_ns);
	ib_json_set(o, "output", output);
	ib_json_set(o, "conditions", conditions);
	return o;
}

int ib_run_answer_ask(struct ib_run *run, const char *dir, const char *name, const json_t *answer, json_t **ret, struct ib_err *err)
{
	const json_t *timeout = json_object_get(answer, "timeout_ns");
	struct asked a = {.run = run, .dir = dir, .name = name, .answer = answer, .timeout_ns = json_is_integer(timeout) ? json_integer_value(timeout) : TIMEOUT_NS};
	const char *url = json_string_value(json_object_get(answer, "http"));
	int r = url ? post(&a, url, err) : run_command(&a, err);

	if (r < 0)
		return r;
	*ret = outcome(&a, url ? "http" : "command");
	return 0;
}

char *ib_run_answer_why(const json_t *outcome)
{
	const char *why = json_string_value(json_object_get(outcome, "why"));
	const json_t *conditions = json_object_get(outcome, "conditions");

	if (why)
		return ib_strdup(why);
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *c = json_array_get(conditions, i);
		const char *kind = json_string_value(json_object_get(c, "kind")), *want = json_string_value(json_object_get(c, "expected"));
		const char *found = json_string_value(json_object_get(c, "found")), *status = json_string_value(json_object_get(c, "status"));

		if (!ib_streq(status, "passed"))
			return ib_asprintf("expected %s '%s', found %s%s%s", kind ? kind : "?", want ? want : "?", found ? "'" : "", found ? found : "nothing",
					   found ? "'" : "");
	}
	return ib_strdup("nothing was compared");
}

int ib_run_answer_check(struct ib_run *run, const json_t *answer, struct ib_err *err)
{
	ib_auto_free char *why = NULL;
	json_t *got;
	int r = ib_run_answer_ask(run, "hooks", "output-check", answer, &got, err);

	if (r < 0)
		return r;
	ib_record_set(run->record, IB_SECTION_OUTPUT_CHECK, got);
	if (ib_streq(json_string_value(json_object_get(got, "status")), "passed"))
		return 0;
	why = ib_run_answer_why(got);
	return ib_fail(err, IB_E_STATE, 0, "the output check failed: %s", why);
}
