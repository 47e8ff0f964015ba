/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that take requests in order, each when it is due; signals stop them all. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "examples/loopback/load.h"

struct crew {
	struct ld_run *run;
	int done_fd; /* counts workers that have ended */
};

/* http://HOST:PORT, with at most a slash behind it. */
static int resolve(struct ld_run *r, const char *url, struct ib_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	struct addrinfo *list = NULL;
	char host[256], port[8];
	int used = 0;
	int e;

	if (sscanf(url, "http://%255[A-Za-z0-9.-]:%7[0-9]%n", host, port, &used) != 2 || (url[used] && strcmp(url + used, "/") != 0))
		return ib_fail(err, IB_E_USAGE, 0, "an endpoint is written http://HOST:PORT, not '%s'", url);
	e = getaddrinfo(host, port, &hints, &list);
	if (e)
		return ib_fail(err, IB_E_IO, 0, "cannot resolve '%s': %s", host, gai_strerror(e));
	memcpy(&r->addr, list->ai_addr, list->ai_addrlen);
	r->addr_n = list->ai_addrlen;
	freeaddrinfo(list);
	snprintf(r->host, sizeof(r->host), "%s:%s", host, port);
	return 0;
}

/* Who is asked: version and, where none was named, the model. Nothing of it is needed to start. */
static void introduce(struct ld_run *r)
{
	struct ld_link l = {.run = r, .fd = -1};
	ib_auto_json json_t *version = ld_get_json(&l, "/version");
	ib_auto_json json_t *models = NULL;
	const char *text = json_string_value(json_object_get(version, "version"));

	if (text)
		snprintf(r->version, sizeof(r->version), "%s", text);
	if (r->config->model) {
		r->model = ib_strdup(r->config->model);
	} else {
		models = ld_get_json(&l, "/v1/models");
		r->model = ib_strdup(json_string_value(json_object_get(json_array_get(json_object_get(models, "data"), 0), "id")));
	}
	ld_link_close(&l);
}

int ld_run_open(struct ld_run *r, const struct ld_config *c, struct ld_plan *p, struct ib_err *err)
{
	int e;

	*r = (struct ld_run){.config = c, .plan = p, .window_start_ns = LD_NONE, .window_end_ns = LD_NONE, .stop_fd = -1};
	e = resolve(r, c->url, err);
	if (e < 0)
		return e;
	r->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (r->stop_fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make an event");
	introduce(r);
	r->origin_ns = ld_now_ns();
	r->origin_wall_ns = ib_wall_ns(&ib_clock_system);
	return 0;
}

void ld_run_close(struct ld_run *r)
{
	if (r->stop_fd >= 0)
		close(r->stop_fd);
	free(r->model);
}

static void mark_unsent(struct ld_request *q)
{
	snprintf(q->error_class, sizeof(q->error_class), "cancelled");
	snprintf(q->error, sizeof(q->error), "not sent: the client was stopped");
}

static void *work(void *arg)
{
	struct crew *crew = arg;
	struct ld_run *r = crew->run;
	struct ld_link l = {.run = r, .fd = -1};
	uint64_t one = 1;
	size_t i;

	while ((i = atomic_fetch_add(&r->next, 1)) < r->phase_end) {
		struct ld_request *q = &r->plan->v[i];
		int64_t due_ns = q->due_ns == LD_NONE ? 0 : r->phase_ns + q->due_ns;

		if (ld_wait(r, -1, 0, due_ns) == LD_STOPPED)
			mark_unsent(q);
		else
			ld_request_send(&l, q);
	}
	ld_link_close(&l);
	(void)!write(crew->done_fd, &one, sizeof(one));
	return NULL;
}

/* Waits for n workers; the first signal stops them. */
static int attend(struct ld_run *r, const struct crew *crew, int signal_fd, size_t n, struct ib_err *err)
{
	struct pollfd p[2] = {{.fd = crew->done_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	struct signalfd_siginfo info;
	uint64_t count, one = 1;

	while (n) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return ib_fail(err, IB_E_IO, errno, "cannot wait for the workers");
		if ((p[1].revents & POLLIN) && read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info) && !r->signal) {
			r->signal = (int)info.ssi_signo;
			(void)!write(r->stop_fd, &one, sizeof(one));
		}
		if ((p[0].revents & POLLIN) && read(crew->done_fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
			n -= count < n ? (size_t)count : n;
	}
	return 0;
}

/* Sends requests [from, to). */
static int phase(struct ld_run *r, size_t from, size_t to, int signal_fd, struct ib_err *err)
{
	size_t cap = r->config->max_concurrency == LD_NONE ? LD_WORKERS_MAX : (size_t)r->config->max_concurrency;
	size_t n = to - from < cap ? to - from : cap;
	pthread_t threads[LD_WORKERS_MAX];
	struct crew crew = {.run = r, .done_fd = eventfd(0, EFD_CLOEXEC)};
	size_t started = 0;
	int e = 0;

	if (crew.done_fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make an event");
	atomic_store(&r->next, from);
	r->phase_end = to;
	r->phase_ns = ld_now_ns();
	while (started < n && pthread_create(&threads[started], NULL, work, &crew) == 0)
		started++;
	e = attend(r, &crew, signal_fd, started, err);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	close(crew.done_fd);
	if (e == 0 && started < n)
		e = ib_fail(err, IB_E_IO, EAGAIN, "only %zu of %zu workers could be started", started, n);
	return e;
}

int ld_run_go(struct ld_run *r, struct ib_err *err)
{
	const struct ld_plan *p = r->plan;
	ib_auto_fd int signal_fd = -1;
	sigset_t set;
	int e = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* a shell starts background jobs with SIGINT ignored; asked to stop, this client stops */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot wait for signals");
	if (p->warmups_n)
		e = phase(r, 0, p->warmups_n, signal_fd, err);
	if (e == 0) {
		r->window_start_ns = ld_now_ns();
		e = phase(r, p->warmups_n, p->n, signal_fd, err);
		r->window_end_ns = ld_now_ns();
	}
	return e;
}
