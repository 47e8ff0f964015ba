/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/completions and /v1/chat/completions: made-up words, streamed or in one piece. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/loopback.h"

struct answer {
	struct lb_conn *conn;
	struct lb_request *q;
	struct lb_job job;
	enum lb_fault fault;
	bool chat, stream, usage, usage_always;
	int64_t max_tokens;
	int64_t created;
	char id[48];
	char prompt_sha256[65];
	int64_t sent_tokens, chunks;
	int64_t first_ns, last_ns;
	struct ib_buf text; /* of an answer in one piece, or of the next chunk */
};

static bool flag(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Asked for something that the endpoint would silently not do: said instead. */
static int check_unsupported(const json_t *body, struct ib_err *err)
{
	int64_t n;
	int r = ib_get_int_opt(body, "body", "n", 1, 128, 1, &n, err);

	if (r < 0)
		return r;
	if (n != 1)
		return ib_fail(err, IB_E_SYNTAX, 0, "n must be 1");
	if (flag(body, "echo"))
		return ib_fail(err, IB_E_SYNTAX, 0, "echo is not supported");
	return 0;
}

static int parse_body(struct answer *a, const json_t *body, struct ib_err *err)
{
	const struct lb_config *cfg = &a->conn->server->config;
	const json_t *options = json_object_get(body, "stream_options");
	int64_t fallback;
	int r = lb_prompt_tokens(body, a->chat, &a->job, a->prompt_sha256, err);

	if (r == 0)
		r = check_unsupported(body, err);
	if (r == 0)
		r = ib_get_int_opt(body, "body", "max_tokens", 1, INT32_MAX, 16, &fallback, err);
	if (r == 0)
		r = ib_get_int_opt(body, "body", "max_completion_tokens", 1, INT32_MAX, fallback, &a->max_tokens, err);
	if (r < 0)
		return r;
	if ((int64_t)a->job.tokens_n + a->max_tokens > cfg->max_model_len)
		return ib_fail(err, IB_E_SYNTAX, 0, "%zu prompt and %" PRId64 " output tokens are more than the context of %" PRId64,
			       a->job.tokens_n, a->max_tokens, cfg->max_model_len);
	a->stream = flag(body, "stream");
	a->usage = flag(options, "include_usage");
	a->usage_always = a->usage && flag(options, "continuous_usage_stats");
	return 0;
}

static json_t *usage_json(const struct answer *a)
{
	json_t *u = ib_json_object();
	json_t *d = ib_json_object();

	ib_json_set_int(u, "prompt_tokens", (int64_t)a->job.tokens_n);
	ib_json_set_int(u, "completion_tokens", a->sent_tokens);
	ib_json_set_int(u, "total_tokens", (int64_t)a->job.tokens_n + a->sent_tokens);
	ib_json_set_int(d, "cached_tokens", (int64_t)a->job.cached);
	ib_json_set(u, "prompt_tokens_details", d);
	return u;
}

/* A response or chunk object around choices (stolen). */
static json_t *envelope(const struct answer *a, json_t *choices)
{
	const struct lb_config *cfg = &a->conn->server->config;
	const char *object = "text_completion";
	json_t *j = ib_json_object();

	if (a->chat)
		object = a->stream ? "chat.completion.chunk" : "chat.completion";
	ib_json_set_str(j, "id", a->id);
	ib_json_set_str(j, "object", object);
	ib_json_set_int(j, "created", a->created);
	ib_json_set_str(j, "model", cfg->model);
	ib_json_set(j, "choices", choices);
	ib_json_set_str(j, "system_fingerprint", cfg->fingerprint);
	return j;
}

/* One choice. role: a chat's opening chunk; text NULL: none. */
static json_t *choices_json(const struct answer *a, const char *role, const char *text, const char *finish)
{
	json_t *list = ib_json_array();
	json_t *o = ib_json_object();

	ib_json_set_int(o, "index", 0);
	if (a->chat) {
		json_t *m = ib_json_object();

		if (role)
			ib_json_set_str(m, "role", role);
		ib_json_set_str(m, "content", text);
		ib_json_set(o, a->stream ? "delta" : "message", m);
	} else {
		ib_json_set_str(o, "text", text);
	}
	ib_json_set(o, "logprobs", NULL);
	ib_json_set_str(o, "finish_reason", finish);
	ib_json_add(list, o);
	return list;
}

/* Sends one event of a stream; j is stolen. */
static void event(struct answer *a, json_t *j)
{
	ib_auto_json json_t *owned = j;
	ib_auto_buf struct ib_buf b = IB_BUF(64u << 10);

	ib_buf_adds(&b, "data: ");
	ib_json_write(owned, &b);
	ib_buf_adds(&b, "\n\n");
	lb_stream_add(a->conn, a->q, b.data, b.len);
}

/* finish: of the last token, else NULL. */
static void send_token(struct answer *a, const char *word, const char *finish)
{
	json_t *j;

	ib_buf_addf(&a->text, "%s%s", a->sent_tokens > 1 ? " " : "", word);
	if (!a->stream || (a->fault == LB_FAULT_BUNDLED && !finish && a->sent_tokens % LB_BUNDLE))
		return;
	j = envelope(a, choices_json(a, NULL, ib_buf_str(&a->text), finish));
	ib_buf_clear(&a->text);
	if (a->usage_always)
		ib_json_set(j, "usage", usage_json(a));
	a->chunks++;
	a->last_ns = lb_now_ns(); /* before the send: no client can have seen the token earlier */
	if (!a->first_ns)
		a->first_ns = a->last_ns;
	event(a, j);
}

/* How many tokens come, and how that ends. */
static enum lb_finish foresee(struct answer *a, int64_t *ret_tokens)
{
	*ret_tokens = a->max_tokens / 2;
	if (a->fault == LB_FAULT_STREAM_ERROR)
		return LB_ERROR;
	if (a->fault == LB_FAULT_STREAM_CUT)
		return LB_ABORT;
	if (a->fault == LB_FAULT_EARLY_STOP && *ret_tokens > 0)
		return LB_STOP;
	*ret_tokens = a->max_tokens;
	return LB_LENGTH;
}

/* A fault that changes nothing about this answer did not happen. */
static void settle_fault(struct answer *a)
{
	bool idle = (a->fault == LB_FAULT_EARLY_STOP && a->max_tokens < 2) || (a->fault == LB_FAULT_BUNDLED && (!a->stream || a->max_tokens < 2)) ||
		    (a->fault == LB_FAULT_NO_USAGE && a->stream && !a->usage);

	if (idle)
		a->fault = LB_FAULT_NONE;
	if (a->fault == LB_FAULT_NO_USAGE)
		a->usage = a->usage_always = false;
}

/* Spends the time and sends the words. The answer depends on seed and prompt only. */
static enum lb_finish produce(struct answer *a)
{
	int64_t tokens;
	enum lb_finish how = foresee(a, &tokens);
	struct lb_server *s = a->conn->server;
	uint64_t state = (uint64_t)s->config.seed;
	bool go = lb_engine_start(s, &a->job);

	for (size_t i = 0; i < a->job.tokens_n; i++)
		state = lb_mix(state, a->job.tokens[i]);
	if (go && a->stream) {
		lb_stream_begin(a->conn, a->q);
		if (a->chat)
			event(a, envelope(a, choices_json(a, "assistant", "", NULL)));
	}
	for (int64_t i = 0; i < tokens; i++) {
		char word[LB_WORD_LEN];

		if (!go || a->conn->gone || !lb_engine_token(s, &a->job, i == 0))
			return LB_ABORT;
		lb_word(lb_next(&state), word);
		a->sent_tokens = i + 1;
		send_token(a, word, i + 1 == tokens && (how == LB_LENGTH || how == LB_STOP) ? lb_finish_name(how) : NULL);
	}
	return a->conn->gone || !go ? LB_ABORT : how;
}

/* What follows the last token, after the counters were settled: a client that has seen the end finds them complete. */
static void end_answer(struct answer *a, enum lb_finish how)
{
	ib_auto_json json_t *j = NULL;

	if (!a->stream) {
		j = envelope(a, choices_json(a, "assistant", ib_buf_str(&a->text), lb_finish_name(how)));
		if (a->fault != LB_FAULT_NO_USAGE)
			ib_json_set(j, "usage", usage_json(a));
		a->first_ns = a->last_ns = lb_now_ns();
		a->chunks = 1;
		lb_http_json(a->conn, a->q, 200, j);
		return;
	}
	if (a->usage) {
		json_t *u = envelope(a, ib_json_array());

		ib_json_set(u, "usage", usage_json(a));
		event(a, u);
	}
	lb_stream_add(a->conn, a->q, "data: [DONE]\n\n", 14);
	lb_stream_end(a->conn, a->q);
}

/* An error within an answer that began with status 200. */
static void end_error(struct answer *a)
{
	ib_auto_json json_t *j = ib_json_object();
	json_t *e = ib_json_object();

	ib_json_set_str(e, "message", "made-up failure");
	ib_json_set_str(e, "type", "InternalServerError");
	ib_json_set_int(e, "code", 500);
	ib_json_set(j, "error", e);
	if (!a->stream) {
		lb_http_json(a->conn, a->q, 200, j);
		return;
	}
	event(a, json_incref(j));
	lb_stream_add(a->conn, a->q, "data: [DONE]\n\n", 14);
	lb_stream_end(a->conn, a->q);
}

static void set_since(json_t *o, const char *key, const struct answer *a, int64_t at_ns)
{
	ib_json_set(o, key, at_ns ? json_integer(at_ns - a->job.arrived_ns) : NULL);
}

/* status 0: no answer; finish NULL: the engine was not reached. */
static void write_truth(const struct answer *a, int status, const char *finish)
{
	struct lb_server *s = a->conn->server;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "what", a->chat ? "chat" : "completion");
	ib_json_set_str(o, "id", a->id[0] ? a->id : NULL);
	ib_json_set_int(o, "number", (int64_t)a->job.number);
	ib_json_set_int(o, "arrived_ns", a->job.arrived_ns - s->started_ns);
	ib_json_set(o, "status", status ? json_integer(status) : NULL);
	ib_json_set_str(o, "fault", lb_fault_name(a->fault));
	ib_json_set_bool(o, "stream", a->stream);
	ib_json_set_bool(o, "client_gone", a->conn->gone);
	ib_json_set(o, "prompt_sha256", a->prompt_sha256[0] ? ib_json_str(a->prompt_sha256) : NULL);
	ib_json_set(o, "prompt_tokens", a->job.tokens ? json_integer((json_int_t)a->job.tokens_n) : NULL);
	ib_json_set(o, "cached_tokens", finish ? json_integer((json_int_t)a->job.cached) : NULL);
	ib_json_set(o, "output_tokens_asked", a->max_tokens ? json_integer(a->max_tokens) : NULL);
	ib_json_set_int(o, "output_tokens", a->sent_tokens);
	ib_json_set_int(o, "chunks", a->chunks);
	ib_json_set_str(o, "finish_reason", finish);
	set_since(o, "first_token_ns", a, a->first_ns);
	set_since(o, "last_token_ns", a, a->last_ns);
	set_since(o, "ended_ns", a, lb_now_ns());
	lb_truth(s, o);
}

