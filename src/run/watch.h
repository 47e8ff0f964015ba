/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a run: does anything that it writes still grow? */
#ifndef IB_RUN_WATCH_H
#define IB_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct ib_watch {
	int dir_fd;         /* of the run directory */
	int64_t limit_ns;   /* how long nothing may grow */
	int64_t since_ns;   /* monotonic: when something grew last; 0: not looked yet */
	uint64_t total;     /* bytes and entries at that time */
	bool fired;
};

/* Bytes of the logs and of the files below output/, and the number of entries there: at most 4096 of them, 8 deep. */
uint64_t ib_watch_total(int dir_fd);
/* For ib_run_watch(), each second: true once nothing has grown (or shrunk) for limit_ns. */
bool ib_watch_tick(void *watch, int64_t now_ns);

#endif
