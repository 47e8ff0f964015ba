/* SPDX-License-Identifier: Apache-2.0 */
/* Run IDs. */
#include "run/runid.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

void ib_run_id(int64_t wall_ns, const char *group, const char *cell, int repeat, uint32_t random, char ret[IB_RUN_ID_MAX])
{
	char start[IB_TIME_LEN];

	ib_time_compact(wall_ns, start);
	snprintf(ret, IB_RUN_ID_MAX, "%s-%s%s%s%sr%02d-%08x", start, group ? group : "", group && cell ? "." : "", cell ? cell : "", group || cell ? "-" : "", repeat,
		 random);
}

int ib_run_name_check(const char *what, const char *name, struct ib_err *err)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	if (n == 0 || n > 32 || name[n] || name[0] == '_' || name[0] == '-')
		return ib_fail(err, IB_E_USAGE, 0, "%s '%.60s' is not a name: 1 to 32 of a-z 0-9 _ -, beginning with a letter or digit", what, name);
	return 0;
}
