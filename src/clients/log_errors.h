/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a client's log that tell of HTTP errors, to be held against what its result says. */
#ifndef IB_RUN_LOG_ERRORS_H
#define IB_RUN_LOG_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IB_LOG_ERRORS_MAX (16u << 20) /* bytes of a log that are looked at */

/* Does a line tell of an answer with status 429 or 500 to 504? */
bool ib_log_line_error(const char *line, size_t n);

/* How many such lines the beginning of a file holds, CR ending lines as well; 0 where it cannot be read. */
int64_t ib_log_errors(int dirfd, const char *path);

#endif
