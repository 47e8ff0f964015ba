/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 as far as the endpoint needs it: one bounded, strict request reader; replies; streamed bodies. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"

#define HEAD_TIMEOUT_NS (10 * IB_NS) /* from the first byte of a request to its last */
#define IDLE_TIMEOUT_NS (60 * IB_NS) /* of a connection between two requests */
#define HEADERS_MAX 64

/* --- sending --- */

static void send_all(struct lb_conn *c, const char *data, size_t n)
{
	while (n && !c->gone) {
		ssize_t k = send(c->fd, data, n, MSG_NOSIGNAL);

		if (k > 0) {
			data += k;
			n -= (size_t)k;
		} else if (errno != EINTR) {
			c->gone = true; /* the send timeout of the socket ends up here too */
		}
	}
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} names[] = {
		{200, "OK"}, {400, "Bad Request"}, {404, "Not Found"}, {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"},
		{411, "Length Required"}, {413, "Content Too Large"}, {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
		{501, "Not Implemented"}, {503, "Service Unavailable"}, {505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].text;
	return "Error";
}

static void head(struct ib_buf *b, const struct lb_request *q, int status, const char *type)
{
	ib_buf_addf(b, "HTTP/1.1 %d %s\r\nServer: ib-loopback\r\nContent-Type: %s\r\nCache-Control: no-store\r\n", status, reason(status), type);
	ib_buf_addf(b, "Connection: %s\r\n", q->keep_alive ? "keep-alive" : "close");
}

void lb_http_reply(struct lb_conn *c, const struct lb_request *q, int status, const char *type, const char *body, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LB_HEAD_MAX);

	head(&b, q, status, type);
	if (status == 405)
		ib_buf_addf(&b, "Allow: %s\r\n", strcmp(q->method, "POST") == 0 ? "GET" : "POST");
	ib_buf_addf(&b, "Content-Length: %zu\r\n\r\n", n);
	send_all(c, b.data, b.len);
	send_all(c, body, n);
}

void lb_http_bare(struct lb_conn *c, const struct lb_request *q, int status)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LB_HEAD_MAX);

	ib_buf_addf(&b, "HTTP/1.1 %d \r\nContent-Length: 0\r\nConnection: %s\r\n\r\n", status, q->keep_alive ? "keep-alive" : "close");
	send_all(c, b.data, b.len);
}

void lb_http_json(struct lb_conn *c, const struct lb_request *q, int status, const json_t *j)
{
	ib_auto_buf struct ib_buf b = IB_BUF(64u << 20);

	ib_json_write(j, &b);
	lb_http_reply(c, q, status, "application/json", ib_buf_str(&b), b.len);
}

void lb_http_error(struct lb_conn *c, const struct lb_request *q, int status, const char *message)
{
	ib_auto_json json_t *j = ib_json_object();
	json_t *e = ib_json_object();

	ib_json_set_str(e, "message", message);
	ib_json_set_str(e, "type", reason(status));
	ib_json_set(e, "param", NULL);
	ib_json_set_int(e, "code", status);
	ib_json_set(j, "error", e);
	lb_http_json(c, q, status, j);
}

