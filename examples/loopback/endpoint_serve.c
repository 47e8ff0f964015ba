/* SPDX-License-Identifier: Apache-2.0 */
/* Listening on 127.0.0.1, one thread for each connection, a clean end. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"

struct start {
	struct lb_server *server;
	size_t slot;
	int fd;
};

static int bind_to(int64_t port, int *ret_fd, int64_t *ret_port, struct ib_err *err)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	ib_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(a);
	int on = 1;

	if (fd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot listen on 127.0.0.1 port %d (another --port, or 0 for any free one)", (int)port);
	*ret_port = ntohs(a.sin_port);
	*ret_fd = ib_steal_fd(&fd);
	return 0;
}

static int start_listening(struct lb_server *s, struct ib_err *err)
{
	s->listening = true;
	return listen(s->listen_fd, 128) < 0 ? ib_fail(err, IB_E_IO, errno, "cannot listen") : 0;
}

static int open_truth(struct lb_server *s, struct ib_err *err)
{
	const char *path = s->config.truth_file;

	if (!path)
		return 0;
	s->truth_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (s->truth_fd < 0)
		return ib_fail(err, errno == EEXIST ? IB_E_EXISTS : IB_E_IO, errno, "cannot make the truth log '%s'", path);
	return 0;
}

int lb_server_open(struct lb_server *s, const struct lb_config *config, int64_t *ret_port, struct ib_err *err)
{
	char text[16];
	int r;

	*s = (struct lb_server){.config = *config, .listen_fd = -1, .truth_fd = -1, .record_fd = -1};
	s->started_wall_ns = ib_wall_ns(&ib_clock_system);
	s->started_ns = lb_now_ns();
	s->cache = lb_cache_new((size_t)config->cache_blocks, (size_t)config->block_tokens);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->turn, NULL);
	pthread_cond_init(&s->quiet, NULL);
	for (size_t i = 0; i < LB_CONNECTIONS; i++)
		s->fds[i] = -1;
	r = bind_to(config->port, &s->listen_fd, ret_port, err);
	if (r == 0)
		r = open_truth(s, err);
	if (r == 0)
		r = lb_record_open(s, err);
	if (r == 0 && !config->slow_listen_ns)
		r = start_listening(s, err);
	if (r == 0 && config->port_file) {
		snprintf(text, sizeof(text), "%d\n", (int)*ret_port);
		r = ib_write_file(AT_FDCWD, config->port_file, text, strlen(text), 0644, true, err);
	}
	return r;
}

void lb_server_close(struct lb_server *s)
{
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->truth_fd >= 0)
		close(s->truth_fd);
	lb_record_close(s);
	lb_cache_free(&s->cache);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->turn);
	pthread_cond_destroy(&s->quiet);
}

static void serve_connection(struct lb_conn *c)
{
	struct lb_request q;
	enum lb_read got;

	do {
		got = lb_http_read(c, &q);
		if (got == LB_READ_BAD)
			lb_http_error(c, &q, q.status, q.why);
		if (got != LB_READ_REQUEST)
			break;
		lb_route(c, &q);
		lb_http_done(c, &q);
	} while (q.keep_alive && !c->gone && !atomic_load(&c->server->stopping));
	if (got == LB_READ_BAD) {
		char rest[4096];

		/* what is still coming would make the kernel reset the connection before the answer is read */
		shutdown(c->fd, SHUT_WR);
		for (int64_t end_ns = lb_now_ns() + 2 * IB_NS; lb_now_ns() < end_ns && recv(c->fd, rest, sizeof(rest), 0) > 0;)
			;
	}
}

