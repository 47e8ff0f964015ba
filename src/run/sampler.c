/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler, as ib-run sees it: a child of its own, started before the command and ended after it. */
#include "run/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "model/contract.h"
#include "run/probe.h"
#include "run/sampler_inside.h"

#define FILE_NAME "samples.jsonl"
#define END_NS (2 * IB_NS)   /* how long the end of a sampler is waited for */
#define OUTSIDE_SHARE 0.10   /* of the machine's processors: more than that used by others is worth a note */

/* --- starting it --- */

/* Closes every descriptor but the standard three and these: locks and pipes of ib-run are none of the sampler's business. */
static void close_others(const int *keep, size_t n)
{
	for (unsigned from = 3;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from)
			close_range(from, next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

static void settle(const struct ib_sampler_job *job)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM};
	const int keep[] = {job->file, job->control, job->report, job->root ? ib_root_fd(job->root) : -1};
	int null = open("/dev/null", O_RDWR);

	for (size_t i = 0; i < IB_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, "ib-run-sampler");
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	close_others(keep, IB_LEN(keep));
}

struct pipes {
	int control[2], report[2], file;
};

static void close_pipes(struct pipes *p)
{
	ib_auto_fd_fn(&p->control[0]);
	ib_auto_fd_fn(&p->control[1]);
	ib_auto_fd_fn(&p->report[0]);
	ib_auto_fd_fn(&p->report[1]);
	ib_auto_fd_fn(&p->file);
}

