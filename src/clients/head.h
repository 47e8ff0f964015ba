/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a file, looked at for recognition only: which keys its first JSON object has, without parsing the rest. */
#ifndef IB_CLIENTS_HEAD_H
#define IB_CLIENTS_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#define IB_HEAD_MAX (64u << 10) /* bytes looked at */

struct ib_head {
	const char *data;
	size_t n; /* at most IB_HEAD_MAX */
};

/* Has the first object of the file this key at its top level (spelt without escapes)? */
bool ib_head_has(const struct ib_head *h, const char *key);
/* Is the value of the key a string that begins with prefix? */
bool ib_head_starts(const struct ib_head *h, const char *key, const char *prefix);

#endif
