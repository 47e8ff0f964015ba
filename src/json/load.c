/* SPDX-License-Identifier: Apache-2.0 */
/* The strict JSON loader. jansson refuses nearly everything bad once told to reject duplicates; what it takes all the same
 * (a byte 0 after a number, depths up to 2048) is refused here first. */
#include "json/json.h"

#include <string.h>

#include "base/io.h"

/* Line and column (from 1) of an offset. */
static void position(const char *data, size_t at, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < at; i++) {
		(*column)++;
		if (data[i] == '\n') {
			(*line)++;
			*column = 1;
		}
	}
}

static int refuse(const char *name, const char *data, size_t at, const char *why, struct ib_err *err)
{
	size_t line, column;

	position(data, at, &line, &column);
	return ib_fail_at(err, IB_E_JSON, name, "'%s' line %zu column %zu: %s", name, line, column, why);
}

/* Depth and numbers over their limits, found without parsing: brackets and commas outside strings. What jansson makes of three bytes
 * may take 300: a document of 16 MiB must not take gigabytes. */
static int check_shape(const char *data, size_t n, const char *name, struct ib_err *err)
{
	bool in_string = false;
	size_t containers = 0, values = 1;
	int depth = 0;

	for (size_t i = 0; i < n; i++) {
		char c = data[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		in_string = c == '"';
		values += c == ',';
		containers += c == '[' || c == '{';
		depth += (c == '[' || c == '{') - (c == ']' || c == '}');
		if (depth > IB_JSON_DEPTH)
			return ib_fail_at(err, IB_E_LIMIT, name, "'%s' is nested more than %d deep", name, IB_JSON_DEPTH);
		if (containers > IB_JSON_CONTAINERS || values > IB_JSON_VALUES)
			return ib_fail_at(err, IB_E_LIMIT, name, "'%s' holds more than %u values or %u lists and objects", name, IB_JSON_VALUES,
					  IB_JSON_CONTAINERS);
	}
	return 0;
}

static int load(const char *data, size_t n, const char *name, size_t flags, json_t **ret, struct ib_err *err)
{
	const char *nul = n ? memchr(data, 0, n) : NULL;
	json_error_t e;
	json_t *j;
	int r;

	if (n > IB_JSON_MAX)
		return ib_fail_at(err, IB_E_LIMIT, name, "'%s' is larger than the limit of %u bytes for a JSON document", name, IB_JSON_MAX);
	if (nul)
		return refuse(name, data, (size_t)(nul - data), "byte 0", err);
	r = check_shape(data, n, name, err);
	if (r < 0)
		return r;
	j = json_loadb(n ? data : "", n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &e);
	if (!j)
		return ib_fail_at(err, IB_E_JSON, name, "'%s' line %d column %d: %s", name, e.line, e.column, e.text);
	*ret = j;
	return 0;
}

int ib_json_load(const char *data, size_t n, const char *name, json_t **ret, struct ib_err *err)
{
	return load(data, n, name, 0, ret, err);
}

int ib_json_load_foreign(const char *data, size_t n, const char *name, json_t **ret, struct ib_err *err)
{
	return load(data, n, name, JSON_ALLOW_NUL, ret, err);
}

int ib_json_load_file(int dirfd, const char *path, json_t **ret, struct ib_err *err)
{
	ib_auto_buf struct ib_buf b = IB_BUF(IB_JSON_MAX);
	int r = ib_read_file(dirfd, path, &b, err);

	if (r < 0)
		return r;
	return ib_json_load(ib_buf_str(&b), b.len, path, ret, err);
}
