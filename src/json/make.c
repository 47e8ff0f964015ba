/* SPDX-License-Identifier: Apache-2.0 */
/* Building JSON documents; out of memory ends the process. */
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static json_t *need(json_t *j)
{
	if (!j)
		abort();
	return j;
}

json_t *ib_json_object(void)
{
	return need(json_object());
}

json_t *ib_json_array(void)
{
	return need(json_array());
}

void ib_json_set(json_t *o, const char *key, json_t *value)
{
	if (json_object_set_new(o, key, value ? value : need(json_null())) < 0)
		abort();
}

/* Text with every byte that is not part of valid UTF-8 replaced by U+FFFD. */
static char *scrub(const char *s)
{
	struct ib_buf b = IB_BUF(SIZE_MAX / 4);
	size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		size_t k = 1;

		while (k <= 4 && i + k <= n && !ib_utf8_valid(s + i, k))
			k++;
		if (k <= 4 && i + k <= n) {
			ib_buf_add(&b, s + i, k);
			i += k;
		} else {
			ib_buf_adds(&b, "\xEF\xBF\xBD");
			i++;
		}
	}
	return ib_buf_steal(&b);
}

json_t *ib_json_str(const char *s)
{
	char *clean;
	json_t *j;

	if (!s)
		return need(json_null());
	if (ib_utf8_valid(s, strlen(s)))
		return need(json_string(s));
	clean = scrub(s);
	j = need(json_string(clean));
	free(clean);
	return j;
}

void ib_json_set_str(json_t *o, const char *key, const char *s)
{
	ib_json_set(o, key, ib_json_str(s));
}

void ib_json_set_int(json_t *o, const char *key, int64_t v)
{
	ib_json_set(o, key, need(json_integer(v)));
}

void ib_json_set_bool(json_t *o, const char *key, bool v)
{
	ib_json_set(o, key, need(json_boolean(v)));
}

void ib_json_set_real(json_t *o, const char *key, double v)
{
	ib_json_set(o, key, isfinite(v) ? need(json_real(v)) : NULL);
}

void ib_json_add(json_t *a, json_t *value)
{
	if (json_array_append_new(a, value ? value : need(json_null())) < 0)
		abort();
}

void ib_json_add_str(json_t *a, const char *s)
{
	ib_json_add(a, ib_json_str(s));
}
