/* SPDX-License-Identifier: Apache-2.0 */
/* Which path answers what. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "examples/loopback/endpoint.h"

static void health(struct lb_conn *c, struct lb_request *q)
{
	lb_http_reply(c, q, 200, "text/plain", "", 0);
}

static void version(struct lb_conn *c, struct lb_request *q)
{
	ib_auto_json json_t *j = ib_json_object();

	ib_json_set_str(j, "version", c->server->config.version);
	ib_json_set_bool(j, "synthetic", true);
	ib_json_set_str(j, "system_fingerprint", c->server->config.fingerprint);
	lb_http_json(c, q, 200, j);
}

static void models(struct lb_conn *c, struct lb_request *q)
{
	ib_auto_json json_t *j = ib_json_object();
	json_t *list = ib_json_array();
	json_t *m = ib_json_object();

	ib_json_set_str(m, "id", c->server->config.model);
	ib_json_set_str(m, "object", "model");
	ib_json_set_int(m, "created", c->server->started_wall_ns / IB_NS);
	ib_json_set_str(m, "owned_by", "ib-loopback");
	ib_json_set_str(m, "root", c->server->config.model);
	ib_json_set_int(m, "max_model_len", c->server->config.max_model_len);
	ib_json_add(list, m);
	ib_json_set_str(j, "object", "list");
	ib_json_set(j, "data", list);
	lb_http_json(c, q, 200, j);
}

static void load(struct lb_conn *c, struct lb_request *q)
{
	struct lb_server *s = c->server;
	ib_auto_json json_t *j = ib_json_object();

	pthread_mutex_lock(&s->lock);
	ib_json_set_int(j, "server_load", (int64_t)(s->metrics.running + s->metrics.waiting));
	pthread_mutex_unlock(&s->lock);
	lb_http_json(c, q, 200, j);
}

static void metrics(struct lb_conn *c, struct lb_request *q)
{
	ib_auto_buf struct ib_buf b = IB_BUF(256u << 10);

	lb_metrics_text(c->server, &b);
	lb_http_reply(c, q, 200, "text/plain; version=0.0.4; charset=utf-8", ib_buf_str(&b), b.len);
}

static void reset_prefix_cache(struct lb_conn *c, struct lb_request *q)
{
	ib_auto_json json_t *j = ib_json_object();
	json_t *line = ib_json_object();
	bool done = lb_engine_reset(c->server);

	ib_json_set_bool(j, "success", done);
	lb_http_json(c, q, done ? 200 : 409, j);
	ib_json_set_str(line, "what", "reset_prefix_cache");
	ib_json_set_int(line, "status", done ? 200 : 409);
	lb_truth(c->server, line);
}

static void tokenize(struct lb_conn *c, struct lb_request *q)
{
	ib_auto_json json_t *body = NULL;
	ib_auto_json json_t *j = ib_json_object();
	json_t *ids = ib_json_array();
	struct lb_job job = {0};
	struct ib_err err;
	char hex[65];

	ib_json_set(j, "count", NULL);
	ib_json_set_int(j, "max_model_len", c->server->config.max_model_len);
	ib_json_set(j, "tokens", ids);
	ib_json_set(j, "token_strs", NULL);
	if (ib_json_load(q->body, (size_t)q->body_n, "body", &body, &err) < 0 ||
	    lb_prompt_tokens(body, json_object_get(body, "messages") != NULL, &job, hex, &err) < 0) {
		lb_http_error(c, q, 400, err.text);
		return;
	}
	for (size_t i = 0; i < job.tokens_n; i++)
		ib_json_add(ids, json_integer(job.tokens[i]));
	ib_json_set_int(j, "count", (int64_t)job.tokens_n);
	lb_http_json(c, q, 200, j);
	free(job.tokens);
}

static void completions(struct lb_conn *c, struct lb_request *q)
{
	lb_generate(c, q, false);
}

static void chat_completions(struct lb_conn *c, struct lb_request *q)
{
	lb_generate(c, q, true);
}

static const struct {
	const char *path, *method;
	void (*answer)(struct lb_conn *c, struct lb_request *q);
} routes[] = {
	{"/health", "GET", health},
	{"/ping", "GET", health},
	{"/version", "GET", version},
	{"/load", "GET", load},
	{"/metrics", "GET", metrics},
	{"/v1/models", "GET", models},
	{"/tokenize", "POST", tokenize},
	{"/reset_prefix_cache", "POST", reset_prefix_cache},
	{"/v1/completions", "POST", completions},
	{"/v1/chat/completions", "POST", chat_completions},
};

void lb_route(struct lb_conn *c, struct lb_request *q)
{
	for (size_t i = 0; i < IB_LEN(routes); i++) {
		if (strcmp(routes[i].path, q->path) != 0)
			continue;
		if (lb_fault_starting(c->server) && routes[i].answer != completions && routes[i].answer != chat_completions)
			lb_http_error(c, q, 503, "still starting");
		else if (strcmp(routes[i].method, q->method) == 0)
			routes[i].answer(c, q);
		else
			lb_http_error(c, q, 405, "this path does not take that method");
		return;
	}
	lb_http_error(c, q, 404, "there is nothing at this path");
}
