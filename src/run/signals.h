/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to ib-run (INT, TERM, HUP, QUIT and CHLD) as a descriptor, so that nothing runs in a handler. */
#ifndef IB_RUN_SIGNALS_H
#define IB_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ib_signals {
	int fd;           /* signalfd */
	int caught;       /* the first INT, TERM, HUP or QUIT that arrived, or 0 */
	int count;        /* how many of them */
	sigset_t before;  /* mask of before, given back by ib_signals_clear() */
};

/* Blocks the signals and opens the descriptor. One at a time in a process. */
IB_MUST int ib_signals_init(struct ib_signals *s, struct ib_err *err);
/* Restores the mask. */
void ib_signals_clear(struct ib_signals *s);
/* Takes what has arrived, waiting at most timeout_ns (0: not at all, negative: without end) or until the extra descriptor (or -1) is
 * readable. Returns the last of INT, TERM, HUP, QUIT taken in this call, or 0. */
int ib_signals_wait(struct ib_signals *s, int64_t timeout_ns, int extra_fd);

#endif
