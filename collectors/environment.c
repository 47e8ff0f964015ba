/* SPDX-License-Identifier: Apache-2.0 */
/* Environment: values of allowed names, presence of proxies, a count and a label for the rest. */
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"
#include "redact/redact.h"

/* Names in byte order, so that the same environment gives the same document. */
static void sorted(char *const *env, struct ib_strv *ret)
{
	for (; env && *env; env++)
		if (strchr(*env, '=') > *env)
			ib_strv_add(ret, *env);
	ib_strv_sort(ret);
}

json_t *ib_environment_json(const struct ib_ctx *ctx, char *const *env)
{
	json_t *o = ib_json_object(), *values = ib_json_object(), *present = ib_json_array(), *others = ib_json_object();
	ib_auto_buf struct ib_buf hidden = IB_BUF(SIZE_MAX / 4);
	ib_auto_strv struct ib_strv list = {0};
	char label[IB_PSEUDONYM_LEN];
	int64_t count = 0;

	sorted(env, &list);
	for (size_t i = 0; i < list.n; i++) {
		const char *equals = strchr(list.v[i], '=');
		ib_auto_free char *key = ib_strndup(list.v[i], (size_t)(equals - list.v[i])), *text = NULL;

		/* a name that is no text cannot be a key */
		switch (ib_utf8_valid(key, strlen(key)) ? ib_env_rule(key) : IB_ENV_OTHER) {
		case IB_ENV_VALUE:
			text = ib_redact_text(ctx->redact, equals + 1);
			ib_json_set_str(values, key, text);
			break;
		case IB_ENV_PRESENCE:
			ib_json_add_str(present, key);
			break;
		case IB_ENV_OTHER:
		default:
			count++;
			ib_buf_add(&hidden, key, strlen(key) + 1);
		}
	}
	ib_pseudonym(ctx->redact, "environment names", ib_buf_str(&hidden), hidden.len, label);
	ib_json_set(o, "values", values);
	ib_json_set(o, "present", present);
	ib_json_set_int(others, "count", count);
	ib_json_set_str(others, "names", label);
	ib_json_set(o, "others", others);
	return o;
}

static json_t *ask(struct ib_ctx *ctx, void *arg)
{
	(void)arg;
	return ib_environment_json(ctx, ctx->env);
}

static int collect(struct ib_ctx *ctx, json_t *out, struct ib_err *err)
{
	ib_auto_json json_t *answer = ib_live_ask(ctx, "environment", ask, NULL);
	const char *key;
	json_t *value;

	(void)err;
	if (!answer) {
		ib_leaf_missing(out, "values", (struct ib_fact){IB_FACT_ABSENT, 0});
		return 0;
	}
	json_object_foreach(answer, key, value)
		if (json_is_null(value)) /* a recorder that does not tell */
			ib_leaf_missing(out, key, (struct ib_fact){IB_FACT_UNSUPPORTED, 0});
		else
			ib_leaf(out, key, json_incref(value));
	return 0;
}

#define VALUE(name) "environ(7): " name,
#define PRESENCE(name) "environ(7), presence: " name,
static const char *const reads[] = {IB_ENV_VALUES(VALUE) IB_ENV_PRESENT(PRESENCE) "environ(7), hashed: all other names", NULL};

const struct ib_collector ib_collector_environment = {
	.name = "environment",
	.title = "allowed environment variables; the rest counted, its names hashed",
	.reads = reads,
	.collect = collect,
};
