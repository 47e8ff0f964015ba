/* SPDX-License-Identifier: Apache-2.0 */
/* Quality checks: each in a directory of its own, known to the ledger. */
#include "run/quality.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "redact/redact.h"
#include "run/answer.h"
#include "run/aside.h"
#include "run/files.h"
#include "run/hooks.h"
#include "run/inside.h"
#include "run/quality_sweep.h"
#include "run/ready.h"

struct check {
	struct ib_plan *plan;
	const json_t *quality; /* of the contract */
	const char *when;
	char id[IB_RUN_ID_MAX];
	struct ib_aside aside;
	json_t *cases, *command, *workload; /* of the result; NULL: null */
	char *why;          /* it could not be made: why */
	bool failed, open;  /* something failed, could not be judged */
	size_t passed_n, n;
};

static void count(struct check *c, const char *status)
{
	c->n++;
	c->passed_n += strcmp(status, "passed") == 0;
	c->failed |= strcmp(status, "failed") == 0;
	c->open |= strcmp(status, "not_judged") == 0;
}

static int ask_cases(struct check *c, struct ib_err *err)
{
	const json_t *list = json_object_get(c->quality, "cases");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		json_t *got;
		int r = ib_run_answer_ask(&c->aside.run, "cases", json_string_value(json_object_get(one, "name")), one, &got, err);

		if (r < 0)
			return r;
		ib_json_add(c->cases, got);
		count(c, json_string_value(json_object_get(got, "status")));
		if (!ib_streq(json_string_value(json_object_get(got, "status")), "passed")) {
			ib_auto_free char *why = ib_run_answer_why(got);
			ib_auto_free char *clean = ib_redact_text(c->plan->study.redactor, why);

			ib_log(c->plan->ctx, IB_LOG_WARNING, "quality case '%s': %s", json_string_value(json_object_get(one, "name")), clean);
		}
	}
	return 0;
}

/* --- the command with a metric --- */

/* The whole of a text without white space as a finite decimal number, or NAN. */
static double plain_number(const char *text, size_t n)
{
	char number[64], *end;
	double d;

	if (n == 0 || n >= sizeof(number) || !strchr("-+.0123456789", *text))
		return NAN;
	memcpy(number, text, n);
	number[n] = '\0';
	d = strtod(number, &end);
	return *end || !isfinite(d) || strpbrk(number, "xX") ? NAN : d;
}

