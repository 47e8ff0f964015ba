/* SPDX-License-Identifier: Apache-2.0 */
/* What a request body asks for: the prompt's tokens, from text, token ids or chat messages. */
#include <string.h>

#include "base/digest.h"
#include "base/str.h"
#include "examples/loopback/endpoint.h"
#include "examples/loopback/loopback.h"

struct gather {
	struct lb_job *job;
	size_t cap;
	struct ib_sha256 *sha;
};

static void add_token(void *arg, uint32_t id)
{
	struct gather *g = arg;
	struct lb_job *job = g->job;

	if (job->tokens_n == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 64;
		job->tokens = ib_realloc(job->tokens, g->cap, sizeof(*job->tokens));
	}
	job->tokens[job->tokens_n++] = id;
}

static void add_text(struct gather *g, const json_t *text)
{
	lb_tokens(json_string_value(text), json_string_length(text), add_token, g);
	ib_sha256_add(g->sha, json_string_value(text), json_string_length(text));
}

static int from_ids(struct gather *g, const json_t *ids, struct ib_err *err)
{
	size_t i;
	json_t *v;

	json_array_foreach(ids, i, v) {
		uint32_t id = (uint32_t)json_integer_value(v);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > UINT32_MAX)
			return ib_fail(err, IB_E_SYNTAX, 0, "prompt holds something that is no token id");
		add_token(g, id);
		ib_sha256_add(g->sha, &id, sizeof(id));
	}
	return 0;
}

static int from_prompt(struct gather *g, const json_t *prompt, struct ib_err *err)
{
	if (json_is_array(prompt) && json_array_size(prompt) == 1 && json_is_string(json_array_get(prompt, 0)))
		prompt = json_array_get(prompt, 0);
	if (json_is_string(prompt))
		add_text(g, prompt);
	else if (json_is_array(prompt))
		return from_ids(g, prompt, err);
	else
		return ib_fail(err, IB_E_SYNTAX, 0, "prompt must be a text, a list with one text, or a list of token ids");
	return 0;
}

/* The content of a message: a text, or a list of {"type":"text","text":…}. */
static int from_content(struct gather *g, const json_t *content, struct ib_err *err)
{
	size_t i;
	json_t *part;

	if (json_is_string(content)) {
		add_text(g, content);
		return 0;
	}
	if (!json_is_array(content))
		return ib_fail(err, IB_E_SYNTAX, 0, "content of a message must be a text or a list of texts");
	json_array_foreach(content, i, part) {
		const json_t *text = json_object_get(part, "text");

		if (!json_is_string(text))
			return ib_fail(err, IB_E_SYNTAX, 0, "content of a message holds something other than text");
		add_text(g, text);
	}
	return 0;
}

static int from_messages(struct gather *g, const json_t *messages, struct ib_err *err)
{
	size_t i;
	json_t *m;
	int r;

	if (!json_is_array(messages) || json_array_size(messages) == 0)
		return ib_fail(err, IB_E_SYNTAX, 0, "messages must be a list with at least one message");
	json_array_foreach(messages, i, m) {
		const json_t *role = json_object_get(m, "role");

		if (!json_is_string(role))
			return ib_fail(err, IB_E_SYNTAX, 0, "a message has no role");
		/* the template spends one token on each role, and one on the answer's */
		add_token(g, (uint32_t)lb_mix(1, (unsigned char)json_string_value(role)[0]));
		if (i)
			ib_sha256_add(g->sha, "\n", 1);
		r = from_content(g, json_object_get(m, "content"), err);
		if (r < 0)
			return r;
	}
	add_token(g, (uint32_t)lb_mix(1, 'a'));
	return 0;
}

int lb_prompt_tokens(const json_t *body, bool chat, struct lb_job *job, char ret_hex[65], struct ib_err *err)
{
	ib_auto_sha256 struct ib_sha256 *sha = ib_sha256_new();
	struct gather g = {.job = job, .sha = sha};
	int r = 0;

	if (!json_is_object(body))
		r = ib_fail(err, IB_E_SYNTAX, 0, "the body must be an object");
	else if (chat)
		r = from_messages(&g, json_object_get(body, "messages"), err);
	else
		r = from_prompt(&g, json_object_get(body, "prompt"), err);
	if (r == 0 && job->tokens_n == 0)
		r = ib_fail(err, IB_E_SYNTAX, 0, "the prompt holds no token");
	if (r < 0) {
		free(job->tokens);
		*job = (struct lb_job){0};
		return r;
	}
	ib_sha256_hex(sha, ret_hex);
	return 0;
}