/* Status 0: the request can be served. */
static int refuse(struct answer *a, const json_t *body, struct ib_err *err)
{
	const char *model = json_string_value(json_object_get(body, "model"));

	if (parse_body(a, body, err) < 0)
		return 400;
	if (model && !a->conn->server->config.any_model && strcmp(model, a->conn->server->config.model) != 0) {
		(void)!ib_fail(err, IB_E_MISSING, 0, "the model '%.100s' does not exist", model);
		return 404;
	}
	return 0;
}

static void answer(struct answer *a)
{
	struct lb_conn *c = a->conn;
	enum lb_finish how;
	bool served;

	settle_fault(a);
	snprintf(a->id, sizeof(a->id), "%s-%016" PRIx64, a->chat ? "chatcmpl" : "cmpl", lb_mix((uint64_t)c->server->started_wall_ns, a->job.number));
	if (a->fault == LB_FAULT_LATE)
		(void)lb_engine_sleep(c->server, a->job.arrived_ns + c->server->config.late_ns);
	how = produce(a);
	lb_engine_finish(c->server, how);
	served = a->stream || how == LB_LENGTH || how == LB_STOP || how == LB_ERROR;
	if (how == LB_LENGTH || how == LB_STOP)
		end_answer(a, how);
	else if (how == LB_ERROR)
		end_error(a);
	else
		a->q->keep_alive = false; /* an unfinished stream ends with the connection */
	write_truth(a, served ? 200 : 0, lb_finish_name(how));
}

