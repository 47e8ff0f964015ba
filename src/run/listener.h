/* SPDX-License-Identifier: Apache-2.0 */
/* The process that listens at a local address: which one it is, and since when it runs. */
#ifndef IB_RUN_LISTENER_H
#define IB_RUN_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/root.h"

struct ib_listener {
	/* "ok"; "remote": not this machine; "absent": nobody listens there, or nobody who can be seen; "denied": its processes may not be looked at;
	 * "unknown": what listens passes requests on, or the address is a name. Static, never NULL. */
	const char *status, *why; /* why: static text, or NULL */
	int64_t pid, start_ticks; /* or IB_NONE: what tells one process from any other until the next boot */
	double started_s;         /* since 1970, from the boot's time; NAN */
	int64_t processes;        /* that hold the socket: the oldest is the one above */
	char name[16];            /* as the kernel has it */
};

/* Of a URL with an address of this machine. root NULL: the live system. Needs no privileges for one's own processes. */
void ib_listener_of(struct ib_root *root, const char *url, struct ib_listener *ret);
/* Both known, and not the same process? Both known, and the same? */
bool ib_listener_other(const struct ib_listener *a, const struct ib_listener *b);
bool ib_listener_same(const struct ib_listener *a, const struct ib_listener *b);

/* Does somebody listen on the port, at whatever address? */
bool ib_listens(struct ib_root *root, unsigned port);

#endif
