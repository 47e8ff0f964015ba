/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of a plan: what would be run, in order. */
#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "run/lint.h"
#include "run/plan_inside.h"

/* A byte that a terminal might obey: C0, DEL, the first of a C1 in UTF-8. */
static bool control(const char *s)
{
	unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];

	return c < ' ' || c == 0x7F || (c == 0xC2 && next >= 0x80 && next <= 0x9F);
}

static void quoted(const char *s, struct ib_buf *b)
{
	if (*s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%{}")]) {
		ib_buf_adds(b, s);
		return;
	}
	ib_buf_addc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			ib_buf_adds(b, "'\\''");
		else if (control(s))
			ib_buf_addf(b, "\\%03o", (unsigned char)*s);
		else
			ib_buf_addc(b, *s);
	}
	ib_buf_addc(b, '\'');
}

static void list_command(const char *label, const json_t *command, struct ib_buf *b)
{
	ib_buf_addf(b, "  %s:", label);
	for (size_t i = 0; i < json_array_size(command); i++) {
		ib_buf_addc(b, ' ');
		quoted(json_string_value(json_array_get(command, i)), b);
	}
	ib_buf_addc(b, '\n');
}

static void list_hook(const char *label, const struct ib_contract_hook *hook, struct ib_buf *b)
{
	if (hook->http) {
		ib_buf_addf(b, "  %s: POST ", label);
		quoted(hook->http, b);
		ib_buf_addc(b, '\n');
	} else if (hook->command) {
		list_command(label, hook->command, b);
	}
}

void ib_plan_list(const struct ib_contract *c, const struct ib_slots *slots, struct ib_buf *ret)
{
	for (size_t i = 0; i < c->slots_n && !ret->overflow; i++) {
		const struct ib_contract_slot *s = &c->slots[i];
		const struct ib_contract_group *g = &c->groups[s->group_at];
		bool refill = s->condition == IB_CACHE_WARM || s->condition == IB_CACHE_REUSE;

		if (!slots->v[i].selected)
			continue;
		ib_buf_addf(ret, "slot %" PRId64 ": group %s, cell %s, repeat %" PRId64 ", cache %s\n", s->slot, s->group, s->cell, s->repeat,
			    ib_condition_name(s->condition));
		if (c->readiness.url) {
			ib_buf_adds(ret, "  readiness: GET ");
			quoted(c->readiness.url, ret);
			ib_buf_addc(ret, '\n');
		} else if (c->readiness.command) {
			list_command("readiness", c->readiness.command, ret);
		}
		if (s->condition != IB_CACHE_UNSPECIFIED)
			list_hook("reset", &g->reset, ret);
		if (refill)
			list_hook("warm-up", &g->warmup, ret);
		list_command("command", s->command, ret);
		if (g->convert)
			list_command("convert", g->convert, ret);
	}
}

/* Lints as comments: what is listed stays a list of commands. */
void ib_plan_lint(const struct ib_contract *c, const char *study, struct ib_buf *ret)
{
	ib_auto_strv struct ib_strv lines = {0};

	ib_lint(c, study, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		ib_buf_adds(ret, "# ");
		for (const char *s = lines.v[i]; *s; s++)
			ib_buf_addc(ret, control(s) ? '?' : *s);
		ib_buf_addc(ret, '\n');
	}
}
