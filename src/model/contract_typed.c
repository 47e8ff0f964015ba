/* SPDX-License-Identifier: Apache-2.0 */
/* From the YAML tree to the typed form, by the table of keys. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/contract_internal.h"

#define TEXT_MAX 65536
#define LIST_MAX 10000

static const char *const kind_names[] = {[IB_YAML_SCALAR] = "a text or number", [IB_YAML_LIST] = "a list", [IB_YAML_MAP] = "a map"};

struct place {
	const char *file;
	const char *key;
};

static int refuse(const struct place *p, const struct ib_yaml *y, const char *want, struct ib_err *err)
{
	if (y->kind != IB_YAML_SCALAR)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be %s, not %s", p->key, want, kind_names[y->kind]);
	if (!y->plain)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be %s, without quotes", p->key, want);
	return ib_yaml_fail(err, p->file, y->at, "'%s' must be %s, not '%.60s'", p->key, want, y->text);
}

static bool blank(const char *s)
{
	return s[strspn(s, " \t\r\n")] == '\0';
}

static int check_text(const struct place *p, const struct ib_yaml *y, struct ib_err *err)
{
	if (y->kind != IB_YAML_SCALAR)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be a text, not %s", p->key, kind_names[y->kind]);
	if (strlen(y->text) > TEXT_MAX)
		return ib_yaml_fail(err, p->file, y->at, "'%s' is longer than %d bytes", p->key, TEXT_MAX);
	if (blank(y->text))
		return ib_yaml_fail(err, p->file, y->at, "'%s' is blank: leave the key out where nothing is to be said", p->key);
	return 0;
}

static int check_name(const struct place *p, const struct ib_yaml *y, struct ib_err *err)
{
	if (y->kind == IB_YAML_SCALAR && ib_name_valid(y->text))
		return 0;
	if (y->kind == IB_YAML_SCALAR)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be a name of at most 32 of a-z, 0-9, '_' and '-', not '%.60s'", p->key, y->text);
	return refuse(p, y, "a name", err);
}

/* Length of a number at the start of s, as JSON writes it; 0 for none. */
static size_t number_length(const char *s)
{
	size_t n = *s == '-', digits = strspn(s + n, "0123456789"), more;

	if (digits == 0 || (digits > 1 && s[n] == '0'))
		return 0;
	n += digits;
	if (s[n] == '.') {
		more = strspn(s + n + 1, "0123456789");
		if (!more)
			return 0;
		n += 1 + more;
	}
	if (s[n] == 'e' || s[n] == 'E') {
		size_t sign = s[n + 1] == '-' || s[n + 1] == '+';

		more = strspn(s + n + 1 + sign, "0123456789");
		if (!more)
			return 0;
		n += 1 + sign + more;
	}
	return n;
}

static int range_error(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, struct ib_err *err)
{
	if (f->type == IB_FIELD_DURATION)
		return ib_yaml_fail(err, p->file, y->at, "'%s' is '%.60s', which is too %s", p->key, y->text, f->min > 1 ? "short or too long" : "long or zero");
	return ib_yaml_fail(err, p->file, y->at, "'%s' is '%.60s', outside %lld to %lld", p->key, y->text, (long long)f->min, (long long)f->max);
}

static int typed_integer(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	int64_t v;

	if (y->kind != IB_YAML_SCALAR || !y->plain || ib_parse_int(y->text, INT64_MIN, INT64_MAX, &v, NULL) < 0) {
		size_t n = y->kind == IB_YAML_SCALAR && y->plain ? number_length(y->text) : 0;

		if (n > 18 && !y->text[n] && !strpbrk(y->text, ".eE"))
			return range_error(p, f, y, err);
		return refuse(p, y, "an integer", err);
	}
	if (v < f->min || v > f->max)
		return range_error(p, f, y, err);
	*ret = json_integer(v);
	return 0;
}

static int typed_number(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	double v;

	if (y->kind != IB_YAML_SCALAR || !y->plain || !y->text[0] || number_length(y->text) != strlen(y->text))
		return refuse(p, y, "a number", err);
	v = strtod(y->text, NULL);
	if (!(v >= -1e300 && v <= 1e300) || (f->max > 0 && (v < (double)f->min || v > (double)f->max)))
		return range_error(p, f, y, err);
	*ret = json_real(v);
	return 0;
}

