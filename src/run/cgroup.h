/* SPDX-License-Identifier: Apache-2.0 */
/* A control group (version 2) for one command: its memory limit, what it used, its end in one stroke. Where none can be made, it is said why. */
#ifndef IB_RUN_CGROUP_H
#define IB_RUN_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"

struct ib_cgroup {
	int parent_fd, dir_fd;  /* -1: there is no group */
	int procs_fd, kill_fd;  /* for struct ib_child_spec; 0: none */
	char *name;             /* below the parent */
	char *why;              /* why there is no group, or NULL */
	int64_t limit_bytes;    /* of memory, as asked; IB_NONE: no limit asked */
	char *why_no_limit;     /* why it is not enforced, or NULL */
};

/* The directory of our own control group, from the texts of /proc/self/mountinfo and /proc/self/cgroup (cut at NUL). Allocated, or NULL: no version 2. */
char *ib_cgroup_own(const char *mountinfo, const char *membership);
/* As above, of this process. */
char *ib_cgroup_find(void);

/* Makes the group "name" below the directory parent (NULL: there is none), with a limit of memory_bytes (IB_NONE: none). Never fails: see
 * ret->why and ret->why_no_limit. Enables a controller in the parent only where a limit is asked for. */
void ib_cgroup_make(const char *parent, const char *name, int64_t memory_bytes, struct ib_cgroup *ret);
/* The same, of a directory that exists (in tests: a fake). */
void ib_cgroup_adopt(const char *parent, const char *name, int64_t memory_bytes, struct ib_cgroup *ret);
/* The record's section "resources"; *ret_oom_kills: processes that the kernel killed for memory, or IB_NONE. */
json_t *ib_cgroup_report(const struct ib_cgroup *c, int64_t *ret_oom_kills);
/* The command is not in it after all. */
void ib_cgroup_unused(struct ib_cgroup *c, const char *why);
/* Closes, and removes the group when it is empty. */
void ib_cgroup_clear(struct ib_cgroup *c);
#define ib_auto_cgroup __attribute__((cleanup(ib_cgroup_clear)))

#endif
