/* SPDX-License-Identifier: Apache-2.0 */
/* The logger: a process in a session of its own that holds the command's output pipes, writes them byte for byte to
 * stdout.log and stderr.log, and shows them on ib-run's own stdout and stderr. It ends at end of file of both, whatever happens to ib-run. */
#ifndef IB_RUN_LOGGER_H
#define IB_RUN_LOGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/signals.h"

struct ib_logger {
	int out_fd, err_fd; /* write ends, for the command; close them once it runs (ib_logger_release) */
	int status_fd, control_fd;
};

/* What the logger says at its end. */
struct ib_logger_status {
	uint64_t kept[2], lost[2]; /* bytes of stdout, stderr: in the log, not in the log */
	int32_t sys[2];            /* errno of the write that failed, or 0 */
};

/* Creates both logs below dir_fd (they must not exist) and starts the logger. show false: nothing is shown. */
IB_MUST int ib_logger_start(int dir_fd, bool show, struct ib_logger *ret, struct ib_err *err);
/* Closes the write ends of this process. */
void ib_logger_release(struct ib_logger *l);
/* Waits until both logs are complete. hurry: do not wait for a reader of our own output that has stopped reading; so does a signal. IB_E_STATE:
 * the logger ended early, the logs are not complete. */
IB_MUST int ib_logger_finish(struct ib_logger *l, struct ib_signals *signals, bool hurry, struct ib_logger_status *ret, struct ib_err *err);
void ib_logger_clear(struct ib_logger *l);

#endif