static double number_in(const char *text, size_t n, const char *metric)
{
	ib_auto_json json_t *j = NULL;
	const json_t *v;

	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	for (; n > 0 && strchr(" \t\r\n", *text); n--)
		text++;
	if (n == 0 || *text != '{')
		return plain_number(text, n);
	if (!metric || ib_json_load_foreign(text, n, "the output", &j, NULL) < 0)
		return NAN;
	v = json_object_get(j, metric);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

double ib_quality_metric(const char *output, size_t n, const char *metric)
{
	double all = number_in(output, n, metric);
	size_t start;

	if (!isnan(all))
		return all;
	while (n > 0 && (output[n - 1] == '\n' || output[n - 1] == '\r' || output[n - 1] == ' '))
		n--;
	for (start = n; start > 0 && output[start - 1] != '\n'; start--)
		;
	return number_in(output + start, n - start, metric);
}

static char *judge_command(const struct check *c, const struct ib_child_result *res, double found)
{
	const json_t *minimum = json_object_get(c->quality, "minimum");
	const char *metric = json_string_value(json_object_get(c->quality, "metric"));

	if (res->exec_errno != IB_NONE)
		return ib_asprintf("cannot be executed: %s", strerror((int)res->exec_errno));
	if (res->timed_out)
		return ib_strdup("did not end in time");
	if (res->signal != IB_NONE)
		return ib_asprintf("ended by signal %" PRId64, res->signal);
	if (res->exit_status != 0)
		return ib_asprintf("ended with status %" PRId64 ": see 'command.err'", res->exit_status);
	if (metric && isnan(found))
		return ib_asprintf("neither its output nor the last line of it gives '%s' as a JSON object or a number", metric);
	if (json_is_number(minimum) && !(found >= json_number_value(minimum))) {
		char a[32], b[32];

		ib_json_double(found, a);
		ib_json_double(json_number_value(minimum), b);
		return ib_asprintf("'%s' is %s, less than %s", metric ? metric : "the number", a, b);
	}
	return NULL;
}

static int ask_command(struct check *c, struct ib_err *err)
{
	const json_t *command = json_object_get(c->quality, "command"), *timeout = json_object_get(c->quality, "timeout_ns");
	const char *metric = json_string_value(json_object_get(c->quality, "metric")), *status;
	ib_auto_strv struct ib_strv argv = {0}, clean = {0};
	ib_auto_buf struct ib_buf out = IB_BUF(IB_ANSWER_MAX);
	struct ib_run_ask ask = {.dir = "", .name = "command", .stdin_fd = -1, .timeout_ns = json_is_integer(timeout) ? json_integer_value(timeout) : 0};
	struct ib_child_result res;
	ib_auto_free char *why = NULL;
	json_t *o, *list;
	double found;
	bool judged;
	int r;

	if (!json_is_array(command))
		return 0;
	ib_hook_argv(command, &argv);
	ask.argv = argv.v;
	r = ib_run_ask(&c->aside.run, &ask, &res, err);
	if (r < 0)
		return r;
	found = ib_read_file(c->aside.run.dir_fd, "command.out", &out, NULL) == 0 ? ib_quality_metric(ib_buf_str(&out), out.len, metric) : NAN;
	why = judge_command(c, &res, found);
	judged = !why || (res.exit_status == 0 && !isnan(found));
	status = !why ? "passed" : judged ? "failed" : "not_judged";
	count(c, status);
	if (why)
		ib_log(c->plan->ctx, IB_LOG_WARNING, "quality command: %s", why);
	ib_redact_argv(c->plan->study.redactor, argv.v, &clean);
	o = ib_json_object();
	list = ib_json_array();
	for (size_t i = 0; i < clean.n; i++)
		ib_json_add_str(list, clean.v[i]);
	ib_json_set(o, "argv", list);
	ib_json_set_str(o, "status", status);
	ib_json_set_str(o, "why", why);
	ib_json_set(o, "exit_status", res.exit_status != IB_NONE ? json_integer(res.exit_status) : NULL);
	ib_json_set_int(o, "duration_ns", res.duration_ns);
	ib_json_set_str(o, "metric", metric);
	ib_json_set(o, "minimum", json_incref(json_object_get(c->quality, "minimum")));
	ib_json_set_real(o, "found", found);
	c->command = o;
	return 0;
}

/* --- the workload it is made with --- */

/* False: it is not the one of the contract. */
static bool look_at_workload(struct check *c)
{
	const char *name = json_string_value(json_object_get(c->quality, "workload"));
	const struct ib_contract_workload *w = name ? ib_contract_workload(&c->plan->contract, name) : NULL;
	ib_auto_fd int fd = -1;
	char hex[IB_HEX_LEN] = "";
	uint64_t bytes;
	bool same;

	if (!w)
		return true;
	fd = w->file ? openat(c->plan->study.fd, w->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd >= 0 && ib_sha256_fd(fd, w->file, hex, &bytes, NULL) < 0)
		*hex = '\0';
	same = !w->file || (*hex && (!w->sha256 || strcmp(w->sha256, hex) == 0));
	c->workload = ib_json_object();
	ib_json_set_str(c->workload, "name", name);
	ib_json_set_str(c->workload, "path", w->file);
	ib_json_set_str(c->workload, "sha256", *hex ? hex : NULL);
	ib_json_set_str(c->workload, "expected_sha256", w->sha256);
	if (!same)
		c->why = ib_asprintf("workload '%s' is not there or not the one of the contract", name);
	return same;
}

/* --- result.json --- */

static const char *status_of(const struct check *c)
{
	if (c->plan->signals.caught)
		return "interrupted";
	return c->failed ? "failed" : c->why || c->open || c->n == 0 ? "not_judged" : "passed";
}

static json_t *files_json(const struct ib_record *r)
{
	json_t *list = ib_json_array();

	for (size_t i = 0; i < r->files_n; i++) {
		json_t *o = ib_json_object();

		ib_json_set_str(o, "path", r->files[i].path);
		ib_json_set_int(o, "bytes", (int64_t)r->files[i].bytes);
		ib_json_set_str(o, "sha256", r->files[i].sha256);
		ib_json_add(list, o);
	}
	return list;
}

json_t *ib_quality_result(const struct ib_plan *plan, const char *id, const char *when, const char *status, const char *why, const struct ib_record *files)
{
	json_t *o = ib_json_object(), *tool = ib_json_object();
	ib_auto_free char *clean = why ? ib_redact_text(plan->study.redactor, why) : NULL;
	char at[IB_TIME_LEN];

	ib_time_text(ib_wall_ns(plan->ctx->clock), 3, at);
	ib_json_set_str(o, "schema", IB_QUALITY_SCHEMA);
	ib_json_set_str(o, "id", id);
	ib_json_set_str(o, "study", plan->study.name);
	ib_json_set_str(o, "contract_sha256", plan->json_sha256);
	ib_json_set_str(o, "when", when);
	ib_json_set_str(o, "finished_at", at);
	ib_json_set_str(o, "status", status);
	ib_json_set_str(o, "why", clean);
	ib_json_set(o, "workload", NULL);
	ib_json_set(o, "cases", ib_json_array());
	ib_json_set(o, "command", NULL);
	ib_json_set(o, "files", files_json(files));
	ib_json_set_str(tool, "name", "ib-run");
	ib_json_set_str(tool, "version", PACKAGE_VERSION);
	ib_json_set(o, "tool", tool);
	return o;
}

/* What the last gate refuses is in what was found: that is withheld, and the kept outputs have it. */
static int write_result(struct check *c, json_t *o, struct ib_err *err)
{
	ib_auto_free char *path = ib_asprintf("quality/%s/result.json", c->id);
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);

	ib_json_write_pretty(o, &b);
	if (ib_gate(c->plan->study.redactor, ib_buf_str(&b), b.len, path, NULL) < 0)
		for (size_t i = 0; i < json_array_size(c->cases); i++) {
			json_t *conditions = json_object_get(json_array_get(c->cases, i), "conditions");

			for (size_t k = 0; k < json_array_size(conditions); k++)
				ib_json_set(json_array_get(conditions, k), "found", NULL);
		}
	return ib_aside_keep(c->plan, IB_ENTRY_QUALITY, path, o, err);
}

