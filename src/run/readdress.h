/* SPDX-License-Identifier: Apache-2.0 */
/* A client's command line with the address of its server replaced by that of a loopback endpoint, so that no load reaches the server. */
#ifndef IB_RUN_READDRESS_H
#define IB_RUN_READDRESS_H

#include "base/err.h"
#include "base/str.h"

struct ib_readdress {
	char *host, *port; /* of the server */
	bool default_port; /* the URL names no port */
	bool local;        /* this machine: it has more than one name */
	char to[64];       /* "127.0.0.1:PORT" */
};

/* endpoint: a URL, expanded. IB_E_USAGE when its host cannot be told. Cleared with ib_readdress_clear(). */
IB_MUST int ib_readdress_init(struct ib_readdress *r, const char *endpoint, int port, struct ib_err *err);
void ib_readdress_clear(struct ib_readdress *r);
#define ib_auto_readdress __attribute__((cleanup(ib_readdress_clear)))

/* text with every URL of the server and every HOST:PORT replaced; *n grows by their number. Allocated. */
char *ib_readdress_text(const struct ib_readdress *r, const char *text, size_t *n);

/* The same for all arguments, and for --host and --port. IB_E_USAGE: nothing was replaced, or what is left still names the server: the client must not be
 * run then. */
IB_MUST int ib_readdress_argv(const struct ib_readdress *r, struct ib_strv *argv, struct ib_err *err);

#endif
