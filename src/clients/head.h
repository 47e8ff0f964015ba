/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a file, looked at for recognition only: which keys its first JSON object has, without parsing the rest. */
#ifndef IB_CLIENTS_HEAD_H
#define IB_CLIENTS_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IB_HEAD_MAX (64u << 10) /* bytes looked at */

struct ib_head {
	const char *data;
	size_t n; /* at most IB_HEAD_MAX */
};

/* The beginning of a text of n bytes, without a byte-order mark. */
struct ib_head ib_head_of(const char *data, size_t n);
/* Has the first object of the file this key at its top level (spelt without escapes)? */
bool ib_head_has(const struct ib_head *h, const char *key);
/* Is the value of the key a string that begins with prefix? */
bool ib_head_starts(const struct ib_head *h, const char *key, const char *prefix);
/* The value of the key as a whole number of at most 18 digits, or -1. */
int64_t ib_head_count(const struct ib_head *h, const char *key);
/* The head from the first element of the array that the file is on, or an empty one when the file is no array of objects. */
struct ib_head ib_head_element(const struct ib_head *h);
/* The head from the value of the key on, or an empty one when the value is no object: for keys one level down. */
struct ib_head ib_head_inside(const struct ib_head *h, const char *key);
/* The same for the first element of the array that is the value of the key. */
struct ib_head ib_head_first(const struct ib_head *h, const char *key);

#endif
