/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders in texts of a contract. */
#include "model/template.h"

#include <string.h>

#include "base/auto.h"
#include "base/str.h"

const char *const ib_template_reserved[] = {"run_id", "run_dir", "output_dir", "study_dir", "group", "cell", "repeat", NULL};

#define ENV_OPEN "${env:"

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool env_char(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/* Length of the NAME of "${env:NAME}" at s (which starts with ENV_OPEN). */
static int env_name(const char *s, size_t *ret_n, struct ib_err *err)
{
	const char *name = s + strlen(ENV_OPEN);
	size_t n = 0;

	while (n < 128 && env_char(name[n], n == 0))
		n++;
	if (n == 0 || name[n] != '}')
		return ib_fail(err, IB_E_USAGE, 0, "'%.40s' must be written ${env:NAME}, with the name of an environment variable", s);
	*ret_n = n;
	return 0;
}

int ib_template_env(const char *text, void (*use)(void *arg, const char *name), void *arg, struct ib_err *err)
{
	for (const char *p = strstr(text, ENV_OPEN); p; p = strstr(p, ENV_OPEN)) {
		ib_auto_free char *name = NULL;
		size_t n;
		int r = env_name(p, &n, err);

		if (r < 0)
			return r;
		name = ib_strndup(p + strlen(ENV_OPEN), n);
		use(arg, name);
		p += strlen(ENV_OPEN) + n;
	}
	return 0;
}

static const char *env_value(char *const *env, const char *name, size_t n)
{
	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* "${env:NAME}" at s: appended as it is or as its value; *ret_used bytes of s are done. */
static int expand_env(const struct ib_template *t, const char *s, size_t *ret_used, struct ib_buf *out, struct ib_err *err)
{
	const char *value;
	size_t n;
	int r = env_name(s, &n, err);

	if (r < 0)
		return r;
	*ret_used = strlen(ENV_OPEN) + n + 1;
	if (!t->env || t->mode == IB_TEMPLATE_PARTIAL) {
		ib_buf_add(out, s, *ret_used);
		return 0;
	}
	value = env_value(t->env, s + strlen(ENV_OPEN), n);
	if (!value)
		return ib_fail(err, IB_E_USAGE, 0, "environment variable '%.*s' is not set", (int)n, s + strlen(ENV_OPEN));
	ib_buf_adds(out, value);
	return 0;
}

static void add_value(const struct ib_template *t, const char *value, struct ib_buf *out)
{
	for (; *value; value++) {
		if (*value == '{' && t->mode == IB_TEMPLATE_PARTIAL)
			ib_buf_addc(out, '{');
		ib_buf_addc(out, *value);
	}
}

static int unknown(const struct ib_template *t, const char *s, size_t n, struct ib_err *err)
{
	ib_auto_free const char **names = ib_realloc(NULL, t->n + 1, sizeof(*names));
	ib_auto_free char *word = ib_strndup(s, n);
	const char *near;

	for (size_t i = 0; i < t->n; i++)
		names[i] = t->vars[i].name;
	names[t->n] = NULL;
	near = ib_nearest(word, names);
	if (near)
		return ib_fail(err, IB_E_USAGE, 0, "unknown placeholder '{%.60s}'; did you mean '{%s}'?", word, near);
	return ib_fail(err, IB_E_USAGE, 0, "unknown placeholder '{%.60s}'; write '{{' for a brace", word);
}

/* A brace at s. */
static int expand_brace(const struct ib_template *t, const char *s, size_t *ret_used, struct ib_buf *out, struct ib_err *err)
{
	bool strict = t->mode == IB_TEMPLATE_STRICT;
	size_t n = 0;

	if (s[1] == '{') {
		*ret_used = 2;
		ib_buf_adds(out, strict ? "{" : "{{");
		return 0;
	}
	while (name_char(s[1 + n]))
		n++;
	if (n == 0 || s[1 + n] != '}') {
		if (strict)
			return ib_fail(err, IB_E_USAGE, 0, "a brace that starts no placeholder must be written '{{', at '%.30s'", s);
		*ret_used = 1;
		ib_buf_addc(out, '{');
		return 0;
	}
	*ret_used = n + 2;
	for (size_t i = 0; i < t->n; i++)
		if (strlen(t->vars[i].name) == n && memcmp(t->vars[i].name, s + 1, n) == 0) {
			add_value(t, t->vars[i].value, out);
			return 0;
		}
	if (strict)
		return unknown(t, s + 1, n, err);
	ib_buf_add(out, s, n + 2);
	return 0;
}

int ib_template_expand(const struct ib_template *t, const char *text, struct ib_buf *out, struct ib_err *err)
{
	while (*text) {
		size_t used = 1;
		int r = 0;

		if (ib_starts(text, ENV_OPEN))
			r = expand_env(t, text, &used, out, err);
		else if (*text == '{' && t->mode != IB_TEMPLATE_ENV)
			r = expand_brace(t, text, &used, out, err);
		else
			ib_buf_addc(out, *text);
		if (r < 0)
			return r;
		text += used;
	}
	return 0;
}
