/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: moves the clocks that a program reads by what the file $CLOCK_SHIM says, "WALL BOOT" in seconds; no file: by nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ts)
{
	const char *path = getenv("CLOCK_SHIM");
	long wall = 0, boot = 0;
	int r = (int)syscall(SYS_clock_gettime, id, ts);
	FILE *f = path ? fopen(path, "re") : NULL;

	if (f) {
		if (fscanf(f, "%ld %ld", &wall, &boot) != 2)
			wall = boot = 0;
		fclose(f);
	}
	if (r == 0)
		ts->tv_sec += id == CLOCK_REALTIME ? wall : id == CLOCK_BOOTTIME ? boot : 0;
	return r;
}
