/* SPDX-License-Identifier: Apache-2.0 */
/* A line scanner for dumped YAML. */
#include "clients/plain_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"

#define DEPTH 12
#define PATH_BYTES 192
#define KEY_BYTES 48

const char *ib_plain_yaml_line(const struct ib_head *h, const char *start)
{
	const char *at = h->data;
	size_t n = strlen(start);

	while (at && (size_t)(h->data + h->n - at) >= n) {
		if (memcmp(at, start, n) == 0)
			return at;
		at = memchr(at, '\n', (size_t)(h->data + h->n - at));
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

/* The keys above the line, each with its indentation. */
struct place {
	struct {
		size_t indent;
		char key[KEY_BYTES];
	} above[DEPTH];
	size_t n;
};

/* The path of a key, with those above it; empty: too long. */
static void path_of(const struct place *p, const char *key, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i <= p->n; i++) {
		const char *part = i < p->n ? p->above[i].key : key;
		size_t len = strlen(part);

		if (n + len + 2 > PATH_BYTES) {
			ret[0] = '\0';
			return;
		}
		memcpy(ret + n, part, len);
		n += len;
		ret[n++] = i < p->n ? '/' : '\0';
	}
}

static char *unquote(char *value)
{
	size_t n;

	value[strcspn(value, "\r")] = '\0';
	n = strlen(value);
	if (n < 2 || (*value != '\'' && *value != '"') || value[n - 1] != *value)
		return value;
	value[n - 1] = '\0';
	return value + 1;
}

static void descend(struct place *p, size_t indent, const char *key)
{
	if (p->n >= DEPTH || strlen(key) >= KEY_BYTES)
		return;
	p->above[p->n].indent = indent;
	memcpy(p->above[p->n++].key, key, strlen(key) + 1);
}

static void take_line(struct place *p, char *line, ib_plain_yaml_fn fn, void *arg)
{
	size_t indent = strspn(line, " ");
	bool item = line[indent] == '-' && line[indent + 1] == ' ';
	char path[PATH_BYTES], *colon, *key, *value;

	indent += item ? 2 : 0;
	key = line + indent;
	colon = strchr(key, ':');
	if (!colon || (colon[1] && colon[1] != ' ' && colon[1] != '\r'))
		return;
	*colon = '\0';
	value = unquote(colon + 1 + strspn(colon + 1, " "));
	while (p->n && p->above[p->n - 1].indent >= indent)
		p->n--;
	path_of(p, key, path);
	if (*value && strcmp(value, "null") != 0 && strcmp(value, "~") != 0)
		fn(path, value, item, arg);
	else if (item)
		fn("", "", true, arg);
	if (!*value)
		descend(p, indent, key);
}

void ib_plain_yaml(const char *text, ib_plain_yaml_fn fn, void *arg)
{
	struct place place = {0};

	for (const char *at = text; at && *at;) {
		const char *end = strchr(at, '\n');
		ib_auto_free char *line = ib_strndup(at, end ? (size_t)(end - at) : strlen(at));

		take_line(&place, line, fn, arg);
		at = end ? end + 1 : NULL;
	}
}