static int open_pipes(const struct ib_run *run, struct pipes *p, struct ib_err *err)
{
	*p = (struct pipes){{-1, -1}, {-1, -1}, -1};
	if (pipe2(p->control, O_CLOEXEC) < 0 || pipe2(p->report, O_CLOEXEC) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a pipe");
	p->file = openat(run->dir_fd, FILE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p->file < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot create '%s'", FILE_NAME);
	return 0;
}

static int start(struct ib_run *run, const struct ib_sampler_job *wanted, struct ib_sampler *ret, struct ib_err *err)
{
	struct pipes p __attribute__((cleanup(close_pipes)));
	struct ib_sampler_job job = *wanted;
	int r = open_pipes(run, &p, err);

	if (r < 0)
		return r;
	job.run = getpid();
	ret->pid = fork();
	if (ret->pid == 0) {
		job.file = p.file;
		job.control = p.control[0];
		job.report = p.report[1];
		settle(&job);
		ib_sampler_loop(&job);
		_exit(0);
	}
	if (ret->pid < 0) {
		ret->pid = 0;
		return ib_fail(err, IB_E_IO, errno, "cannot start a process");
	}
	ret->control_fd = ib_steal_fd(&p.control[1]);
	ret->report_fd = ib_steal_fd(&p.report[0]);
	return 0;
}

/* URLs of metrics that are asked. */
static size_t servers(const struct ib_run *run)
{
	const struct ib_contract_evidence *e = run->spec->sampling.evidence;
	size_t n = e && e->engine ? ib_evidence_urls(e) : 0;

	return n < IB_SAMPLE_SERVERS ? n : IB_SAMPLE_SERVERS;
}

void ib_sampler_start(struct ib_run *run, struct ib_sampler *ret)
{
	const struct ib_run_sampling *what = &run->spec->sampling;
	struct ib_strv envs[IB_SAMPLE_SERVERS] = {0};
	char *const *server_env[IB_SAMPLE_SERVERS];
	struct ib_sampler_job job = {.root = run->ctx->root, .clock = run->ctx->clock, .redact = run->study->redactor, .env = run->env, .server_env = server_env,
				     .interval_ns = run->spec->sample_interval_ns ? run->spec->sample_interval_ns : IB_NS};
	struct ib_err err = {0};
	size_t i;
	int r = 0;

	*ret = (struct ib_sampler){.control_fd = -1, .report_fd = -1};
	if (run->spec->no_sample)
		return;
	if (what->evidence && what->evidence->engine) {
		job.engine = what->evidence->engine;
		job.counters = what->evidence->counters;
	}
	for (i = 0; i < servers(run) && r == 0; i++) {
		r = ib_probe_env(run, ib_evidence_url(what->evidence, i), false, &envs[i], &err);
		server_env[i] = envs[i].v;
	}
	job.servers = i;
	if (r == 0)
		r = start(run, &job, ret, &err);
	if (r < 0)
		ret->why = ib_strdup(err.text);
	for (i = 0; i < IB_SAMPLE_SERVERS; i++)
		ib_strv_clear(&envs[i]);
}

/* --- ending it --- */

/* One that was killed, or has sent its report, goes at once; the command's end may have waited for it already. */
static void reap(const struct ib_sampler *s)
{
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int read_report(struct ib_sampler *s, struct ib_sampler_report *ret, struct ib_err *err)
{
	struct pollfd p = {.fd = s->report_fd, .events = POLLIN};
	size_t n = 0;
	int r = 0;

	if (write(s->control_fd, "e", 1) < 0 && errno != EPIPE)
		return ib_fail(err, IB_E_IO, errno, "it cannot be told to end");
	while ((r = poll(&p, 1, (int)(END_NS / 1000000))) < 0 && errno == EINTR)
		;
	if (r == 0)
		return ib_fail(err, IB_E_TIMEOUT, 0, "it did not end in time and was killed");
	r = ib_read_upto(s->report_fd, ret, sizeof(*ret), "the sampler's report", &n, err);
	if (r == 0 && n != sizeof(*ret))
		r = ib_fail(err, IB_E_STATE, 0, "it ended early");
	return r;
}

static void set_count(json_t *o, const char *key, bool known, int64_t v)
{
	ib_json_set(o, key, known && v != IB_NONE ? json_integer(v) : NULL);
}

static json_t *helpers_json(const struct ib_sampler_report *rep, size_t asked)
{
	json_t *all = ib_json_array();

	for (size_t i = 0; i <= IB_SAMPLE_SERVERS; i++) {
		json_t *o;

		if (i >= asked && i < IB_SAMPLE_SERVERS)
			continue;
		o = ib_json_object();
		ib_json_set_str(o, "name", i < IB_SAMPLE_SERVERS ? "ib-probe" : "ib-sample-gpu");
		ib_json_set_str(o, "status", rep->helper_status[i][0] ? rep->helper_status[i] : "unstarted");
		ib_json_add(all, o);
	}
	return all;
}

/* rep NULL: there is no report. */
static json_t *sampler_json(const struct ib_run *run, const char *status, const char *why, const struct ib_sampler_report *rep)
{
	json_t *o = ib_json_object();
	int64_t cpu = rep && rep->own_cpu_ns != IB_NONE && rep->helpers_cpu_ns != IB_NONE ? rep->own_cpu_ns + rep->helpers_cpu_ns : IB_NONE;

	ib_json_set_str(o, "status", status);
	ib_json_set_str(o, "why", why);
	ib_json_set_int(o, "interval_ns", run->spec->sample_interval_ns ? run->spec->sample_interval_ns : IB_NS);
	set_count(o, "last_interval_ns", rep, rep ? rep->interval_ns : 0);
	set_count(o, "samples", rep, rep ? rep->samples : 0);
	set_count(o, "missed", rep, rep ? rep->missed : 0);
	set_count(o, "wall_ns", rep, rep ? rep->wall_ns : 0);
	set_count(o, "own_cpu_ns", rep, rep ? rep->own_cpu_ns : 0);
	set_count(o, "helpers_cpu_ns", rep, rep ? rep->helpers_cpu_ns : 0);
	ib_json_set_real(o, "cpu_share", cpu != IB_NONE && rep->wall_ns > 0 ? (double)cpu / (double)rep->wall_ns : NAN);
	ib_json_set(o, "helpers", rep ? helpers_json(rep, servers(run)) : NULL);
	return o;
}

/* Where the numbers are those of a busy client or machine, the record says so in words. */
static void note(struct ib_run *run, const struct ib_load *l, const json_t *load)
{
	if (json_is_true(json_object_get(load, "client_saturated")) && run->spec->sampling.endpoint)
		ib_strv_take(&run->record->notes,
			     ib_asprintf("the client was saturated in %" PRId64 " of %" PRId64 " samples: its times hold its own delays", l->saturated, l->judged));
	if (l->cpus > 0 && l->outside.n && l->outside.sum / l->outside.weight >= OUTSIDE_SHARE * (double)l->cpus)
		ib_strv_take(&run->record->notes, ib_asprintf("others used %.1f of %" PRId64 " processors on average", l->outside.sum / l->outside.weight, l->cpus));
	if (l->throttles != IB_NONE && l->throttles > 0)
		ib_strv_take(&run->record->notes, ib_asprintf("processors were throttled %" PRId64 " times by their temperature", l->throttles));
}

static void set_load(struct ib_run *run, const struct ib_load *l)
{
	json_t *o = ib_load_json(l);
	const char *why;
	enum ib_local local = ib_colocated(run->ctx->root, run->spec->sampling.endpoint, &why);

	ib_json_set(o, "colocated", local == IB_LOCAL_UNKNOWN ? NULL : json_boolean(local == IB_LOCAL_YES));
	ib_json_set_str(o, "colocated_why", why);
	note(run, l, o);
	ib_record_set(run->record, IB_SECTION_LOAD, o);
}

void ib_sampler_finish(struct ib_run *run, struct ib_sampler *s)
{
	ib_auto_free struct ib_sampler_report *rep = ib_alloc(sizeof(*rep));
	const char *status = s->why ? "error" : "off";
	struct ib_err err = {0};
	bool reported = false;

	if (s->pid) {
		reported = read_report(s, rep, &err) == 0;
		if (!reported)
			kill(s->pid, SIGKILL);
		reap(s);
		if (reported && rep->sys)
			(void)!ib_fail(&err, IB_E_IO, rep->sys, "'%s' cannot be written", FILE_NAME);
		status = err.code ? "error" : "ok";
	}
	ib_record_set(run->record, IB_SECTION_SAMPLER, sampler_json(run, status, err.code ? err.text : s->why, reported ? rep : NULL));
	if (reported && rep->load.samples)
		set_load(run, &rep->load);
	ib_auto_fd_fn(&s->control_fd);
	ib_auto_fd_fn(&s->report_fd);
	free(s->why);
	*s = (struct ib_sampler){.control_fd = -1, .report_fd = -1};
}
