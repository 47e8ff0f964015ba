/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler's process: a sample at the start, one at every interval, one at the end. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/str.h"
#include "run/sampler_inside.h"

#define ANSWER_NS (IB_NS / 5)       /* how long a sample waits for answers; later ones go into the next */
#define LAST_ANSWER_NS (IB_NS / 10) /* at the end of the run nobody should wait for us */
#define SHORT_NS (IB_NS / 4)
#define LINE_MAX_BYTES 16384
#define GPU IB_SAMPLE_SERVERS       /* place of ib-sample-gpu among the helpers */

struct loop {
	const struct ib_sampler_job *job;
	struct ib_host host;
	struct ib_tasks tasks;
	struct ib_load load;
	struct ib_sampler_helper helpers[IB_SAMPLE_SERVERS + 1];
	struct ib_sampler_report report;
	struct ib_buf line;
	int64_t interval_ns, started_ns;
	bool ended, helpers_started;
};

static int64_t now(const struct loop *l)
{
	return ib_monotonic_ns(l->job->clock);
}

/* --- helpers --- */

static void start_helpers(struct loop *l)
{
	ib_auto_free char *probe = ib_helper_path("ib-probe"), *gpu = ib_helper_path("ib-sample-gpu");
	const char *const probe_argv[] = {probe, "--poll", "--timeout", "5s", "--limit", "4000000", "-", NULL}, *const gpu_argv[] = {gpu, NULL};

	for (size_t i = 0; i < l->job->servers; i++)
		ib_helper_start(&l->helpers[i], "ib-probe", probe_argv, l->job->server_env[i]);
	ib_helper_start(&l->helpers[GPU], "ib-sample-gpu", gpu_argv, l->job->env);
	l->helpers_started = true;
}

static void take_server(const struct loop *l, struct ib_sampler_helper *h, struct ib_sample *s, size_t *answers)
{
	if (h->code < 200 || h->code > 299) {
		h->status = h->code == 0 ? "unanswered" : "error";
		return;
	}
	h->status = "ok";
	if (ib_sample_metrics(l->job->engine, l->job->counters, ib_buf_str(&h->answer) + h->body, *answers == 0, &s->server))
		++*answers;
}

static void take_gpus(struct ib_sampler_helper *h, struct ib_sample *s)
{
	const char *text = ib_buf_str(&h->answer) + h->body;

	if (h->code == 200 && ib_sample_gpus(text, s)) {
		h->status = "ok";
		return;
	}
	/* there is nothing to ask, and there will not be */
	ib_helper_end(h);
	h->status = h->code == 404 ? "absent" : "error";
}

/* Takes what the helpers say until all that were asked have answered, or until then. */
static void take_answers(struct loop *l, int64_t until_ns, struct ib_sample *s)
{
	size_t answers = 0, asked;

	for (;;) {
		struct pollfd p[IB_SAMPLE_SERVERS + 2] = {{.fd = l->job->control, .events = POLLIN}};
		int64_t left = until_ns - now(l);

		asked = 0;
		for (size_t i = 0; i < IB_LEN(l->helpers); i++) {
			struct ib_sampler_helper *h = &l->helpers[i];

			p[i + 1] = (struct pollfd){.fd = -1, .events = POLLIN};
			if (ib_helper_take(h)) {
				if (i == GPU)
					take_gpus(h, s);
				else
					take_server(l, h, s, &answers);
			} else if (h->state == IB_HELPER_ASKED) {
				p[i + 1].fd = h->out;
				asked++;
			}
		}
		if (!asked || left <= 0)
			break;
		if (l->ended)
			p[0].fd = -1;
		if (poll(p, IB_LEN(p), (int)(left / 1000000) + 1) > 0 && p[0].revents)
			break; /* the run is over */
	}
	/* the sum over several servers is one only where all have answered */
	s->has_server = answers > 0 && answers == l->job->servers;
}

/* --- samples --- */

static void write_line(struct loop *l)
{
	ssize_t n;

	do
		n = write(l->job->file, ib_buf_str(&l->line), l->line.len);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)l->line.len) {
		l->report.bytes += n;
		return;
	}
	l->report.sys = n < 0 ? errno : ENOSPC;
	if (n > 0 && ftruncate(l->job->file, l->report.bytes) < 0) /* whole lines only */
		l->report.sys = errno;
}

