/* SPDX-License-Identifier: Apache-2.0 */
/* What ib-verify and ib-report give up before they read the first byte of somebody's evidence. Only tools call this: a library must not lock its
 * caller in. Linux; elsewhere the level is "none". */
#ifndef IB_VERIFY_SANDBOX_H
#define IB_VERIFY_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define IB_SANDBOX_DIRS 4

struct ib_sandbox_opts {
	int keep[IB_SANDBOX_DIRS]; /* descriptors that stay open beside 0, 1 and 2: n_keep of them, all other ones are closed */
	size_t n_keep;
	int read[IB_SANDBOX_DIRS]; /* open directories below which files may be read: n_read of them */
	size_t n_read;
	int write; /* an open directory below which files may be made, or -1 */
	int rename; /* an open directory in which a directory may get another name, or -1 */
	bool require;
};

struct ib_sandbox {
	int landlock;       /* the kernel's ABI that is in force, 0: none */
	bool seccomp;       /* a list of system calls is in force */
	char level[32];     /* "landlock-7+seccomp", "seccomp", "landlock-7", "none" */
	char missing[160];  /* why a layer is missing, or "" */
};

/* Lets the libraries open what they open on first use, closes descriptors, sets limits, forbids new privileges, then what Landlock and seccomp can
 * forbid. It cannot be undone. A layer that this system does not have is said in *ret, and IB_E_UNSUPPORTED with require. IB_E_IO: the system
 * refused what it always has. */
IB_MUST int ib_sandbox_enter(const struct ib_sandbox_opts *opts, struct ib_sandbox *ret, struct ib_err *err);

#endif
