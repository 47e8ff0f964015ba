/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line tells about what will not be seen: work that is done elsewhere, statuses that are lost; how long clients take to stop. */
#ifndef IB_RUN_OUTSIDE_H
#define IB_RUN_OUTSIDE_H

#include <stdint.h>

/* What the command starts is no process below us ("docker exec", "ssh"): a sentence that says what cannot be done (allocated), or NULL. */
char *ib_outside_note(char *const *argv);
/* A shell's pipe whose status is that of its last command only: a sentence, or NULL (static). */
const char *ib_pipe_note(char *const *argv);

/* The grace time that a client of this name (see ib-contract(5)) needs to write what it has; *ret_signal: what makes it do so. NULL and unknown
 * names: the default. */
int64_t ib_client_grace_ns(const char *client, int *ret_signal);

#endif
