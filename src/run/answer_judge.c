/* SPDX-License-Identifier: Apache-2.0 */
/* Is an output what a contract expects? */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "json/number.h"
#include "redact/redact.h"
#include "run/answer.h"

#define SPACE " \t\r\n\v\f"

/* What is compared: the output, or one value of it. */
struct subject {
	const char *text;  /* n bytes and a NUL */
	size_t n;
	const json_t *value; /* at the pointer, or NULL */
	const struct ib_redactor *redactor;
	json_t *conditions;
	bool met;
};

/* A text as it may be kept: redacted, and of bounded length. */
static char *presentable(const struct ib_redactor *r, const char *text, size_t n)
{
	ib_auto_free char *whole = ib_strndup(text, strnlen(text, n));
	ib_auto_free char *clean = r ? ib_redact_text(r, whole) : ib_strdup(whole);
	size_t len = strlen(clean), cut = len;

	if (len > IB_ANSWER_SHOWN) {
		cut = IB_ANSWER_SHOWN;
		while (cut > 0 && ((unsigned char)clean[cut] & 0xC0) == 0x80) /* not within a character */
			cut--;
	}
	return ib_asprintf("%.*s%s", (int)cut, clean, cut < len ? "..." : "");
}

static void add(struct subject *s, const char *kind, const char *expected, const char *found, size_t n, bool met)
{
	ib_auto_free char *want = presentable(s->redactor, expected, strlen(expected));
	ib_auto_free char *have = found ? presentable(s->redactor, found, n) : NULL;
	json_t *o = ib_json_object();

	ib_json_set_str(o, "kind", kind);
	ib_json_set_str(o, "expected", want);
	ib_json_set_str(o, "found", have);
	ib_json_set_str(o, "status", met ? "passed" : "failed");
	ib_json_add(s->conditions, o);
	s->met &= met;
}

/* --- JSON Pointer (RFC 6901) --- */

/* The reference token of n bytes at p, unescaped, allocated; NULL: a tilde that means nothing. */
static char *token(const char *p, size_t n)
{
	char *t = ib_alloc(n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '~' && (i + 1 == n || (p[i + 1] != '0' && p[i + 1] != '1'))) {
			free(t);
			return NULL;
		}
		t[k++] = p[i] != '~' ? p[i] : p[++i] == '0' ? '~' : '/';
	}
	return t;
}

static const json_t *step(const json_t *at, const char *name)
{
	int64_t i;

	if (json_is_object(at))
		return json_object_get(at, name);
	if (!json_is_array(at) || ib_parse_int(name, 0, INT32_MAX, &i, NULL) < 0 || name[0] == '-')
		return NULL;
	return json_array_get(at, (size_t)i);
}

static const json_t *resolve(const json_t *at, const char *pointer)
{
	while (at && *pointer == '/') {
		size_t n = strcspn(pointer + 1, "/");
		ib_auto_free char *name = token(pointer + 1, n);

		at = name ? step(at, name) : NULL;
		pointer += n + 1;
	}
	return *pointer ? NULL : at;
}

/* --- conditions --- */

static size_t trimmed(const char *text, size_t n)
{
	while (n > 0 && memchr(SPACE, text[n - 1], sizeof(SPACE) - 1))
		n--;
	return n;
}

static void exact(struct subject *s, const char *expected)
{
	size_t n = trimmed(s->text, s->n), want = trimmed(expected, strlen(expected));

	add(s, "exact", expected, s->text, s->n, n == want && memcmp(s->text, expected, n) == 0);
}

static void contains(struct subject *s, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *want = json_string_value(json_array_get(list, i));

		if (want)
			add(s, "contains", want, s->text, s->n, memmem(s->text, s->n, want, strlen(want)) != NULL);
	}
}

static void matches(struct subject *s, const char *pattern)
{
	regmatch_t m[1] = {{.rm_so = 0, .rm_eo = (regoff_t)s->n}};
	regex_t re;

	if (regcomp(&re, pattern, REG_EXTENDED) != 0) {
		add(s, "regex", pattern, NULL, 0, false);
		return;
	}
	if (regexec(&re, s->text, 1, m, REG_STARTEND) == 0)
		add(s, "regex", pattern, s->text + m[0].rm_so, (size_t)(m[0].rm_eo - m[0].rm_so), true);
	else
		add(s, "regex", pattern, s->text, s->n, false);
	regfree(&re);
}

/* A number, or a text that is nothing but one. */
static double number_of(const struct subject *s)
{
	char *end;
	double v;

	if (json_is_number(s->value))
		return json_number_value(s->value);
	if (!json_is_string(s->value) || !s->text[strspn(s->text, SPACE)])
		return NAN;
	v = strtod(s->text, &end);
	return (size_t)(end - s->text) >= trimmed(s->text, s->n) ? v : NAN;
}

static void near_number(struct subject *s, const json_t *near, const json_t *tolerance)
{
	double want = json_number_value(near), give = tolerance ? json_number_value(tolerance) : 0, have = number_of(s);
	char a[32], b[32];
	ib_auto_free char *expected = NULL;

	ib_json_double(want, a);
	ib_json_double(give, b);
	expected = ib_asprintf("%s +- %s", a, b);
	add(s, "near", expected, s->text, s->n, isfinite(have) && fabs(have - want) <= give);
}

static void compare(struct subject *s, const json_t *answer)
{
	const char *text;
	const json_t *near = json_object_get(answer, "near"), *tolerance = json_object_get(answer, "tolerance");

	if ((text = json_string_value(json_object_get(answer, "exact"))))
		exact(s, text);
	contains(s, json_object_get(answer, "contains"));
	if ((text = json_string_value(json_object_get(answer, "regex"))))
		matches(s, text);
	if ((text = json_string_value(json_object_get(answer, "equals"))))
		add(s, "equals", text, s->text, s->n, s->n == strlen(text) && memcmp(s->text, text, s->n) == 0);
	if (json_is_number(near))
		near_number(s, near, tolerance);
}

/* One value of an output that is JSON: a string is its text, anything else as it is written. */
static void compare_value(struct subject *s, const json_t *answer, const char *pointer)
{
	ib_auto_json json_t *whole = NULL;
	ib_auto_buf struct ib_buf b = IB_BUF(2 * IB_ANSWER_MAX);
	struct ib_err why;

	if (ib_json_load_foreign(s->text, s->n, "the output", &whole, &why) < 0) {
		add(s, "json", pointer, why.text, strlen(why.text), false);
		return;
	}
	s->value = resolve(whole, pointer);
	if (!s->value) {
		add(s, "json", pointer, NULL, 0, false);
		return;
	}
	if (json_is_string(s->value)) {
		s->text = json_string_value(s->value);
		s->n = json_string_length(s->value);
	} else {
		ib_json_write(s->value, &b);
		s->text = ib_buf_str(&b);
		s->n = b.len;
	}
	compare(s, answer);
}

bool ib_run_answer_judge(const json_t *answer, const char *output, size_t n, const struct ib_redactor *redactor, json_t *conditions)
{
	struct subject s = {.text = output, .n = n, .redactor = redactor, .conditions = conditions, .met = true};
	const char *pointer = json_string_value(json_object_get(answer, "json"));
	size_t before = json_array_size(conditions);

	if (pointer)
		compare_value(&s, answer, pointer);
	else
		compare(&s, answer);
	return s.met && json_array_size(conditions) > before;
}
