/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: the same bytes for the same document, on every machine and in every locale. */
#include "json/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_string(const char *s, size_t n, struct ib_buf *b)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	ib_buf_addc(b, '"');
	for (size_t i = 0; i < n; i++) {
		const char *p = s[i] ? strchr(named, s[i]) : NULL;

		if (p)
			ib_buf_addf(b, "\\%c", letters[p - named]);
		else if ((unsigned char)s[i] < 0x20)
			ib_buf_addf(b, "\\u%04x", (unsigned char)s[i]);
		else
			ib_buf_addc(b, s[i]);
	}
	ib_buf_addc(b, '"');
}

void ib_json_double(double v, char out[32])
{
	static locale_t c_locale; /* made once, never changed: a point in every locale */
	locale_t before;

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	before = uselocale(c_locale);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, 32, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
	if (!strpbrk(out, ".eEni"))
		memcpy(out + strlen(out), ".0", 3);
	uselocale(before);
}

static void newline(struct ib_buf *b, int indent)
{
	ib_buf_addc(b, '\n');
	for (int i = 0; i < indent; i++)
		ib_buf_adds(b, "  ");
}

/* indent < 0: compact. */
static void write_value(const json_t *j, struct ib_buf *b, int indent);

static void write_object(const json_t *j, struct ib_buf *b, int indent)
{
	int inner = indent < 0 ? -1 : indent + 1;
	const char *key, *separator = "";
	json_t *value;

	ib_buf_addc(b, '{');
	json_object_foreach((json_t *)(uintptr_t)j, key, value) {
		ib_buf_adds(b, separator);
		if (inner >= 0)
			newline(b, inner);
		write_string(key, strlen(key), b);
		ib_buf_adds(b, inner >= 0 ? ": " : ":");
		write_value(value, b, inner);
		separator = ",";
	}
	if (inner >= 0 && *separator)
		newline(b, indent);
	ib_buf_addc(b, '}');
}

static void write_array(const json_t *j, struct ib_buf *b, int indent)
{
	int inner = indent < 0 ? -1 : indent + 1;
	size_t i;
	json_t *value;

	ib_buf_addc(b, '[');
	json_array_foreach(j, i, value) {
		if (i)
			ib_buf_addc(b, ',');
		if (inner >= 0)
			newline(b, inner);
		write_value(value, b, inner);
	}
	if (inner >= 0 && json_array_size(j))
		newline(b, indent);
	ib_buf_addc(b, ']');
}

static void write_value(const json_t *j, struct ib_buf *b, int indent)
{
	char number[32];

	switch (json_typeof(j)) {
	case JSON_OBJECT:
		write_object(j, b, indent);
		break;
	case JSON_ARRAY:
		write_array(j, b, indent);
		break;
	case JSON_STRING:
		write_string(json_string_value(j), json_string_length(j), b);
		break;
	case JSON_INTEGER:
		ib_buf_addf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
		break;
	case JSON_REAL:
		ib_json_double(json_real_value(j), number);
		ib_buf_adds(b, number);
		break;
	case JSON_TRUE:
		ib_buf_adds(b, "true");
		break;
	case JSON_FALSE:
		ib_buf_adds(b, "false");
		break;
	case JSON_NULL:
	default:
		ib_buf_adds(b, "null");
	}
}

void ib_json_write(const json_t *j, struct ib_buf *b)
{
	write_value(j, b, -1);
}

void ib_json_write_pretty(const json_t *j, struct ib_buf *b)
{
	write_value(j, b, 0);
	ib_buf_addc(b, '\n');
}
