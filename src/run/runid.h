/* SPDX-License-Identifier: Apache-2.0 */
/* Run IDs, and the names that go into them. */
#ifndef IB_RUN_RUNID_H
#define IB_RUN_RUNID_H

#include <stdint.h>

#include "base/err.h"

#define IB_RUN_ID_MAX 120

/* "20261130T160102Z-<group>.<cell>-r02-9f3a1c7e"; group and cell may be NULL. random: 32 bits. */
void ib_run_id(int64_t wall_ns, const char *group, const char *cell, int repeat, uint32_t random, char ret[IB_RUN_ID_MAX]);

/* IB_E_USAGE unless name is [a-z0-9][a-z0-9_-]{0,31}. what: "group" … for the message. */
IB_MUST int ib_run_name_check(const char *what, const char *name, struct ib_err *err);

#endif