void lb_stream_begin(struct lb_conn *c, const struct lb_request *q)
{
	ib_auto_buf struct ib_buf b = IB_BUF(LB_HEAD_MAX);

	head(&b, q, 200, "text/event-stream; charset=utf-8");
	ib_buf_adds(&b, q->http10 ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n");
	send_all(c, b.data, b.len);
}

void lb_stream_add(struct lb_conn *c, const struct lb_request *q, const char *data, size_t n)
{
	ib_auto_buf struct ib_buf b = IB_BUF(1u << 20);

	if (q->http10) {
		send_all(c, data, n);
		return;
	}
	ib_buf_addf(&b, "%zx\r\n", n);
	ib_buf_add(&b, data, n);
	ib_buf_adds(&b, "\r\n");
	send_all(c, b.data, b.len);
}

void lb_stream_end(struct lb_conn *c, const struct lb_request *q)
{
	if (!q->http10)
		send_all(c, "0\r\n\r\n", 5);
}

/* --- receiving --- */

/* More bytes into c->in. 1: some came; 0: the peer ended or the connection failed; 2: the deadline passed. */
static int receive(struct lb_conn *c, int64_t deadline_ns)
{
	for (;;) {
		int64_t left_ms = (deadline_ns - lb_now_ns()) / 1000000;
		struct pollfd p = {.fd = c->fd, .events = POLLIN};
		char *room;
		ssize_t k;

		if (left_ms <= 0)
			return 2;
		if (poll(&p, 1, (int)left_ms) < 1)
			continue; /* EINTR, or the deadline, seen above */
		room = ib_buf_room(&c->in, 16384);
		if (!room)
			return 0;
		k = recv(c->fd, room, 16384, 0);
		if (k > 0) {
			c->in.len += (size_t)k;
			c->in.data[c->in.len] = '\0';
			return 1;
		}
		if (k == 0 || errno != EINTR)
			return 0;
	}
}

static void bad(struct lb_request *q, int status, const char *why)
{
	if (q->status)
		return;
	q->status = status;
	q->why = why;
	q->keep_alive = false;
}

/* Copies text[0..n) into out when it fits and is printable ASCII. */
static bool take_word(char *out, size_t size, const char *text, size_t n)
{
	if (n == 0 || n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

static void parse_request_line(struct lb_request *q, const char *line, size_t n)
{
	const char *first = memchr(line, ' ', n);
	const char *second = first ? memchr(first + 1, ' ', n - (size_t)(first + 1 - line)) : NULL;
	const char *version = second ? second + 1 : NULL;
	size_t version_n = second ? n - (size_t)(version - line) : 0;
	char *query;

	if (!second || !take_word(q->method, sizeof(q->method), line, (size_t)(first - line)) ||
	    !take_word(q->path, sizeof(q->path), first + 1, (size_t)(second - first - 1)) || q->path[0] != '/') {
		bad(q, 400, "the request line is not understood");
		return;
	}
	query = strchr(q->path, '?');
	if (query)
		*query = '\0';
	if (version_n != 8 || memcmp(version, "HTTP/1.", 7) != 0) {
		bad(q, version_n >= 5 && memcmp(version, "HTTP/", 5) == 0 ? 505 : 400, "only HTTP/1.0 and HTTP/1.1 are spoken here");
		return;
	}
	q->http10 = version[7] == '0';
	q->keep_alive = !q->http10;
}

static void parse_length(struct lb_request *q, const char *value)
{
	struct ib_err err;

	if (q->body_n >= 0)
		bad(q, 400, "Content-Length is given twice");
	else if (ib_parse_int(value, 0, INT64_MAX, &q->body_n, &err) < 0)
		bad(q, 400, "Content-Length is not a number");
	else if (q->body_n > LB_BODY_MAX)
		bad(q, 413, "the body is larger than 4 MiB");
}

static void parse_field(struct lb_request *q, const char *name, const char *value, bool *seen_host)
{
	if (strcasecmp(name, "content-length") == 0)
		parse_length(q, value);
	else if (strcasecmp(name, "transfer-encoding") == 0)
		bad(q, 411, "a body needs a Content-Length");
	else if (strcasecmp(name, "connection") == 0)
		q->keep_alive = strcasecmp(value, "close") != 0 && (q->keep_alive || strcasecmp(value, "keep-alive") == 0);
	else if (strcasecmp(name, "expect") == 0)
		q->wants_continue = strcasecmp(value, "100-continue") == 0;
	else if (strcasecmp(name, "host") == 0)
		*seen_host = true;
}

/* One header line; name and value are copied out so that they end with NUL. */
static void parse_header(struct lb_request *q, const char *line, size_t n, bool *seen_host)
{
	char name[64];
	char value[1024] = "";
	const char *colon = memchr(line, ':', n);
	size_t at = colon ? (size_t)(colon - line) + 1 : 0;
	size_t end = n;

	if (!colon || !take_word(name, sizeof(name), line, at - 1)) {
		bad(q, 400, "a header line is not understood");
		return;
	}
	while (at < end && (line[at] == ' ' || line[at] == '\t'))
		at++;
	while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		end--;
	for (size_t i = at; i < end; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			bad(q, 400, "a header holds a control character");
	if (end - at < sizeof(value)) /* the fields that matter are short; a longer one is read over */
		memcpy(value, line + at, end - at);
	parse_field(q, name, value, seen_host);
}

/* Parses the n bytes before the empty line. */
static void parse_head(struct lb_request *q, const char *text, size_t n)
{
	bool seen_host = false;
	size_t lines = 0;

	q->body_n = -1;
	for (size_t at = 0; at < n && !q->status; lines++) {
		const char *end = memmem(text + at, n - at, "\r\n", 2);
		size_t len = end ? (size_t)(end - text) - at : n - at;

		if (memchr(text + at, '\n', len) || memchr(text + at, '\0', len))
			bad(q, 400, "a header holds a control character");
		else if (lines == 0)
			parse_request_line(q, text + at, len);
		else if (lines > HEADERS_MAX)
			bad(q, 431, "there are too many headers");
		else
			parse_header(q, text + at, len, &seen_host);
		at += len + 2;
	}
	if (lines == 0)
		bad(q, 400, "the request line is not understood");
	if (!seen_host && !q->http10)
		bad(q, 400, "there is no Host header");
	if (q->body_n < 0)
		q->body_n = 0;
}

static enum lb_read read_body(struct lb_conn *c, struct lb_request *q, size_t head_n, int64_t deadline_ns)
{
	size_t whole = head_n + (size_t)q->body_n;

	if (q->wants_continue && c->in.len < whole)
		send_all(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	while (c->in.len < whole) {
		int r = receive(c, deadline_ns);

		if (r == 0)
			return LB_READ_END;
		if (r == 2) {
			bad(q, 408, "the body did not come in time");
			return LB_READ_BAD;
		}
	}
	q->body = c->in.data + head_n;
	q->used = whole;
	return LB_READ_REQUEST;
}

enum lb_read lb_http_read(struct lb_conn *c, struct lb_request *q)
{
	bool begun = c->in.len > 0;
	int64_t deadline_ns = lb_now_ns() + (begun ? HEAD_TIMEOUT_NS : IDLE_TIMEOUT_NS);

	*q = (struct lb_request){0};
	for (;;) {
		const char *end = c->in.len ? memmem(c->in.data, c->in.len, "\r\n\r\n", 4) : NULL;
		size_t head_n = end ? (size_t)(end - c->in.data) + 4 : c->in.len;
		int r;

		if (head_n > LB_HEAD_MAX) {
			bad(q, 431, "the headers are larger than 16 KiB");
			return LB_READ_BAD;
		}
		if (end) {
			parse_head(q, c->in.data, head_n - 4);
			return q->status ? LB_READ_BAD : read_body(c, q, head_n, deadline_ns);
		}
		r = receive(c, deadline_ns);
		if (r == 0 || (r == 2 && !begun))
			return LB_READ_END;
		if (r == 2) {
			bad(q, 408, "the request did not come in time");
			return LB_READ_BAD;
		}
		if (!begun)
			deadline_ns = lb_now_ns() + HEAD_TIMEOUT_NS;
		begun = true;
	}
}

void lb_http_done(struct lb_conn *c, const struct lb_request *q)
{
	size_t rest = c->in.len - q->used;

	memmove(c->in.data, c->in.data + q->used, rest);
	c->in.len = rest;
	c->in.data[rest] = '\0';
}
