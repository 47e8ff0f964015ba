/* SPDX-License-Identifier: Apache-2.0 */
/* The logger: a process in a session of its own that holds the command's output pipes, writes them byte for byte to
 * stdout.log and stderr.log, and shows them on ib-run's own stdout and stderr. It ends at end of file of both, whatever happens to ib-run. */
#ifndef IB_RUN_LOGGER_H
#define IB_RUN_LOGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/pty.h"
#include "run/signals.h"

struct ib_logger {
	int out_fd, err_fd; /* write ends, for the command; close them once it runs (ib_logger_release) */
	int status_fd, control_fd;
};

/* What the logger says at its end. */
struct ib_logger_status {
	uint64_t kept[2], lost[2]; /* bytes of stdout, stderr: in the log, not in the log */
	int32_t sys[2];            /* errno of the write that failed, or 0 */
	int32_t cast_sys;          /* why terminal.cast is not complete, or 0 */
};

/* Creates both logs below dir_fd (they must not exist) and starts the logger. show false: nothing is shown. With a terminal (not NULL) the command
 * writes to slave_fd, which is taken over: there is no stderr.log then, and a terminal.cast beside stdout.log. */
IB_MUST int ib_logger_start(int dir_fd, bool show, const struct ib_pty *terminal, int slave_fd, struct ib_logger *ret, struct ib_err *err);
/* A line for the terminal that our standard error is, in place of the last one; the logger draws it where nothing of the command's output is
 * disturbed: only while that ends with a whole line, and it is erased before more is shown. Nothing happens where there is no terminal. */
void ib_logger_progress(struct ib_logger *l, const char *line);
/* Closes the write ends of this process. */
void ib_logger_release(struct ib_logger *l);
/* Waits until both logs are complete. hurry: do not wait for a reader of our own output that has stopped reading; so does a signal. IB_E_STATE:
 * the logger ended early, the logs are not complete. */
IB_MUST int ib_logger_finish(struct ib_logger *l, struct ib_signals *signals, bool hurry, struct ib_logger_status *ret, struct ib_err *err);
void ib_logger_clear(struct ib_logger *l);

#endif
