/* SPDX-License-Identifier: Apache-2.0 */
/* Time: wall and monotonic clocks behind one struct, so that tests set them; RFC 3339 text. */
#ifndef IB_BASE_CLOCK_H
#define IB_BASE_CLOCK_H

#include <stdint.h>

#include "base/err.h"

#define IB_NS 1000000000LL
#define IB_TIME_LEN 32 /* room for any text of ib_time_text() */

struct ib_clock {
	int64_t (*wall_ns)(void *arg);      /* since 1970-01-01T00:00:00Z */
	int64_t (*monotonic_ns)(void *arg); /* CLOCK_BOOTTIME: goes on during suspend */
	int64_t (*awake_ns)(void *arg);     /* CLOCK_MONOTONIC: stands still then; NULL: that of monotonic_ns */
	void *arg;
};

extern const struct ib_clock ib_clock_system;

int64_t ib_wall_ns(const struct ib_clock *c);
int64_t ib_monotonic_ns(const struct ib_clock *c);
int64_t ib_awake_ns(const struct ib_clock *c);

/* "2026-11-30T16:01:02.123456789Z" (digits 0, 3, 6 or 9 after the point; 0: no point). */
void ib_time_text(int64_t wall_ns, int digits, char ret[IB_TIME_LEN]);
/* "20261130T160102Z", as in run IDs. */
void ib_time_compact(int64_t wall_ns, char ret[IB_TIME_LEN]);
/* Strict RFC 3339 in UTC ("Z"), 0 to 9 digits of a second; IB_E_SYNTAX otherwise. */
IB_MUST int ib_time_parse(const char *text, int64_t *ret_wall_ns, struct ib_err *err);
/* "90", "90s", "10m", "2h", "250ms" -> ns; a bare number means seconds. IB_E_USAGE otherwise. */
IB_MUST int ib_duration_parse(const char *text, int64_t *ret_ns, struct ib_err *err);

#endif
