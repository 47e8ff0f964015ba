/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and strings. Allocation never returns NULL: sizes that come from input are bounded before they get here,
 * and when memory is out the process ends (abort). */
#ifndef IB_BASE_STR_H
#define IB_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

void *ib_alloc(size_t n);                     /* zeroed, n > 0 */
void *ib_realloc(void *p, size_t n, size_t size); /* n items of size bytes; overflow aborts */
char *ib_strdup(const char *s);               /* NULL gives NULL */
char *ib_strndup(const char *s, size_t n); /* all n bytes are read: of a text that may be shorter, pass strnlen(s, max) */
char *ib_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

bool ib_starts(const char *s, const char *prefix);
bool ib_ends(const char *s, const char *suffix);
bool ib_streq(const char *a, const char *b); /* NULL equals NULL only */

/* Lower-case hex of n bytes and a NUL into out[2n+1]. */
void ib_hex(const void *data, size_t n, char *out);
/* True when s is exactly n lower-case hex digits. */
bool ib_is_hex(const char *s, size_t n);

/* Padded standard base64, NUL-terminated, allocated. */
char *ib_b64_encode(const void *data, size_t n);
/* Strict decode: standard alphabet, padding required, no white space, zero trailing bits; else IB_E_SYNTAX.
 * *ret_data is allocated, *ret_n bytes long. */
IB_MUST int ib_b64_decode(const char *s, size_t n, uint8_t **ret_data, size_t *ret_n, struct ib_err *err);

/* Parses a whole decimal int64 (optional '-', no white space, no leading zeros but "0"). */
IB_MUST int ib_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct ib_err *err);

/* True when all bytes form valid UTF-8 (no surrogates, no overlong forms). */
bool ib_utf8_valid(const char *s, size_t n);

/* The name under which an NFS client keeps a file that was removed or replaced while a process had it open (".nfs" and hexadecimal digits). It is
 * gone as soon as that process closes it: no evidence can name it. */
bool ib_nfs_remains(const char *name);

/* The known name nearest to word (edit distance at most a third of its length, at least 1), or NULL. names ends with NULL. */
const char *ib_nearest(const char *word, const char *const *names);

/* List of strings, owned. */
struct ib_strv {
	char **v; /* NULL-terminated when n > 0 */
	size_t n;
};
void ib_strv_add(struct ib_strv *l, const char *s);
void ib_strv_take(struct ib_strv *l, char *s); /* takes ownership */
void ib_strv_sort(struct ib_strv *l);          /* by bytes */
bool ib_strv_has(const struct ib_strv *l, const char *s);
void ib_strv_clear(struct ib_strv *l);
#define ib_auto_strv __attribute__((cleanup(ib_strv_clear)))

#endif