static int finish(struct check *c, struct ib_err *err)
{
	static const struct timespec none = {0};
	struct ib_run *run = &c->aside.run;
	ib_auto_json json_t *o = NULL;
	int r;

	unlinkat(run->dir_fd, "output", AT_REMOVEDIR); /* only where nothing was put there */
	r = ib_run_files(run->dir_fd, &none, &c->aside.record, err);
	if (r < 0)
		return r;
	o = ib_quality_result(c->plan, c->id, c->when, status_of(c), c->why, &c->aside.record);
	ib_json_set(o, "workload", json_incref(c->workload));
	ib_json_set(o, "cases", json_incref(c->cases));
	ib_json_set(o, "command", json_incref(c->command));
	r = write_result(c, o, err);
	if (r == 0)
		ib_run_files_freeze(run->dir_fd);
	return r;
}

/* --- one check --- */

static int make_dir(struct check *c, int *ret_fd, char **ret_path, struct ib_err *err)
{
	ib_auto_free char *rel = ib_asprintf("quality/%s", c->id);
	int r = ib_make_dirs(c->plan->study.fd, "quality", 0755, err);

	if (r < 0)
		return r;
	if (mkdirat(c->plan->study.fd, rel, 0755) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make directory '%s'", rel);
	*ret_path = ib_asprintf("%s/%s", c->plan->study.path, rel);
	return ib_open_dir(c->plan->study.fd, rel, ret_fd, err);
}

static int ask(struct check *c, struct ib_err *err)
{
	struct ib_err why = {0};
	int r;

	if (!look_at_workload(c))
		return 0;
	if (ib_ready_wait(&c->aside.run, &c->plan->contract, &why) < 0) {
		c->why = ib_strdup(why.text);
		return 0;
	}
	r = ask_cases(c, err);
	return r < 0 ? r : ask_command(c, err);
}

static void summarise(const struct check *c)
{
	ib_log(c->plan->ctx, IB_LOG_INFO, "quality check %s the plan: %s, %zu of %zu passed%s%s: quality/%s", c->when, status_of(c), c->passed_n, c->n,
	       c->why ? ": " : "", c->why ? c->why : "", c->id);
}

static int carry_out(struct check *c, struct ib_err *err)
{
	ib_auto_free char *path = NULL;
	ib_auto_fd int fd = -1;
	struct ib_err why = {0};
	int r = ib_aside_id(c->plan, c->when, c->id, err);

	if (r == 0)
		r = make_dir(c, &fd, &path, err);
	if (r == 0)
		r = ib_aside_begin(c->plan, c->id, fd, path, NULL, &c->aside, err);
	if (r < 0)
		return r;
	if (ask(c, &why) < 0 && !c->why)
		c->why = ib_strdup(why.text);
	r = finish(c, err);
	if (r == 0)
		summarise(c);
	return r;
}

int ib_quality(struct ib_plan *plan, const char *when, bool *ret_go, struct ib_err *err)
{
	struct check c = {.plan = plan, .quality = plan->contract.quality, .when = when};
	const char *wanted = json_string_value(json_object_get(c.quality, "when"));
	int r;

	*ret_go = true;
	if (!c.quality || (wanted && strcmp(wanted, when) != 0 && strcmp(wanted, "both") != 0))
		return 0;
	r = ib_quality_sweep(plan, err);
	if (r < 0)
		return r;
	c.cases = ib_json_array();
	r = carry_out(&c, err);
	*ret_go = r == 0 && strcmp(status_of(&c), "passed") == 0;
	ib_aside_clear(&c.aside);
	json_decref(c.cases);
	json_decref(c.command);
	json_decref(c.workload);
	free(c.why);
	return r;
}