static int typed_boolean(const struct place *p, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	bool yes = y->kind == IB_YAML_SCALAR && strcmp(y->text, "true") == 0;

	if (y->kind != IB_YAML_SCALAR || !y->plain || (!yes && strcmp(y->text, "false") != 0))
		return refuse(p, y, "true or false", err);
	*ret = json_boolean(yes);
	return 0;
}

static int typed_duration(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	size_t n = y->kind == IB_YAML_SCALAR && y->plain ? number_length(y->text) : 0;
	int64_t ns;

	if (n == 0 || !y->text[n] || y->text[0] == '-' || memchr(y->text, 'e', n) || memchr(y->text, 'E', n))
		return refuse(p, y, "a duration like 90s, 10m, 2h or 250ms", err);
	if (ib_duration_parse(y->text, &ns, NULL) < 0) {
		if (strcmp(y->text + n, "ms") == 0 || (strchr("smh", y->text[n]) && !y->text[n + 1]))
			return range_error(p, f, y, err);
		return refuse(p, y, "a duration like 90s, 10m, 2h or 250ms", err);
	}
	if (ns < f->min || ns > f->max)
		return range_error(p, f, y, err);
	*ret = json_integer(ns);
	return 0;
}

static int typed_size(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	static const char *const units[] = {"KiB", "MiB", "GiB"};
	size_t n = y->kind == IB_YAML_SCALAR && y->plain ? strspn(y->text, "0123456789") : 0;
	int shift = 0;
	int64_t v;

	for (size_t i = 0; n && i < IB_LEN(units); i++)
		if (strcmp(y->text + n, units[i]) == 0)
			shift = 10 * ((int)i + 1);
	if (n && n < 19 && shift) {
		ib_auto_free char *digits = ib_strndup(y->text, n);

		if (ib_parse_int(digits, 0, INT64_MAX, &v, NULL) == 0) {
			if (v > INT64_MAX >> shift || v << shift < f->min)
				return range_error(p, f, y, err);
			*ret = json_integer(v << shift);
			return 0;
		}
	}
	return refuse(p, y, "a size like 512KiB, 64MiB or 8GiB", err);
}

static int typed_choice(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf all = IB_BUF(256);
	const char *near;

	if (y->kind != IB_YAML_SCALAR)
		return refuse(p, y, "a word", err);
	for (size_t i = 0; f->names[i]; i++) {
		if (strcmp(f->names[i], y->text) == 0) {
			*ret = ib_json_str(y->text);
			return 0;
		}
		ib_buf_addf(&all, "%s%s", i ? ", " : "", f->names[i]);
	}
	near = ib_nearest(y->text, f->names);
	if (near)
		return ib_yaml_fail(err, p->file, y->at, "'%s' cannot be '%.60s'; did you mean '%s'?", p->key, y->text, near);
	return ib_yaml_fail(err, p->file, y->at, "'%s' cannot be '%.60s'; it is one of: %s", p->key, y->text, ib_buf_str(&all));
}

static int check_url(const struct place *p, const struct ib_yaml *y, struct ib_err *err)
{
	const char *host;
	size_t n;
	int r = check_text(p, y, err);

	if (r < 0)
		return r;
	host = ib_starts(y->text, "http://") ? y->text + 7 : ib_starts(y->text, "https://") ? y->text + 8 : NULL;
	if (!host)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be a URL that starts with http:// or https://", p->key);
	for (const char *c = y->text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7F)
			return ib_yaml_fail(err, p->file, y->at, "'%s' must be a URL, without white space", p->key);
	n = strcspn(host, "/?#");
	if (n == 0)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be a URL with a host", p->key);
	if (memchr(host, '@', n))
		return ib_yaml_fail(err, p->file, y->at, "'%s' holds a user name or password: a contract is shipped, leave it out", p->key);
	return 0;
}

static int check_path(const struct place *p, const struct ib_yaml *y, struct ib_err *err)
{
	int r = check_text(p, y, err);

	if (r < 0)
		return r;
	for (const char *part = y->text;; part++) {
		size_t n = strcspn(part, "/");

		if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
			return ib_yaml_fail(err, p->file, y->at, "'%s' must be a path below the study directory, not '%.60s'", p->key, y->text);
		part += n;
		if (!*part)
			return 0;
	}
}

