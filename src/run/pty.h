/* SPDX-License-Identifier: Apache-2.0 */
/* A pseudo-terminal for the command, and our own terminal, which stands behind it: what is typed goes on, the window's size too. */
#ifndef IB_RUN_PTY_H
#define IB_RUN_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/err.h"
#include "run/signals.h"

struct ib_pty {
	int master_fd;
	bool typing;           /* our standard input is a terminal that we read */
	bool raw;              /* and it is in raw mode */
	bool shows_raw;        /* it is as before, but for what is shown */
	struct termios before; /* its mode of before */
	char pending[1024];    /* typed, and not taken by the command yet */
	size_t pending_n;
};

/* A new pseudo-terminal with the size of ours, or 80x24. *ret_slave_fd is the command's end. */
IB_MUST int ib_pty_open(struct ib_pty *ret, int *ret_slave_fd, struct ib_err *err);
void ib_pty_clear(struct ib_pty *p);
#define ib_auto_pty __attribute__((cleanup(ib_pty_clear)))

/* Is our standard input a terminal whose foreground is ours? */
bool ib_pty_has_input(void);
/* From now on what is typed goes to the command, byte for byte; does nothing without ib_pty_has_input(). */
void ib_pty_attach(struct ib_pty *p);
/* The command has ended: Ctrl-C is for us again, while the last of its output is shown as it is. ib_pty_clear() ends that. */
void ib_pty_rest(struct ib_pty *p);
/* Our terminal as it was. */
void ib_pty_detach(struct ib_pty *p);
/* The descriptor to wait for, or -1. */
int ib_pty_wait_fd(const struct ib_pty *p);
/* Hands on what was typed, and a new size of the window. What makes a signal at the command's terminal (Ctrl-C, Ctrl-\) is one to us too
 * (signals->caught) and is returned; Ctrl-Z stops the command when it is the foreground, and us. 0: none. */
int ib_pty_serve(struct ib_pty *p, pid_t command, struct ib_signals *signals);

#endif
