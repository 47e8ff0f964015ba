/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in a collector's leaves, and questions that have no path. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/str.h"
#include "collectors/collector.h"

json_t *ib_leaf_out(void)
{
	json_t *out = ib_json_object();

	ib_json_set(out, "data", ib_json_object());
	ib_json_set(out, "missing", ib_json_object());
	return out;
}

bool ib_leaf_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-");

	return n > 0 && n < 128 && name[n] == '\0';
}

/* The object that holds the last part of a path, made where it is not there; *ret_key is that part. */
static json_t *holder(json_t *data, char *path, const char **ret_key)
{
	char *key = path, *slash;

	while ((slash = strchr(key, '/'))) {
		json_t *next;

		*slash = '\0';
		if (json_is_array(data)) {
			next = json_array_get(data, strtoul(key, NULL, 10));
		} else {
			next = json_object_get(data, key);
			if (!next || json_is_null(next)) {
				ib_json_set(data, key, ib_json_object());
				next = json_object_get(data, key);
			}
		}
		data = next;
		key = slash + 1;
	}
	*ret_key = key;
	return data;
}

static void put(json_t *out, const char *path, json_t *value)
{
	ib_auto_free char *copy = ib_strdup(path);
	const char *key;
	json_t *o = holder(json_object_get(out, "data"), copy, &key);

	ib_json_set(o, key, value);
}

void ib_leaf(json_t *out, const char *path, json_t *value)
{
	if (!value)
		ib_leaf_missing(out, path, (struct ib_fact){IB_FACT_ERROR, EINVAL});
	else
		put(out, path, value);
}

void ib_leaf_str(json_t *out, const char *path, const char *s)
{
	ib_leaf(out, path, s ? ib_json_str(s) : NULL);
}

void ib_leaf_int(json_t *out, const char *path, int64_t v)
{
	char digits[24];

	if (v <= (1LL << 53) && v >= -(1LL << 53)) {
		put(out, path, json_integer(v));
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRId64, v);
	ib_leaf_str(out, path, digits);
}

void ib_leaf_missing(json_t *out, const char *path, struct ib_fact fact)
{
	json_t *status = ib_json_object();

	put(out, path, NULL);
	ib_json_set_str(status, "status", ib_fact_name(fact.status));
	ib_json_set_str(status, "errno", fact.sys ? strerrorname_np(fact.sys) : NULL);
	ib_json_set(json_object_get(out, "missing"), path, status);
}

void ib_leaf_merge(json_t *out, const json_t *from)
{
	json_t *data = json_object_get(from, "data"), *missing = json_object_get(from, "missing");

	if (json_is_string(json_object_get(from, "xml")))
		ib_json_set(out, "xml", json_incref(json_object_get(from, "xml")));
	if (json_is_object(data))
		json_object_update(json_object_get(out, "data"), data);
	if (json_is_object(missing))
		json_object_update(json_object_get(out, "missing"), missing);
}

struct ib_fact ib_read_text(struct ib_ctx *ctx, const char *file, struct ib_buf *b)
{
	struct ib_fact fact = ib_root_read(ctx->root, file, b);

	while (b->len && (b->data[b->len - 1] == '\n' || b->data[b->len - 1] == '\0'))
		b->data[--b->len] = '\0';
	return fact;
}

void ib_leaf_file(struct ib_ctx *ctx, json_t *out, const char *path, const char *file)
{
	ib_auto_buf struct ib_buf b = IB_BUF(65536);
	struct ib_fact fact = ib_read_text(ctx, file, &b);

	if (fact.status == IB_FACT_OK)
		ib_leaf_str(out, path, ib_buf_str(&b));
	else
		ib_leaf_missing(out, path, fact);
}

void ib_leaf_file_int(struct ib_ctx *ctx, json_t *out, const char *path, const char *file, int64_t factor)
{
	ib_auto_buf struct ib_buf b = IB_BUF(64);
	struct ib_fact fact = ib_read_text(ctx, file, &b);
	int64_t v;

	if (fact.status != IB_FACT_OK)
		ib_leaf_missing(out, path, fact);
	else if (ib_parse_int(ib_buf_str(&b), INT64_MIN, INT64_MAX, &v, NULL) < 0 || __builtin_mul_overflow(v, factor, &v))
		ib_leaf_missing(out, path, (struct ib_fact){IB_FACT_ERROR, EINVAL});
	else
		ib_leaf_int(out, path, v);
}

char *ib_chosen(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	return close ? ib_strndup(open + 1, (size_t)(close - open) - 1) : ib_strdup(text);
}

json_t *ib_live_ask(struct ib_ctx *ctx, const char *name, json_t *(*ask)(struct ib_ctx *ctx, void *arg), void *arg)
{
	json_t *answer = NULL;

	if (!ctx->live)
		return NULL;
	if (!ctx->live->running)
		return json_deep_copy(json_object_get(json_object_get(ctx->live->replay, "answers"), name));
	answer = ask(ctx, arg);
	if (answer && ctx->live->record)
		ib_json_set(ctx->live->record, name, json_deep_copy(answer));
	return answer;
}
