/* SPDX-License-Identifier: Apache-2.0 */
/* --check: the programs that the plan starts, and the clients among them: their version, and whether their own help knows the flags that are used. */
#include <ctype.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "run/check.h"

/* Is an earlier cell's command that of the same program? */
static bool seen(const struct ib_preflight *p, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		const struct ib_lint_cell *a = &p->view->cells[i], *b = &p->view->cells[at];

		if (a->client == b->client && a->words.n && b->words.n && strcmp(a->words.v[0], b->words.v[0]) == 0)
			return true;
	}
	return false;
}

/* --- programs --- */

static void look_program(struct ib_preflight *p, struct ib_strv *done, const char *what, const json_t *command)
{
	const char *name = json_string_value(json_array_get(command, 0));
	ib_auto_free char *path = NULL;

	if (!name)
		return;
	for (size_t i = 0; i < done->n; i++)
		if (strcmp(done->v[i], name) == 0)
			return;
	ib_strv_add(done, name);
	if (strpbrk(name, "{$")) {
		ib_preflight_say(p, IB_CHECKED_NOT, "'%s' of %s: its name is known only when it starts", name, what);
		return;
	}
	path = ib_preflight_program(p, name);
	if (path)
		ib_preflight_say(p, IB_CHECKED_OK, "'%s' of %s is %s", name, what, path);
	else
		ib_preflight_say(p, IB_CHECKED_FAIL, "'%s' of %s is not there, or cannot be executed", name, what);
}

/* The first words of a list of objects' commands. */
static void look_list(struct ib_preflight *p, struct ib_strv *done, const json_t *list, const char *key, const char *kind)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		ib_auto_free char *what = ib_asprintf("%s of %s '%s'", key, kind, json_string_value(json_object_get(o, "name")));

		look_program(p, done, what, json_object_get(o, key));
	}
}

static void look_programs(struct ib_preflight *p)
{
	ib_auto_strv struct ib_strv done = {0};
	const struct ib_contract *c = p->contract;

	look_program(p, &done, "readiness", c->readiness.command);
	for (size_t i = 0; i < c->groups_n; i++) {
		const struct ib_contract_group *g = &c->groups[i];
		const struct {
			const char *what;
			const json_t *command;
		} all[] = {{"command", g->command}, {"convert", g->convert}, {"reset", g->reset.command}, {"warmup", g->warmup.command},
			   {"output_check", json_object_get(g->output_check, "command")}};

		for (size_t k = 0; k < IB_LEN(all); k++) {
			ib_auto_free char *what = ib_asprintf("%s of group '%s'", all[k].what, g->name);

			look_program(p, &done, what, all[k].command);
		}
	}
	look_program(p, &done, "quality", json_object_get(c->quality, "command"));
	look_list(p, &done, c->nodes, "launch", "node");
	look_list(p, &done, c->server_logs, "command", "server log");
}

const struct ib_plan_check ib_plan_check_programs = {.name = "programs", .title = "every program of the contract can be executed", .look = look_programs};

/* --- versions --- */

/* The first line that holds a digit, without blanks around it. */
static char *version_line(const char *text)
{
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\r\n"), k = n;

		while (k && isspace((unsigned char)at[k - 1]))
			k--;
		for (size_t i = 0; i < k && k <= 120; i++)
			if (isdigit((unsigned char)at[i]))
				return ib_strndup(at + strspn(at, " \t"), k - strspn(at, " \t"));
		at += n + (at[n] != '\0');
	}
	return NULL;
}

static void look_version(struct ib_preflight *p, const struct ib_lint_cell *c)
{
	const char *name = c->words.n ? c->words.v[0] : json_string_value(json_array_get(c->slot->command, 0));
	const struct ib_preflight_job *j = ib_preflight_answer(p, c, false);
	ib_auto_free char *version = j && j->status == 0 ? version_line(ib_buf_str(&j->out)) : NULL;

	if (version)
		ib_preflight_say(p, IB_CHECKED_OK, "'%s' is %s; --version says: %s", name, c->client->name, version);
	else if (!c->client)
		ib_preflight_say(p, IB_CHECKED_NOT, "'%s' is no client that is known: it is not started to ask for its version and flags", name);
	else if (!j)
		ib_preflight_say(p, IB_CHECKED_FAIL, "'%s' is %s and cannot be asked for its version: it is not there", name, c->client->name);
	else if (j->status < 0)
		ib_preflight_say(p, IB_CHECKED_NOT, "'%s' did not tell its version in time", name);
	else
		ib_preflight_say(p, IB_CHECKED_NOT, "'%s' does not tell its version (--version ends with status %d)", name, j->status);
}

static void look_client(struct ib_preflight *p)
{
	for (size_t i = 0; i < p->view->n; i++)
		if (!seen(p, i))
			look_version(p, &p->view->cells[i]);
}

const struct ib_plan_check ib_plan_check_client = {.name = "client", .title = "clients are there and tell their versions", .look = look_client};

/* --- flags --- */

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Does the help hold the flag, or one that begins so (many parsers take a beginning)? Dashes and underscores are the same. */
static bool known(const char *help, const char *flag, size_t n)
{
	for (const char *at = strstr(help, "--"); at; at = strstr(at + 1, "--")) {
		size_t i = 0;

		if (at > help && word_char(at[-1]))
			continue;
		while (i < n && (at[i] == flag[i] || (i > 1 && (at[i] == '-' || at[i] == '_') && (flag[i] == '-' || flag[i] == '_'))))
			i++;
		if (i == n)
			return true;
	}
	return false;
}

static void look_help(struct ib_preflight *p, const struct ib_lint_cell *c, const struct ib_preflight_job *j)
{
	const char *help = ib_buf_str(&j->out);
	size_t found = 0, missing = 0;

	for (size_t i = 1; i < c->words.n; i++) {
		const char *word = c->words.v[i];
		size_t n = strcspn(word, "=");

		if (strncmp(word, "--", 2) != 0 || n < 3 || strpbrk(word, "{$") == word + 2)
			continue;
		if (known(help, word, n)) {
			found++;
			continue;
		}
		missing++;
		ib_preflight_say(p, IB_CHECKED_FAIL, "the help of '%s' does not know '%.*s' of %s.%s", c->words.v[0], (int)n, word, c->group->name, c->slot->cell);
	}
	if (!missing)
		ib_preflight_say(p, IB_CHECKED_OK, "the help of '%s' knows all %zu flags of %s.%s", c->words.v[0], found, c->group->name, c->slot->cell);
}

static void look_flags(struct ib_preflight *p)
{
	for (size_t i = 0; i < p->view->n; i++) {
		const struct ib_lint_cell *c = &p->view->cells[i];
		const struct ib_preflight_job *j;

		/* one cell of a group speaks for the others: what they differ in is values */
		if (!c->client || (i && p->view->cells[i - 1].group == c->group))
			continue;
		j = ib_preflight_answer(p, c, true);
		if (!j)
			continue; /* that it is not there was said */
		if (j->status == 0 && strstr(ib_buf_str(&j->out), "--"))
			look_help(p, c, j);
		else if (j->status < 0)
			ib_preflight_say(p, IB_CHECKED_NOT, "'%s' did not show its help in time", c->words.v[0]);
		else
			ib_preflight_say(p, IB_CHECKED_NOT, "'%s' shows no help (--help ends with status %d)", c->words.v[0], j->status);
	}
}

const struct ib_plan_check ib_plan_check_flags = {.name = "flags", .title = "the flags that are used stand in the clients' own help", .look = look_flags};
