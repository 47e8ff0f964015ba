/* SPDX-License-Identifier: Apache-2.0 */
/* One request: its body, its stream of events, its verdict. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "examples/loopback/load.h"

struct stream {
	struct ld_request *q;
	int64_t last_ns; /* of the last piece with text */
	bool done;       /* the end mark was seen */
	const char *wrong; /* error class of an event, or NULL */
};

static void build(const struct ld_run *run, const struct ld_request *q, struct ib_buf *text)
{
	ib_auto_json json_t *j = ib_json_object();
	ib_auto_buf struct ib_buf body = IB_BUF(64u << 20);
	json_t *options = ib_json_object();
	bool warm = run->config->warm_only;

	if (run->model)
		ib_json_set_str(j, "model", run->model);
	if (run->config->chat) {
		json_t *list = ib_json_array();
		json_t *m = ib_json_object();

		ib_json_set_str(m, "role", "user");
		ib_json_set_str(m, "content", q->prompt);
		ib_json_add(list, m);
		ib_json_set(j, "messages", list);
	} else {
		ib_json_set_str(j, "prompt", q->prompt);
	}
	ib_json_set_int(j, "max_tokens", warm ? 1 : q->output_tokens_asked);
	ib_json_set_int(j, "temperature", 0);
	ib_json_set_bool(j, "ignore_eos", true);
	ib_json_set_bool(j, "stream", true);
	ib_json_set_bool(options, "include_usage", true);
	ib_json_set(j, "stream_options", options);
	ib_json_write(j, &body);
	ib_buf_addf(text, "POST /v1/%s HTTP/1.1\r\nHost: %s\r\n", run->config->chat ? "chat/completions" : "completions", run->host);
	ib_buf_addf(text, "Content-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %zu\r\n\r\n", body.len);
	ib_buf_add(text, ib_buf_str(&body), body.len);
}

static void add_gap(struct ld_request *q, int64_t gap_ns)
{
	if (q->itl_n == q->itl_cap) {
		q->itl_cap = q->itl_cap ? q->itl_cap * 2 : 32;
		q->itl_ns = ib_realloc(q->itl_ns, q->itl_cap, sizeof(*q->itl_ns));
	}
	q->itl_ns[q->itl_n++] = gap_ns;
}

static void on_piece(struct stream *s, int64_t now_ns)
{
	struct ld_request *q = s->q;

	if (q->pieces == 0)
		q->ttft_ns = now_ns - q->start_ns;
	else
		add_gap(q, now_ns - s->last_ns);
	q->pieces++;
	s->last_ns = now_ns;
	q->e2e_ns = now_ns - q->start_ns;
}

static void copy_text(char *out, size_t size, const json_t *v)
{
	if (json_is_string(v))
		snprintf(out, size, "%s", json_string_value(v));
}

static void copy_count(int64_t *out, const json_t *usage, const char *key)
{
	const json_t *v = json_object_get(usage, key);

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		*out = json_integer_value(v);
}

static void on_event(struct stream *s, const json_t *j, int64_t now_ns)
{
	struct ld_request *q = s->q;
	const json_t *choice = json_array_get(json_object_get(j, "choices"), 0);
	const json_t *text = json_object_get(choice, "text");
	const json_t *usage = json_object_get(j, "usage");

	if (json_object_get(j, "error")) {
		s->wrong = "stream_error";
		copy_text(q->error, sizeof(q->error), json_object_get(json_object_get(j, "error"), "message"));
		return;
	}
	if (!text)
		text = json_object_get(json_object_get(choice, "delta"), "content");
	if (json_string_length(text) > 0)
		on_piece(s, now_ns);
	copy_text(q->finish_reason, sizeof(q->finish_reason), json_object_get(choice, "finish_reason"));
	copy_text(q->fingerprint, sizeof(q->fingerprint), json_object_get(j, "system_fingerprint"));
	copy_count(&q->input_tokens, usage, "prompt_tokens");
	copy_count(&q->output_tokens, usage, "completion_tokens");
}

