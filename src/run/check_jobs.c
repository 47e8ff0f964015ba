/* SPDX-License-Identifier: Apache-2.0 */
/* Known clients asked for their version and their help. Some take a minute for it, so that all are asked at once, while other checks go on. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/spawn.h"
#include "base/str.h"
#include "run/check.h"

#define JOBS_MAX 16
#define ASK_NS (150 * IB_NS)
#define OUT_MAX (1u << 20)
#define LATE 124

/* The words of a command that name the program and what it is to do: up to the first option, and "-m MODULE" of an interpreter. */
static void name_words(const struct ib_strv *words, struct ib_strv *ret)
{
	size_t i = 1;

	ib_strv_add(ret, words->v[0]);
	if (words->n > 2 && strcmp(words->v[1], "-m") == 0) {
		ib_strv_add(ret, words->v[1]);
		ib_strv_add(ret, words->v[2]);
		i = 3;
	}
	for (; i < words->n && words->v[i][0] != '-'; i++)
		ib_strv_add(ret, words->v[i]);
}

/* In a child: asks, and gives what it heard and how it ended. */
static int ask(const struct ib_preflight *p, struct ib_strv *argv, int fd)
{
	ib_auto_buf struct ib_buf out = IB_BUF(OUT_MAX);
	struct ib_spawn what = {.argv = (const char *const *)argv->v, .env = p->ctx->env, .cwd = p->view->study_fd >= 0 ? p->study : NULL,
				.timeout_ns = ASK_NS, .with_stderr = true};
	struct ib_child_end end = {0};
	struct ib_err err;

	if (ib_spawn(&what, &out, &end, &err) < 0)
		return 126;
	/* vLLM shows only the groups of its options unless all are asked for */
	if (strstr(ib_buf_str(&out), "--help=all")) {
		free(argv->v[argv->n - 1]);
		argv->v[argv->n - 1] = ib_strdup("--help=all");
		ib_buf_reset(&out);
		if (ib_spawn(&what, &out, &end, &err) < 0)
			return 126;
	}
	if (ib_write_all(fd, ib_buf_str(&out), out.len, "pipe", &err) < 0)
		return 126;
	return end.timed_out ? LATE : end.status >= 0 ? end.status : 125;
}

static void start(struct ib_preflight *p, struct ib_preflight_job *j)
{
	int fds[2];

	j->fd = -1;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	j->pid = fork();
	if (j->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		_exit(ask(p, &j->argv, fds[1]));
	}
	close(fds[1]);
	if (j->pid < 0)
		close(fds[0]);
	else
		j->fd = fds[0];
}

static const struct ib_preflight_job *find(const struct ib_preflight *p, const struct ib_strv *argv)
{
	for (size_t i = 0; i < p->jobs_n; i++) {
		bool same = p->jobs[i].argv.n == argv->n;

		for (size_t k = 0; same && k < argv->n; k++)
			same = strcmp(p->jobs[i].argv.v[k], argv->v[k]) == 0;
		if (same)
			return &p->jobs[i];
	}
	return NULL;
}

/* Of the first words alone a version is asked, of all of them the help. */
static void question(const struct ib_lint_cell *c, bool help, struct ib_strv *ret)
{
	ib_auto_strv struct ib_strv words = {0};
	size_t n;

	name_words(&c->words, &words);
	n = help ? words.n : words.n > 2 && strcmp(words.v[1], "-m") == 0 ? 3 : 1;
	for (size_t i = 0; i < n; i++)
		ib_strv_add(ret, words.v[i]);
	ib_strv_add(ret, help ? "--help" : "--version");
}

void ib_preflight_start(struct ib_preflight *p)
{
	p->jobs = ib_alloc(JOBS_MAX * sizeof(*p->jobs));
	for (size_t i = 0; i < 2 * p->view->n && p->jobs_n < JOBS_MAX; i++) {
		const struct ib_lint_cell *c = &p->view->cells[i / 2];
		ib_auto_free char *program = c->client && c->words.n ? ib_preflight_program(p, c->words.v[0]) : NULL;
		ib_auto_strv struct ib_strv argv = {0};
		struct ib_preflight_job *j = &p->jobs[p->jobs_n];

		/* a program that is not known might take --help for anything: it is not started */
		if (!program)
			continue;
		question(c, i % 2, &argv);
		if (find(p, &argv))
			continue;
		*j = (struct ib_preflight_job){.cell = c, .help = i % 2, .argv = argv, .status = -1, .out = IB_BUF(OUT_MAX)};
		argv = (struct ib_strv){0};
		start(p, j);
		p->jobs_n++;
	}
	if (p->jobs_n)
		ib_log(p->ctx, IB_LOG_INFO, "asking the clients for their version and help: some take more than a minute for it");
}

static void collect(struct ib_preflight_job *j)
{
	int status = 0;

	if (j->fd < 0)
		return;
	if (ib_read_all(j->fd, "pipe", &j->out, NULL) < 0)
		ib_buf_reset(&j->out);
	close(j->fd);
	j->fd = -1;
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->pid = 0;
	j->status = WIFEXITED(status) && WEXITSTATUS(status) != LATE ? WEXITSTATUS(status) : -1;
}

const struct ib_preflight_job *ib_preflight_answer(struct ib_preflight *p, const struct ib_lint_cell *c, bool help)
{
	ib_auto_strv struct ib_strv argv = {0};
	const struct ib_preflight_job *j;

	if (!c->client || !c->words.n)
		return NULL;
	question(c, help, &argv);
	j = find(p, &argv);
	if (j)
		collect(&p->jobs[j - p->jobs]);
	return j;
}

void ib_preflight_stop(struct ib_preflight *p)
{
	for (size_t i = 0; i < p->jobs_n; i++) {
		if (p->jobs[i].pid > 0)
			kill(p->jobs[i].pid, SIGKILL);
		collect(&p->jobs[i]);
		ib_strv_clear(&p->jobs[i].argv);
		ib_buf_clear(&p->jobs[i].out);
	}
	free(p->jobs);
	p->jobs = NULL;
	p->jobs_n = 0;
}
