/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 from the client's side: one request, its reply as it arrives, bounded. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "examples/loopback/load.h"

#define READ_BYTES 65536
#define HEAD_MAX 65536
#define BODY_MAX (8u << 20) /* of what nobody has taken yet */

enum { HEAD, PLAIN, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, END };

int64_t ld_now_ns(void)
{
	return ib_monotonic_ns(&ib_clock_system);
}

void ld_reply_clear(struct ld_reply *r)
{
	ib_buf_clear(&r->in);
	ib_buf_clear(&r->body);
}

void ld_link_close(struct ld_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

enum ld_end ld_wait(const struct ld_run *run, int fd, short events, int64_t deadline_ns)
{
	struct pollfd p[2] = {{.fd = run->stop_fd, .events = POLLIN}, {.fd = fd, .events = events}};

	for (;;) {
		int64_t left = deadline_ns - ld_now_ns();
		struct timespec t = {.tv_sec = left > 0 ? left / IB_NS : 0, .tv_nsec = left > 0 ? left % IB_NS : 0};
		int n = ppoll(p, 2, &t, NULL);

		if (n > 0 && p[0].revents)
			return LD_STOPPED;
		if (n > 0 && p[1].revents)
			return LD_DONE;
		if (n == 0 && left <= 0)
			return LD_LATE;
	}
}

static enum ld_end dial(struct ld_link *l, int64_t deadline_ns)
{
	socklen_t n = sizeof(int);
	int on = 1;
	int e = 0;
	enum ld_end end;

	l->fd = socket(l->run->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return LD_CONNECT;
	(void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(l->fd, (const struct sockaddr *)&l->run->addr, l->run->addr_n) == 0)
		return LD_DONE;
	if (errno != EINPROGRESS)
		return LD_CONNECT;
	end = ld_wait(l->run, l->fd, POLLOUT, deadline_ns);
	if (end == LD_DONE && (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0 || e))
		end = LD_CONNECT;
	return end;
}

/* A kept connection that has something to read between two requests was closed by the other side. */
static bool stale(const struct ld_link *l)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};

	return l->fd >= 0 && poll(&p, 1, 0) != 0;
}

static enum ld_end send_all(struct ld_link *l, const char *text, size_t n, int64_t deadline_ns)
{
	while (n) {
		ssize_t k = send(l->fd, text, n, MSG_NOSIGNAL);

		if (k > 0) {
			text += k;
			n -= (size_t)k;
		} else if (errno == EAGAIN) {
			enum ld_end end = ld_wait(l->run, l->fd, POLLOUT, deadline_ns);

			if (end != LD_DONE)
				return end;
		} else if (errno != EINTR) {
			return LD_CUT;
		}
	}
	return LD_DONE;
}

/* --- the reply --- */

static void take_in(struct ld_reply *r, size_t n)
{
	memmove(r->in.data, r->in.data + n, r->in.len - n);
	r->in.len -= n;
	r->in.data[r->in.len] = '\0';
}

/* True: the line is understood or does not matter. */
static bool parse_field(struct ld_reply *r, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	struct ib_err err;
	char value[64];
	size_t name_n = colon ? (size_t)(colon - line) : 0;
	size_t at = name_n + 1;

	if (!colon)
		return false;
	while (at < n && line[at] == ' ')
		at++;
	snprintf(value, sizeof(value), "%.*s", (int)(n - at > 60 ? 60 : n - at), line + at);
	if (name_n == 14 && strncasecmp(line, "content-length", 14) == 0)
		return r->length == LD_NONE && ib_parse_int(value, 0, INT64_MAX, &r->length, &err) == 0;
	if (name_n == 17 && strncasecmp(line, "transfer-encoding", 17) == 0) {
		r->chunked = strcasecmp(value, "chunked") == 0;
		return r->chunked;
	}
	if (name_n == 10 && strncasecmp(line, "connection", 10) == 0)
		r->close = strcasecmp(value, "close") == 0;
	return true;
}

/* "HTTP/1.x NNN" at the start of n bytes. */
static bool parse_status(struct ld_reply *r, const char *text, size_t n)
{
	if (n < 12 || memcmp(text, "HTTP/1.", 7) != 0 || text[8] != ' ')
		return false;
	r->status = 0;
	for (int i = 9; i < 12; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		r->status = r->status * 10 + (text[i] - '0');
	}
	r->close = text[7] == '0';
	return true;
}

static int after_head(const struct ld_reply *r)
{
	if (r->status == 100) /* an interim reply: the real one follows */
		return HEAD;
	if (r->chunked)
		return CHUNK_SIZE;
	return r->length == 0 ? END : PLAIN;
}

/* 1: head parsed, 0: more is needed, 2: not understood. */
static int parse_head(struct ld_reply *r)
{
	const char *end = memmem(r->in.data, r->in.len, "\r\n\r\n", 4);
	const char *text = r->in.data;
	size_t n = end ? (size_t)(end - text) : 0;

	if (!end)
		return r->in.len > HEAD_MAX ? 2 : 0;
	if (!parse_status(r, text, n))
		return 2;
	for (const char *at = memmem(text, n, "\r\n", 2); at;) {
		const char *line = at + 2;
		const char *next = memmem(line, n - (size_t)(line - text), "\r\n", 2);

		if (!parse_field(r, line, (next ? (size_t)(next - text) : n) - (size_t)(line - text)))
			return 2;
		at = next;
	}
	take_in(r, n + 4);
	r->phase = after_head(r);
	return 1;
}

