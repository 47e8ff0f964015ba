/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of a tool that reads somebody's evidence. */
#ifndef IB_TOOLS_LOCKDOWN_H
#define IB_TOOLS_LOCKDOWN_H

#include "verify/verify.h"

struct ib_lockdown {
	bool require;
	const char *writes; /* the file that will be made afterwards, or NULL */
	const struct ib_extract *extract; /* begun, or NULL; not together with writes */
};

/* The ready() of struct ib_verify_opts; arg is a struct ib_lockdown. IB_E_IO: the directory of the file to be made cannot be opened. */
IB_MUST int ib_lockdown(void *arg, const struct ib_verify_open *open, struct ib_sandbox *ret, struct ib_err *err);

#endif