static void sample(struct loop *l, bool last)
{
	struct ib_sample s;

	ib_sample_init(&s);
	for (size_t i = last ? GPU : 0; i < IB_LEN(l->helpers); i++)
		ib_helper_ask(&l->helpers[i], now(l));
	s.monotonic_ns = now(l);
	s.wall_ns = ib_wall_ns(l->job->clock);
	ib_host_read(&l->host, &s);
	ib_tasks_read(&l->tasks, l->job->redact, &s);
	if (l->helpers_started)
		take_answers(l, now(l) + (last ? LAST_ANSWER_NS : ANSWER_NS < l->interval_ns / 2 ? ANSWER_NS : l->interval_ns / 2), &s);
	ib_buf_reset(&l->line);
	if (!l->report.samples) {
		ib_load_init(&l->load, l->host.cpus, l->interval_ns / 2 < SHORT_NS ? l->interval_ns / 2 : SHORT_NS);
		ib_sample_header(&l->host, &l->tasks, l->interval_ns, l->job->servers, &l->line);
	}
	ib_sample_line(&s, &l->line);
	write_line(l);
	if (l->report.sys)
		return;
	if (l->report.samples == 1 && !last) /* a short command is not worth the look */
		l->load.limit_cores = ib_limit_cores(l->job->root);
	ib_load_add(&l->load, &s);
	l->report.samples++;
}

/* False: the run is over, or ib-run is gone. */
static bool sleep_until(struct loop *l, int64_t at_ns)
{
	while (!l->ended) {
		struct pollfd p = {.fd = l->job->control, .events = POLLIN};
		int64_t left = at_ns - now(l);

		if (left <= 0)
			return true;
		if (poll(&p, 1, left > 60 * IB_NS ? 60000 : (int)(left / 1000000) + 1) > 0)
			l->ended = true;
	}
	return false;
}

static void run(struct loop *l)
{
	int64_t at = l->started_ns;

	sample(l, false);
	while (!l->report.sys) {
		if (l->report.samples % IB_SAMPLE_DOUBLE == 0)
			l->interval_ns *= 2;
		at += l->interval_ns;
		if (at < now(l)) { /* held up: those of meanwhile are not made up for */
			l->report.missed += (now(l) - at) / l->interval_ns + 1;
			at = now(l);
		}
		if (!sleep_until(l, at)) {
			sample(l, true);
			return;
		}
		if (!l->helpers_started)
			start_helpers(l);
		sample(l, false);
	}
}

static int64_t cpu_of(int who)
{
	struct rusage ru;

	if (getrusage(who, &ru) < 0)
		return IB_NONE;
	return ((int64_t)ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * IB_NS + ((int64_t)ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}

static void send_report(struct loop *l)
{
	for (size_t i = 0; i < IB_LEN(l->helpers); i++) {
		snprintf(l->report.helper_status[i], sizeof(l->report.helper_status[i]), "%s", l->helpers[i].status ? l->helpers[i].status : "");
		ib_helper_end(&l->helpers[i]);
	}
	l->report.interval_ns = l->interval_ns;
	l->report.wall_ns = now(l) - l->started_ns;
	l->report.own_cpu_ns = cpu_of(RUSAGE_SELF);
	l->report.helpers_cpu_ns = cpu_of(RUSAGE_CHILDREN);
	l->report.load = l->load;
	while (write(l->job->report, &l->report, sizeof(l->report)) < 0 && errno == EINTR)
		;
}

void ib_sampler_loop(const struct ib_sampler_job *job)
{
	ib_auto_free struct loop *l = ib_alloc(sizeof(*l));

	l->job = job;
	l->interval_ns = job->interval_ns;
	l->started_ns = now(l);
	l->line = IB_BUF(LINE_MAX_BYTES);
	for (size_t i = 0; i < IB_LEN(l->helpers); i++)
		l->helpers[i] = (struct ib_sampler_helper){.in = -1, .out = -1};
	ib_host_open(job->root, &l->host);
	ib_tasks_open(job->root, job->run, getpid(), &l->tasks);
	run(l);
	send_report(l);
	ib_host_close(&l->host);
	ib_tasks_close(&l->tasks);
	ib_buf_clear(&l->line);
}
