/* SPDX-License-Identifier: Apache-2.0 */
/* Typed look-ups that remember the first error. */
#include "model/contract_in.h"

#include <math.h>
#include <string.h>

#include "base/auto.h"

const char *ib_in_text(struct ib_in *in, const char *key, bool required)
{
	const char *s = NULL;

	if (in->r == 0)
		in->r = required ? ib_get_str(in->o, in->where, key, &s, in->err) : ib_get_str_opt(in->o, in->where, key, &s, in->err);
	return in->r == 0 ? s : NULL;
}

const char *ib_in_name(struct ib_in *in, const char *key, bool required)
{
	const char *s = ib_in_text(in, key, required);

	if (s && !ib_name_valid(s))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no name", in->where, key);
	return s;
}

int64_t ib_in_number(struct ib_in *in, const char *key, int64_t min, int64_t max, int64_t fallback)
{
	int64_t v = fallback;

	if (in->r == 0)
		in->r = ib_get_int_opt(in->o, in->where, key, min, max, fallback, &v, in->err);
	return v;
}

double ib_in_real(struct ib_in *in, const char *key)
{
	const json_t *v = json_object_get(in->o, key);

	if (in->r < 0 || !v || json_is_null(v))
		return NAN;
	if (!json_is_number(v))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is not a number", in->where, key);
	return json_number_value(v);
}

bool ib_in_truth(struct ib_in *in, const char *key)
{
	bool v = false;

	if (in->r == 0)
		in->r = ib_get_bool(in->o, in->where, key, &v, in->err);
	return v;
}

enum ib_condition ib_in_condition(struct ib_in *in, const char *key)
{
	enum ib_condition c = IB_CACHE_UNSPECIFIED;
	const char *s = ib_in_text(in, key, true);

	if (s && !ib_condition_parse(s, &c))
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no cache condition", in->where, key);
	return c;
}

struct ib_in ib_in_inner(struct ib_in *in, const char *key)
{
	const json_t *o = NULL;

	if (in->r == 0)
		in->r = ib_get_obj_opt(in->o, in->where, key, &o, in->err);
	return (struct ib_in){o, in->where, in->err, in->r};
}

const json_t *ib_in_array(struct ib_in *in, const char *key)
{
	const json_t *a = NULL;

	if (in->r == 0)
		in->r = ib_get_arr(in->o, in->where, key, &a, in->err);
	return a;
}

const json_t *ib_in_command(struct ib_in *in, const char *key, bool required)
{
	const json_t *v = json_object_get(in->o, key);
	bool good = json_is_array(v) && json_array_size(v) > 0;

	if (in->r < 0 || (!required && (!v || json_is_null(v))))
		return NULL;
	for (size_t i = 0; good && i < json_array_size(v); i++)
		good = json_is_string(json_array_get(v, i));
	if (!good)
		in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no list of arguments", in->where, key);
	return v;
}

static bool strings(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v) && json_array_size(v) > 0;
}

const json_t *ib_in_object_of(struct ib_in *in, const char *key, bool arrays)
{
	const json_t *o = NULL;
	const char *k;
	json_t *v;

	if (in->r == 0)
		in->r = ib_get_obj(in->o, in->where, key, &o, in->err);
	if (in->r < 0)
		return NULL;
	json_object_foreach((json_t *)(uintptr_t)o, k, v)
		if (!ib_name_valid(k) || !(arrays ? strings(v) : json_is_string(v))) {
			in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' holds something else than names and text", in->where, key);
			return NULL;
		}
	return o;
}

bool ib_in_truth_opt(struct ib_in *in, const char *key, bool fallback)
{
	return json_object_get(in->o, key) ? ib_in_truth(in, key) : fallback;
}

const json_t *ib_in_strings(struct ib_in *in, const char *key)
{
	const json_t *v = json_object_get(in->o, key);

	if (in->r < 0 || !v || json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0))
		return NULL;
	if (strings(v))
		return v;
	in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no list of texts", in->where, key);
	return NULL;
}

const json_t *ib_in_objects(struct ib_in *in, const char *key)
{
	const json_t *v = json_object_get(in->o, key);
	bool good = json_is_array(v);

	if (in->r < 0 || !v || json_is_null(v) || (good && json_array_size(v) == 0))
		return NULL;
	for (size_t i = 0; i < json_array_size(v); i++)
		good &= json_is_object(json_array_get(v, i));
	if (good)
		return v;
	in->r = ib_fail_at(in->err, IB_E_SYNTAX, in->where, "'%s': key '%s' is no list of objects", in->where, key);
	return NULL;
}
