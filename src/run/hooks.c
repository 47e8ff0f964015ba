/* SPDX-License-Identifier: Apache-2.0 */
/* Reset, warm-up and conversion of a run. */
#include "run/hooks.h"

#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "run/probe.h"

#define ANSWER_MAX (1u << 20)

void ib_hook_argv(const json_t *command, struct ib_strv *ret)
{
	for (size_t i = 0; i < json_array_size(command); i++)
		ib_strv_add(ret, json_string_value(json_array_get(command, i)));
}

static int judge(const char *name, const struct ib_child_result *res, struct ib_err *err)
{
	if (res->exec_errno != IB_NONE)
		return ib_fail(err, IB_E_STATE, (int)res->exec_errno, "'%s' cannot be executed", name);
	if (res->timed_out)
		return ib_fail(err, IB_E_STATE, 0, "'%s' did not end in time", name);
	if (res->signal != IB_NONE)
		return ib_fail(err, IB_E_STATE, 0, "'%s' was ended by signal %" PRId64, name, res->signal);
	if (res->exit_status != 0)
		return ib_fail(err, IB_E_STATE, 0, "'%s' ended with status %" PRId64 ": see hooks/%s.err", name, res->exit_status, name);
	return 0;
}

/* An answer of 200 may still say that nothing was reset. */
static int check_answer(const struct ib_run *run, const char *name, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("hooks/%s.out", name);
	ib_auto_buf struct ib_buf b = IB_BUF(ANSWER_MAX);
	ib_auto_json json_t *j = NULL;

	if (ib_read_file(run->dir_fd, path, &b, NULL) < 0 || b.len == 0 || ib_json_load(b.data, b.len, path, &j, NULL) < 0)
		return 0;
	if (json_is_false(json_object_get(j, "success")))
		return ib_fail(err, IB_E_STATE, 0, "'%s': the server answered \"success\": false", name);
	return 0;
}

static int post(struct ib_run *run, const char *name, const struct ib_contract_hook *hook, struct ib_err *err)
{
	ib_auto_free char *helper = ib_helper_path("ib-probe");
	ib_auto_free char *limit = ib_asprintf("%" PRId64 "ms", hook->timeout_ns / 1000000 + 1);
	char post_option[] = "--post", timeout_option[] = "--timeout", dash[] = "-";
	char *const argv[] = {helper, post_option, timeout_option, limit, dash, NULL};
	ib_auto_strv struct ib_strv env = {0};
	char *const *before = run->env;
	struct ib_child_result res = {0};
	int r = ib_probe_env(run, hook->http, true, &env, err);

	if (r < 0)
		return r;
	run->env = env.v;
	r = ib_run_hook(run, name, argv, hook->timeout_ns, &res, err);
	run->env = before;
	if (r < 0)
		return r;
	if (res.exit_status == 1)
		return ib_fail(err, IB_E_STATE, 0, "'%s': the answer's status is not 200 to 299: see hooks/%s.err", name, name);
	if (res.exit_status == 3)
		return ib_fail(err, IB_E_STATE, 0, "'%s': no answer: see hooks/%s.err", name, name);
	r = judge(name, &res, err);
	return r < 0 ? r : check_answer(run, name, err);
}

int ib_hook_run(struct ib_run *run, const char *name, const struct ib_contract_hook *hook, struct ib_err *err)
{
	ib_auto_strv struct ib_strv argv = {0};
	struct ib_child_result res = {0};
	int r;

	if (hook->http)
		return post(run, name, hook, err);
	ib_hook_argv(hook->command, &argv);
	r = ib_run_hook(run, name, argv.v, hook->timeout_ns, &res, err);
	return r < 0 ? r : judge(name, &res, err);
}
