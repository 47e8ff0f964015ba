/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus' text format, read line by line. */
#include "metrics/prometheus.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

struct sample {
	const char *labels, *labels_end; /* within the braces; equal when there are none */
	double value;                    /* NAN: not a finite number */
};

/* The end of the label set that starts behind an opening brace: its closing brace outside quotes, or NULL. */
static const char *labels_end(const char *s, const char *end)
{
	bool quoted = false;

	for (; s < end; s++) {
		if (quoted && *s == '\\')
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (*s == '}' && !quoted)
			return s;
	}
	return NULL;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The number between blanks at p, NAN when it is none. */
static double read_value(const char *p, const char *end)
{
	char number[64];
	char *stop;
	double v;
	size_t k;

	while (p < end && blank(*p))
		p++;
	for (k = 0; p + k < end && k < sizeof(number) - 1 && !blank(p[k]) && p[k] != '\r'; k++)
		number[k] = p[k];
	number[k] = '\0';
	if (k == 0 || number[strspn(number, "+-.0123456789eE")])
		return NAN; /* no decimal number: strtod() takes more */
	v = strtod(number, &stop);
	return *stop || !isfinite(v) ? NAN : v;
}

/* Is the line (up to end) a sample of name? */
static bool read_line(const char *line, const char *end, const char *name, struct sample *ret)
{
	size_t n = strlen(name);
	const char *p = line + n;

	if ((size_t)(end - line) <= n || memcmp(line, name, n) != 0 || (*p != '{' && !blank(*p)))
		return false;
	ret->labels = ret->labels_end = p;
	if (*p == '{') {
		ret->labels = p + 1;
		ret->labels_end = labels_end(p + 1, end);
		if (!ret->labels_end)
			return false;
		p = ret->labels_end + 1;
	}
	ret->value = read_value(p, end);
	return true;
}

static const char *line_end(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end : line + strlen(line);
}

double ib_prometheus_sum(const char *text, const char *name)
{
	double sum = 0;
	bool any = false;

	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		struct sample s;

		end = line_end(line);
		if (!read_line(line, end, name, &s))
			continue;
		any = true;
		sum += s.value;
	}
	return any ? sum : NAN;
}

double ib_prometheus_max(const char *text, const char *name)
{
	double most = NAN;

	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		struct sample s;

		end = line_end(line);
		if (!read_line(line, end, name, &s))
			continue;
		if (isnan(s.value))
			return NAN;
		if (!(s.value <= most))
			most = s.value;
	}
	return most;
}

/* The value of a label within a label set, allocated, or NULL. */
static char *label_value(const struct sample *s, const char *label)
{
	size_t n = strlen(label);

	for (const char *p = s->labels; p + n + 2 < s->labels_end; p++) {
		const char *value = p + n + 2, *end;

		if (memcmp(p, label, n) != 0 || p[n] != '=' || p[n + 1] != '"' || (p > s->labels && p[-1] != ',' && p[-1] != ' '))
			continue;
		end = memchr(value, '"', (size_t)(s->labels_end - value));
		if (!end || memchr(value, '\\', (size_t)(end - value)))
			return NULL;
		return ib_strndup(value, (size_t)(end - value));
	}
	return NULL;
}

void ib_prometheus_each(const char *text, const char *name, const char *label, void (*use)(void *arg, const char *value, double sample), void *arg)
{
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		ib_auto_free char *value = NULL;
		struct sample s;

		end = line_end(line);
		if (read_line(line, end, name, &s))
			value = label_value(&s, label);
		else
			continue;
		if (value)
			use(arg, value, s.value);
	}
}

/* --- series --- */

struct series {
	uint64_t key; /* of the labels */
	double value;
};

struct all_series {
	struct series *v;
	size_t n, room;
};

static void clear_series(struct all_series *a)
{
	free(a->v);
}

/* FNV-1a. */
static uint64_t hash(const char *s, const char *end)
{
	uint64_t h = 14695981039346656037u;

	for (; s < end; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

/* The same for the same labels in any order. */
static uint64_t key_of(const struct sample *s)
{
	uint64_t key = 0;
	bool quoted = false;

	for (const char *p = s->labels, *start = p; p <= s->labels_end; p++) {
		if (p < s->labels_end && quoted && *p == '\\') {
			p++;
			continue;
		}
		if (p < s->labels_end && *p == '"')
			quoted = !quoted;
		if (p < s->labels_end && (quoted || *p != ','))
			continue;
		while (start < p && blank(*start))
			start++;
		if (start < p)
			key += hash(start, p);
		start = p + 1;
	}
	return key;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct series *)a)->key, y = ((const struct series *)b)->key;

	return (x > y) - (x < y);
}

/* Sorted by key. */
static void gather(const char *text, const char *name, struct all_series *ret)
{
	*ret = (struct all_series){0};
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		struct sample s;

		end = line_end(line);
		if (!read_line(line, end, name, &s))
			continue;
		if (ret->n == ret->room) {
			ret->room = ret->room ? 2 * ret->room : 16;
			ret->v = ib_realloc(ret->v, ret->room, sizeof(*ret->v));
		}
		ret->v[ret->n++] = (struct series){key_of(&s), s.value};
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_key);
}

bool ib_prometheus_has(const char *text, const char *name)
{
	__attribute__((cleanup(clear_series))) struct all_series a;

	gather(text, name, &a);
	return a.n > 0;
}

bool ib_prometheus_twice(const char *text, const char *name)
{
	__attribute__((cleanup(clear_series))) struct all_series a;

	gather(text, name, &a);
	for (size_t i = 1; i < a.n; i++)
		if (a.v[i].key == a.v[i - 1].key)
			return true;
	return false;
}

bool ib_prometheus_fell(const char *before, const char *after, const char *name)
{
	__attribute__((cleanup(clear_series))) struct all_series a, b;

	gather(before, name, &a);
	gather(after, name, &b);
	for (size_t i = 0, k = 0; i < a.n; i++) {
		while (k < b.n && b.v[k].key < a.v[i].key)
			k++;
		if (k == b.n || b.v[k].key != a.v[i].key || b.v[k].value < a.v[i].value)
			return true;
	}
	return false;
}