static int check_digest(const struct place *p, const struct ib_yaml *y, struct ib_err *err)
{
	if (y->kind == IB_YAML_SCALAR && ib_is_hex(y->text, 64))
		return 0;
	return refuse(p, y, "a SHA-256 of 64 lower-case hexadecimal digits", err);
}

/* An argument, a value or an element of a list; may_be_blank for arguments. */
static int add_texts(const struct place *p, const struct ib_yaml *list, enum ib_field_type type, json_t *to, struct ib_err *err)
{
	if (list->n > LIST_MAX)
		return ib_yaml_fail(err, p->file, list->at, "'%s' has more than %d elements", p->key, LIST_MAX);
	for (const struct ib_yaml *c = list->child; c; c = c->next) {
		int r;

		if (type == IB_FIELD_NAMES)
			r = check_name(p, c, err);
		else if (type == IB_FIELD_URLS)
			r = check_url(p, c, err);
		else if (type == IB_FIELD_COMMAND && c != list->child && c->kind == IB_YAML_SCALAR && !c->text[0])
			r = 0;
		else
			r = check_text(p, c, err);
		if (r < 0)
			return r;
		ib_json_add_str(to, c->text);
	}
	return 0;
}

static int typed_list(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *a = ib_json_array();
	int r;

	if (y->kind != IB_YAML_LIST && f->type == IB_FIELD_COMMAND)
		return ib_yaml_fail(err, p->file, y->at, "'%s' must be a list of arguments, like [prog, --option, \"1\"], not %s", p->key, kind_names[y->kind]);
	if (y->kind != IB_YAML_LIST)
		return refuse(p, y, "a list", err);
	if (y->n == 0 && f->type == IB_FIELD_COMMAND)
		return ib_yaml_fail(err, p->file, y->at, "'%s' is an empty list: the first element names the program", p->key);
	r = add_texts(p, y, f->type, a, err);
	if (r < 0)
		return r;
	*ret = ib_steal(&a);
	return 0;
}

static int typed_map(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *o = ib_json_object();

	if (y->kind != IB_YAML_MAP)
		return refuse(p, y, "a map", err);
	for (const struct ib_yaml *c = y->child; c; c = c->next) {
		struct place inner = {p->file, c->key};
		int r;

		if (!ib_name_valid(c->key))
			return ib_yaml_fail(err, p->file, c->key_at, "'%.60s' in '%s' is no name: at most 32 of a-z, 0-9, '_' and '-'", c->key, p->key);
		if (f->type == IB_FIELD_MATRIX) {
			json_t *values = ib_json_array();

			ib_json_set(o, c->key, values);
			if (c->kind != IB_YAML_LIST || c->n == 0)
				return ib_yaml_fail(err, p->file, c->at, "variable '%s' of '%s' needs a list of at least one value", c->key, p->key);
			r = add_texts(&inner, c, IB_FIELD_TEXTS, values, err);
		} else {
			r = check_text(&inner, c, err);
			if (r == 0)
				ib_json_set_str(o, c->key, c->text);
		}
		if (r < 0)
			return r;
	}
	*ret = ib_steal(&o);
	return 0;
}

static int typed_objects(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *a = ib_json_array();

	if (y->kind != IB_YAML_LIST)
		return refuse(p, y, "a list of maps", err);
	if (y->n == 0 && f->required)
		return ib_yaml_fail(err, p->file, y->at, "'%s' is an empty list", p->key);
	for (const struct ib_yaml *c = y->child; c; c = c->next) {
		json_t *o = NULL;
		int r;

		if (c->kind != IB_YAML_MAP)
			return ib_yaml_fail(err, p->file, c->at, "each element of '%s' must be a map, not %s", p->key, kind_names[c->kind]);
		r = ib_contract_typed(c, f->fields, p->file, &o, err);
		if (r < 0)
			return r;
		ib_json_add(a, o);
	}
	*ret = ib_steal(&a);
	return 0;
}

static int typed_text(const struct place *p, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	int r;

	switch (f->type) {
	case IB_FIELD_NAME:
		r = check_name(p, y, err);
		break;
	case IB_FIELD_URL:
		r = check_url(p, y, err);
		break;
	case IB_FIELD_PATH:
		r = check_path(p, y, err);
		break;
	case IB_FIELD_DIGEST:
		r = check_digest(p, y, err);
		break;
	default:
		r = check_text(p, y, err);
	}
	if (r < 0)
		return r;
	*ret = ib_json_str(y->text);
	return 0;
}

