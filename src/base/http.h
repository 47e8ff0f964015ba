/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request (libcurl). Linked into ib-probe only: loading libcurl costs more than a small tool's whole run. */
#ifndef IB_BASE_HTTP_H
#define IB_BASE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct ib_http {
	const char *url;    /* http:// or https:// */
	bool post;          /* POST, else GET */
	const char *body;   /* of a POST, body_n bytes; NULL: empty */
	size_t body_n;
	const char *type;   /* its content type; NULL: application/json */
	int64_t timeout_ns; /* for everything together */
	void **session;     /* the connection is kept here for the next request of the same sort, to be ended with ib_http_end(); NULL: none is kept */
};

/* Sends the request; the answer's body is added to body (within its maximum). Redirects are not followed. Proxies are taken from the
 * environment, never for this machine. IB_E_TIMEOUT: not in time; IB_E_IO: no answer, or broken off; IB_E_LIMIT: the body is larger
 * than body's maximum; IB_E_USAGE: a URL that is none. */
IB_MUST int ib_http_fetch(const struct ib_http *request, struct ib_buf *body, int *ret_status, struct ib_err *err);
void ib_http_end(void **session);

#endif
