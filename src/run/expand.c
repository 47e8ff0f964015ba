/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders in commands. */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "model/template.h"
#include "run/inside.h"

#define NAME_MAX_LEN 64
#define TEXT_MAX (1u << 20)

/* Value of a placeholder, or NULL; scratch holds numbers. */
static const char *find(const struct ib_run *run, const char *name, char scratch[32])
{
	const struct {
		const char *name, *value;
	} known[] = {{"run_id", run->id},       {"run_dir", run->dir},          {"output_dir", run->output_dir}, {"group", run->group ? run->group : ""},
		     {"cell", run->cell ? run->cell : ""}, {"study_dir", run->study->path}, {"repeat", scratch}};

	snprintf(scratch, 32, "%d", run->spec->repeat);
	for (size_t i = 0; i < IB_LEN(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].value;
	for (size_t i = 0; i < run->spec->variables_n; i++)
		if (strcmp(run->spec->variables[i].name, name) == 0)
			return run->spec->variables[i].value;
	return NULL;
}

/* By the rules of a contract: every name must be known, "{{" is a brace, ${env:NAME} comes from the environment. */
static int expand_strict(const struct ib_run *run, const char *text, struct ib_buf *b, struct ib_err *err)
{
	ib_auto_free struct ib_template_var *vars = ib_realloc(NULL, run->spec->variables_n + 16, sizeof(*vars));
	struct ib_template t = {.vars = vars, .env = run->ctx ? run->ctx->env : NULL, .mode = IB_TEMPLATE_STRICT};
	char scratch[32];

	for (size_t i = 0; ib_template_reserved[i]; i++)
		vars[t.n++] = (struct ib_template_var){ib_template_reserved[i], find(run, ib_template_reserved[i], scratch)};
	for (size_t i = 0; i < run->spec->variables_n; i++)
		vars[t.n++] = (struct ib_template_var){run->spec->variables[i].name, run->spec->variables[i].value};
	return ib_template_expand(&t, text, b, err);
}

/* Name between the brace at s and the next one, or "" when it cannot be a placeholder. */
static void name_at(const char *s, char ret[NAME_MAX_LEN + 1])
{
	size_t n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	*ret = '\0';
	if (n == 0 || n > NAME_MAX_LEN || s[1 + n] != '}')
		return;
	memcpy(ret, s + 1, n);
	ret[n] = '\0';
}

int ib_run_expand(const struct ib_run *run, const char *text, bool strict, char **ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(TEXT_MAX);
	char name[NAME_MAX_LEN + 1], scratch[32];
	int r;

	if (strict && (r = expand_strict(run, text, &b, err)) < 0)
		return r;
	for (const char *p = text; !strict && *p; p++) {
		const char *value;

		if (*p != '{') {
			ib_buf_addc(&b, *p);
			continue;
		}
		name_at(p, name);
		value = *name ? find(run, name, scratch) : NULL;
		ib_buf_adds(&b, value ? value : "{");
		if (value)
			p += strlen(name) + 1;
	}
	if ((r = ib_buf_check(&b, "command argument", err)) < 0)
		return r;
	*ret = ib_buf_steal(&b);
	return 0;
}

int ib_run_expand_all(const struct ib_run *run, char *const *argv, bool strict, struct ib_strv *ret, struct ib_err *err)
{
	for (size_t i = 0; argv[i]; i++) {
		char *s;
		int r = ib_run_expand(run, argv[i], strict, &s, err);

		if (r < 0)
			return ib_wrap(err, "argument %zu of the command", i);
		ib_strv_take(ret, s);
	}
	return 0;
}

json_t *ib_run_placeholders(const struct ib_run *run)
{
	static const char *const names[] = {"run_id", "run_dir", "output_dir", "group", "cell", "study_dir", "repeat"};
	json_t *o = ib_json_object();
	char scratch[32];

	for (size_t i = 0; i < IB_LEN(names); i++)
		ib_json_set_str(o, names[i], find(run, names[i], scratch));
	for (size_t i = 0; i < run->spec->variables_n; i++)
		ib_json_set_str(o, run->spec->variables[i].name, run->spec->variables[i].value);
	return o;
}

size_t ib_run_variables(const json_t *variables, struct ib_var **ret)
{
	size_t n = 0;
	const char *key;
	json_t *value;

	*ret = ib_realloc(NULL, json_object_size(variables) + 1, sizeof(**ret));
	json_object_foreach((json_t *)(uintptr_t)variables, key, value)
		(*ret)[n++] = (struct ib_var){(char *)(uintptr_t)key, (char *)(uintptr_t)json_string_value(value)};
	return n;
}
