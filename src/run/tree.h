/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of processes below this one, from /proc: who belongs to a command, and its end. */
#ifndef IB_RUN_TREE_H
#define IB_RUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ib_pids {
	pid_t *v;
	size_t n;
};

void ib_pids_add(struct ib_pids *l, pid_t pid);
bool ib_pids_has(const struct ib_pids *l, pid_t pid);
void ib_pids_clear(struct ib_pids *l);
#define ib_auto_pids __attribute__((cleanup(ib_pids_clear)))

/* The present children of this process. False: /proc cannot tell. */
bool ib_tree_children(struct ib_pids *ret);

/* Living descendants of this process but those below the excluded ones; *ret_dead (may be NULL): how many have died and were not
 * waited for yet. False: /proc cannot tell. */
bool ib_tree_descendants(const struct ib_pids *excluded, struct ib_pids *ret, size_t *ret_dead);

/* Living processes of a session. False: /proc cannot tell. */
bool ib_tree_session(pid_t session, struct ib_pids *ret);

/* Processes whose environment holds IB_RUN_DIR below dir ("/…/runs") and no IB_HOOK, whose run's directory nobody has locked: what is left of
 * runs whose ib-run was killed. Returns their number, or IB_NONE. *ret_run is the run ID of one of them (allocated) or NULL. */
int64_t ib_tree_survivors(const char *dir, char **ret_run);

#endif
