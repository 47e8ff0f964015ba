/* SPDX-License-Identifier: Apache-2.0 */
/* Small JSON documents: the one strict loader (the only caller of jansson's parsers), the one writer (stable bytes), and
 * typed look-ups whose errors name the key. */
#ifndef IB_JSON_JSON_H
#define IB_JSON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

#define IB_JSON_MAX (16u << 20) /* bytes of one document */
#define IB_JSON_DEPTH 32
#define IB_JSON_VALUES (1u << 21)     /* members and elements of one document, all together */
#define IB_JSON_CONTAINERS (1u << 19) /* objects and arrays */

static inline void ib_auto_json_fn(json_t **j)
{
	if (*j)
		json_decref(*j);
}
#define ib_auto_json __attribute__((cleanup(ib_auto_json_fn)))

/* --- load.c ---
 * Parses one document of n bytes. Refused as IB_E_JSON with line and column: duplicate keys, invalid UTF-8, byte 0, BOM,
 * NaN and Infinity, numbers out of range, anything after the value; IB_E_LIMIT: more than IB_JSON_MAX, IB_JSON_VALUES or
 * IB_JSON_CONTAINERS, depth over IB_JSON_DEPTH.
 * name is the file in messages. Returns a new reference. */
IB_MUST int ib_json_load(const char *data, size_t n, const char *name, json_t **ret, struct ib_err *err);
/* The same for documents of other tools, whose strings may hold a model's output: "\u0000" is allowed in string values, which
 * then end at json_string_length(), not at their first byte 0. */
IB_MUST int ib_json_load_foreign(const char *data, size_t n, const char *name, json_t **ret, struct ib_err *err);
/* As ib_json_load(), for a file below dirfd. */
IB_MUST int ib_json_load_file(int dirfd, const char *path, json_t **ret, struct ib_err *err);

/* --- write.c ---
 * Members in insertion order, UTF-8 raw, only what must be escaped is (\" \\ \b \f \n \r \t, other controls \u00xx),
 * shortest decimal that reads back as the same double. No newline at the end. */
void ib_json_write(const json_t *j, struct ib_buf *b);        /* one line, no spaces */
void ib_json_write_pretty(const json_t *j, struct ib_buf *b); /* two spaces a level, newline at the end */
/* Shortest text of a finite double that reads back as the same value; out has room for 32 bytes. */
void ib_json_double(double v, char out[32]);

/* --- make.c: building; a failed allocation ends the process, so these return nothing ---
 * ib_json_set steals value; value NULL sets JSON null. */
json_t *ib_json_object(void);
json_t *ib_json_array(void);
void ib_json_set(json_t *o, const char *key, json_t *value);
void ib_json_set_str(json_t *o, const char *key, const char *s); /* NULL: null. Invalid UTF-8 becomes U+FFFD */
void ib_json_set_int(json_t *o, const char *key, int64_t v);
void ib_json_set_bool(json_t *o, const char *key, bool v);
void ib_json_set_real(json_t *o, const char *key, double v); /* not finite: null */
void ib_json_add(json_t *a, json_t *value);                  /* steals */
void ib_json_add_str(json_t *a, const char *s);
json_t *ib_json_str(const char *s);                          /* as ib_json_set_str */

/* --- get.c: where is the path of o for messages, for example "record.json: exit" ---
 * A missing key or a wrong type is IB_E_SYNTAX naming where and key. The *_opt forms give NULL, false or the default for
 * a missing key and for null. Results point into o. */
IB_MUST int ib_get_str(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err);
IB_MUST int ib_get_str_opt(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err);
IB_MUST int ib_get_int(const json_t *o, const char *where, const char *key, int64_t min, int64_t max, int64_t *ret, struct ib_err *err);
IB_MUST int ib_get_int_opt(const json_t *o, const char *where, const char *key, int64_t min, int64_t max, int64_t fallback, int64_t *ret, struct ib_err *err);
IB_MUST int ib_get_bool(const json_t *o, const char *where, const char *key, bool *ret, struct ib_err *err);
IB_MUST int ib_get_obj(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err);
IB_MUST int ib_get_obj_opt(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err);
IB_MUST int ib_get_arr(const json_t *o, const char *where, const char *key, const json_t **ret, struct ib_err *err);
IB_MUST int ib_get_hex(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err);     /* 64 lower hex */
IB_MUST int ib_get_hex_opt(const json_t *o, const char *where, const char *key, const char **ret, struct ib_err *err);
/* The same, copied: *ret is allocated; a digest goes into ret. The *_opt forms leave ret as it is when there is none (a string: NULL). */
IB_MUST int ib_get_dup(const json_t *o, const char *where, const char *key, char **ret, struct ib_err *err);
IB_MUST int ib_get_dup_opt(const json_t *o, const char *where, const char *key, char **ret, struct ib_err *err);
IB_MUST int ib_get_hex_copy(const json_t *o, const char *where, const char *key, char ret[IB_HEX_LEN], struct ib_err *err);
IB_MUST int ib_get_hex_copy_opt(const json_t *o, const char *where, const char *key, char ret[IB_HEX_LEN], struct ib_err *err);
/* o must be an object with "schema" equal to schema. */
IB_MUST int ib_get_schema(const json_t *o, const char *where, const char *schema, struct ib_err *err);

#endif
