/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler: a process beside the measured command that looks at machine, client and server at an interval, and appends what it sees to
 * samples.jsonl of the run (schemas/samples-v1.schema.json). */
#ifndef IB_RUN_SAMPLER_H
#define IB_RUN_SAMPLER_H

#include <sys/types.h>

#include "json/json.h"
#include "run/run.h"

struct ib_sampler {
	pid_t pid;                 /* 0: not started */
	int control_fd, report_fd; /* or -1 */
	char *why;                 /* not started although it was to be: why */
};

/* Starts it, as run->spec->sampling says. Cannot fail the run: what is wrong is said in the record by ib_sampler_finish(). To be called right before the
 * command is started, so that its processes are none of the command's. */
void ib_sampler_start(struct ib_run *run, struct ib_sampler *ret);
/* Ends it, waits for it, and fills the record's sections "sampler" and "load", and its notes. */
void ib_sampler_finish(struct ib_run *run, struct ib_sampler *s);

#endif
