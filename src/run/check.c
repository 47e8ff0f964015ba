/* SPDX-License-Identifier: Apache-2.0 */
/* --check: the table of checks, and what they share. */
#include "run/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/spawn.h"
#include "base/str.h"
#include "run/probe.h"

#define ASK_NS (10 * IB_NS)
#define BODY_MAX (16u << 20)

const struct ib_plan_check *const ib_plan_checks[] = {
	&ib_plan_check_address, &ib_plan_check_environment, &ib_plan_check_workloads, &ib_plan_check_disk,  &ib_plan_check_health,
	&ib_plan_check_programs, &ib_plan_check_ready,      &ib_plan_check_model,     &ib_plan_check_tokenizer, &ib_plan_check_reset,
	&ib_plan_check_metrics, &ib_plan_check_client,      &ib_plan_check_flags,     NULL,
};

static void add_line(struct ib_buf *out, const char *how, const char *name, const char *text)
{
	ib_buf_addf(out, "%-14s %-12s ", how, name);
	for (const char *s = text; *s; s++) {
		bool c1 = (unsigned char)s[0] == 0xC2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] <= 0x9F;

		ib_buf_addc(out, (unsigned char)*s < ' ' || *s == 0x7F || c1 ? '?' : *s); /* nothing that a terminal would obey */
		s += c1;
	}
	ib_buf_addc(out, '\n');
}

void ib_preflight_say(struct ib_preflight *p, enum ib_checked how, const char *fmt, ...)
{
	static const char *const words[IB_CHECKED_KINDS] = {[IB_CHECKED_OK] = "ok", [IB_CHECKED_FAIL] = "FAIL", [IB_CHECKED_NOT] = "not checkable"};
	char text[900];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->n[how]++;
	add_line(p->out, words[how], p->check->name, text);
}

void ib_preflight(struct ib_preflight *p, bool *ret_failed)
{
	ib_auto_strv struct ib_strv lints = {0};

	ib_preflight_start(p);
	for (size_t i = 0; ib_plan_checks[i]; i++) {
		p->check = ib_plan_checks[i];
		p->check->look(p);
	}
	ib_preflight_stop(p);
	ib_lint_view(p->view, &lints);
	for (size_t i = 0; i < lints.n; i++)
		add_line(p->out, "note", "lint", lints.v[i]);
	ib_buf_addf(p->out, "%zu ok, %zu FAIL, %zu not checkable, %zu notes\n", p->n[IB_CHECKED_OK], p->n[IB_CHECKED_FAIL], p->n[IB_CHECKED_NOT], lints.n);
	*ret_failed = p->n[IB_CHECKED_FAIL] > 0;
}

/* --- programs --- */

static char *if_executable(char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *ib_preflight_program(const struct ib_preflight *p, const char *name)
{
	const char *path = ib_env(p->ctx, "PATH");

	if (strchr(name, '/'))
		return if_executable(name[0] == '/' ? ib_strdup(name) : ib_asprintf("%s/%s", p->study, name));
	for (const char *at = path ? path : ""; *at;) {
		size_t n = strcspn(at, ":");
		char *found = if_executable(ib_asprintf("%.*s/%s", n ? (int)n : 1, n ? at : ".", name));

		if (found)
			return found;
		at += n + (at[n] == ':');
	}
	return NULL;
}

/* --- HTTP --- */

/* "ib-probe: answered with status 405": of an answer that is none of 200 to 299 the helper says the number. */
static int status_in(const char *text)
{
	const char *at = strstr(text, "answered with status ");
	int64_t n = 0;

	for (at = at ? at + 21 : ""; *at >= '0' && *at <= '9' && n < 1000; at++)
		n = 10 * n + (*at - '0');
	return (int)n;
}

static int judge(const struct ib_child_end *end, struct ib_buf *ret, int *ret_status, struct ib_err *err)
{
	if (end->timed_out || end->status == IB_EXIT_TIMED_OUT)
		return ib_fail(err, IB_E_TIMEOUT, 0, "no answer in time");
	if (end->status == IB_EXIT_OK) {
		*ret_status = 200;
		return 0;
	}
	*ret_status = status_in(ib_buf_str(ret));
	if (end->status == IB_EXIT_FAILS && *ret_status)
		return 0;
	if (end->status == IB_EXIT_UNDECIDED)
		return ib_fail(err, IB_E_IO, 0, "no answer: nothing listens there, or the connection broke");
	return ib_fail(err, IB_E_IO, 0, "the helper 'ib-probe' ended with status %d", end->status);
}

/* A file for what is posted: the helper reads it, and no argument list shows it. */
static int write_body(const char *body, char path[64], struct ib_err *err)
{
	ib_auto_fd int fd = -1;

	snprintf(path, 64, "/tmp/ib-check-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a file in /tmp");
	return ib_write_all(fd, body, strlen(body), path, err);
}

int ib_preflight_ask(const struct ib_preflight *p, const char *url, const char *body, struct ib_buf *ret, int *ret_status, struct ib_err *err)
{
	ib_auto_free char *helper = ib_helper_path("ib-probe"), *limit = ib_asprintf("%lldms", ASK_NS / 1000000);
	const struct ib_run run = {.ctx = p->ctx, .env = p->ctx->env};
	ib_auto_strv struct ib_strv env = {0};
	struct ib_child_end end = {0};
	char file[64] = "";
	const char *argv[] = {helper, "--timeout", limit, "-", NULL, NULL, NULL};
	struct ib_spawn what = {.argv = argv, .timeout_ns = ASK_NS + 2 * IB_NS, .with_stderr = true};
	int r = 0;

	for (const char *s = strchr(url, '{'); s; s = strchr(s + 1, '{'))
		if (s == url || s[-1] != '$')
			return ib_fail(err, IB_E_UNSUPPORTED, 0, "its address is another one in each run");
	if (body) {
		argv[4] = "--body-file";
		argv[5] = file;
		r = write_body(body, file, err);
	}
	if (r == 0)
		r = ib_probe_env(&run, url, false, &env, err);
	what.env = env.v;
	if (r == 0)
		r = ib_spawn(&what, ret, &end, err);
	if (*file)
		unlink(file);
	return r < 0 ? r : judge(&end, ret, ret_status, err);
}

char *ib_preflight_origin(const char *url)
{
	const char *host = strstr(url, "://");

	return ib_strndup(url, host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : strlen(url));
}

const char *ib_preflight_endpoint(const struct ib_preflight *p)
{
	if (p->contract->endpoint)
		return p->contract->endpoint;
	for (size_t i = 0; i < p->view->n; i++)
		if (p->view->cells[i].settings.v[IB_SET_ENDPOINT])
			return p->view->cells[i].settings.v[IB_SET_ENDPOINT];
	return NULL;
}
