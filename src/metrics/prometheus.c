/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus' text format, read line by line. */
#include "metrics/prometheus.h"

#include <math.h>
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
	v = strtod(number, &stop);
	return k == 0 || *stop || !isfinite(v) ? NAN : v;
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
