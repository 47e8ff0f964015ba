/* SPDX-License-Identifier: Apache-2.0 */
/* Children with a time limit: a function in a forked child, or a program. A hang, a crash or endless output costs the caller
 * nothing but the limit. */
#ifndef IB_BASE_SPAWN_H
#define IB_BASE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct ib_child_end {
	bool timed_out; /* killed at the time limit */
	bool overflow;  /* killed because its output exceeded the buffer's maximum */
	bool stopped;   /* killed because the caller's stop said so */
	int status;     /* exit status, -1 when it did not exit by itself */
	int signal;     /* signal that ended it, or 0 */
	int64_t wall_ns, cpu_ns; /* cpu_ns: user and system time of the child */
};

/* Runs fn(arg, fd) in a forked child of its own process group; what it writes to fd lands in out, its result is the exit
 * status. At the limit (or at too much output) the whole group gets SIGKILL. Returns 0 however the child ended: ret says how.
 * An error means that no child could be made. fn must not return through the caller's state: it ends in _exit(). */
IB_MUST int ib_child_call(int (*fn)(void *arg, int fd), void *arg, int64_t timeout_ns, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err);

/* What may end the wait for a child early: asked whenever fd is readable, and must then read from it. True: the child is killed. */
struct ib_spawn_stop {
	int fd;
	bool (*ask)(void *arg);
	void *arg;
};

struct ib_spawn {
	const char *const *argv; /* argv[0] with a '/' is a path, else searched on the PATH of this process */
	char *const *env;        /* NULL: empty */
	const char *cwd;         /* NULL: stays */
	int64_t timeout_ns;
	uint64_t memory_bytes; /* address space, 0: no limit */
	bool with_stderr;      /* stderr goes to out as well; else to /dev/null */
	const struct ib_spawn_stop *stop; /* NULL: nothing */
};

/* Runs a program with stdin from /dev/null and stdout to out; otherwise like ib_child_call(). A program that cannot be executed
 * ends with status 127 (not found) or 126. */
IB_MUST int ib_spawn(const struct ib_spawn *what, struct ib_buf *out, struct ib_child_end *ret, struct ib_err *err);

#endif
