/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lints, and what they look at. */
#include "run/lint.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "clients/settings.h"
#include "clients/words.h"

#define SAID_MAX 4 /* lines of one lint; more are counted */

const struct ib_lint *const ib_lints[] = {
	&ib_lint_varies,     &ib_lint_unused,      &ib_lint_setup,       &ib_lint_settings,     &ib_lint_cap,     &ib_lint_samples, &ib_lint_repeats,
	&ib_lint_seed,       &ib_lint_warmups,     &ib_lint_evidence,    &ib_lint_results,      &ib_lint_client,  &ib_lint_output_dir,
	&ib_lint_shared_file, &ib_lint_many_results, &ib_lint_timeout,   &ib_lint_expect,       &ib_lint_gate,    &ib_lint_diagnostic,
	&ib_lint_workload,   &ib_lint_boundary,    NULL,
};

void ib_lint_say(struct ib_lint_out *out, const struct ib_contract_group *g, const struct ib_contract_slot *s, const char *fmt, ...)
{
	ib_auto_buf struct ib_buf b = IB_BUF(900);
	char text[768];
	va_list ap;

	if (++out->said > SAID_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ib_buf_addf(&b, "%s ", out->lint->id);
	if (g)
		ib_buf_addf(&b, "%s%s%s: ", g->name, s ? "." : "", s ? s->cell : "");
	ib_buf_adds(&b, text);
	ib_strv_take(&out->lines, ib_buf_steal(&b));
}

/* Does the word name the flag, which n bytes of name are? */
static bool is_flag(const char *word, const char *name, size_t n)
{
	ib_auto_free char *flag = ib_strndup(name, n);

	return word[0] == '-' && strspn(word, "-") == strspn(flag, "-") && ib_setting_same_name(word, strcspn(word, "="), flag);
}

const char *ib_lint_flag(const struct ib_lint_cell *c, const char *names)
{
	for (size_t i = c->words.n; i-- > 0;)
		for (const char *name = names; *name; name += strcspn(name, "|"), name += *name == '|') {
			const char *word = c->words.v[i], *eq = strchr(word, '=');

			if (!is_flag(word, name, strcspn(name, "|")))
				continue;
			if (eq)
				return eq + 1;
			return i + 1 < c->words.n && strncmp(c->words.v[i + 1], "--", 2) != 0 ? c->words.v[i + 1] : "";
		}
	return NULL;
}

bool ib_lint_own(const char *text)
{
	static const char *const own[] = {"{output_dir}", "{run_dir}", "{run_id}", "IB_OUTPUT_DIR", "IB_RUN_DIR", "IB_RUN_ID"};

	for (size_t i = 0; i < IB_LEN(own); i++)
		if (strstr(text, own[i]))
			return true;
	return false;
}

/* --- what is looked at --- */

/* The text of "sh -c TEXT", or NULL. */
static const char *shell_text(const json_t *command)
{
	const char *shell = json_string_value(json_array_get(command, 0)), *slash = strrchr(shell, '/');
	static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh"};
	bool is = false;

	for (size_t i = 0; i < IB_LEN(shells); i++)
		is = is || strcmp(slash ? slash + 1 : shell, shells[i]) == 0;
	for (size_t i = 1; is && i + 1 < json_array_size(command); i++) {
		const char *word = json_string_value(json_array_get(command, i));

		if (word[0] == '-' && word[1] != '-' && strchr(word, 'c'))
			return json_string_value(json_array_get(command, i + 1));
	}
	return NULL;
}

static const struct ib_client *read_words(const struct ib_strv *words, struct ib_settings *s)
{
	return words->n ? ib_settings_from_argv((const char *const *)words->v, words->n, s) : NULL;
}

/* The commands within a shell's text: the first of a client is looked at, all are counted. */
static void read_shell(struct ib_lint_cell *c, const char *text)
{
	struct ib_words at = ib_words_of(text, strlen(text));
	ib_auto_strv struct ib_strv words = {0};

	while (ib_words_command(&at, &words)) {
		struct ib_settings s = {0};
		const struct ib_client *client = read_words(&words, &s);

		c->commands += client != NULL;
		ib_settings_clear(&s);
		if (!client || c->client)
			continue;
		c->client = client;
		for (size_t i = 0; i < words.n; i++)
			ib_strv_add(&c->words, words.v[i]);
	}
	c->client = ib_settings_from_command(text, strlen(text), &c->settings);
}

static void read_command(struct ib_lint_cell *c)
{
	const char *text = shell_text(c->slot->command);

	if (text) {
		read_shell(c, text);
		return;
	}
	for (size_t i = 0; i < json_array_size(c->slot->command); i++)
		ib_strv_add(&c->words, json_string_value(json_array_get(c->slot->command, i)));
	c->client = read_words(&c->words, &c->settings);
	if (!c->client)
		ib_settings_from_flags((const char *const *)c->words.v, c->words.n, &c->settings);
	c->commands = c->client != NULL;
}

void ib_lint_view_init(struct ib_lint_view *v, const struct ib_contract *c, const char *study)
{
	*v = (struct ib_lint_view){.contract = c, .study_fd = -1};
	if (study)
		v->study_fd = open(study, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	v->cells = ib_alloc((c->slots_n + 1) * sizeof(*v->cells));
	for (size_t i = 0; i < c->slots_n; i++)
		if (c->slots[i].repeat == 1) {
			v->cells[v->n] = (struct ib_lint_cell){.group = &c->groups[c->slots[i].group_at], .slot = &c->slots[i]};
			read_command(&v->cells[v->n++]);
		}
}

void ib_lint_view_clear(struct ib_lint_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		ib_settings_clear(&v->cells[i].settings);
		ib_strv_clear(&v->cells[i].words);
	}
	free(v->cells);
	if (v->study_fd >= 0)
		close(v->study_fd);
}

void ib_lint_view(const struct ib_lint_view *v, struct ib_strv *ret)
{
	struct ib_lint_out out = {0};

	for (size_t i = 0; ib_lints[i]; i++) {
		out.lint = ib_lints[i];
		out.said = 0;
		ib_lints[i]->look(v, &out);
		if (out.said > SAID_MAX)
			ib_strv_take(&out.lines, ib_asprintf("%s and %zu more like this", out.lint->id, out.said - SAID_MAX));
	}
	*ret = out.lines;
}

void ib_lint(const struct ib_contract *c, const char *study, struct ib_strv *ret)
{
	__attribute__((cleanup(ib_lint_view_clear))) struct ib_lint_view v;

	ib_lint_view_init(&v, c, study);
	ib_lint_view(&v, ret);
}
