/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses of all tools, as printed in every manual page. */
#ifndef IB_BASE_EXIT_H
#define IB_BASE_EXIT_H

enum ib_exit {
	IB_EXIT_OK = 0,        /* done; everything required holds */
	IB_EXIT_FAILS = 1,     /* the evidence does not hold */
	IB_EXIT_USAGE = 2,     /* wrong command line or contract */
	IB_EXIT_UNDECIDED = 3, /* could not decide: I/O, no trust anchor, unsupported */
	IB_EXIT_REFUSED = 4,   /* input refused */
	/* ib-run around a command */
	IB_EXIT_TIMED_OUT = 124,
	IB_EXIT_RUN_ERROR = 125, /* failure or wrong use of ib-run itself */
	IB_EXIT_CANNOT_EXECUTE = 126,
	IB_EXIT_NOT_FOUND = 127,
	IB_EXIT_SIGNAL = 128, /* plus the signal's number */
};

#endif
