/* SPDX-License-Identifier: Apache-2.0 */
/* A process without network: user and network namespaces of its own, in which only loopback is up. */
#ifndef IB_RUN_ISOLATE_H
#define IB_RUN_ISOLATE_H

/* Cuts the calling process (one thread) off from every network. User and group IDs stay what they are. Returns 0 when nothing can get out,
 * else an errno: the process must not go on then. */
int ib_isolate_network(void);

#endif
