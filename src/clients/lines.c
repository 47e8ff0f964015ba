/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines through the strict loader, line by line. */
#include "clients/lines.h"

#include <string.h>

static bool blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r' && p[i] != '\n')
			return false;
	return true;
}

static int one(const char *p, size_t n, const char *name, ib_line_fn fn, void *arg, struct ib_err *err)
{
	ib_auto_json json_t *j = NULL;
	int r = ib_json_load_foreign(p, n, name, &j, err);

	return r < 0 ? r : fn(j, name, arg, err);
}

int ib_lines(const char *data, size_t n, const char *name, bool torn_ok, ib_line_fn fn, void *arg, struct ib_err *err)
{
	size_t line = 0;

	for (size_t at = 0; at < n;) {
		const char *end = memchr(data + at, '\n', n - at);
		size_t len = end ? (size_t)(end - data) - at : n - at;

		line++;
		if (!end && !torn_ok)
			return ib_fail_at(err, IB_E_SYNTAX, name, "'%s' line %zu: the last line is not whole: no line feed at its end", name, line);
		if (!blank(data + at, len)) {
			int r = one(data + at, len, name, fn, arg, err);

			if (r < 0)
				return ib_wrap(err, "file line %zu", line);
		}
		at += len + 1;
	}
	return 0;
}

int ib_lines_or_document(const char *data, size_t n, const char *name, ib_line_fn fn, void *arg, struct ib_err *err)
{
	const char *end = n ? memchr(data, '\n', n) : NULL;
	ib_auto_json json_t *first = NULL;
	size_t len = end ? (size_t)(end - data) : n;

	if (!end || blank(end, n - len) || ib_json_load_foreign(data, len, name, &first, NULL) < 0)
		return one(data, n, name, fn, arg, err);
	return ib_lines(data, n, name, true, fn, arg, err);
}
