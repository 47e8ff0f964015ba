/* SPDX-License-Identifier: Apache-2.0 */
/* YAML for contracts: libyaml's events become a small tree with positions; everything of YAML that surprises is refused. */
#ifndef IB_JSON_YAML_H
#define IB_JSON_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define IB_YAML_MAX (1u << 20)     /* bytes of one document */
#define IB_YAML_NODES_MAX 50000    /* scalars, lists and maps of one document */
#define IB_YAML_KEYS_MAX 1024      /* keys of one map */
#define IB_YAML_DEPTH 32

enum ib_yaml_kind { IB_YAML_SCALAR, IB_YAML_LIST, IB_YAML_MAP };

/* A place in the file, counted from 1; columns are characters. */
struct ib_yaml_at {
	unsigned line, column;
};

struct ib_yaml {
	enum ib_yaml_kind kind;
	bool plain;              /* scalar without quotes */
	char *text;              /* scalar: valid UTF-8 without byte 0; else NULL */
	char *key;               /* its name in the map that holds it; else NULL */
	struct ib_yaml_at at;    /* the value */
	struct ib_yaml_at key_at;
	struct ib_yaml *child;   /* first of a list or map, in the order of the file */
	struct ib_yaml *next;
	size_t n;                /* children */
};

/* Parses one document. Refused as IB_E_USAGE with "name:line:column: …": whatever is no YAML, invalid UTF-8, byte 0, byte order mark, directives, a
 * second or no document, duplicate keys, keys that are no scalar, anchors, aliases, tags, merge keys, null, ~ and empty without quotes, depth
 * over IB_YAML_DEPTH; more than the limits above. *ret is freed with ib_yaml_free(). */
IB_MUST int ib_yaml_load(const char *data, size_t n, const char *name, struct ib_yaml **ret, struct ib_err *err);
void ib_yaml_free(struct ib_yaml **y);
#define ib_auto_yaml __attribute__((cleanup(ib_yaml_free)))

/* The value of key in a map, or NULL (also where map is NULL or no map). */
const struct ib_yaml *ib_yaml_get(const struct ib_yaml *map, const char *key);
/* The i-th child of a list, or NULL. */
const struct ib_yaml *ib_yaml_item(const struct ib_yaml *list, size_t i);

/* IB_E_USAGE "name:line:column: text"; the place is in err->where, too. */
int ib_yaml_fail(struct ib_err *err, const char *name, struct ib_yaml_at at, const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));

#endif