static bool move_body(struct ld_reply *r, int64_t limit)
{
	size_t n = limit != LD_NONE && (int64_t)r->in.len > limit ? (size_t)limit : r->in.len;

	ib_buf_add(&r->body, r->in.data, n);
	take_in(r, n);
	r->taken += (int64_t)n;
	if (r->chunk_left > 0)
		r->chunk_left -= (int64_t)n;
	return !r->body.overflow;
}

/* A line of n bytes between the data of chunks: a size, the end of one, a trailer. False: not understood. */
static bool take_line(struct ld_reply *r, size_t n)
{
	char *end;
	unsigned long v;

	if (r->phase == CHUNK_SIZE) {
		v = strtoul(r->in.data, &end, 16);
		if (end == r->in.data || (*end != '\r' && *end != ';') || v > BODY_MAX)
			return false;
		r->chunk_left = (int64_t)v;
		r->phase = v ? CHUNK_DATA : TRAILER;
	} else if (r->phase == CHUNK_END) {
		if (n != 0)
			return false;
		r->phase = CHUNK_SIZE;
	} else if (n == 0) {
		r->phase = END;
	}
	take_in(r, n + 2);
	return true;
}

/* One step of a chunked body, as parse_head(). */
static int step_chunked(struct ld_reply *r)
{
	const char *end = memmem(r->in.data, r->in.len, "\r\n", 2);

	if (r->phase == CHUNK_DATA) {
		if (!move_body(r, r->chunk_left))
			return 2;
		r->phase = r->chunk_left ? CHUNK_DATA : CHUNK_END;
		return 1;
	}
	if (!end)
		return r->in.len > 1024 ? 2 : 0;
	return take_line(r, (size_t)(end - r->in.data)) ? 1 : 2;
}

static int step(struct ld_reply *r)
{
	if (r->phase == END || r->in.len == 0)
		return 0;
	switch (r->phase) {
	case HEAD:
		return parse_head(r);
	case PLAIN:
		if (!move_body(r, r->length == LD_NONE ? LD_NONE : r->length - r->taken))
			return 2;
		if (r->taken == r->length)
			r->phase = END;
		return 1;
	default:
		return step_chunked(r);
	}
}

/* LD_DONE when the reply is complete, LD_MALFORMED, or LD_STOPPED for "more is needed". */
static enum ld_end digest(struct ld_reply *r)
{
	int k;

	do
		k = step(r);
	while (k == 1);
	if (k == 2)
		return LD_MALFORMED;
	return r->phase == END ? LD_DONE : LD_STOPPED;
}

static enum ld_end read_reply(struct ld_link *l, int64_t deadline_ns, struct ld_reply *r,
			      void (*on_data)(void *arg, struct ld_reply *reply, int64_t now_ns), void *arg)
{
	for (;;) {
		enum ld_end end = ld_wait(l->run, l->fd, POLLIN, deadline_ns);
		char *room = ib_buf_room(&r->in, READ_BYTES);
		ssize_t k;
		int64_t now_ns;

		if (end != LD_DONE)
			return end;
		if (!room)
			return LD_MALFORMED;
		k = recv(l->fd, room, READ_BYTES, 0);
		now_ns = ld_now_ns();
		if (k < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (k <= 0) /* a body without a length ends with the connection */
			return k == 0 && r->phase == PLAIN && r->length == LD_NONE ? LD_DONE : LD_CUT;
		r->in.len += (size_t)k;
		r->in.data[r->in.len] = '\0';
		end = digest(r);
		if (on_data)
			on_data(arg, r, now_ns);
		if (end != LD_STOPPED)
			return end;
	}
}

enum ld_end ld_http(struct ld_link *l, const char *text, size_t n, int64_t deadline_ns, struct ld_reply *r,
		    void (*on_data)(void *arg, struct ld_reply *reply, int64_t now_ns), void *arg)
{
	enum ld_end end = LD_DONE;

	*r = (struct ld_reply){.length = LD_NONE, .in = IB_BUF(BODY_MAX), .body = IB_BUF(BODY_MAX)};
	if (stale(l))
		ld_link_close(l);
	if (l->fd < 0)
		end = dial(l, deadline_ns);
	if (end == LD_DONE)
		end = send_all(l, text, n, deadline_ns);
	if (end == LD_DONE)
		end = read_reply(l, deadline_ns, r, on_data, arg);
	/* bytes behind the reply are nobody's: the next one would begin with them */
	if (end != LD_DONE || r->close || r->in.len || (!r->chunked && r->length == LD_NONE))
		ld_link_close(l);
	return end;
}

json_t *ld_get_json(struct ld_link *l, const char *path)
{
	ib_auto_free char *text = ib_asprintf("GET %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n\r\n", path, l->run->host);
	struct ld_reply r;
	struct ib_err err;
	json_t *j = NULL;

	if (ld_http(l, text, strlen(text), ld_now_ns() + 5 * IB_NS, &r, NULL, NULL) == LD_DONE && r.status == 200 &&
	    ib_json_load(ib_buf_str(&r.body), r.body.len, path, &j, &err) < 0)
		j = NULL;
	ld_reply_clear(&r);
	return j;
}
