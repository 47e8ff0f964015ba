/* SPDX-License-Identifier: Apache-2.0 */
/* Between fork and exec: shared by child.c and child_exec.c only. */
#ifndef IB_RUN_CHILD_INSIDE_H
#define IB_RUN_CHILD_INSIDE_H

#include "run/child.h"

/* What the new process says through a pipe that closes at exec; each message is one write. */
struct ib_child_report {
	enum { IB_CHILD_EXEC, IB_CHILD_NETWORK, IB_CHILD_CGROUP } what; /* what failed */
	int sys;
};

/* Becomes the command, or says why not. In a child of vfork(), too, so that nothing of ours is changed here; environ is the
 * command's already. */
_Noreturn void ib_child_exec(const struct ib_child_spec *spec, int report);

#endif
