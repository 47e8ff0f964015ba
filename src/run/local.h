/* SPDX-License-Identifier: Apache-2.0 */
/* Where an endpoint is: on this machine? Names are not looked up. */
#ifndef IB_RUN_LOCAL_H
#define IB_RUN_LOCAL_H

#include <stdbool.h>

#include "base/root.h"

enum ib_local { IB_LOCAL_UNKNOWN, IB_LOCAL_NO, IB_LOCAL_YES };

/* Host and port of a URL; the default port where none is given. False: not one that we understand. */
bool ib_url_place(const char *url, char host[256], unsigned *ret_port);
/* Is the host, an address or "localhost", this machine? Unknown: another name. root NULL: the live system, whose own addresses are known. */
enum ib_local ib_host_local(struct ib_root *root, const char *host);
/* Is the endpoint served on this machine? Unknown: *ret_why is the reason (static text). */
enum ib_local ib_colocated(struct ib_root *root, const char *url, const char **ret_why);

#endif
