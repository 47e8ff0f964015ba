/* SPDX-License-Identifier: Apache-2.0 */
/* What the server wrote to its logs while the command ran, as files of the run: server/NAME.log. Nothing here fails a run. */
#ifndef IB_RUN_SERVERLOG_H
#define IB_RUN_SERVERLOG_H

#include "json/json.h"
#include "run/run.h"

struct ib_server_logs;

/* Notes where the logs of a contract (its server_logs, or NULL) stand, right before the command. NULL where there are none. */
struct ib_server_logs *ib_server_logs_begin(struct ib_run *run, const json_t *list);
/* Right after it: runs the commands, writes the slices, redacted, and the record's section. */
void ib_server_logs_end(struct ib_run *run, const struct ib_server_logs *logs);
void ib_server_logs_free(struct ib_server_logs **logs);

#endif
