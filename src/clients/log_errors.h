/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a client's or a server's log that tell of HTTP errors, to be held against what the client's result says. */
#ifndef IB_CLIENTS_LOG_ERRORS_H
#define IB_CLIENTS_LOG_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IB_LOG_ERRORS_MAX (16u << 20) /* bytes of a log that are looked at */

/* Does a line tell of an answer with status 429 or 500 to 504? Not one to a GET, which asks for readiness or metrics, not for an answer. */
bool ib_log_line_error(const char *line, size_t n);

/* How many such lines the beginning of a file holds, CR ending lines as well; 0 where it cannot be read. */
int64_t ib_log_errors(int dirfd, const char *path);
int64_t ib_log_errors_fd(int fd); /* from its start */
int64_t ib_log_errors_in(const char *data, size_t n);

/* Is a file of this path a log by its name: .log, .txt, .out, .err? */
bool ib_log_named(const char *path);

#endif