/* True: the fault is the whole answer. */
static bool fail(struct answer *a)
{
	switch (a->fault) {
	case LB_FAULT_HTTP500:
		lb_http_error(a->conn, a->q, 500, "made-up failure");
		write_truth(a, 500, NULL);
		return true;
	case LB_FAULT_HTTP503:
		lb_http_bare(a->conn, a->q, 503);
		write_truth(a, 503, NULL);
		return true;
	case LB_FAULT_SLOW_START:
		lb_http_error(a->conn, a->q, 503, "still starting");
		write_truth(a, 503, NULL);
		return true;
	case LB_FAULT_HANG:
		lb_fault_hang(a->conn);
		a->q->keep_alive = false;
		write_truth(a, 0, NULL);
		return true;
	default:
		return false;
	}
}

void lb_generate(struct lb_conn *c, struct lb_request *q, bool chat)
{
	struct answer a = {.conn = c, .q = q, .chat = chat, .text = IB_BUF(16u << 20)};
	ib_auto_json json_t *body = NULL;
	struct lb_job arrived = {0};
	struct ib_err err = {0};
	int status = 400;

	a.fault = lb_engine_arrive(c->server, &arrived);
	if (lb_fault_starting(c->server))
		a.fault = LB_FAULT_SLOW_START;
	a.created = ib_wall_ns(&ib_clock_system) / IB_NS;
	if (ib_json_load(q->body, (size_t)q->body_n, "body", &body, &err) == 0)
		status = refuse(&a, body, &err);
	lb_record(c->server, q->path, q->body, (size_t)q->body_n, body, a.prompt_sha256);
	a.job.number = arrived.number;
	a.job.arrived_ns = arrived.arrived_ns;
	if (!fail(&a)) {
		if (status) {
			a.fault = LB_FAULT_NONE;
			lb_http_error(c, q, status, err.text);
			write_truth(&a, status, NULL);
		} else {
			answer(&a);
		}
	}
	ib_buf_clear(&a.text);
	free(a.job.tokens);
}
