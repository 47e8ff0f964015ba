/* SPDX-License-Identifier: Apache-2.0 */
/* ${env:NAME} in a contract: every variable that its commands and URLs name must be set before anything is run. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/template.h"
#include "run/plan_inside.h"

struct seeker {
	const struct ib_ctx *ctx;
	char missing[160];
};

static void note_missing(void *arg, const char *name)
{
	struct seeker *s = arg;

	if (!s->missing[0] && !ib_env(s->ctx, name))
		snprintf(s->missing, sizeof(s->missing), "%s", name);
}

/* Every text in a command, a URL, or a list of them. */
static int look_at(struct seeker *s, const json_t *j, struct ib_err *err)
{
	int r = 0;

	if (json_is_string(j))
		return ib_template_env(json_string_value(j), note_missing, s, err);
	for (size_t i = 0; r == 0 && i < json_array_size(j); i++)
		r = look_at(s, json_array_get(j, i), err);
	return r;
}

/* Keys whose values are started or asked. Others are texts for people, in which "${env:NAME}" means nothing. */
static bool is_used(const char *key)
{
	static const char *const keys[] = {"command", "convert", "http", "body", "url", "metrics_url", "metrics_urls", "launch", "endpoint"};

	for (size_t i = 0; i < IB_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static int walk(struct seeker *s, const json_t *j, struct ib_err *err)
{
	const char *key;
	json_t *value;
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(j); i++)
		r = walk(s, json_array_get(j, i), err);
	json_object_foreach((json_t *)(uintptr_t)j, key, value)
		if (r == 0)
			r = is_used(key) ? look_at(s, value, err) : walk(s, value, err);
	return r;
}

int ib_plan_env(const struct ib_ctx *ctx, const struct ib_contract *c, struct ib_err *err)
{
	struct seeker s = {.ctx = ctx};
	const char *key;
	json_t *value;
	int r = c->endpoint ? ib_template_env(c->endpoint, note_missing, &s, err) : 0;

	/* the server's own command is recorded, not run; the plan repeats the groups */
	json_object_foreach(c->json, key, value)
		if (r == 0 && strcmp(key, "serving") != 0 && strcmp(key, "plan") != 0)
			r = walk(&s, value, err);
	if (r == 0 && s.missing[0])
		return ib_fail(err, IB_E_USAGE, 0, "the contract uses ${env:%s}, which is not set in the environment", s.missing);
	return r;
}