static void on_line(struct stream *s, const char *line, size_t n, int64_t now_ns)
{
	ib_auto_json json_t *j = NULL;
	struct ib_err err;

	if (n && line[n - 1] == '\r')
		n--;
	if (s->done || s->wrong || n < 5 || memcmp(line, "data:", 5) != 0)
		return;
	line += 5;
	n -= 5;
	if (n && *line == ' ') {
		line++;
		n--;
	}
	if (n == 6 && memcmp(line, "[DONE]", 6) == 0)
		s->done = true;
	else if (ib_json_load(line, n, "event", &j, &err) < 0)
		s->wrong = "malformed";
	else
		on_event(s, j, now_ns);
}

static void on_data(void *arg, struct ld_reply *r, int64_t now_ns)
{
	struct stream *s = arg;
	size_t at = 0;

	if (r->status != 200 || r->body.len == 0)
		return;
	for (;;) {
		const char *end = memchr(r->body.data + at, '\n', r->body.len - at);

		if (!end)
			break;
		on_line(s, r->body.data + at, (size_t)(end - r->body.data) - at, now_ns);
		at = (size_t)(end - r->body.data) + 1;
	}
	memmove(r->body.data, r->body.data + at, r->body.len - at);
	r->body.len -= at;
	r->body.data[r->body.len] = '\0';
}

static void fail(struct ld_request *q, enum ld_outcome how, const char *class, const char *what)
{
	q->outcome = how;
	snprintf(q->error_class, sizeof(q->error_class), "%s", class);
	if (!q->error[0])
		snprintf(q->error, sizeof(q->error), "%s", what);
}

static void judge(struct ld_request *q, const struct stream *s, enum ld_end end)
{
	static const struct {
		enum ld_outcome how;
		const char *class, *what;
	} ends[] = {
		[LD_CONNECT] = {LD_ERROR, "connect", "no connection"},
		[LD_CUT] = {LD_ERROR, "stream_cut", "the connection ended before the response did"},
		[LD_MALFORMED] = {LD_ERROR, "malformed", "the response is not understood"},
		[LD_LATE] = {LD_TIMEOUT, "timeout", "no complete response in time"},
		[LD_STOPPED] = {LD_INCOMPLETE, "cancelled", "the client was stopped"},
	};
	char status[32];

	if (s->wrong)
		fail(q, LD_ERROR, s->wrong, "an event is not understood");
	else if (end != LD_DONE && !(s->done && end == LD_CUT))
		fail(q, ends[end].how, ends[end].class, ends[end].what);
	else if (q->http_status != 200) {
		snprintf(status, sizeof(status), "status %d", q->http_status);
		fail(q, LD_ERROR, "http_status", status);
	} else if (!s->done)
		fail(q, LD_ERROR, "stream_cut", "the response has no end mark");
	else if (q->pieces == 0 || q->output_tokens == 0)
		fail(q, LD_ERROR, "no_output", "the response holds no token");
	else
		q->outcome = LD_OK;
}

void ld_request_send(struct ld_link *l, struct ld_request *q)
{
	const struct ld_run *run = l->run;
	ib_auto_buf struct ib_buf text = IB_BUF(64u << 20);
	struct stream s = {.q = q};
	struct ld_reply reply;
	enum ld_end end;

	build(run, q, &text);
	q->start_ns = ld_now_ns();
	if (q->due_ns != LD_NONE)
		q->queue_ns = q->start_ns - (run->phase_ns + q->due_ns);
	end = ld_http(l, text.data, text.len, q->start_ns + run->config->timeout_ns, &reply, on_data, &s);
	q->end_ns = ld_now_ns();
	q->http_status = reply.status;
	judge(q, &s, end);
	ld_reply_clear(&reply);
}