static void *connection(void *arg)
{
	struct start *start = arg;
	struct lb_server *s = start->server;
	struct lb_conn c = {.server = s, .fd = start->fd, .in = IB_BUF(LB_HEAD_MAX + LB_BODY_MAX + (64u << 10))};

	serve_connection(&c);
	ib_buf_clear(&c.in);
	pthread_mutex_lock(&s->lock);
	close(c.fd);
	s->fds[start->slot] = -1;
	s->connections--;
	pthread_cond_signal(&s->quiet);
	pthread_mutex_unlock(&s->lock);
	free(start);
	return NULL;
}

static bool take_slot(struct lb_server *s, int fd, size_t *ret_slot)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < LB_CONNECTIONS && !found; i++) {
		if (s->fds[i] >= 0)
			continue;
		s->fds[i] = fd;
		s->connections++;
		*ret_slot = i;
		found = true;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

static void drop_slot(struct lb_server *s, size_t slot)
{
	pthread_mutex_lock(&s->lock);
	s->fds[slot] = -1;
	s->connections--;
	pthread_mutex_unlock(&s->lock);
}

static void refuse(int fd)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	(void)!send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void accept_one(struct lb_server *s)
{
	struct timeval limit = {.tv_sec = 10};
	struct start *start;
	pthread_attr_t attr;
	pthread_t thread;
	size_t slot;
	int on = 1;
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			(void)poll(NULL, 0, 20); /* the connection stays pending: no busy loop until a descriptor is free */
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!take_slot(s, fd, &slot)) {
		refuse(fd);
		return;
	}
	start = ib_alloc(sizeof(*start));
	*start = (struct start){s, slot, fd};
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, connection, start) != 0) {
		drop_slot(s, slot);
		refuse(fd);
		free(start);
	}
	pthread_attr_destroy(&attr);
}

/* No new connection, no new request; running answers break off at their next token. Waits for every thread. */
static void wind_down(struct lb_server *s)
{
	atomic_store(&s->stopping, true);
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->turn);
	for (size_t i = 0; i < LB_CONNECTIONS; i++)
		if (s->fds[i] >= 0)
			shutdown(s->fds[i], SHUT_RD);
	while (s->connections)
		pthread_cond_wait(&s->quiet, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* Milliseconds until a moment after the start; -1 where it is 0: never. */
static int left_ms(const struct lb_server *s, int64_t after_ns)
{
	int64_t left = s->started_ns + after_ns - lb_now_ns();
	int ms = -1;

	if (after_ns)
		ms = left <= 0 ? 0 : (int)(left / 1000000 > 1000000 ? 1000000 : left / 1000000 + 1);
	return ms;
}

/* Milliseconds until something is due without an event. */
static int due_ms(const struct lb_server *s)
{
	int end = left_ms(s, s->config.lifetime_ns), begin = s->listening ? -1 : left_ms(s, s->config.slow_listen_ns);

	return end < 0 || (begin >= 0 && begin < end) ? begin : end;
}

int lb_server_run(struct lb_server *s, struct ib_err *err)
{
	struct pollfd p[2] = {{.fd = s->listen_fd, .events = POLLIN}, {.events = POLLIN}};
	ib_auto_fd int sfd = -1;
	struct signalfd_siginfo info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* before any thread is made */
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sfd < 0)
		return ib_fail(err, IB_E_IO, errno, "cannot wait for signals");
	p[1].fd = sfd;
	for (;;) {
		int r = 0;

		p[0].fd = s->listening ? s->listen_fd : -1;
		if (poll(p, 2, due_ms(s)) < 0 && errno != EINTR)
			r = ib_fail(err, IB_E_IO, errno, "cannot wait for connections");
		else if (!s->listening && left_ms(s, s->config.slow_listen_ns) == 0)
			r = start_listening(s, err);
		if (r < 0) {
			wind_down(s);
			return r;
		}
		if (left_ms(s, s->config.lifetime_ns) == 0 || ((p[1].revents & POLLIN) && read(sfd, &info, sizeof(info)) == (ssize_t)sizeof(info)))
			break;
		if (p[0].revents & POLLIN)
			accept_one(s);
	}
	wind_down(s);
	return 0;
}
