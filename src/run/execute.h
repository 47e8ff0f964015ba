/* SPDX-License-Identifier: Apache-2.0 */
/* The execution of a run's command: shared by execute.c and confine.c only. */
#ifndef IB_RUN_EXECUTE_H
#define IB_RUN_EXECUTE_H

#include "run/cgroup.h"
#include "run/inside.h"
#include "run/logger.h"
#include "run/pty.h"
#include "run/watch.h"

struct ib_execution_clocks {
	int64_t wall_ns, monotonic_ns, awake_ns;
};

struct ib_execution {
	struct ib_run *run;
	struct ib_strv argv;
	struct ib_child_spec spec;
	struct ib_logger logger;
	struct ib_pty pty;
	struct ib_cgroup cgroup;
	struct ib_watch watch;
	struct ib_execution_clocks from;
};

/* confine.c: a control group of its own for the command, where one can be made, with its memory limit. */
void ib_execution_limit(struct ib_execution *x);
/* The record's section "isolation". */
void ib_execution_isolation(const struct ib_execution *x);
/* The record's section "resources", and what it says about the end. */
void ib_execution_resources(struct ib_execution *x, const struct ib_child_result *res);

#endif
