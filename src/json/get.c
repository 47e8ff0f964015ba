/* SPDX-License-Identifier: Apache-2.0 */
/* Typed look-ups in JSON documents; errors name the document and the key. */
#include "json/json.h"

#include <string.h>

#include "base/str.h"

static const char *type_name(const json_t *j)
{
	static const char *const names[] = {[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",   [JSON_STRING] = "a string", [JSON_INTEGER] = "an integer",
					    [JSON_REAL] = "a number",    [JSON_TRUE] = "true",        [JSON_FALSE] = "false",      [JSON_NULL] = "null"};

	return names[json_typeof(j)];
}

static int wrong(const json_t *v, const char *where, const char *key, const char *want, struct ib_err *err)
{
	if (!v)
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' is missing, %s is required", where, key, want);
	return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' is %s, not %s", where, key, type_name(v), want);
}

/* No byte 0 in it: of documents of other tools the strict loader takes such strings. */
static bool is_text(const json_t *s)
{
	return strlen(json_string_value(s)) == json_string_length(s);
}

int ib_get_str(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v) || !is_text(v))
		return wrong(v, where, key, json_is_string(v) ? "one without a byte 0" : "a string", err);
	*ret = json_string_value(v);
	return 0;
}

int ib_get_str_opt(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	*ret = NULL;
	return !v || json_is_null(v) ? 0 : ib_get_str(o, where, key, ret, err);
}

int ib_get_int(const json_t *o, const char *where, const char *key, int64_t min, int64_t max, int64_t *ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);
	int64_t n;

	if (!json_is_integer(v))
		return wrong(v, where, key, "an integer", err);
	n = json_integer_value(v);
	if (n < min || n > max)
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s': key '%s' is %lld, out of range", where, key, (long long)n);
	*ret = n;
	return 0;
}

int ib_get_int_opt(const json_t *o, const char *where, const char *key, int64_t min, int64_t max, int64_t fallback, int64_t *ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	*ret = fallback;
	return !v || json_is_null(v) ? 0 : ib_get_int(o, where, key, min, max, ret, err);
}

int ib_get_bool(const json_t *o, const char *where, const char *key, bool *ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_boolean(v))
		return wrong(v, where, key, "true or false", err);
	*ret = json_is_true(v);
	return 0;
}

int ib_get_obj(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_object(v))
		return wrong(v, where, key, "an object", err);
	*ret = v;
	return 0;
}

int ib_get_obj_opt(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	*ret = NULL;
	return !v || json_is_null(v) ? 0 : ib_get_obj(o, where, key, ret, err);
}

int ib_get_arr(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_array(v))
		return wrong(v, where, key, "an array", err);
	*ret = v;
	return 0;
}

int ib_get_hex(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v) || !is_text(v) || !ib_is_hex(json_string_value(v), 64))
		return wrong(v, where, key, "a SHA-256 of 64 lower-case hex digits", err);
	*ret = json_string_value(v);
	return 0;
}

int ib_get_hex_opt(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err)
{
	const json_t *v = json_object_get(o, key);

	*ret = NULL;
	return !v || json_is_null(v) ? 0 : ib_get_hex(o, where, key, ret, err);
}

int ib_get_dup(const json_t *o, const char *where, const char *key, char **ret, struct ib_err *err)
{
	const char *s;
	int r = ib_get_str(o, where, key, &s, err);

	if (r == 0)
		*ret = ib_strdup(s);
	return r;
}

int ib_get_dup_opt(const json_t *o, const char *where, const char *key, char **ret, struct ib_err *err)
{
	const char *s;
	int r = ib_get_str_opt(o, where, key, &s, err);

	if (r == 0)
		*ret = ib_strdup(s);
	return r;
}

int ib_get_hex_copy(const json_t *o, const char *where, const char *key, char ret[IB_HEX_LEN], struct ib_err *err)
{
	const char *s;
	int r = ib_get_hex(o, where, key, &s, err);

	if (r == 0)
		memcpy(ret, s, IB_HEX_LEN);
	return r;
}

int ib_get_hex_copy_opt(const json_t *o, const char *where, const char *key, char ret[IB_HEX_LEN], struct ib_err *err)
{
	const char *s;
	int r = ib_get_hex_opt(o, where, key, &s, err);

	if (r == 0 && s)
		memcpy(ret, s, IB_HEX_LEN);
	return r;
}

int ib_get_schema(const json_t *o, const char *where, const char *schema, struct ib_err *err)
{
	const char *found;
	int r;

	if (!json_is_object(o))
		return ib_fail_at(err, IB_E_SYNTAX, where, "'%s' is not a JSON object", where);
	r = ib_get_str(o, where, "schema", &found, err);
	if (r < 0)
		return r;
	if (strcmp(found, schema) != 0)
		return ib_fail_at(err, IB_E_UNSUPPORTED, where, "'%s' has schema '%.100s', this version knows '%s'", where, found, schema);
	return 0;
}