static int typed_value(const char *file, const struct ib_field *f, const struct ib_yaml *y, json_t **ret, struct ib_err *err)
{
	struct place p = {file, f->key};

	switch (f->type) {
	case IB_FIELD_INTEGER:
		return typed_integer(&p, f, y, ret, err);
	case IB_FIELD_NUMBER:
		return typed_number(&p, f, y, ret, err);
	case IB_FIELD_BOOLEAN:
		return typed_boolean(&p, y, ret, err);
	case IB_FIELD_DURATION:
		return typed_duration(&p, f, y, ret, err);
	case IB_FIELD_SIZE:
		return typed_size(&p, f, y, ret, err);
	case IB_FIELD_CHOICE:
		return typed_choice(&p, f, y, ret, err);
	case IB_FIELD_COMMAND:
	case IB_FIELD_TEXTS:
	case IB_FIELD_NAMES:
	case IB_FIELD_URLS:
		return typed_list(&p, f, y, ret, err);
	case IB_FIELD_OPTIONS:
	case IB_FIELD_MATRIX:
		return typed_map(&p, f, y, ret, err);
	case IB_FIELD_OBJECT:
		return y->kind == IB_YAML_MAP ? ib_contract_typed(y, f->fields, file, ret, err) : refuse(&p, y, "a map", err);
	case IB_FIELD_OBJECTS:
		return typed_objects(&p, f, y, ret, err);
	default:
		return typed_text(&p, f, y, ret, err);
	}
}

/* What stands in the typed form for a key that is not set. */
static int unset_value(const char *file, const struct ib_field *f, json_t **ret, struct ib_err *err)
{
	struct ib_yaml y = {.kind = f->type == IB_FIELD_OBJECT ? IB_YAML_MAP : IB_YAML_SCALAR, .plain = true, .at = {1, 1}};
	int r;

	*ret = NULL;
	if (f->fallback) {
		y.text = ib_strdup(f->fallback);
		r = typed_value(file, f, &y, ret, err);
		free(y.text);
		return r;
	}
	if (f->type == IB_FIELD_TEXTS || f->type == IB_FIELD_NAMES || f->type == IB_FIELD_URLS || f->type == IB_FIELD_OBJECTS)
		*ret = ib_json_array();
	else if (f->type == IB_FIELD_OPTIONS || f->type == IB_FIELD_MATRIX)
		*ret = ib_json_object();
	return 0;
}

static int unknown_key(const struct ib_yaml *c, const struct ib_field *fields, const char *file, struct ib_err *err)
{
	const char *names[40];
	const char *near;
	size_t n = 0;

	for (; fields->key && n < IB_LEN(names) - 1; fields++)
		names[n++] = fields->key;
	names[n] = NULL;
	near = ib_nearest(c->key, names);
	if (near)
		return ib_yaml_fail(err, file, c->key_at, "unknown key '%.60s'; did you mean '%s'?", c->key, near);
	return ib_yaml_fail(err, file, c->key_at, "unknown key '%.60s'; see ib-contract(5)", c->key);
}

int ib_contract_typed(const struct ib_yaml *map, const struct ib_field *fields, const char *file, json_t **ret, struct ib_err *err)
{
	ib_auto_json json_t *o = ib_json_object();

	for (const struct ib_yaml *c = map->child; c; c = c->next) {
		const struct ib_field *f = fields;

		while (f->key && strcmp(f->key, c->key) != 0)
			f++;
		if (!f->key)
			return unknown_key(c, fields, file, err);
	}
	for (const struct ib_field *f = fields; f->key; f++) {
		const struct ib_yaml *y = ib_yaml_get(map, f->key);
		json_t *v = NULL;
		int r;

		if (!y && f->required)
			return ib_yaml_fail(err, file, map->at, "key '%s' is missing", f->key);
		r = y ? typed_value(file, f, y, &v, err) : unset_value(file, f, &v, err);
		if (r < 0)
			return r;
		ib_json_set(o, f->json ? f->json : f->key, v);
	}
	*ret = ib_steal(&o);
	return 0;
}
