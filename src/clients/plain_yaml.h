/* SPDX-License-Identifier: Apache-2.0 */
/* Block YAML as programs dump it, line by line: enough to find a few numbers in a client's file, and no more. Nulls, which contracts may not have, are passed
 * over; flow style, multi-line scalars and anchors are not understood. */
#ifndef IB_CLIENTS_PLAIN_YAML_H
#define IB_CLIENTS_PLAIN_YAML_H

#include "clients/head.h"

/* A scalar: its keys joined by "/" ("load/stages/rate": items of lists have no part of their own), and its text without quotes. item: it begins an item. */
typedef void (*ib_plain_yaml_fn)(const char *path, const char *value, bool item, void *arg);
void ib_plain_yaml(const char *text, ib_plain_yaml_fn fn, void *arg);
/* The line that begins with start, or NULL. */
const char *ib_plain_yaml_line(const struct ib_head *h, const char *start);

#endif
