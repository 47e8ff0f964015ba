/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to ib-run (INT, TERM, HUP, QUIT, TSTP, CONT, WINCH and CHLD) as a descriptor, so that nothing runs in a handler. */
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
	bool resized;     /* the terminal's window has changed; who looks at it sets it back */
	sigset_t before;  /* mask of before, given back by ib_signals_clear() */
	/* Called around a stop of ib-run (Ctrl-Z at the terminal): true before, false after it goes on. NULL: nobody wants to know. */
	void (*on_stop)(void *arg, bool stopping);
	void *on_stop_arg;
};

/* Blocks the signals and opens the descriptor. One at a time in a process. */
IB_MUST int ib_signals_init(struct ib_signals *s, struct ib_err *err);
/* Restores the mask. */
void ib_signals_clear(struct ib_signals *s);
/* Takes what has arrived, waiting at most timeout_ns (0: not at all, negative: without end) or until the extra descriptor (or -1) is
 * readable. Returns the last of INT, TERM, HUP, QUIT taken in this call, or 0. */
int ib_signals_wait(struct ib_signals *s, int64_t timeout_ns, int extra_fd);
/* As if sig had arrived: it was typed at a terminal that we read ourselves. */
void ib_signals_typed(struct ib_signals *s, int sig);
/* Stops this process as SIGTSTP does (not at all where nobody could let it go on), with on_stop around it. */
void ib_signals_stop(struct ib_signals *s);

#endif
