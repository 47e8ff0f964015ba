/* SPDX-License-Identifier: Apache-2.0 */
/* Names in packets (man/ib-packet.5, Names): which paths are allowed, and the set in which no two collide. */
#ifndef IB_STORE_NAMES_H
#define IB_STORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IB_PATH_MAX 1024 /* bytes, with the top directory */
#define IB_COMPONENT_MAX 255
#define IB_NAMES_MAX (1u << 20) /* files, and as many directories */

/* unicode.c: closed ranges of allowed code points, ascending. */
extern const uint32_t ib_name_ranges[][2];
extern const size_t ib_name_range_count;

/* 0 when the n bytes are a path that a packet may hold; IB_E_PATH saying why otherwise, with err->where the path. */
IB_MUST int ib_name_check(const char *path, size_t n, struct ib_err *err);

/* True for [a-z0-9][a-z0-9_-]{0,31}: names of studies, groups and cells. */
bool ib_name_is_plain(const char *s, size_t n);

/* Set of paths: unique after NFC and case folding, no file a parent of another. Holds 16 bytes of a digest for each file and directory. */
struct ib_names;
struct ib_names *ib_names_new(void);
/* Adds a path that ib_name_check() took. IB_E_DUP when it collides, IB_E_LIMIT when there are too many. */
IB_MUST int ib_names_add(struct ib_names *s, const char *path, struct ib_err *err);
void ib_names_free(struct ib_names **s);
#define ib_auto_names __attribute__((cleanup(ib_names_free)))

#endif
